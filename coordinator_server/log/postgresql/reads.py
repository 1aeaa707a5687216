"""What is read of shards: from memory where it is there, or by the reader's thread (LoadingLog and FetchedLog)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.layers.checkpoint import Checkpoint as LayerCheckpoint
from coordinator_server.log.postgresql.layers import LayerCopies, Newest
from coordinator_server.log.postgresql.reader import Reader
from coordinator_server.log.postgresql.rows import LAST_ROW, SHARD_ROW, Row, end_ms
from coordinator_server.log.postgresql.segments import SegmentCopies, read_kept
from coordinator_server.log.postgresql.session import Session
from coordinator_server.log.postgresql.tails import Tail, batches_from
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import Batches, Check, Checkpoint, ReadRange, TimedOffset
from protocol.record_batch import iter_records, read_header


class Reads:
    """The reads of a node. ``tails`` are those of the shards that it owns; others are read in the database."""

    def __init__(
        self, tails: Mapping[ShardId, Tail], sids: Mapping[ShardId, int], make_session: Callable[[], Session], copies: LayerCopies
    ) -> None:
        self._tails = tails
        self._copies = copies
        self._segments = SegmentCopies(copies)
        self._sids = sids
        self._reader = Reader(make_session)

    def close(self) -> None:
        """End the reader's connection and thread."""
        self._reader.close()

    def read(self, shard: ShardId, from_offset: int, /) -> Iterator[bytes]:
        """Return the durable batches in offset order, from the one that holds ``from_offset``."""
        tail = self._tails.get(shard)
        if tail is None:
            return self._stored(shard, from_offset, self._end(shard))
        layer = tail.newest.layer
        if layer is not None and from_offset < layer.to_offset:
            return chain(layer.read(from_offset), self._after(shard, tail, layer.to_offset))
        return self._after(shard, tail, from_offset)

    def compacted_to(self, shard: ShardId, /) -> int:
        """Return the end of the layer that an opened shard was loaded from; 0 without one, or for any other shard."""
        tail = self._tails.get(shard)
        return tail.newest.to_offset if tail is not None else 0

    def checkpoint(self, shard: ShardId, /) -> Checkpoint | None:
        """Return the checkpoint of that layer; None without one. Raise DamagedLog if the newest layer is damaged."""
        tail = self._tails.get(shard)
        if tail is None:
            return None
        if tail.newest.damage is not None:
            raise tail.newest.damage
        layer = tail.newest.layer
        return LayerCheckpoint(layer) if layer is not None and layer.manifest.checkpoint else None

    def end_offset(self, shard: ShardId, /) -> int:
        """Return the offset of the next record: one after the last durable record."""
        tail = self._tails.get(shard)
        return tail.end if tail is not None else self._end(shard)

    def end_time(self, shard: ShardId, /) -> int:
        """Return the timestamp of the last durable batch; -1 if there is none."""
        tail = self._tails.get(shard)
        if tail is not None and tail.end_ms >= 0:
            return tail.end_ms
        last = -1
        for _, _, data in self._reader.read(LAST_ROW, self._sids[shard]) if shard in self._sids else ():
            last = end_ms(data)
        return last

    def durable_bytes(self, shard: ShardId, /) -> int:
        """Return how many durable bytes the shard was given since it was opened: callers compare two values."""
        tail = self._tails.get(shard)
        return tail.given if tail is not None else 0

    def read_range(self, shard: ShardId, wanted: ReadRange, /) -> Batches:
        """Return a range of the durable log: whole batches."""
        data: list[bytes] = []
        size, end = 0, wanted.from_offset
        for batch in self.read(shard, wanted.from_offset):
            next_offset = read_header(batch).next_offset
            is_needed = not data and wanted.must_have_one
            if next_offset > wanted.upto or (size + len(batch) > wanted.max_bytes and not is_needed):
                break
            data.append(batch)
            size, end = size + len(batch), next_offset
        return Batches(b"".join(data), end)

    def offset_for_time(self, shard: ShardId, timestamp_ms: int, check: Check, /) -> TimedOffset | None:
        """Return the first durable record with this timestamp (ms since 1970) or a later one."""
        for batch in self.read(shard, 0):
            check()
            if read_header(batch).max_timestamp >= timestamp_ms:
                for found in _times(batch):
                    if found.timestamp_ms >= timestamp_ms:
                        return found
        return None

    def latest_time(self, shard: ShardId, check: Check, /) -> TimedOffset | None:
        """Return the first durable record with the largest timestamp."""
        latest, found = -1, None
        for batch in self.read(shard, 0):
            check()
            if read_header(batch).max_timestamp > latest:
                found = max(_times(batch), key=lambda each: (each.timestamp_ms, -each.offset), default=found)
                latest = found.timestamp_ms if found is not None else latest
        return found

    def _after(self, shard: ShardId, tail: Tail, from_offset: int) -> Iterator[bytes]:
        """Return the batches from an offset on that is not before the end of the layer."""
        if from_offset < tail.begin:
            return self._stored(shard, from_offset, tail.end)
        rows = tail.rows_from(from_offset)
        return batches_from(rows, from_offset) if tail.is_loaded else self._load(tail, rows, from_offset)

    def _load(self, tail: Tail, rows: list[Row], from_offset: int) -> Iterator[bytes]:
        yield from batches_from(rows, from_offset)
        tail.loaded()

    def _stored(self, shard: ShardId, from_offset: int, end: int) -> Iterator[bytes]:
        """Yield the batches before an end as they were written: what compaction has kept, where history was removed."""
        at = from_offset
        while at < end:
            try:
                for batch in batches_from(read_kept(self._reader, self._segments, shard, self._sids[shard], at, end), at):
                    yield batch
                    at = read_header(batch).next_offset
            except DamagedLog:
                [(_, _, start, _)] = self._reader.read(SHARD_ROW, self._sids[shard])
                if at >= start:
                    raise
                layer = self._reader.run(lambda session: self._newest(session, shard)).layer
                assert layer is not None, "rows are removed that a layer has"
                yield from layer.read(at)
                at = layer.to_offset

    async def _newest(self, session: Session, shard: ShardId) -> Newest:
        return await self._copies.newest(partial(session.read, waits=False), shard, self._sids[shard])

    def _end(self, shard: ShardId) -> int:
        if shard not in self._sids:
            return 0
        [(*_, end)] = self._reader.read(SHARD_ROW, self._sids[shard])
        return int(end)


def _times(batch: bytes) -> Iterator[TimedOffset]:
    for record in iter_records(batch, 0, read_header(batch)):
        yield TimedOffset(record.offset, record.timestamp)
