"""The checkpoint of a layer, made from the layer's own records.

Plain Python for both engines: there is one record per key by now, and what it makes depends on the records alone. Offsets go into blocks, by the
server's own replay; all other records are kept as they are, in batches that are cut like the layer's. It is read back before it counts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from tempfile import TemporaryFile
from typing import IO, Final

from crc32c import crc32c

from coordinator_server.log.checkpoint import NAMES, Block, Checkpoint, in_order, write_checkpoint
from coordinator_server.log.layers import LayerAttempt
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.offsets.bulk import BulkReplay
from coordinator_server.offsets.resting import rest, wake
from coordinator_server.offsets.store import OffsetStore
from coordinator_server.pipeline.batches import MAX_RECORDS, Kept, cut, encode_batch
from coordinator_server.pipeline.errors import GateClosed
from protocol.coordinator_records import CLASSIC_GROUP_SERDE
from protocol.errors import DecodeError
from protocol.messages.group_records import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from protocol.record_batch import HEADER_SIZE, NO_PRODUCER_ID, BatchHeader, Record, iter_records, read_header, read_record

# The state of a record is some 600 bytes of Python.
RECORDS_AT_ONCE: Final = 300_000
_LENGTH_END: Final = 12
_OFFSETS: Final = (b"\0\0", b"\0\1")  # record types: legacy and present OffsetCommit


class _OpenTransaction(Exception):
    """A batch that belongs to one; it says at which offset."""


def add_checkpoint(attempt: LayerAttempt, records: int = 0) -> str:
    """Add a checkpoint to a layer whose records, so many, are written and closed; why there can be none, or nothing.

    Raises GateClosed when it does not say what they say.
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
        (attempt.path / name).unlink(missing_ok=True)
    return f"a layer without a checkpoint, because {why}"


def _add_whole(attempt: LayerAttempt) -> None:
    store, kept = _replayed(attempt.preview().read())
    write_checkpoint(attempt, in_order(_blocks(store)), map(encode_batch, cut(kept)))
    found = Checkpoint(attempt.preview())
    if set(found.keys()) != set(store.by_group):
        raise _differs(attempt, "groups")
    for group_id, offsets in store.by_group.items():
        if dict(wake(found.block(group_id))) != offsets.single():
            raise _differs(attempt, f"offsets of group {group_id!r}")


def _add_in_parts(attempt: LayerAttempt, count: int) -> None:
    """The same files, with the state of only so many records in memory at a time: groups are dealt out by their hash, which is the order of the index."""
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
    """Records of offsets go to the part of their group, all others to ``others``."""
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
            part.add(Kept(record, header.leader_epoch))


def _proven_blocks(attempt: LayerAttempt, parts: Iterable[_Spool], ids: list[str]) -> Iterator[Block]:
    """The blocks of part after part, each of which says what its records say; their groups go to ``ids``."""
    for part in parts:
        store, _ = _replayed(part.batches())
        for block in in_order(_blocks(store)):
            if dict(wake(block.data)) != store.by_group[block.key].single():
                raise _differs(attempt, f"offsets of group {block.key!r}")
            ids.append(block.key)
            yield block


def _differs(attempt: LayerAttempt, what: str) -> GateClosed:
    return GateClosed(
        f"{attempt.path}: the checkpoint has other {what} than the records; nothing is published. Please report this"
    )


class _Spool:
    """Records on their way through a file, in the batches that ``cut`` makes of them."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._pending: list[Kept] = []

    def add(self, kept: Kept) -> None:
        self._pending.append(kept)
        if len(self._pending) > 2 * MAX_RECORDS:
            # More records may belong to the last batch.
            *whole, self._pending = cut(self._pending)
            self._file.writelines(map(encode_batch, whole))

    def batches(self) -> Iterator[bytes]:
        """All of them; nothing is added any more."""
        self._file.writelines(map(encode_batch, cut(self._pending)))
        self._pending = []
        self._file.seek(0)
        while head := self._file.read(_LENGTH_END):
            yield head + self._file.read(int.from_bytes(head[-4:], "big"))


def _replayed(batches: Iterable[bytes]) -> tuple[OffsetStore, list[Kept]]:
    """The offsets that the records of a layer come to, and the records that are not of offsets."""
    store = OffsetStore(SnapshotRegistry())
    plain = BulkReplay(store)
    rest_of: list[Kept] = []
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
                    rest_of.append(Kept(read_record(batch, start, end, header, with_headers=True)[0], header.leader_epoch))
    return store, rest_of


def _plain_header(batch: bytes) -> BatchHeader | None:
    """The header of a batch; None for a marker, whose transaction is settled. Raises _OpenTransaction for a batch of one that is not."""
    header = read_header(batch)
    if header.is_control:
        return None
    if header.attributes or header.producer_id != NO_PRODUCER_ID:
        raise _OpenTransaction(header.base_offset)
    return header


def _replay(store: OffsetStore, record: Record) -> bool:
    """Whether it is one of offsets; then it is replayed."""
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
        yield Block(group_id, *rest(store.by_group[group_id].items()))
