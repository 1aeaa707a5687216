"""ClassicGroup: members, protocols, generations, as an object."""

from __future__ import annotations

import pytest

from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.member import ClassicGroupMember
from coordinator_server.group.classic.state import VALID_PREVIOUS_STATES, ClassicGroupState
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.join_group import JoinGroupRequestProtocol
from tests.support.group import FakeReply

EMPTY, PREPARING, COMPLETING, STABLE, DEAD = ClassicGroupState


def protocols(*names: str) -> list[JoinGroupRequestProtocol]:
    return [JoinGroupRequestProtocol(name, name.encode()) for name in names]


def member(member_id: str, *names: str, instance_id: str | None = None) -> ClassicGroupMember:
    made = ClassicGroupMember(member_id, instance_id, "client", "host")
    made.protocol_type = "consumer"
    made.protocols = protocols(*(names or ("range",)))
    made.rebalance_timeout_ms = 1000
    return made


def group_of(*members: ClassicGroupMember, state: ClassicGroupState = PREPARING) -> ClassicGroup:
    group = ClassicGroup("g", EMPTY, 0)
    for each in members:
        group.add(each)
    group.state = state
    return group


@pytest.mark.parametrize("target", ClassicGroupState)
@pytest.mark.parametrize("state", ClassicGroupState)
def test_transitions(state: ClassicGroupState, target: ClassicGroupState) -> None:
    """Only the transitions of the table are possible; a transition remembers where it came from, and when."""
    group = group_of(state=state)

    if state in VALID_PREVIOUS_STATES[target]:
        group.transition_to(target, 7)
        assert (group.state, group.previous_state, group.current_state_timestamp) == (target, state, 7)
    else:
        with pytest.raises(AssertionError):
            group.transition_to(target, 7)


def test_the_table_of_transitions_is_kafkas() -> None:
    """DEAD is reached from everywhere, STABLE only through COMPLETING_REBALANCE."""
    assert {target: set(sources) for target, sources in VALID_PREVIOUS_STATES.items()} == {
        EMPTY: {PREPARING},
        PREPARING: {STABLE, COMPLETING, EMPTY},
        COMPLETING: {PREPARING},
        STABLE: {COMPLETING},
        DEAD: {EMPTY, PREPARING, COMPLETING, STABLE, DEAD},
    }


def test_the_states_in_which_a_rebalance_can_begin() -> None:
    """A rebalance can begin in every state but in one, and not in a dead group."""
    assert [group_of(state=state).can_rebalance for state in ClassicGroupState] == [True, False, True, True, False]


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ([("range",), ("range", "roundrobin")], "range"),
        ([("range", "roundrobin"), ("roundrobin", "range"), ("roundrobin", "range")], "roundrobin"),
        ([("sticky", "range"), ("range",)], "range"),
        # One vote each: as Kafka's HashMap has them, whoever came first.
        ([("range", "roundrobin"), ("roundrobin", "range")], "range"),
        ([("roundrobin", "range"), ("range", "roundrobin")], "range"),
        ([("range", "sticky"), ("sticky", "range")], "sticky"),
    ],
)
def test_select_protocol(members: list[tuple[str, ...]], expected: str) -> None:
    """The most votes win among the protocols that everybody supports."""
    group = group_of(*(member(f"m{number}", *names) for number, names in enumerate(members)))

    assert group.select_protocol() == expected


def test_supports_protocols() -> None:
    """An empty group supports anything; another one its type, and what all its members support."""
    assert group_of(state=EMPTY).supports_protocols("connect", protocols("x"))
    assert not group_of(state=EMPTY).supports_protocols("connect", [])
    assert not group_of(state=EMPTY).supports_protocols("", protocols("x"))

    group = group_of(member("a", "range", "sticky"), member("b", "range"))
    assert group.supports_protocols("consumer", protocols("x", "range"))
    assert not group.supports_protocols("consumer", protocols("sticky"))
    assert not group.supports_protocols("connect", protocols("range"))
    group.remove("b")
    assert group.supports_protocols("consumer", protocols("sticky"))


def test_update_counts_protocols_anew() -> None:
    """A member's new protocols replace its old ones."""
    changed = member("a", "range")
    group = group_of(changed)

    group.update(changed, protocols("sticky"), 5000, 6000)

    assert group.supports_protocols("consumer", protocols("sticky"))
    assert not group.supports_protocols("consumer", protocols("range"))
    assert (group.rebalance_timeout_ms, changed.session_timeout_ms) == (5000, 6000)


def test_the_slowest_member_sets_the_rebalance_timeout() -> None:
    """Without members there is nothing to wait for."""
    slow = member("b")
    slow.rebalance_timeout_ms = 9000

    assert group_of(member("a"), slow).rebalance_timeout_ms == 9000
    assert group_of().rebalance_timeout_ms == 0


