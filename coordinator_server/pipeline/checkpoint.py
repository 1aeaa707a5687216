"""The checkpoint of a layer, made from the layer's own records.

Plain Python for both engines: there is one record per key by now, and what it makes depends on the records alone. Offsets go into blocks, by the
server's own replay; all other records are kept as they are, in batches that are cut like the layer's. It is read back before it counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from coordinator_server.log.checkpoint import Block, Checkpoint, write_checkpoint
from coordinator_server.log.layers import LayerAttempt
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.offsets.bulk import BulkReplay
from coordinator_server.offsets.resting import rest, wake
from coordinator_server.offsets.store import OffsetStore
from coordinator_server.pipeline.batches import Kept, cut, encode_batch
from coordinator_server.pipeline.errors import GateClosed
from protocol.coordinator_records import CLASSIC_GROUP_SERDE
from protocol.errors import DecodeError
from protocol.messages.group_records import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from protocol.record_batch import HEADER_SIZE, NO_PRODUCER_ID, Record, read_header, read_record

_OFFSETS: Final = (b"\0\0", b"\0\1")  # record types: legacy and present OffsetCommit


class _OpenTransaction(Exception):
    """A batch that belongs to one; it says at which offset."""


def add_checkpoint(attempt: LayerAttempt) -> str:
    """Add a checkpoint to a layer whose records are written and closed; why there can be none, or nothing.

    Raises GateClosed when it does not say what they say.
    """
    try:
        store, kept = _replayed(attempt.preview().read())
    except DecodeError as error:
        return f"a layer without a checkpoint, because a record cannot be read: {error}"
    except _OpenTransaction as is_open:
        return f"a layer without a checkpoint, because a transaction is open in it at offset {is_open}"
    write_checkpoint(attempt, _blocks(store), map(encode_batch, cut(kept)))
    found = Checkpoint(attempt.preview())
    names = set(found.ids())
    if names != set(store.by_group):
        raise GateClosed(
            f"{attempt.path}: the checkpoint has other groups than the records; nothing is published. Please report this"
        )
    for group_id, offsets in store.by_group.items():
        if dict(wake(found.block(group_id))) != offsets.single():
            raise GateClosed(
                f"{attempt.path}: the checkpoint has other offsets of group {group_id!r} than the records; nothing is published. Please report this"
            )
    return ""


def _replayed(batches: Iterable[bytes]) -> tuple[OffsetStore, list[Kept]]:
    """The offsets that the records of a layer come to, and the records that are not of offsets."""
    store = OffsetStore(SnapshotRegistry())
    plain = BulkReplay(store)
    rest_of: list[Kept] = []
    for batch in batches:
        header = read_header(batch)
        if header.is_control:
            # Its transaction is settled.
            continue
        if header.attributes or header.producer_id != NO_PRODUCER_ID:
            raise _OpenTransaction(header.base_offset)
        pos, end = HEADER_SIZE, header.size
        while pos < end:
            pos, _ = plain.replay(batch, pos, end, header.base_offset, header.last_offset_delta)
            if pos < end:
                start = pos
                record, pos = read_record(batch, start, end, header)
                if not _replay(store, record):
                    rest_of.append(Kept(read_record(batch, start, end, header, with_headers=True)[0], header.leader_epoch))
    return store, rest_of


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
