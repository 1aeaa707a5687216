"""Measures how long members of groups are silent, for questions about shorter sessions (``server/hosting/silence_files.py``).

The timers of sessions do it: whoever arms one again was silent since it was armed. A heartbeat pays a comparison; only what follows
a silence that the shortest session would not outlast is noted, and written once a minute by a thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Final

import structlog

from coordinator_server.kinds import GROUPS
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.shard import Clock, CoordinatorResult, CoordinatorTimer
from coordinator_server.runtime.silences import UNMEASURED, ShardSilences
from coordinator_server.server.hosting.silence_files import Cover, Measured, SilenceFiles, Silent
from coordinator_server.worker import Worker

log = structlog.get_logger(__name__)

SESSIONS: Final = frozenset({"session", "consumer-session"})
"""The names of the timers that are sessions of classic members, and of members of consumer groups."""
MOST: Final = 1000
"""Of more silences in a minute, only the longer ones are kept: shorter sessions than these cannot be judged then."""
EVERY_MS: Final = 60_000
SOON_MS: Final = 1000
"""When a shard is loaded, that is written soon: a crash before the first minute must not look like a time without a server."""
_TIMER: Final = "silences"


class Silences:
    """Those of the shards of a loop. ``least_ms`` is the shortest session that members may have."""

    def __init__(self, files: SilenceFiles, least_ms: int, clock: Clock, timer: CoordinatorTimer, worker: Worker) -> None:
        self.least_ms = least_ms
        self._files = files
        self._clock = clock
        self._timer = timer
        self._worker = worker
        self._since: dict[int, int] = {}
        self._over: list[Cover] = []
        self._silences: list[Silent] = []
        # Raised while there are too many, until they are written.
        self._kept_ms = least_ms
        self._to_write: deque[Measured] = deque()

    def of(self, shard: ShardId) -> ShardSilences:
        """Measure the silences of a shard from now on, if it has groups."""
        if shard.topic != GROUPS.topic:
            return UNMEASURED
        self._since[shard.partition] = self._clock.wall_ms()
        self._timer.schedule(_TIMER, min(SOON_MS, self.least_ms), self._flush)
        return _OfShard(self, shard.partition)

    def note(self, group_id: str, member_id: str, since_ms: int, until_ms: int) -> None:
        """Take a silence. Times are of the timers."""
        if until_ms - since_ms < self._kept_ms:
            return
        ahead_ms = self._clock.wall_ms() - self._clock.now_ms()
        self._silences.append(Silent(group_id, member_id, since_ms + ahead_ms, until_ms + ahead_ms))
        if len(self._silences) > MOST:
            self._silences = sorted(self._silences, key=_length)[len(self._silences) // 2 :]
            self._kept_ms = _length(self._silences[0]) + 1

    def end(self, partition: int) -> None:
        """The shard is given up, perhaps once more: all its silences have been noted."""
        since_ms, now_ms = self._since.pop(partition, None), self._clock.wall_ms()
        if since_ms is not None:
            self._over.append(Cover(since_ms, max(since_ms, now_ms), (partition,), is_over=True))

    def close(self) -> None:
        """Write what is left. All shards have been given up."""
        self._worker.close()
        self._collect()
        self._write()

    def _flush(self) -> CoordinatorResult[None]:
        self._collect()
        self._worker.run(self._write)
        self._timer.schedule(_TIMER, EVERY_MS, self._flush)
        return CoordinatorResult(None)

    def _collect(self) -> None:
        """Make a line of what was measured since the last one."""
        now_ms = self._clock.wall_ms()
        together: dict[int, list[int]] = {}
        for partition, since_ms in self._since.items():
            together.setdefault(min(since_ms, now_ms), []).append(partition)
        covers = [Cover(since_ms, now_ms, tuple(shards)) for since_ms, shards in together.items()]
        covers += self._over
        if covers:
            self._to_write.append(Measured(now_ms, self._kept_ms, covers, self._silences))
        self._since = dict.fromkeys(self._since, now_ms)
        self._over, self._silences, self._kept_ms = [], [], self.least_ms

    def _write(self) -> None:
        while self._to_write:
            try:
                self._files.write(self._to_write.popleft())
            except OSError as error:
                log.warning("silences-not-written", why=str(error), effect="no shorter session is known to last in this minute")


class _OfShard:
    """Those of one shard."""

    __slots__ = ("_all", "_partition", "least_ms")

    def __init__(self, silences: Silences, partition: int) -> None:
        self.least_ms = silences.least_ms
        self._all = silences
        self._partition = partition

    def note(self, key: Hashable, since_ms: int, until_ms: int, /) -> None:
        """Take a silence, if the timer is that of a session."""
        match key:
            case (str(name), str(group_id), str(member_id)) if name in SESSIONS:
                self._all.note(group_id, member_id, since_ms, until_ms)

    def end(self) -> None:
        """Give the shard up."""
        self._all.end(self._partition)


def _length(silence: Silent) -> int:
    return silence.until_ms - silence.since_ms


def open_silences(files: SilenceFiles, least_ms: int, clock: Clock, timer: CoordinatorTimer, worker: Worker) -> Silences | None:
    """Return what measures silences. If none are kept, return None, and remove those that there are."""
    if files.keep_days:
        return Silences(files, max(1, least_ms), clock, timer, worker)
    try:
        files.remove(clock.wall_ms())
    except OSError as error:
        effect = "what-if may take a time that was not measured for one without a server"
        log.warning("silences-not-removed", why=str(error), effect=effect)
    return None
