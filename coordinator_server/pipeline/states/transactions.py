"""The state of a shard of ``__transaction_state``, rebuilt by ``TransactionShard.replay``."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.pipeline.states.changes import LastChanges
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from coordinator_server.pipeline.states.state import NoTime, no_id
from coordinator_server.runtime.loader import BatchReplay
from coordinator_server.transaction.shard import TransactionLimits, TransactionShard
from coordinator_server.transaction.transaction import Transaction
from protocol.coordinator_records import TRANSACTION_SERDE
from protocol.errors import Malformed
from protocol.record_batch import NO_PRODUCER_ID, read_header


class TransactionalIdsState:
    """Transactional ids."""

    noun: Final = "transactional ids"

    def __init__(self) -> None:
        nothing = NoTime()
        self.shard = TransactionShard(
            limits=TransactionLimits(0, 0, 0, 0, 0),
            registry=SnapshotRegistry(),
            timer=nothing,
            clock=nothing,
            outbox=_NoOutbox(),
            new_producer_id=no_id,
        )
        self._replay = BatchReplay(TRANSACTION_SERDE, self.shard).replay

    def __len__(self) -> int:
        return len(self.shard.ids(LATEST))

    def replay(self, batch: bytes, upto: int = LATEST, /) -> int:
        """Replay a batch. Raises Malformed for transactional records and for states of transactions that Kafka does not have."""
        if read_header(batch).producer_id != NO_PRODUCER_ID:
            raise Malformed("a record of a transaction, in a log that has none", message="RecordBatch")
        try:
            return self._replay(batch, upto)
        except ValueError as error:
            raise Malformed(str(error), message="TransactionLogValue") from error

    def digest(self) -> StateDigest:
        return self.shard.digest(LATEST, with_parts=True)

    def label(self, part: str, /) -> str:
        return f"transactional id {part}"

    def contents(self) -> dict[str, dict[str, Any]]:
        found = {}
        for transactional_id in sorted(self.shard.ids(LATEST)):
            known = self.shard.transaction(LATEST, transactional_id)
            assert known is not None
            found[self.label(transactional_id)] = _fields(known)
        return found

    def shown(self, changes: LastChanges | None, names: NamesOfTopics, /) -> dict[str, Any]:
        return {"contents": self.contents()}


class _NoOutbox:
    """The outbox of a state machine that only replays."""

    def send(self, intent: Hashable, effect: Any, to: int | str, request: Any, then: Callable[[Any], Any], /) -> None:
        raise AssertionError("replay sends nothing")


def _fields(known: Transaction) -> dict[str, Any]:
    fields: dict[str, Any] = {name: getattr(known, name) for name in known.__struct_fields__}
    return fields | {
        "state": known.state.label,
        "partitions": [f"{topic}-{index}" for topic, index in sorted(known.partitions)],
    }
