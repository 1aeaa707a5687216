"""The groups whose offsets transactions moved, found in the groups' log, of which each part is read about once.

Transactions come in pieces, in about the order of time. Each partition remembers where batches of some times begin, so that the
next piece begins to read where its first transaction began; and it stops when all of its transactions have been found.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from coordinator_server.kinds import GROUPS
from coordinator_server.log.opening import job_shard
from coordinator_server.pipeline.history.transaction_rows import Ended
from coordinator_server.pipeline.input.files import files_since, read_windows
from coordinator_server.pipeline.transactions.group_writes import ended_writes
from coordinator_server.pipeline.transactions.transitions import group_partitions
from protocol.record_batch import BatchHeader

MARK_BYTES: Final = 1 << 20
"""How far apart the remembered places of a file are."""


class WrittenGroups:
    """The groups' log, of which each partition is durable up to an offset (``ends``)."""

    def __init__(self, data_dir: Path, ends: Sequence[tuple[int, int]]) -> None:
        self._partitions = {number: _Partition(data_dir / f"{GROUPS.topic}-{number}", upto) for number, upto in ends}

    def find(self, ended: Iterable[Ended]) -> None:
        """Find the groups of transactions."""
        wanted: dict[int, dict[int, list[Ended]]] = {}
        for each in ended:
            if each.decided is not None and each.decided.after is not None:
                for partition in group_partitions(each.decided.after):
                    wanted.setdefault(partition, {}).setdefault(each.decided.after.producer_id, []).append(each)
        for partition, by_producer in wanted.items():
            if partition in self._partitions:
                self._partitions[partition].find(by_producer)


class _Partition:
    def __init__(self, place: Path, upto: int) -> None:
        self._shard = job_shard(place)
        self._upto = upto
        # Of each file: times, and where the batches begin before which all are older.
        self._marks: dict[str, list[tuple[int, int]]] = {}

    def find(self, by_producer: Mapping[int, Sequence[Ended]]) -> None:
        left = {each for found in by_producer.values() for each in found}
        last_ms = max(each.completed.at_ms for each in left if each.completed is not None)
        for written in ended_writes(self._batches(min(each.start_ms for each in left))):
            for each in by_producer.get(written.marker.producer_id, ()):
                if each.is_ended_by(written.marker):
                    each.add_groups(written)
                    left.discard(each)
            if not left and written.marker.at_ms > last_ms:
                return

    def _batches(self, since_ms: int) -> Iterator[tuple[bytes, int, BatchHeader]]:
        """Yield the batches from a moment on, and some before it."""
        for file in files_since(self._shard.whole(self._upto)[1], since_ms):
            marks = self._marks.setdefault(file.path, [])
            before = bisect_left(marks, (since_ms,))
            start = marks[before - 1][1] if before else 0
            for data, position, header, at in read_windows(file, start):
                if at - file.start >= (marks[-1][1] if marks else 0) + MARK_BYTES:
                    marks.append((min(header.base_timestamp, header.max_timestamp), at - file.start))
                if header.base_offset < self._upto:
                    yield data, position, header
