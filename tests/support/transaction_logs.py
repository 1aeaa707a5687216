"""Logs of transactional ids and of groups as a server writes them, batch by batch, with provenance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from coordinator_server.kinds import GROUPS, TRANSACTIONS
from coordinator_server.machine.provenance import Origin, operation_headers
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.transaction.state import TransactionState
from coordinator_server.transaction.transaction import Transaction, record_of
from protocol.batch_builder import NO_HEADERS, BatchBuilder
from protocol.control_records import end_transaction_marker
from protocol.coordinator_records import TRANSACTION_SERDE
from protocol.record_batch import CONTROL, TRANSACTIONAL
from tests.support.segments import START_MS, offset_key, offset_value, write_meta

SHARD = f"{TRANSACTIONS.topic}-{partition_for('tx', 50)}"
OFFSETS = f"{GROUPS.topic}-{partition_for('g', 50)}"
POSITION = (GROUPS.topic, partition_for("g", 50))
SECOND = 1000
EMPTY = Transaction(7, 0, 60_000, TransactionState.EMPTY, START_MS)
APP, ADMIN = ("app", "10.0.0.1"), ("other", "10.0.0.2")


class Log:
    """One shard's log. Each batch is written so many seconds after the beginning."""

    def __init__(self) -> None:
        self._unwritten = b""
        self._from = self.offset = 0

    def state(self, second: int, origin: Origin | None, transaction: Transaction | None, name: str = "tx") -> None:
        record = record_of(name, transaction or EMPTY)
        builder = BatchBuilder(self.offset, START_MS + second * SECOND)
        value = None if transaction is None else TRANSACTION_SERDE.encode_value(record)
        headers = operation_headers(origin, None) if origin is not None else NO_HEADERS
        builder.append(TRANSACTION_SERDE.encode_key(record), value, headers)
        self._add(builder)

    def commit(self, second: int, groups: Sequence[str], producer: tuple[int, int] = (7, 0)) -> None:
        """An offset of each of the groups, in a transaction."""
        self._add(self._of(producer, second, TRANSACTIONAL), [(offset_key(each, "t", 0), offset_value(5)) for each in groups])

    def marker(self, second: int, producer: tuple[int, int] = (7, 1), *, is_commit: bool = True) -> None:
        self._add(self._of(producer, second, TRANSACTIONAL | CONTROL), [end_transaction_marker(is_commit, 0)])

    def write(self, shard: Path) -> None:
        """Write what is new as a sealed segment. An empty active one follows."""
        if self._unwritten:
            shard.mkdir(exist_ok=True)
            (shard / f"{self._from:020d}.log").write_bytes(self._unwritten)
            (shard / f"{self.offset:020d}.log").touch()
        self._unwritten, self._from = b"", self.offset

    def _of(self, producer: tuple[int, int], second: int, attributes: int) -> BatchBuilder:
        return BatchBuilder(
            self.offset,
            START_MS + second * SECOND,
            attributes=attributes,
            producer_id=producer[0],
            producer_epoch=producer[1],
            base_sequence=-1 if attributes & CONTROL else 0,
        )

    def _add(self, builder: BatchBuilder, records: Sequence[tuple[bytes, bytes]] = ()) -> None:
        for key, value in records:
            builder.append(key, value)
        self.offset = builder.next_offset
        self._unwritten += builder.finish()


def write_properties(data_dir: Path) -> None:
    write_meta(data_dir)
    with (data_dir / "meta.properties").open("a") as properties:
        properties.write("transaction.state.log.num.partitions=50\n")


def opened(second: int, epoch: int = 0, positions: Sequence[tuple[str, int]] = (POSITION,)) -> Transaction:
    return replace(
        EMPTY,
        state=TransactionState.ONGOING,
        producer_epoch=epoch,
        partitions=frozenset(positions),
        start_ms=START_MS + second * SECOND,
        update_ms=START_MS + second * SECOND,
    )


def then(before: Transaction, state: TransactionState, epoch: int) -> Transaction:
    partitions = before.partitions if state.label.startswith("Prepare") else frozenset[tuple[str, int]]()
    return replace(before, state=state, producer_epoch=epoch, partitions=partitions)
