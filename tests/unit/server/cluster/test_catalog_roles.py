"""The catalog moves: nodes lead and follow in turn, and none of them forgets what was answered."""

from __future__ import annotations

import asyncio

import pytest

from coordinator_server.catalog.scram_users import SCRAM_USERS
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.server.cluster.catalog import PARTITION
from coordinator_server.server.cluster.catalog_feed import Session
from coordinator_server.server.cluster.messages import Attach, Attached
from coordinator_server.server.cluster.operations import CREATE_TOPICS
from protocol.error_codes import ErrorCode
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from tests.support.catalog_nodes import NODES, Cluster, played
from tests.support.loops import CONTEXT
from tests.support.runtime import Outcome


def test_the_catalog_moves_to_a_node_that_followed() -> None:
    """All nodes have what was answered by each owner, and forward to the present one."""

    async def play(cluster: Cluster) -> None:
        await cluster.begin()
        assert (await cluster.create(cluster.nodes[1], "a")).is_answered
        await cluster.release()
        await cluster.acquire(1)
        await cluster.settle()
        assert (await cluster.create(cluster.nodes[0], "b")).is_answered
        assert (await cluster.create(cluster.nodes[2], "c")).is_answered
        await cluster.release()
        await cluster.acquire(0)
        await cluster.settle()

        assert (await cluster.create(cluster.nodes[1], "d")).is_answered
        assert [node.names for node in cluster.nodes] == [["a", "b", "c", "d"]] * NODES
        assert [node.roles.is_leading for node in cluster.nodes] == [True, False, False]
        assert all(node.roles.is_current for node in cluster.nodes)

    played(play)


def test_a_node_that_joins_anew_answers_nobody_until_it_is_attached() -> None:
    """As the process that it is now: what was granted to the one before is known to be over."""

    async def play(cluster: Cluster) -> None:
        owner = await cluster.begin()
        node = cluster.nodes[2]
        assert node.gate.is_open()
        node.who.incarnation = 2
        node.roles.begin_anew()
        assert not node.gate.is_open()
        await cluster.settle()

        assert {each.loop: each.incarnation for each in owner.server._sessions} == {1: 1, 2: 2}

    played(play)


def test_a_node_whose_lease_is_over_leads_when_it_has_one() -> None:
    """It has been given the catalog meanwhile. Until then it follows nobody, and is no controller."""

    async def play(cluster: Cluster) -> None:
        await cluster.create(await cluster.begin(), "a")
        await cluster.release()
        node = cluster.nodes[1]
        cluster.epoch, cluster.owner = cluster.epoch + 1, 1
        node.runtime.load(PARTITION, cluster.epoch)
        await cluster.settle()
        node.runtime.suspend(True)
        with pytest.raises(CoordinatorError):
            await node.roles.lead()
        assert not node.roles.is_leading

        node.runtime.suspend(False)
        await node.roles.lead()
        await cluster.settle()
        assert [each.names for each in cluster.nodes] == [["a"]] * NODES
        assert all(each.roles.is_current for each in cluster.nodes)

    played(play)


def test_a_follower_whose_lease_is_over_does_not_know_what_exists() -> None:
    """It is attached, and the owner goes on without it: shards must not remove what they have of topics that it lacks."""

    async def play(cluster: Cluster) -> None:
        await cluster.begin()
        node = cluster.nodes[2]
        node.roles._replica._lease.renew(node.gate.boot_ms(), 1000)
        assert node.roles.is_current
        node.roles._replica.end_lease()

        assert not node.roles.is_current

    played(play)


def test_a_follower_leaves_an_owner_that_is_none_any_more() -> None:
    """It may not know that yet, and would go on to grant leases."""

    async def play(cluster: Cluster) -> None:
        owner, node = await cluster.begin(), cluster.nodes[2]

        def links() -> set[object]:
            return {each for each in owner.server._sessions if each.loop == node.number}

        before = links()
        node.roles.look()
        await cluster.settle()
        assert links() == before
        cluster.owner = 1
        node.roles.look()
        await cluster.settle()
        assert before.isdisjoint(links())

    played(play)


def test_without_an_owner_nodes_answer_from_what_they_have() -> None:
    """They refuse changes, and do not say of an unknown topic that it does not exist."""

    async def play(cluster: Cluster) -> None:
        former = await cluster.begin()
        await cluster.create(former, "a")
        await cluster.release()
        outcome = await cluster.create(former, "b")

        assert outcome.error is ErrorCode.NOT_CONTROLLER
        assert [node.names for node in cluster.nodes] == [["a"]] * NODES
        assert not any(node.roles.is_current for node in cluster.nodes)

    played(play)