def test_leader() -> None:
    """The first member leads; when it goes the next one does; in an empty group nobody does."""
    group = group_of(member("a"), member("b"))

    leaders = [group.leader_id]
    for member_id in ("a", "b"):
        group.remove(member_id)
        leaders.append(group.leader_id)

    assert leaders == ["a", "b", None]


@pytest.mark.parametrize(
    ("joined", "elected", "leader"), [("", False, "a"), ("b", True, "b"), ("ab", True, "a"), ("bc", True, "b")]
)
def test_elect_joined_leader(joined: str, elected: bool, leader: str) -> None:
    """A leader that joined stays; else the first member that did leads."""
    group = group_of(member("a"), member("b"), member("c"))
    for member_id in joined:
        group.await_join(group.members[member_id], FakeReply(9))

    assert (group.elect_joined_leader(), group.leader_id) == (elected, leader)


def test_next_generation() -> None:
    """With members the group waits for assignments by the protocol that was selected; who had to sync before need not any more."""
    group = group_of(member("a", "range"))
    group.pending_syncs["a"] = None

    group.start_next_generation(7)

    assert (group.generation_id, group.state, group.protocol_name, group.pending_syncs) == (1, COMPLETING, "range", {})


def test_next_generation_of_nobody() -> None:
    """Without members it is empty, and has no protocol."""
    group = group_of()
    group.protocol_name = "range"

    group.start_next_generation(7)

    assert (group.generation_id, group.state) == (1, EMPTY)
    assert not group.protocol_name


def test_has_all_members_joined() -> None:
    """Pending members count as missing."""
    only = member("a")
    group = group_of(only)

    states = [group.has_all_members_joined]
    group.await_join(only, FakeReply(9))
    states.append(group.has_all_members_joined)
    group.add_pending("b")
    states.append(group.has_all_members_joined)

    assert states == [False, True, False]


def test_a_pending_member_becomes_a_member() -> None:
    """It is never both."""
    group = group_of()
    group.add_pending("a")
    group.add_pending("b")

    group.add(member("a"))
    group.remove("b")

    assert group.pending_joins == {}


def test_removing_answers_who_waits() -> None:
    """Nobody's request is forgotten with the member."""
    going = member("a")
    group = group_of(going, state=COMPLETING)
    join, sync = FakeReply(9), FakeReply(5)
    group.await_join(going, join)
    group.await_sync(going, sync)

    group.remove("a")

    assert join.response.error_code == sync.response.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert group.awaiting_join_count == 0


def test_a_second_request_takes_the_place_of_the_first() -> None:
    """Only one waits, and is counted once; the other is answered."""
    only = member("a")
    group = group_of(only)
    first, second = FakeReply(9), FakeReply(9)

    group.await_join(only, first)
    group.await_join(only, second)

    assert first.response.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert not second.is_answered
    assert group.awaiting_join_count == 1


def test_replace_static_member() -> None:
    """The new member inherits place, leadership, assignment and pending sync; whoever waits under the old id is fenced."""
    old = member("old", instance_id="i")
    old.assignment = b"p0"
    group = group_of(old, member("other"), state=COMPLETING)
    group.pending_syncs["old"] = None
    join, sync = FakeReply(9), FakeReply(5)
    group.await_join(old, join)
    group.await_sync(old, sync)

    new = group.replace_static_member(old, "new")

    assert join.response.error_code == sync.response.error_code == ErrorCode.FENCED_INSTANCE_ID
    assert (list(group.members), group.leader_id, group.static_members) == (["new", "other"], "new", {"i": "new"})
    assert (new.assignment, list(group.pending_syncs), group.awaiting_join_count) == (b"p0", ["new"], 0)


@pytest.mark.parametrize(
    ("member_id", "instance_id", "error"),
    [
        ("static", "i", None),
        ("static", None, None),
        ("dynamic", None, None),
        ("dynamic", "i", ErrorCode.FENCED_INSTANCE_ID),
        ("strange", "i", ErrorCode.FENCED_INSTANCE_ID),
        ("static", "j", ErrorCode.UNKNOWN_MEMBER_ID),
        ("strange", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", None, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_validate_member(member_id: str, instance_id: str | None, error: ErrorCode | None) -> None:
    """The instance id is looked at first."""
    group = group_of(member("static", instance_id="i"), member("dynamic"))

    def found() -> str:
        return group.validate_member(member_id, instance_id).member_id

    if error is None:
        assert found() == member_id
    else:
        with pytest.raises(CoordinatorError) as refused:
            found()
        assert refused.value.error is error


def test_heartbeats_are_not_expected_of_who_waits() -> None:
    """Except of a new member, whose client may be gone."""
    waiting = member("a")
    group = group_of(waiting)

    states = [waiting.has_satisfied_heartbeat]
    group.await_join(waiting, FakeReply(9))
    states.append(waiting.has_satisfied_heartbeat)
    waiting.is_new = True
    states.append(waiting.has_satisfied_heartbeat)

    assert states == [False, True, False]
