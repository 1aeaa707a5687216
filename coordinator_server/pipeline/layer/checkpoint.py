"""Adds a checkpoint to a layer, made from the layer's own records.

It is plain Python for all engines: a layer has one record per key, and the checkpoint depends on the records alone. Offsets go into
blocks, which the server's own replay fills. All other records are kept unchanged, in batches that are cut like the layer's. The
checkpoint is read back and compared before it is valid.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from tempfile import TemporaryFile
from typing import IO, Final

from crc32c import crc32c

from coordinator_server.log.layers.attempt import LayerAttempt
from coordinator_server.log.layers.checkpoint import NAMES, Block, Checkpoint, in_order, write_checkpoint
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.offsets.bulk import BulkReplay
from coordinator_server.offsets.resting_block import decode_offsets, encode_group
from coordinator_server.offsets.store import OffsetStore
from coordinator_server.pipeline.errors import GateClosed
from coordinator_server.pipeline.layer.batches import MAX_RECORDS, LayerRecord, cut, encode_batch
from protocol.coordinator_records import CLASSIC_GROUP_SERDE, LEGACY_OFFSET_COMMIT_TYPE, OFFSET_COMMIT_TYPE
from protocol.errors import DecodeError
from protocol.messages.group_records import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from protocol.record_batch import (
    HEADER_SIZE,
    LENGTH_END,
    NO_PRODUCER_ID,
    BatchHeader,
    Record,
    iter_records,
    read_header,
    read_record,
)

# The state of one record takes about 600 bytes of memory.
RECORDS_AT_ONCE: Final = 300_000
_OFFSETS: Final = (LEGACY_OFFSET_COMMIT_TYPE, OFFSET_COMMIT_TYPE)


class _OpenTransaction(Exception):
    """A batch belongs to an open transaction; the message is its offset."""


def add_checkpoint(attempt: LayerAttempt, records: int = 0) -> str:
    """Add a checkpoint to a layer that is written and closed. Return why there can be none, or an empty string.

    ``records`` is their number: more than RECORDS_AT_ONCE are done in parts. Raises GateClosed if the checkpoint differs from them.
    """
    parts = -(-records // RECORDS_AT_ONCE)
    try:
        _add_in_parts(attempt, parts) if parts > 1 else _add_whole(attempt)
    except DecodeError as error:
        why = f"a record cannot be read: {error}"
    except _OpenTransaction as is_open:
        why = f"a transaction is open in it at offset {is_open}"
    else:
        return ""
    for name in NAMES:
        attempt.remove_file(name)
    return f"a layer without a checkpoint, because {why}"


def _add_whole(attempt: LayerAttempt) -> None:
    store, others = _replayed(attempt.preview().read())
    write_checkpoint(attempt, in_order(_blocks(store)), map(encode_batch, cut(others)))
    found = Checkpoint(attempt.preview())
    if set(found.keys()) != set(store.by_group):
        raise _differs(attempt, "groups")
    for group_id, offsets in store.by_group.items():
        if dict(decode_offsets(found.block(group_id))) != offsets.single():
            raise _differs(attempt, f"offsets of group {group_id!r}")


def _add_in_parts(attempt: LayerAttempt, count: int) -> None:
    """Write the same files with the state of RECORDS_AT_ONCE records in memory. Parts are ranges of the hash of group ids, the order of the index."""
    with contextlib.ExitStack() as stack:
        spools = [_Spool(stack.enter_context(TemporaryFile(dir=attempt.path))) for _ in range(count + 1)]
        _split(attempt.preview().read(), spools[:-1], spools[-1])
        ids: list[str] = []
        write_checkpoint(attempt, _proven_blocks(attempt, spools[:-1], ids), spools[-1].batches())
        found = Checkpoint(attempt.preview())
        if list(found.keys()) != ids:
            raise _differs(attempt, "groups")
        found.verify()


def _split(batches: Iterable[bytes], parts: Sequence[_Spool], others: _Spool) -> None:
    """Copy each record of an offset to the part of its group, and all other records to ``others``."""
    for batch in batches:
        header = _plain_header(batch)
        if header is None:
            continue
        for record in iter_records(batch, 0, header):
            key = record.key or b""
            part = others
            if key[:2] in _OFFSETS:
                group_id = key[4 : 4 + int.from_bytes(key[2:4], "big")]
                part = parts[crc32c(group_id) * len(parts) >> 32]
            part.add(LayerRecord(record, header.leader_epoch))


def _proven_blocks(attempt: LayerAttempt, parts: Iterable[_Spool], ids: list[str]) -> Iterator[Block]:
    """Return the blocks of all parts, each compared with its records. Their group ids are appended to ``ids``."""
    for part in parts:
        store, _ = _replayed(part.batches())
        for block in in_order(_blocks(store)):
            if dict(decode_offsets(block.data)) != store.by_group[block.key].single():
                raise _differs(attempt, f"offsets of group {block.key!r}")
            ids.append(block.key)
            yield block


def _differs(attempt: LayerAttempt, what: str) -> GateClosed:
    return GateClosed(
        f"{attempt.path}: the checkpoint has other {what} than the records; nothing is published. Please report this"
    )


class _Spool:
    """Records in a temporary file, in the batches that ``cut`` makes of them."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._pending: list[LayerRecord] = []

    def add(self, record: LayerRecord) -> None:
        self._pending.append(record)
        if len(self._pending) > 2 * MAX_RECORDS:
            # The last batch may get more records.
            *whole, self._pending = cut(self._pending)
            self._file.writelines(map(encode_batch, whole))

    def batches(self) -> Iterator[bytes]:
        """Return all batches. Nothing may be added afterwards."""
        self._file.writelines(map(encode_batch, cut(self._pending)))
        self._pending = []
        self._file.seek(0)
        while head := self._file.read(LENGTH_END):
            yield head + self._file.read(int.from_bytes(head[-4:], "big"))