def test_a_former_owner_hears_of_what_it_misses() -> None:
    """Also of topics that were deleted meanwhile."""

    async def play(cluster: Cluster) -> None:
        former = await cluster.begin()
        await cluster.create(former, "a")
        await cluster.create(former, "b")
        await cluster.release()
        await cluster.acquire(2)
        await cluster.settle()
        await cluster.delete(cluster.nodes[1], "a")

        assert (former.names, former.deleted) == (["b"], ["a"])

    played(play)


def test_a_new_owner_hears_of_what_changed_before_it_led() -> None:
    """It was cut off from the former owner, and reads the log: its own groups have topics there, too."""

    async def play(cluster: Cluster) -> None:
        owner, behind = await cluster.begin(), cluster.nodes[2]
        await cluster.create(owner, "a")
        await behind.roles.stop()
        await cluster.settle(3)
        await cluster.create(owner, "b")
        await cluster.delete(owner, "a")
        await cluster.release()
        await cluster.acquire(2)

        assert (behind.names, behind.deleted, behind.changed) == (["b"], ["a"], ["a", "b"])

    played(play)


def test_a_change_that_waits_for_others_fails_when_the_owner_retires() -> None:
    """It is made, and nobody knows whether all nodes have it."""

    async def play(cluster: Cluster) -> None:
        owner, outcome = await cluster.begin(), Outcome()
        owner.roles.write(CREATE_TOPICS, CONTEXT, CreateTopicsRequest(topics=[CreatableTopic("a", 1, -1)]), outcome)
        for _ in range(10):
            await asyncio.sleep(0)
        assert not outcome.is_answered
        await owner.roles.follow()
        assert (outcome.error, owner.names) == (ErrorCode.REQUEST_TIMED_OUT, ["a"])

        await cluster.release()
        await cluster.acquire(1)
        await cluster.settle()
        assert [node.names for node in cluster.nodes] == [["a"]] * NODES

    played(play)


def test_a_change_that_the_owner_had_not_written_is_refused() -> None:
    """Its log has another owner: clients look for the new controller."""

    async def play(cluster: Cluster) -> None:
        owner = await cluster.begin()
        await cluster.create(owner, "a")
        cluster.nodes[1].runtime.load(PARTITION, 7)
        await cluster.settle()
        other = Outcome()
        request = CreateTopicsRequest(topics=[CreatableTopic("b", 1, -1)])
        cluster.nodes[1].runtime.write(PARTITION, CREATE_TOPICS, CONTEXT, request, other)
        await cluster.settle()
        outcome = await cluster.create(owner, "c")
        await owner.roles.follow()

        assert (outcome.error, owner.names) == (ErrorCode.NOT_CONTROLLER, ["a"])

    played(play)


class Sender:
    """The link of a session."""

    def __init__(self) -> None:
        self.sent: list[object] = []
        self.is_closed = False

    def send(self, message: object, /) -> None:
        self.sent.append(message)

    def close(self) -> None:
        self.is_closed = True


def test_a_former_owner_attaches_nobody() -> None:
    """A connection that it was accepting when it stopped: it does not know any more where the log ends."""

    async def play(cluster: Cluster) -> None:
        await cluster.begin()
        await cluster.create(cluster.nodes[1], "a")
        former = await cluster.release()
        session, late = Session(former.own, has_provenance=False), Sender()
        session.link = late
        session.received(Attach(2, 0, 1, 0))

        assert (late.sent, late.is_closed) == ([], True)
        await cluster.acquire(0)
        session.received(Attach(2, 0, 1, 0))
        assert [each.end > 0 for each in late.sent if isinstance(each, Attached)] == [True]
        session.gone()

    played(play)


@pytest.mark.parametrize("role", ["lead", "follow"])
def test_a_role_that_a_node_has_is_no_change(role: str) -> None:
    async def play(cluster: Cluster) -> None:
        owner = await cluster.begin()
        await cluster.create(owner, "a")
        node = owner if role == "lead" else cluster.nodes[1]
        before = node.roles.family_version(SCRAM_USERS)
        await getattr(node.roles, role)()
        await cluster.settle()

        assert node.roles.family_version(SCRAM_USERS) == before

    played(play)
