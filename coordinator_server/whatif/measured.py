"""The silences of a group's members that the server has measured (``server/hosting/silence_files.py``), and when it has."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from coordinator_server.kinds import GROUPS
from coordinator_server.server.hosting.silence_files import Cover, Measured, Silent, read_measured


class Stretch(NamedTuple):
    """A time in which nothing was measured. ``until_ms`` is None if its end is unknown."""

    since_ms: int
    until_ms: int | None


class MeasuredSilences:
    """What is known of silences of at least ``session_ms`` of one group in one shard."""

    def __init__(self, measured: Iterable[Measured], group_id: str, shard: str, session_ms: int) -> None:
        partition = int(shard.removeprefix(f"{GROUPS.topic}-"))
        self._session_ms = session_ms
        self.silences: list[Silent] = []
        covers: list[Cover] = []
        for each in measured:
            if each.least_ms <= session_ms:
                covers += [cover for cover in each.covers if partition in cover.shards]
            own = (silent for silent in each.silences if silent.group_id == group_id)
            self.silences += [silent for silent in own if silent.until_ms - silent.since_ms >= session_ms]
        self._covers = list(_joined(sorted(covers, key=lambda cover: (cover.since_ms, cover.until_ms))))
        self._ends = [cover.until_ms for cover in self._covers]

    def unmeasured(self, since_ms: int, until_ms: int | None, limit_ms: int | None) -> Iterator[Stretch]:
        """Yield the times between two moments in which nothing was measured; without an end, up to ``limit_ms`` if there is one.

        Who was silent when the server crashed may have been so before, for less than a session.
        """
        begin_ms, last_ms = since_ms, limit_ms if until_ms is None else until_ms
        for cover in self._covers[bisect_right(self._ends, since_ms) :]:
            if last_ms is not None and cover.since_ms >= last_ms:
                break
            if cover.since_ms > begin_ms:
                yield Stretch(begin_ms, cover.since_ms)
            begin_ms = cover.until_ms if cover.is_over else max(since_ms, cover.until_ms - self._session_ms)
            if last_ms is not None and cover.until_ms >= last_ms:
                return
        yield Stretch(begin_ms, until_ms)


def _joined(covers: Iterable[Cover]) -> Iterator[Cover]:
    """Join what follows without a time between. After the shard was given up, no silence was possible until it was loaded again."""
    last: Cover | None = None
    for cover in covers:
        if last is None:
            last = cover
        elif cover.since_ms <= last.until_ms or last.is_over:
            newer = cover if cover.until_ms >= last.until_ms else last
            last = Cover(last.since_ms, newer.until_ms, cover.shards, newer.is_over)
        else:
            yield last
            last = cover
    if last is not None:
        yield last


def measured_silences(data_dir: Path, group_id: str, shard: str, session_ms: int) -> MeasuredSilences:
    """Return what a directory has of a group in a shard; nothing, if its server did not measure."""
    return MeasuredSilences(read_measured(data_dir), group_id, shard, session_ms)