def _replayed(batches: Iterable[bytes]) -> tuple[OffsetStore, list[LayerRecord]]:
    """Replay the records of a layer. Return the offsets, and the records that are not of offsets."""
    store = OffsetStore(SnapshotRegistry())
    plain = BulkReplay(store)
    others: list[LayerRecord] = []
    for batch in batches:
        header = _plain_header(batch)
        if header is None:
            continue
        pos, end = HEADER_SIZE, header.size
        while pos < end:
            pos, _ = plain.replay(batch, pos, end, header.base_offset, header.last_offset_delta)
            if pos < end:
                start = pos
                record, pos = read_record(batch, start, end, header)
                if not _replay(store, record):
                    others.append(LayerRecord(read_record(batch, start, end, header, with_headers=True)[0], header.leader_epoch))
    return store, others


def _plain_header(batch: bytes) -> BatchHeader | None:
    """Return the header of a plain batch; None for a marker. Raises _OpenTransaction for a batch of an open transaction."""
    header = read_header(batch)
    if header.is_control:
        return None
    if header.attributes or header.producer_id != NO_PRODUCER_ID:
        raise _OpenTransaction(header.base_offset)
    return header


def _replay(store: OffsetStore, record: Record) -> bool:
    """Replay a record of an offset. Return whether it was one."""
    if record.key is None or record.key[:2] not in _OFFSETS:
        return False
    decoded = CLASSIC_GROUP_SERDE.decode(record.key, record.value)
    assert decoded is not None
    key, value = decoded.key, decoded.value
    if isinstance(key, OffsetCommitKey):
        assert value is None or isinstance(value, OffsetCommitValue)
        store.replay(record.offset, key, value)
    else:
        assert isinstance(key, LegacyOffsetCommitKey)
        assert value is None or isinstance(value, LegacyOffsetCommitValue)
        store.replay_legacy(record.offset, key, value)
    return True


def _blocks(store: OffsetStore) -> Iterator[Block]:
    for group_id in store.groups_at(LATEST):
        yield Block(group_id, *encode_group(store.by_group[group_id].items()))
