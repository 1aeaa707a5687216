"""Whom a change of the catalog waits for: whoever may answer clients with what it knew before."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.server.cluster.catalog import SLOW_S
from coordinator_server.server.cluster.catalog_feed import Session
from tests.support.loops import Loops


@pytest.fixture
def loops() -> Loops:
    return Loops()


@pytest.mark.parametrize("is_late", [False, True])
def test_a_loop_that_is_stuck_is_waited_for(loops: Loops, is_late: bool) -> None:
    """When it goes on it may answer clients, before it reads what has changed. It ends that wait, or its death does."""
    loops.attach(1, 2)
    outcome = loops.create(0, "orders")
    loops.deliver(1)
    with capture_logs() as lines:
        for _ in range(100):
            loops.pass_time(SLOW_S)
    assert outcome.answers == 0
    assert [(line["event"], line["loops"]) for line in lines] == [("change-waits", [1])]

    if is_late:
        loops.deliver()
    else:
        loops.end(1)

    assert outcome.is_answered


def test_a_loop_that_has_lost_its_link_is_waited_for(loops: Loops) -> None:
    """Its process may go on with what it knows, until it is attached again."""
    loops.attach(1)
    loops.cut(1)
    outcome = loops.create(0, "orders")
    assert outcome.answers == 0

    loops.attach(1)

    assert outcome.is_answered
    assert loops.followers[1].read(CatalogShard.topic, "orders") == loops.owner.read(CatalogShard.topic, "orders")


def test_a_process_that_does_not_know_its_number_is_waited_for(loops: Loops) -> None:
    """A node that has not joined has none. It may answer all the same."""
    loops.incarnations[1] = 0
    loops.attach(1)
    loops.cut(1)

    outcome = loops.create(0, "orders")

    assert outcome.answers == 0


def test_a_link_may_be_lost_after_the_end_of_its_process_is_known(loops: Loops) -> None:
    """Or when a later process is attached: nobody is left to wait for."""
    loops.attach(1, 2)
    loops.owner.loop_ended(1, 1)
    loops.cut(1)
    late = succeeded(loops, 2)
    late.gone()

    assert loops.create(0, "orders").answers == 0
    loops.deliver()
    assert loops.create(0, "bills").answers == 0
    loops.end(2)
    assert loops.create(0, "more").is_answered


def succeeded(loops: Loops, loop: int) -> Session:
    """Let the second process of a loop attach. Return the session of the first."""
    former = loops.sessions[loop]
    loops.incarnations[loop] = 2
    del loops.followers[loop]
    loops.attach(loop)
    return former


def leased() -> Loops:
    """Followers may answer for ten seconds without loop 0."""
    loops = Loops()
    loops.lease_ms = 10_000
    loops.restart()
    return loops


def test_a_follower_answers_only_within_its_lease() -> None:
    """It ends before the owner gives it up, also if the follower's machine was suspended."""
    loops = leased()
    loops.attach(1)
    loops.cut(1)
    outcome = loops.create(0, "orders")
    opened = []
    while not outcome.answers:
        loops.pass_time(1)
        opened.append(loops.gates[1].is_open())

    assert opened == [True] * 8 + [False] * 2
    loops.attach(1)
    assert loops.gates[1].is_open()
    assert loops.followers[1].read(CatalogShard.topic, "orders") == loops.owner.read(CatalogShard.topic, "orders")


def test_a_follower_that_is_stuck_is_waited_for_until_its_lease_is_over() -> None:
    """It is dropped then: what it has not read may not be followed by a new lease."""
    loops = leased()
    loops.attach(1)
    outcome = loops.create(0, "orders")
    waited_s = 0
    while not outcome.answers:
        loops.pass_time(1)
        waited_s += 1

    assert waited_s == 10
    assert loops.wires[1].is_cut
    assert not loops.gates[1].is_open()


def test_a_lease_is_renewed_in_time() -> None:
    """For as long as the link lasts."""
    loops = leased()
    loops.attach(1)
    for _ in range(40):
        loops.pass_time(1)
        loops.deliver()
        assert loops.gates[1].is_open()

    loops.cut(1)
    loops.pass_time(10)

    assert not loops.gates[1].is_open()


