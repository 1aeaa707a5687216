"""Adds a checkpoint to a layer, made from the layer's own records.

It is plain Python for all engines: a layer has one record per key, and the checkpoint depends on the records alone. Offsets go into
blocks, which the server's own replay fills. What else a start needs is kept unchanged, in batches that are cut like the layer's
(``replayed_records.py``). The checkpoint is read back and compared before it is valid.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from io import BytesIO
from tempfile import SpooledTemporaryFile, TemporaryFile
from typing import Final

from crc32c import crc32c

from coordinator_server.log.jobs import Block, Layer, LayerAttempt, in_order
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.offsets.bulk import BulkReplay
from coordinator_server.offsets.resting_block import decode_offsets, encode_group
from coordinator_server.offsets.store import OffsetStore
from coordinator_server.pipeline.errors import GateClosed
from coordinator_server.pipeline.layer.batches import LayerRecord
from coordinator_server.pipeline.layer.replayed_records import Rest, Spool, is_of_offset
from protocol.coordinator_records import CLASSIC_GROUP_SERDE
from protocol.errors import DecodeError
from protocol.messages.group_records import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from protocol.record_batch import (
    HEADER_SIZE,
    BatchHeader,
    Record,
    iter_records,
    read_header,
    read_record,
)

# The state of one record takes about 600 bytes of memory.
RECORDS_AT_ONCE: Final = 50_000
# Each part is a file, and a few hundred records that wait for it.
MOST_PARTS: Final = 256
# Records beside the state are in a temporary file, but for the first ones.
REST_BYTES: Final = 1 << 20


Read = Callable[[Layer], Iterable[tuple[bytes, BatchHeader]]]


def read_all(layer: Layer) -> Iterable[tuple[bytes, BatchHeader]]:
    """Read all batches of a layer."""
    return layer.read_with_headers()


def add_checkpoint(attempt: LayerAttempt, records: int = 0, read: Read = read_all) -> str:
    """Add a checkpoint to a layer that is written and closed. Return why there can be none, or an empty string.

    ``records`` is their number: more than RECORDS_AT_ONCE are done in parts. ``read`` may leave out markers that a later one of
    their producer follows. Raises GateClosed if the checkpoint differs from the records.
    """
    parts = min(-(-records // RECORDS_AT_ONCE), MOST_PARTS)
    try:
        _add_in_parts(attempt, parts, read) if parts > 1 else _add_whole(attempt, read)
    except DecodeError as error:
        attempt.remove_checkpoint()
        return f"a layer without a checkpoint, because a record cannot be read: {error}"
    return ""


def _add_whole(attempt: LayerAttempt, read: Read) -> None:
    with _rest_file(attempt) as file:
        rest = Rest(file)
        store = _replayed(read(attempt.preview()), rest)
        attempt.add_checkpoint(in_order(_blocks(store)), rest.batches())
    found = attempt.open_checkpoint()
    if set(found.keys()) != set(store.by_group):
        raise _differs(attempt, "groups")
    for group_id, offsets in store.by_group.items():
        if dict(decode_offsets(found.block(group_id))) != offsets.single():
            raise _differs(attempt, f"offsets of group {group_id!r}")


def _add_in_parts(attempt: LayerAttempt, count: int, read: Read) -> None:
    """Write the same files with the state of RECORDS_AT_ONCE records in memory.

    Parts are ranges of the hash of group ids, the order of the index.
    """
    with contextlib.ExitStack() as stack:
        parts = [Spool(stack.enter_context(TemporaryFile(dir=attempt.path))) for _ in range(count)]
        rest = Rest(stack.enter_context(_rest_file(attempt)))
        _split(read(attempt.preview()), parts, rest)
        ids = _Ids()
        attempt.add_checkpoint(_proven_blocks(attempt, parts, ids), rest.batches())
        found = _Ids()
        for key in attempt.open_checkpoint().keys():  # noqa: SIM118 - it is no dict
            found.add(key)
        if found.digest() != ids.digest():
            raise _differs(attempt, "groups")
        attempt.verify_checkpoint()


def _rest_file(attempt: LayerAttempt) -> SpooledTemporaryFile[bytes]:
    return SpooledTemporaryFile(REST_BYTES, dir=str(attempt.path))


class _Ids:
    """Group ids in order, of which memory holds a hash."""

    def __init__(self) -> None:
        self._hash = sha256()
        self.digest = self._hash.digest

    def add(self, group_id: str) -> None:
        encoded = group_id.encode()
        self._hash.update(len(encoded).to_bytes(4) + encoded)


def _split(batches: Iterable[tuple[bytes, BatchHeader]], parts: Sequence[Spool], rest: Rest) -> None:
    """Copy each record of an offset to the part of its group, and everything that a start replays to ``rest``."""
    for batch, header in batches:
        if rest.add_of_producer(batch, header):
            continue
        for record in iter_records(batch, 0, header):
            found = LayerRecord(record, header.leader_epoch)
            if record.key is not None and is_of_offset(record.key):
                group_id = record.key[4 : 4 + int.from_bytes(record.key[2:4], "big")]
                parts[crc32c(group_id) * len(parts) >> 32].add(found)
            if rest.wants(record.key):
                rest.add(found)


def _proven_blocks(attempt: LayerAttempt, parts: Iterable[Spool], ids: _Ids) -> Iterator[Block]:
    """Return the blocks of all parts, each compared with its records. Their group ids are added to ``ids``."""
    for part in parts:
        store = _replayed(((batch, read_header(batch)) for batch in part.batches()), Rest(BytesIO()))
        for block in in_order(_blocks(store)):
            if dict(decode_offsets(block.data)) != store.by_group[block.key].single():
                raise _differs(attempt, f"offsets of group {block.key!r}")
            ids.add(block.key)
            yield block


def _differs(attempt: LayerAttempt, what: str) -> GateClosed:
    return GateClosed(
        f"{attempt.path}: the checkpoint has other {what} than the records; nothing is published. Please report this"
    )


def _replayed(batches: Iterable[tuple[bytes, BatchHeader]], rest: Rest) -> OffsetStore:
    """Replay the records of offsets that are in no transaction. Everything that a start replays is added to ``rest``."""
    store = OffsetStore(SnapshotRegistry())
    plain = BulkReplay(store)
    for batch, header in batches:
        if rest.add_of_producer(batch, header):
            continue
        pos, end = HEADER_SIZE, header.size
        while pos < end:
            if not rest.has_open:
                pos, _ = plain.replay(batch, pos, end, header.base_offset, header.last_offset_delta)
            if pos < end:
                start = pos
                record, pos = read_record(batch, start, end, header)
                _replay(store, record)
                if rest.wants(record.key):
                    rest.add(LayerRecord(read_record(batch, start, end, header, with_headers=True)[0], header.leader_epoch))
    return store


def _replay(store: OffsetStore, record: Record) -> None:
    """Replay a record if it is of an offset."""
    if record.key is None or not is_of_offset(record.key):
        return
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


def _blocks(store: OffsetStore) -> Iterator[Block]:
    for group_id in store.groups_at(LATEST):
        yield Block(group_id, *encode_group(store.by_group[group_id].items()))
