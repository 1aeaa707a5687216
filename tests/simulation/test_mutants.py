"""The checkers can fail: servers that break one promise each are caught, on seeds of which the sound server passes all."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from coordinator_server.log.errors import LogError
from coordinator_server.log.storage import File, write_all
from coordinator_server.log.write.journal_writer import Written
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.wire.order import Order
from protocol.error_codes import ErrorCode
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.offset_fetch import OffsetFetchRequest
from protocol.messages.sync_group import SyncGroupRequest
from tests.simulation.broken_rules import must_be_seen
from tests.simulation.history import Op
from tests.simulation.machine import Clock, Process, Writer
from tests.simulation.play import STORM_S, Play
from tests.simulation.verdict import faults

MOST_SEEDS = 40


class HastyWriter(Writer):
    """Says that a write is durable when it is not synced."""

    def write(self, file: File, data: bytes, position: int, done: Written, /) -> None:
        outcome: LogError | None = None
        try:
            write_all(file, data, position)
        except OSError:
            outcome = LogError("no")
        self._tell(outcome, data)
        done(outcome)


class ForgetfulWriter(Writer):
    """Says that a write is durable, and does not write it at all, once in ten times."""

    def write(self, file: File, data: bytes, position: int, done: Written, /) -> None:
        if self._process.world.rng.random() < 0.1:
            done(None)
        else:
            super().write(file, data, position, done)


class SlowClock(Clock):
    """Sessions are over much too late."""

    def now_ms(self) -> int:
        return super().now_ms() // 8


def hasty(play: Play) -> None:
    play.machine.make_writer = HastyWriter


def forgetful(play: Play) -> None:
    play.machine.make_writer = ForgetfulWriter


def hurried(play: Play) -> None:
    """Sessions are over too soon."""

    def shorten(op: Op) -> None:
        process = play.machine.serving
        if isinstance(op.request, JoinGroupRequest) and process is not None:
            for shard in process.daemon.rooms.hosting.node.groups._contexts.values():
                for group_id in shard.shard.groups.ids():
                    group = shard.shard.groups.classic.living(group_id)
                    for member in group.members.values() if group is not None else ():
                        member.session_timeout_ms = 500

    play.stage.answered = shorten


def slow(play: Play) -> None:
    play.machine.make_clock = SlowClock


def generations_begin_again(play: Play) -> None:
    def forget(process: Process) -> None:
        for shard in process.daemon.rooms.hosting.node.groups._contexts.values():
            for group_id in shard.shard.groups.ids():
                group = shard.shard.groups.classic.living(group_id)
                if group is not None:
                    group.generation_id = 0

    play.machine.when_serving = forget


def state_is_not_the_log(play: Play) -> None:
    def forget(process: Process) -> None:
        for shard in process.daemon.rooms.hosting.node.groups._contexts.values():
            if shard.shard.groups.classic.stored:
                shard.shard.groups.classic.stored.pop(min(shard.shard.groups.classic.stored), None)

    play.machine.when_serving = forget


def everybody_leads(play: Play) -> None:
    def alter(op: Op) -> None:
        if isinstance(op.request, JoinGroupRequest) and op.response.error_code == 0 and play.rng.random() < 0.2:
            op.response.leader = op.response.member_id

    play.stage.answered = alter


def assignments_get_lost(play: Play) -> None:
    def alter(op: Op) -> None:
        if isinstance(op.request, SyncGroupRequest) and op.response.error_code == 0 and play.rng.random() < 0.2:
            op.response.assignment = b""

    play.stage.answered = alter


def stale_is_as_good(play: Play) -> None:
    def alter(op: Op) -> None:
        if isinstance(op.request, HeartbeatRequest) and op.response.error_code == ErrorCode.ILLEGAL_GENERATION:
            op.response.error_code = 0

    play.stage.answered = alter


def refused_all_the_same(play: Play) -> None:
    def alter(op: Op) -> None:
        if isinstance(op.request, OffsetCommitRequest) and play.rng.random() < 0.05:
            for topic in op.response.topics:
                for partition in topic.partitions:
                    partition.error_code = ErrorCode.ILLEGAL_GENERATION

    play.stage.answered = alter


def offsets_are_old(play: Play) -> None:
    seen: dict[tuple[str, str, int], int] = {}

    def alter(op: Op) -> None:
        if isinstance(op.request, OffsetFetchRequest):
            for group in op.response.groups:
                for topic in group.topics:
                    for partition in topic.partitions:
                        position = (group.group_id, topic.name, partition.partition_index)
                        partition.committed_offset = seen.setdefault(position, partition.committed_offset)

    play.stage.answered = alter


def offsets_are_invented(play: Play) -> None:
    def alter(op: Op) -> None:
        if isinstance(op.request, OffsetFetchRequest) and play.rng.random() < 0.1:
            for group in op.response.groups:
                for topic in group.topics:
                    for partition in topic.partitions:
                        partition.committed_offset += 1_000_000

    play.stage.answered = alter


def times_are_those_of_the_clock(play: Play) -> None:
    def forget(op: Op) -> None:
        process = play.machine.serving
        for shard in process.daemon.rooms.hosting.node.groups._contexts.values() if process is not None else ():
            shard.last_ms = 0

    play.stage.answered = forget


def requests_overtake(play: Play) -> None:
    """A request starts whatever is unanswered before it."""

    def hurry(process: Process) -> None:
        dispatcher = process.daemon.rooms.wire.listener._dispatch
        assert isinstance(dispatcher, Dispatcher)
        dispatcher._rows = {key: replace(row, order=Order.FREE) for key, row in dispatcher._rows.items()}

    play.machine.when_serving = hurry


# With the seed at which to begin: many do not show it.
MUTANTS: list[tuple[Callable[[Play], None], str, int]] = [
    (hasty, "what was durable is not there any more", 7),
    (forgetful, "digest", 0),
    (hurried, "was let go", 0),
    (slow, "is still there", 1),
    (generations_begin_again, "goes back from generation", 6),
    (generations_begin_again, "went back", 6),
    (state_is_not_the_log, "digest", 0),
    (everybody_leads, "were told differently", 1),
    (assignments_get_lost, "got what no leader gave them", 1),
    (stale_is_as_good, "was taken, though", 2),
    (refused_all_the_same, "was refused", 0),
    (offsets_are_old, "no order explains", 0),
    (offsets_are_invented, "which nobody committed", 0),
    (times_are_those_of_the_clock, "back in time", 0),
    (requests_overtake, "no order explains", 0),
]


@pytest.mark.parametrize(("mutate", "words", "first"), MUTANTS, ids=lambda each: getattr(each, "__name__", each))
def test_a_broken_promise_is_seen(mutate: Callable[[Play], None], words: str, first: int) -> None:
    """Before so many seeds have been played."""

    def run(seed: int) -> list[str]:
        play = Play(seed, STORM_S)
        mutate(play)
        return faults(play.run())

    must_be_seen(run, words, first, MOST_SEEDS)
