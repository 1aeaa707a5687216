"""The lag of groups: their commits, from the log, beside the ends of the partitions, from the samples.

Offsets that were committed in a transaction count when its marker says so. Everything is as of the last sample: how far the
partitions are since then is unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from coordinator_server.kinds import GROUPS, topic_of
from coordinator_server.log.opening import identity_of, job_shards
from coordinator_server.pipeline.input.files import batches_before, records_of
from coordinator_server.pipeline.input.owners import owner_of
from coordinator_server.pipeline.lag.commit_keys import Position, offset_of, position_of
from coordinator_server.pipeline.lag.end_offsets import EndOffsets
from coordinator_server.pipeline.lag.verdicts import SAMPLES, Commit, Made, Verdict, add_commit, judge, of_group
from protocol.control_records import ABORT, COMMIT, control_type
from protocol.record_batch import BatchHeader

WINDOW_MS: Final = 3_600_000
"""Samples of so long ago are read: commits that are older have an unknown lag."""
_RANKS: Final[Mapping[Verdict, int]] = {Verdict.STOP: 3, Verdict.STALL: 3, Verdict.REWIND: 3, Verdict.WARN: 2}


class Lag(Struct, frozen=True):
    """The lag of a group for a partition. ``end_offset``, ``lag`` (records) and ``lag_s`` are None where they are unknown.

    ``lag_s``: how long ago the first unread record was written; 0 if nothing is unread.
    """

    group: str
    topic: str
    partition: int
    offset: int
    end_offset: int | None
    lag: int | None
    lag_s: float | None
    verdict: Verdict
    reason: str


class GroupLag(Struct, frozen=True):
    """The lag of a group: sums over its partitions, the largest ``lag_s``, and its worst partition, unless all are OK."""

    group: str
    partitions: int
    lag: int | None
    lag_s: float | None
    verdict: Verdict
    worst: str | None


class Change(Struct, array_like=True):
    """A commit, or with None the end of one. ``record`` is its offset in the log of groups."""

    record: int
    position: Position
    at_ms: int
    offset: int | None


class Window(Struct):
    """The last commits of a position, and the offset of the newest record that has counted. Without commits it has ended."""

    newest: int = -1
    commits: list[Made] = []


class Commits:
    """The last commits of each position, from the batches of a shard in order. ``groups`` chooses; empty is all.

    With ``going_on``, which it takes over, it goes on with what was committed in open transactions, by producer.
    """

    def __init__(self, groups: Collection[str] = (), going_on: dict[int, list[Change]] | None = None) -> None:
        self.windows: dict[Position, Window] = {}
        self.open: dict[int, list[Change]] = {} if going_on is None else going_on
        self._groups = groups
        self._raw = [each.encode() for each in groups]

    def take(self, data: bytes, position: int, header: BatchHeader) -> list[Position]:
        """Take a verified batch, and return the positions whose windows have changed. Raises DecodeError."""
        if header.is_control:
            ended: list[Change] = []
            for record in records_of(data, position, header):
                kind = control_type(record.key)
                if kind in (ABORT, COMMIT):
                    changes = self.open.pop(header.producer_id, [])
                    ended += changes if kind == COMMIT else ()
            return self._apply(ended)
        if self._raw and not header.compression:
            # Most batches of a shard are about other groups.
            end = position + header.size
            if all(data.find(each, position, end) < 0 for each in self._raw):
                return []
        changes = list(self._changes(data, position, header))
        if header.is_transactional:
            self.open.setdefault(header.producer_id, []).extend(changes)
            return []
        return self._apply(changes)

    def window(self, where: Position) -> Window:
        """Return the window of a position, which is made if it is not there."""
        found = self.windows.get(where)
        if found is None:
            found = self.windows[where] = Window()
        return found

    def _changes(self, data: bytes, position: int, header: BatchHeader) -> Iterator[Change]:
        for record in records_of(data, position, header, with_headers=False):
            where = position_of(record.key)
            if where is not None and (not self._groups or where.group in self._groups):
                offset = None if record.value is None else offset_of(record.value)
                yield Change(record.offset, where, record.timestamp, offset)

    def _apply(self, changes: Iterable[Change]) -> list[Position]:
        changed = []
        for each in changes:
            window = self.window(each.position)
            if window.newest > each.record:
                # Of two records the later one in the log counts, whenever its transaction ended.
                continue
            window.newest = each.record
            changed.append(each.position)
            if each.offset is None:
                window.commits = []
            else:
                add_commit(window.commits, Made(each.at_ms, each.offset, each.at_ms))
        return changed


def lags(data_dir: Path, upto: Mapping[str, int], ends: EndOffsets, groups: Collection[str] = ()) -> Iterator[Lag]:
    """Yield the lags of groups, shard by shard, of each by group and partition. ``upto`` says how far shards can be read.

    Raises LogError, DecodeError.
    """
    identity = identity_of(data_dir)
    wanted = {owner_of(identity, GROUPS.topic, group) for group in groups}
    for shard in job_shards(data_dir):
        if shard.name in wanted or (not groups and topic_of(shard.name) == GROUPS.topic):
            end = upto.get(shard.name, 0)
            commits = Commits(groups)
            for batch in batches_before(shard.compacted(end)[1], end):
                commits.take(*batch)
            for where, window in sorted(commits.windows.items()):
                if window.commits:
                    yield lag_of(where, window.commits, ends)


def lag_of(where: Position, made: Sequence[Made], ends: EndOffsets) -> Lag:
    """Return the lag of a position whose last commits are known."""
    group, topic, partition = where
    offset, as_of_ms = made[-1].offset, ends.last_ms
    end = ends.at(topic, partition, as_of_ms)
    lag = _unread(end, offset)
    lag_s = 0.0 if lag == 0 else None
    if lag:
        written_ms = ends.written_ms(topic, partition, offset)
        lag_s = None if written_ms is None else round(max(0.0, as_of_ms - written_ms) / 1000, 1)
    else:
        # Whatever was before: the verdict needs no more.
        made = made[-1:]
    window = [
        Commit(each.at_ms, each.offset, _unread(ends.sampled(topic, partition, each.made_ms), each.offset)) for each in made
    ]
    judged = judge(window, lag, as_of_ms, ends.earlier(topic, partition, SAMPLES))
    return Lag(group, topic, partition, offset, end, lag, lag_s, judged.verdict, judged.reason)


def suffice(ends: EndOffsets, where: Position, made: Sequence[Made]) -> bool:
    """Return whether ends without the oldest ones say of a position all that ``lag_of`` wants to know."""
    begin, end = ends.begin(where.topic, where.partition), ends.at(where.topic, where.partition, ends.last_ms)
    if begin is None or end is None:
        return where.partition >= ends.partitions(where.topic)
    (begin_ms, first_end), offset = begin, made[-1].offset
    if end <= offset:
        return True
    return first_end <= offset and begin_ms <= min(ends.sampled_ms(SAMPLES), *(each.made_ms for each in made))


def _unread(end: int | None, offset: int) -> int | None:
    return None if end is None else max(0, end - offset)


class _Sum:
    """The lags of one group, as they come."""

    def __init__(self) -> None:
        self._partitions = 0
        self._lag: int | None = None
        self._lag_s: float | None = None
        self._verdicts: set[Verdict] = set()
        self._worst: Lag | None = None

    def add(self, found: Lag) -> None:
        """Add a lag."""
        self._partitions += 1
        self._verdicts.add(found.verdict)
        if found.lag is not None:
            self._lag = (self._lag or 0) + found.lag
        if found.lag_s is not None:
            self._lag_s = max(self._lag_s or 0.0, found.lag_s)
        if self._worst is None or _badness(found) > _badness(self._worst):
            self._worst = found

    def lag_of(self, group: str) -> GroupLag:
        """Return the sum."""
        verdict, worst = of_group(self._verdicts), self._worst
        assert worst is not None, group
        text = None if verdict is Verdict.OK else f"{worst.topic}-{worst.partition} {worst.verdict}: {worst.reason}"
        return GroupLag(group, self._partitions, self._lag, self._lag_s, verdict, text)


def _badness(found: Lag) -> tuple[int, int]:
    return _RANKS.get(found.verdict, 0), found.lag or 0


def group_lags(found: Iterable[Lag]) -> list[GroupLag]:
    """Return the lags of groups. Those of one group may come in any order; of two that are as bad, the first one counts."""
    sums: dict[str, _Sum] = {}
    for each in found:
        sums.setdefault(each.group, _Sum()).add(each)
    return [each.lag_of(group) for group, each in sums.items()]
