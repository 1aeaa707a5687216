"""Who holds up a rebalance, in every protocol: those who are late, and nobody else; since when, and when they are put out."""

from __future__ import annotations

from coordinator_server.group.holdup import (
    FIRST_DELAY,
    NOT_ASSIGNED,
    NOT_GIVEN_UP,
    NOT_HEARD,
    NOT_JOINED,
    NOT_JOINED_WITH_ID,
    Holdup,
)
from coordinator_server.group.shard import GroupShard
from tests.support.classic_members import ClassicMember, assignment
from tests.support.group import GroupLog
from tests.support.heartbeats import Beats, config_of
from tests.support.share_beats import ShareBeats
from tests.support.streams_beats import StreamsBeats


def held(log: GroupLog) -> list[Holdup]:
    return log.shard.holdups(log.committed_offset, ["g", "unknown"])


def two_members(beats: Beats) -> tuple[ClassicMember, ClassicMember]:
    """A stable group of two."""
    first, second = ClassicMember(beats), ClassicMember(beats)
    first.join()
    first.sync((first, assignment({"t": [0, 1]})))
    second.join()
    first.join()
    first.sync((first, assignment({"t": [0]})), (second, assignment({"t": [1]})))
    second.sync()
    assert held(beats.log) == []
    return first, second


def test_a_member_that_has_not_joined_again_holds_up_the_others() -> None:
    """Not those that have, nor the newcomer. It is put out when its session ends, or the join phase."""
    beats = Beats(t=2)
    first, second = two_members(beats)
    begun_ms = beats.log.clock.wall_ms()
    newcomer = ClassicMember(beats)
    newcomer.join()
    beats.log.advance(4_000)
    first.join()

    [late] = held(beats.log)

    assert (late.member_id, late.what, late.state) == (second.member_id, NOT_JOINED, "PreparingRebalance")
    assert (late.client_id, late.client_host) == ("client", "127.0.0.1")
    assert (late.since_ms, late.out_in_ms) == (begun_ms, 6_000)
    second.heartbeat()
    assert held(beats.log)[0].out_in_ms == 10_000
    beats.log.advance(9_000)
    second.heartbeat()
    assert held(beats.log)[0].out_in_ms == 7_000
    second.join()
    assert NOT_JOINED not in {each.what for each in held(beats.log)}


def test_an_id_that_nobody_uses_holds_up_a_group() -> None:
    """Its client is not known yet."""
    beats = Beats(t=2)
    first, second = two_members(beats)
    newcomer, silent = ClassicMember(beats), ClassicMember(beats)
    newcomer.join()
    given = silent.ask_to_join().response.member_id
    first.join()
    second.join()

    assert [(each.member_id, each.what, each.out_in_ms) for each in held(beats.log)] == [(given, NOT_JOINED_WITH_ID, 10_000)]


def test_a_leader_that_sends_no_assignments_holds_up_a_group() -> None:
    beats = Beats(t=2)
    first, second = two_members(beats)
    newcomer = ClassicMember(beats)
    newcomer.join()
    first.join()
    second.join()
    newcomer.sync()

    [late] = held(beats.log)

    assert (late.member_id, late.what, late.state) == (first.member_id, NOT_ASSIGNED, "CompletingRebalance")
    assert late.out_in_ms == 10_000


def test_a_static_member_is_put_out_by_its_session_alone() -> None:
    beats = Beats(t=2)
    static = ClassicMember(beats, instance_id="i", session_timeout_ms=60_000)
    static.join()
    static.sync((static, assignment({"t": [0, 1]})))
    ClassicMember(beats).join()

    [late] = held(beats.log)

    assert (late.group_instance_id, late.what, late.out_in_ms) == ("i", NOT_JOINED, 60_000)


def test_the_first_delay_is_nobodys_fault() -> None:
    beats = Beats(config_of(group_initial_rebalance_delay_ms="3000"), t=2)
    ClassicMember(beats).join()
    beats.log.advance(1_000)

    assert [(each.member_id, each.what, each.out_in_ms) for each in held(beats.log)] == [("", FIRST_DELAY, 2_000)]


def test_a_member_that_gives_up_nothing_holds_up_a_consumer_group() -> None:
    """Its rebalance timeout began with the answer that told it; heartbeats do not help. Who waits for it is not named."""
    beats = Beats(t=4)
    first = beats.member("a", rebalance_timeout_ms=20_000)
    first.join()
    beats.member("b").join()
    [behind] = held(beats.log)
    assert (behind.member_id, behind.what) == ("a", f"{NOT_HEARD} {beats.group.assignment_epoch}")
    asked_ms = beats.log.clock.wall_ms()
    first.beat()
    beats.log.advance(5_000)
    first.beat()

    [late] = held(beats.log)

    assert (late.member_id, late.what, late.partitions) == ("a", NOT_GIVEN_UP, {"t": [2, 3]})
    assert (late.since_ms, late.out_in_ms) == (asked_ms, 15_000)
    beats.settle()
    assert held(beats.log) == []


def test_a_member_that_does_not_ask_for_its_share_holds_up_a_share_group() -> None:
    """Since its last heartbeat."""
    beats = ShareBeats(t=2)
    first, second = beats.member("a"), beats.member("b")
    first.join()
    beats.settle()
    beats.log.advance(1_000)
    asked_ms = beats.log.clock.wall_ms()
    first.beat()
    beats.log.advance(2_000)
    second.join()
    beats.initialize()

    late = [each for each in held(beats.log) if each.member_id == "a"]

    assert [(each.since_ms, each.what.startswith(NOT_HEARD)) for each in late] == [(asked_ms, True)]
    beats.settle()
    assert held(beats.log) == []


def test_a_member_that_keeps_tasks_holds_up_a_streams_group() -> None:
    """Until its rebalance timeout. The one that waits for them does not."""
    beats = StreamsBeats(t=4)
    [first] = beats.joined("a")
    second = beats.member("b")
    second.join()
    [behind] = held(beats.log)
    assert (behind.type, behind.member_id, behind.what) == ("streams", "a", f"{NOT_HEARD} {beats.group.assignment_epoch}")
    asked_ms = beats.log.clock.wall_ms()
    first.beat_with_tasks()
    beats.log.advance(5_000)

    [late] = held(beats.log)
    assert (late.member_id, late.what, late.partitions) == ("a", NOT_GIVEN_UP, {"task 0": [2, 3]})
    assert (late.since_ms, late.out_in_ms) == (asked_ms, 40_000)
    beats.settle()
    assert held(beats.log) == []


def test_operation_names_no_settled_group() -> None:
    beats = Beats(t=2)
    beats.member("a").join()

    assert GroupShard.holdups(beats.log.shard, 0, ["g"]) == []