def test_a_follower_has_what_is_durable_when_it_was_answered_after_that() -> None:
    """Another node may use a topic whose creation is not answered yet, and that this one will hear of within its lease."""
    loops = leased()
    loops.attach(1)
    loops.pass_time(1)
    loops.create(0, "orders")
    has_all = loops.followers[1].has_all_of_now()
    assert (loops.followers[1].is_current, has_all(), loops.owner.has_all_of_now()()) == (True, False, True)

    for _ in range(4):
        loops.pass_time(1)
        loops.deliver()

    assert has_all()
    assert loops.followers[1].read(CatalogShard.topic, "orders") is not None


def test_without_leases_what_is_durable_is_here(loops: Loops) -> None:
    loops.attach(1)

    assert loops.followers[1].has_all_of_now()()


def test_a_follower_that_is_not_attached_gets_no_lease() -> None:
    """The owner has given it up, and its request comes late."""
    loops = leased()
    loops.attach(1)
    session = loops.sessions[1]
    loops.cut(1)

    assert loops.owner.grant(session) == -1


def test_an_owner_whose_own_lease_is_over_grants_none() -> None:
    """The next one may have begun, and waits for no lease of later. Whoever asks is sent away."""
    loops = leased()
    loops.attach(1)
    loops.may_grant = False
    for _ in range(10):
        loops.pass_time(1)
        loops.deliver()
    loops.connect(2)
    loops.deliver()

    assert not loops.gates[1].is_open()
    assert (loops.wires, loops.followers[2].is_current) == ({}, False)


def test_a_new_controller_waits_for_the_leases_of_the_former() -> None:
    """A follower that attaches may be a later process of one that is frozen elsewhere."""
    loops = leased()
    loops.restart(expected=(1, 2))
    loops.attach(1)
    outcome = loops.create(0, "orders")
    loops.deliver()
    loops.pass_time(9)
    loops.deliver()
    assert outcome.answers == 0

    loops.pass_time(1)

    assert outcome.is_answered


def test_the_end_of_an_older_process_does_not_end_the_wait_for_the_present_one(loops: Loops) -> None:
    """The notice came late: its successor may go on with what it knows."""
    loops.incarnations[1] = 2
    loops.attach(1)
    loops.cut(1)
    loops.owner.loop_ended(1, 1)
    outcome = loops.create(0, "orders")
    assert outcome.answers == 0

    loops.owner.loop_ended(1, 2)

    assert outcome.is_answered


def test_the_end_of_a_later_process_does_not_end_the_wait_for_an_earlier_one_that_lives(loops: Loops) -> None:
    """A process that dies when it has asked to join may get its row after its successor has."""
    loops.incarnations[1] = 2
    loops.owner.loop_ended(1, 3)
    loops.attach(1)
    loops.cut(1)

    outcome = loops.create(0, "orders")

    assert outcome.answers == 0


@pytest.mark.parametrize("is_leased", [False, True])
@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_each_process_of_a_loop_is_waited_for(is_leased: bool, order: tuple[int, int]) -> None:
    """The links of a former process and of the present one are lost at once. The end of the former says nothing of the other."""
    loops = leased() if is_leased else Loops()
    loops.attach(1)
    sessions = {1: succeeded(loops, 1), 2: loops.sessions[1]}
    for incarnation in order:
        sessions[incarnation].gone()
    loops.owner.loop_ended(1, 1)
    outcome = loops.create(0, "orders")
    assert outcome.answers == 0

    loops.owner.loop_ended(1, 2)

    assert outcome.is_answered


def test_a_former_process_may_answer_while_a_later_one_comes_and_goes() -> None:
    """It is frozen elsewhere, and answers until its lease is over, whatever befalls its successor."""
    loops = leased()
    loops.attach(1)
    former = succeeded(loops, 1)
    former.gone()
    loops.cut(1)
    loops.owner.loop_ended(1, 2)

    outcome = loops.create(0, "orders")

    assert outcome.answers == 0


def test_a_loop_whose_end_was_reported_is_not_expected(loops: Loops) -> None:
    """The new owner hears of both at once, and which process was expected is not known."""
    loops.owner.loop_ended(1, 1)
    loops.owner.expect([1])

    outcome = loops.create(0, "orders")

    assert outcome.is_answered
