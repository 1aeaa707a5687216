"""How much memory groups with offsets take while they live, and when they have come to rest: without a server, in one process.

    python -m bench.resting [--groups 25000,50000,100000] [--offsets 20] [--days 2] [--check 60] [--idle 300]

A day: the offsets of each group are committed, and at once again; then nobody commits for some minutes, in which passes visit the
groups. Time is the program's: it stands still while groups commit, so that none rests meanwhile. Each size has a process of its
own, in which the collector of garbage is set as in a server. Printed for each step of a day: resident memory above that of the
empty process, and the same by group; how many groups rest; seconds of processor; for passes, the longest step (ms of processor),
and when the last group had come to rest (seconds of the program's time). Then the exponents with which memory and time grow: 1 is
linear.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from bench.slopes import cells, numbers, width
from coordinator_server.cli.serve import calm_the_collector
from coordinator_server.group.group_type import GroupContext
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.block import RecordBlock
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.runtime.timers import ShardTimers, Timer, TimerQueue
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from tests.support.configs import config_with
from tests.support.group import FakeReply, GroupLog
from tests.support.processes import memory_mb

SHARDS: Final = 50
VERSION: Final = 8
_CONTEXT: Final = RequestContext("client", "127.0.0.1", 8, VERSION)


class Measured(NamedTuple):
    """What a step of a day came to: memory above that of the empty process (MB), groups at rest, seconds of processor, and of
    passes the longest step (ms of processor) and when the last group came to rest (s).
    """

    name: str
    memory_mb: float
    resting: int
    loop_s: float
    longest_ms: float
    rested_s: float


class _Shard:
    """A shard whose records are durable at once, and are written nowhere."""

    def __init__(self, context: GroupContext, queue: TimerQueue, fire: Callable[[_Shard, Timer], None]) -> None:
        self._registry = SnapshotRegistry()
        self._end = 0
        self._timers = ShardTimers(queue, context.clock, partial(fire, self))
        self.state = GroupShard(replace(context, timer=self._timers), self._registry)
        self.state.on_loaded()

    def take(self, result: CoordinatorResult[Any]) -> None:
        records = result.records
        if records:
            assert isinstance(records, RecordBlock)
            self._registry.snapshot(self._end)
            records.replay(self._end)
            self._end += len(records)
            self._registry.delete_up_to(self._end)

    def resting(self) -> int:
        # All of them, since there is no checkpoint.
        return self.state.groups.offsets.resting_count()


class Groups:
    """The groups of all shards of a loop."""

    def __init__(self, groups: int, offsets: int, check_s: int) -> None:
        self._groups, self._offsets = groups, offsets
        log = GroupLog(config_with(offsets_retention_check_interval_ms=1000 * check_s))
        log.topics.create(orders=offsets)
        self._clock, self._queue = log.clock, TimerQueue()
        # One of it for all, as in a loop: the steps of passes come one after the other.
        context = log.context
        self._shards = [_Shard(context, self._queue, self._fire) for _ in range(SHARDS)]
        self._round = 0
        self._loop_s = self._longest_ms = 0.0

    def commit(self) -> None:
        self._round += 1
        for number in range(self._groups):
            shard = self._shards[number % SHARDS]
            first = 1_000_000 * self._round + number
            rows = [OffsetCommitRequestPartition(index, first + index) for index in range(self._offsets)]
            request = OffsetCommitRequest(f"readers-{number:07d}", topics=[OffsetCommitRequestTopic("orders", partitions=rows)])
            shard.take(shard.state.commit_offsets(_CONTEXT, request, FakeReply(VERSION)))

    def pass_time(self, seconds: int) -> tuple[float, float, float]:
        """Let time pass. Return seconds of processor, the longest step in ms, and when the last group came to rest."""
        self._loop_s = self._longest_ms = 0.0
        began_ms = self._clock.now_ms()
        last_s, resting, until_ms = 0.0, self.resting(), began_ms
        for _ in range(seconds):
            until_ms += 1000
            while (due_ms := self._queue.next_due()) is not None and due_ms <= until_ms:
                self._clock.advance(max(due_ms - self._clock.now_ms(), 0))
                self._queue.run(self._clock.now_ms(), units=1)
            self._clock.advance(until_ms - self._clock.now_ms())
            if (now := self.resting()) != resting:
                last_s, resting = (until_ms - began_ms) / 1000, now
        return self._loop_s, self._longest_ms, last_s

    def resting(self) -> int:
        return sum(shard.resting() for shard in self._shards)

    def _fire(self, shard: _Shard, timer: Timer) -> None:
        began_s = time.thread_time()
        shard.take(timer.operation())
        took_s = time.thread_time() - began_s
        self._loop_s += took_s
        self._longest_ms = max(self._longest_ms, 1000 * took_s)


def measure(size: int, options: argparse.Namespace) -> Iterator[Measured]:
    """Yield the steps of all days."""
    groups = Groups(size, options.offsets, options.check)
    calm_the_collector()
    empty_mb = memory_mb(os.getpid())
    for day in range(1, options.days + 1):
        for name in ("commit", "again"):
            began_s = time.thread_time()
            groups.commit()
            spent_s = time.thread_time() - began_s
            yield Measured(f"day {day}: {name}", memory_mb(os.getpid()) - empty_mb, groups.resting(), spent_s, 0, 0)
        passes = groups.pass_time(options.idle)
        yield Measured(f"day {day}: {options.idle} s idle", memory_mb(os.getpid()) - empty_mb, groups.resting(), *passes)


def main() -> None:
    options = _options()
    if len(options.groups) == 1:
        for each in measure(options.groups[0], options):
            print(json.dumps(each), flush=True)
        return
    found: dict[str, list[Measured]] = {}
    for size in options.groups:
        same = [f"--{name}={getattr(options, name)}" for name in ("offsets", "days", "check", "idle")]
        command = [sys.executable, "-m", "bench.resting", f"--groups={size}", *same]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                each = Measured(*json.loads(line))
                found.setdefault(each.name, []).append(each)
                print(
                    f"{size:9,} {each.name:20}{each.memory_mb:8.1f} MB {(1 << 20) * each.memory_mb / size:6.0f} bytes a group"
                    f" {each.resting:9,} rest   {each.loop_s:6.2f} s   longest {each.longest_ms:5.1f} ms"
                    f"   the last rests at {each.rested_s:.0f} s",
                    file=sys.stderr,
                    flush=True,
                )
        assert process.returncode == 0
    print(f"{options.offsets} offsets in each of {', '.join(f'{size:,}' for size in options.groups)} groups. ^1 is linear")
    print(f"{'':20}" + "  ".join(f"{head:>{width(options.groups)}}" for head in ("MB", "s of the loop")))
    for name, rows in found.items():
        columns = (
            cells(options.groups, [row.memory_mb for row in rows], ".0f"),
            cells(options.groups, [row.loop_s for row in rows], ".2f"),
        )
        print(f"{name:20}" + "  ".join(columns))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.resting", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--groups", type=numbers, default=[25_000, 50_000, 100_000], metavar="N,N,N", help="at each size (%(default)s)"
    )
    parser.add_argument("--offsets", type=int, default=20, metavar="N", help="of each (%(default)s)")
    parser.add_argument("--days", type=int, default=2, metavar="N", help="(%(default)s)")
    parser.add_argument("--check", type=int, default=60, metavar="SECONDS", help="between passes (%(default)s; a server: 600)")
    parser.add_argument("--idle", type=int, default=300, metavar="SECONDS", help="of each day (%(default)s)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
