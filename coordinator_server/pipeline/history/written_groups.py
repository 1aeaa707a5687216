"""The groups whose offsets transactions moved, found in the groups' log, of which each part is read about once.

Transactions come in pieces, in about the order of time. Each partition remembers where batches of some times begin, so that the
next piece begins to read where its first transaction began; and it stops when all of its transactions have been found.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from coordinator_server.kinds import GROUPS
from coordinator_server.log.opening import job_shard
from coordinator_server.pipeline.history.transaction_rows import Ended
from coordinator_server.pipeline.input.files import files_since, read_windows
from coordinator_server.pipeline.transactions.group_writes import ended_writes
from coordinator_server.pipeline.transactions.transitions import Transition, group_partitions
from protocol.record_batch import BatchHeader

MARK_BYTES: Final = 1 << 20
"""How far apart the remembered places of a file are."""

Wanted: TypeAlias = dict[tuple[int, int], deque[Ended]]
"""Transactions in the order of time, by producer id and the epoch of their marker."""


class WrittenGroups:
    """The groups' log, of which each partition is durable up to an offset (``ends``)."""

    def __init__(self, data_dir: Path, ends: Sequence[tuple[int, int]]) -> None:
        self._partitions = {number: _Partition(data_dir / f"{GROUPS.topic}-{number}", upto) for number, upto in ends}

    def find(self, ended: Iterable[Ended]) -> None:
        """Find the groups of transactions."""
        wanted: dict[int, Wanted] = {}
        for each in ended:
            if each.decided is not None and each.decided.after is not None:
                producer = each.decided.after.producer_id, each.decided.after.producer_epoch
                for partition in group_partitions(each.decided.after):
                    wanted.setdefault(partition, {}).setdefault(producer, deque()).append(each)
        for partition, of_partition in wanted.items():
            if partition in self._partitions:
                self._partitions[partition].find(of_partition)


class _Partition:
    def __init__(self, place: Path, upto: int) -> None:
        self._shard = job_shard(place)
        self._upto = upto
        # Of each file: times, and where the batches begin before which all are older.
        self._marks: dict[str, list[tuple[int, int]]] = {}

    def find(self, wanted: Wanted) -> None:
        left = {each for found in wanted.values() for each in found}
        last_ms = max(each.completed.at_ms for each in left if each.completed is not None)
        for written in ended_writes(self._batches(min(each.start_ms for each in left))):
            marker = written.marker
            of_epoch = wanted.get((marker.producer_id, marker.epoch), deque())
            # In version 1 an epoch may have any number of transactions, one after the other: those that were over are done with.
            while len(of_epoch) > 1 and _at_ms(of_epoch[0].completed) < marker.at_ms:
                left.discard(of_epoch.popleft())
            for each in of_epoch:
                if each.is_ended_by(marker):
                    each.add_groups(written)
                    left.discard(each)
                elif _at_ms(each.decided) > marker.at_ms:
                    break
            if not left and marker.at_ms > last_ms:
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


def _at_ms(step: Transition | None) -> int:
    return -1 if step is None else step.at_ms
