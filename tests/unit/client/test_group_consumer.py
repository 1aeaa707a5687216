"""The rules of Kafka's ConsumerCoordinator: what is revoked and assigned when, in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest

from coordinator_server.client import (
    Assignor,
    CooperativeStickyAssignor,
    GroupConsumer,
    InvalidSettings,
    RangeAssignor,
    Refused,
    RoundRobinAssignor,
    TopicPartition,
)
from coordinator_server.client.consumer.subscription import (
    Subscription,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from protocol.error_codes import ErrorCode
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from protocol.messages.metadata import MetadataRequest
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from tests.support.recording_coordinator import GROUP, SETTINGS
from tests.support.scripted_coordinator import ScriptedCoordinator, heartbeat
from tests.support.virtual_time import run_virtual

EAGER: Sequence[Assignor] = (RangeAssignor(), CooperativeStickyAssignor())
COOPERATIVE: Sequence[Assignor] = (CooperativeStickyAssignor(),)


class Consumer(GroupConsumer):
    """Notes what it is told; one callback that is named in ``failures`` raises."""

    def __init__(self, server: ScriptedCoordinator, assignors: Sequence[Assignor]) -> None:
        super().__init__(SETTINGS, GROUP, ["t"], assignors=assignors, environment=server.environment)
        self.told: list[str] = []
        self.failures: dict[str, Exception] = {}

    def on_assigned(self, partitions: frozenset[TopicPartition]) -> None:
        self._note("assigned", partitions)

    async def on_revoked(self, partitions: frozenset[TopicPartition]) -> None:
        self._note("revoked", partitions)

    def on_partitions_lost(self, partitions: frozenset[TopicPartition]) -> None:
        self._note("lost", partitions)

    def take(self) -> list[str]:
        told, self.told = self.told, []
        return told

    def _note(self, what: str, partitions: frozenset[TopicPartition]) -> None:
        self.told.append(f"{what} {' '.join(f'{topic}{index}' for topic, index in sorted(partitions))}".strip())
        if (failure := self.failures.pop(what, None)) is not None:
            raise failure


Body = Callable[[ScriptedCoordinator, Consumer], Coroutine[Any, Any, None]]


def play(body: Body, assignors: Sequence[Assignor] = COOPERATIVE) -> None:
    """Run a test with a group of one member, on a topic of three partitions."""

    async def main() -> None:
        server = ScriptedCoordinator()
        server.topics = {"t": 3, "u": 1}
        async with Consumer(server, assignors) as consumer:
            await consumer.ensure_active_group()
            assert consumer.take() == ["assigned t0 t1 t2"]
            await body(server, consumer)

    run_virtual(main())


def given(*indexes: int, topic: str = "t") -> SyncGroupResponse:
    """Answer a sync with these partitions."""
    return SyncGroupResponse(assignment=encode_assignment(TopicPartition(topic, index) for index in indexes))


def subscriptions(server: ScriptedCoordinator) -> list[tuple[int, list[int]]]:
    """Return the generation and the owned partitions of each join."""
    read = [decode_subscription(each.protocols[0].metadata) for each in server.asked(JoinGroupRequest)]
    return [(each.generation_id, [index for _, index in each.owned]) for each in read]


def test_a_cooperative_member_gives_up_what_moves_and_rejoins() -> None:
    """It keeps the rest through the rebalance, and says in which generation it got it."""

    async def body(server: ScriptedCoordinator, consumer: Consumer) -> None:
        server.script[SyncGroupRequest] += [given(0, 1), given(0, 1)]
        consumer.request_rejoin("a newcomer")
        await consumer.ensure_active_group()

        assert consumer.take() == ["revoked t2", "assigned", "assigned"]
        assert subscriptions(server)[-2:] == [(1, [0, 1, 2]), (2, [0, 1])]
        assert server.asked(JoinGroupRequest)[-1].reason == "need to revoke partitions and re-join"
        assert len(consumer.assignment) == 2

    play(body)


def test_an_eager_member_gives_up_everything_before() -> None:
    """One assignor that is not cooperative makes it eager."""

    async def body(server: ScriptedCoordinator, consumer: Consumer) -> None:
        server.script[SyncGroupRequest].append(given(0))
        consumer.request_rejoin("a newcomer")
        await consumer.ensure_active_group()

        assert consumer.take() == ["revoked t0 t1 t2", "assigned t0"]
        assert subscriptions(server)[-1] == (1, [])

    play(body, EAGER)


@pytest.mark.parametrize("assignors", [COOPERATIVE, EAGER], ids=["cooperative", "eager"])
def test_what_is_lost_is_not_revoked(assignors: Sequence[Assignor]) -> None:
    async def body(server: ScriptedCoordinator, consumer: Consumer) -> None:
        server.script[HeartbeatRequest].append(heartbeat(ErrorCode.UNKNOWN_MEMBER_ID))
        assert await consumer.wait_for_rejoin(20)
        await consumer.ensure_active_group()

        assert consumer.take() == ["lost t0 t1 t2", "assigned t0 t1 t2"]
        assert subscriptions(server)[-1] == (-1, [])

    play(body, assignors)


def test_a_failed_revocation_is_raised_after_the_assignment() -> None:
    """And not repeated, as in Kafka."""

    async def body(server: ScriptedCoordinator, consumer: Consumer) -> None:
        server.script[SyncGroupRequest] += [given(0), given(0)]
        consumer.request_rejoin("a newcomer")
        consumer.failures["revoked"] = ValueError("mine")
        with pytest.raises(ValueError, match="mine"):
            await consumer.ensure_active_group()
        assert consumer.take() == ["revoked t1 t2", "assigned"]
        await consumer.ensure_active_group()

        assert "revoked t1 t2" not in consumer.take()
        assert consumer.assignment == {TopicPartition("t", 0)}

    play(body)


def test_a_failed_assignment_is_told_again_without_its_partitions() -> None:
    """They are assigned by then, as in Kafka."""

    async def body(server: ScriptedCoordinator, consumer: Consumer) -> None:
        server.script[SyncGroupRequest] += [given(0), given(0), given(0, 1)]
        consumer.request_rejoin("a newcomer")
        await consumer.ensure_active_group()
        consumer.take()
        consumer.request_rejoin("it has gone")
        consumer.failures["assigned"] = ValueError("mine")
        with pytest.raises(ValueError, match="mine"):
            await consumer.ensure_active_group()
        await consumer.ensure_active_group()

        assert consumer.take() == ["assigned t1", "assigned"]
        assert len(consumer.assignment) == 2

    play(body)


def test_topics_that_are_not_subscribed_any_more_are_revoked_first() -> None:
    async def body(server: ScriptedCoordinator, consumer: Consumer) -> None:
        consumer.subscribe(["u"])
        assert consumer.topics == ("u",)
        await consumer.ensure_active_group()

        assert consumer.take() == ["revoked t0 t1 t2", "assigned u0"]

    play(body)


def test_an_assignment_of_other_topics_is_not_taken() -> None:
    """It was made for an older subscription: the member rejoins."""

    async def body(server: ScriptedCoordinator, consumer: Consumer) -> None:
        server.script[SyncGroupRequest].append(given(0, topic="old"))
        consumer.request_rejoin("a rebalance")
        await consumer.ensure_active_group()

        assert server.asked(JoinGroupRequest)[-1].reason == "received assignment does not match the current subscription"
        assert consumer.take() == ["assigned"]

    play(body)


def test_the_leader_notices_new_partitions() -> None:
    """Every five minutes; and an error in between changes nothing."""

    async def body(server: ScriptedCoordinator, consumer: Consumer) -> None:
        asked = len(server.asked(MetadataRequest))
        assert not await consumer.wait_for_rejoin(5)
        assert len(server.asked(MetadataRequest)) == asked
        assert not await consumer.wait_for_rejoin(400)
        server.topics["t"] = 4
        assert await consumer.wait_for_rejoin(400)
        await consumer.ensure_active_group()

        assert consumer.take() == ["assigned t3"]
        assert server.asked(JoinGroupRequest)[-1].reason == "the number of partitions has changed"

    play(body)


def test_who_does_not_lead_any_more_looks_for_no_partitions() -> None:
    """The new leader does."""

    async def body(server: ScriptedCoordinator, consumer: Consumer) -> None:
        server.script[JoinGroupRequest].append(lambda request: server.joined(request, leader="other"))
        consumer.request_rejoin("a newcomer")
        await consumer.ensure_active_group()
        server.topics["t"] = 4

        assert not await consumer.wait_for_rejoin(400)

    play(body)


def with_a_newcomer(server: ScriptedCoordinator, request: JoinGroupRequest, *, has: Sequence[int]) -> JoinGroupResponse:
    """Answer a join with a second member, which has these partitions since a later generation."""
    answer = server.joined(request)
    claims = Subscription(("t",), tuple(TopicPartition("t", index) for index in has), 100)
    answer.members.append(JoinGroupResponseMember("other", None, encode_subscription(claims)))
    return answer


def test_the_leader_ends_a_move_that_nobody_ends() -> None:
    """The last owner of a partition has a session to begin the second rebalance. It may have died, and come back without one."""

    async def body(server: ScriptedCoordinator, consumer: Consumer) -> None:
        server.script[JoinGroupRequest].append(lambda request: with_a_newcomer(server, request, has=(0, 1, 2)))
        server.script[SyncGroupRequest].append(given(0, 1, 2))
        consumer.request_rejoin("a newcomer")
        await consumer.ensure_active_group()
        assert not await consumer.wait_for_rejoin(GROUP.session_timeout_s - 1)
        assert await consumer.wait_for_rejoin(2)
        await consumer.ensure_active_group()

        assert server.asked(JoinGroupRequest)[-1].reason == "partitions that were revoked have no owner yet"
        # Now everything has an owner.
        assert not await consumer.wait_for_rejoin(60)

    play(body)


@pytest.mark.parametrize("what", ["nothing moves", "a later generation", "not the leader"])
def test_a_finished_cooperative_rebalance_is_not_finished_again(what: str) -> None:
    async def body(server: ScriptedCoordinator, consumer: Consumer) -> None:
        has = (0, 1) if what == "nothing moves" else (0, 1, 2)
        server.script[JoinGroupRequest].append(lambda request: with_a_newcomer(server, request, has=has))
        server.script[SyncGroupRequest] += [given(2)] * 2 if what == "nothing moves" else [given(0, 1, 2)]
        consumer.request_rejoin("a newcomer")
        await consumer.ensure_active_group()
        if what != "nothing moves":
            leader = "other" if what == "not the leader" else ""
            server.script[JoinGroupRequest].append(lambda request: server.joined(request, leader=leader))
            consumer.request_rejoin("a later one")
            await consumer.ensure_active_group()

        assert not await consumer.wait_for_rejoin(60)

    play(body)


def returned(assignors: Sequence[Assignor], topics: dict[str, int], body: Body) -> None:
    """Run a test with a static leader that has come back: it keeps its assignment."""

    async def main() -> None:
        server = ScriptedCoordinator()
        server.topics = topics
        server.script[JoinGroupRequest] += [server.plain_answer, lambda request: server.joined(request, skip_assignment=True)]
        server.script[SyncGroupRequest].append(given(0, 1))
        async with Consumer(server, assignors) as consumer:
            await consumer.ensure_active_group()
            await body(server, consumer)

    run_virtual(main())


def test_a_static_leader_that_comes_back_rebalances_a_cooperative_group() -> None:
    """It may have died in a move, which it does not know (KIP-814)."""

    async def body(server: ScriptedCoordinator, consumer: Consumer) -> None:
        assert consumer.take() == ["assigned t0 t1", "assigned t2"]
        assert subscriptions(server)[-1] == (1, [0, 1])
        assert len(server.asked(SyncGroupRequest)) == 2
        assert not await consumer.wait_for_rejoin(60)

    returned(COOPERATIVE, {"t": 3}, body)


def test_a_static_leader_that_comes_back_watches_the_topics() -> None:
    """In an eager group nothing can be on its way: it does not rebalance."""

    async def body(server: ScriptedCoordinator, consumer: Consumer) -> None:
        assert consumer.take() == ["assigned t0 t1"]
        assert not await consumer.wait_for_rejoin(400)
        server.topics["t"] = 4
        assert await consumer.wait_for_rejoin(400)

    returned(EAGER, {"t": 2}, body)


def test_an_assignor_that_this_member_does_not_have_is_refused() -> None:
    async def body(server: ScriptedCoordinator, consumer: Consumer) -> None:
        def joined(request: JoinGroupRequest) -> Any:
            answer = server.joined(request, leader="other")
            answer.protocol_name = "uniform"
            return answer

        server.script[JoinGroupRequest].append(joined)
        consumer.request_rejoin("a rebalance")
        with pytest.raises(Refused, match="uniform"):
            await consumer.ensure_active_group()

    play(body)


def test_a_member_has_an_assignor() -> None:
    with pytest.raises(InvalidSettings):
        GroupConsumer(SETTINGS, GROUP, ["t"], assignors=())
    assert RoundRobinAssignor().user_data(1) is None


def test_partitions_are_revoked_before_it_leaves() -> None:
    async def body(_server: ScriptedCoordinator, consumer: Consumer) -> None:
        await consumer.close()

        assert consumer.take() == ["revoked t0 t1 t2"]
        assert consumer.assignment == frozenset()

    play(body)
