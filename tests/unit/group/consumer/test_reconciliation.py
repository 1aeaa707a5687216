"""A member's steps towards its target: a table of what it has, what it should have, what it owns, and what comes of it.

The cases are those of Kafka's CurrentAssignmentBuilderTest, and some that it has not. ``t1,2@10 u4@9``: partitions 1 and 2 of
topic t since epoch 10, and partition 4 of topic u since epoch 9. Topics t and u exist;
the member subscribes to both unless a case says less.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from coordinator_server.group.consumer.member import ConsumerGroupMember, Epochs, MemberState, current_assignment
from coordinator_server.group.consumer.reconciliation import Goal, reconcile
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import TopicPartitions

STABLE, UNREVOKED, UNRELEASED, UNKNOWN = MemberState
TOPICS = {name: name.encode() * 16 for name in "tu"}


def epochs(text: str) -> dict[bytes, dict[int, int]]:
    found: dict[bytes, dict[int, int]] = {}
    for topic, numbers, epoch in re.findall(r"(\w)([\d,]+)(?:@(\d+))?", text):
        found.setdefault(TOPICS[topic], {}).update(dict.fromkeys(map(int, numbers.split(",")), int(epoch or 0)))
    return found


def text_of(by_topic: Epochs) -> str:
    parts = []
    for name, topic_id in TOPICS.items():
        by_epoch: dict[int, list[str]] = {}
        for partition, epoch in sorted(by_topic.get(topic_id, {}).items()):
            by_epoch.setdefault(epoch, []).append(str(partition))
        parts += [f"{name}{','.join(numbers)}@{epoch}" for epoch, numbers in by_epoch.items()]
    return " ".join(parts)


class Case(NamedTuple):
    """``other``: partitions that other members have. ``owned``: what the member says it owns; None if it does not say."""

    state: MemberState
    assigned: str
    pending: str
    target: str
    after: str
    owned: str | None = None
    other: str = ""
    subscribed: str = "tu"
    is_changed: bool = False
    epoch: int = 11


CASES = {
    "stable to stable": Case(STABLE, "t1,2,3@5 u4@5", "", "t1,2,3 u4", "STABLE 11/10 t1,2,3@5 u4@5 |"),
    "stable, at its target": Case(STABLE, "t1@5", "", "t2", "STABLE 10/9 t1@5 |", epoch=10),
    "with new partitions": Case(STABLE, "t1,2@10", "", "t1,2,4 u7", "STABLE 11/10 t1,2@10 t4@11 u7@11 |"),
    "to unrevoked": Case(STABLE, "t1,2,3@10 u4,5,6@10", "", "t2,3,4 u5,6,7", "UNREVOKED 10/10 t2,3@10 u5,6@10 | t1@10 u4@10"),
    "to unreleased": Case(STABLE, "t1@10", "", "t1,4 u7", "UNRELEASED 11/10 t1@10 |", other="t4 u7"),
    "to unreleased, with a part": Case(STABLE, "t1@10", "", "t1,4 u7", "UNRELEASED 11/10 t1@10 t4@11 |", other="u7"),
    "already revoked": Case(STABLE, "t1@10 u4,6@10", "", "t1 u4,7", "UNRELEASED 11/10 t1@10 u4@10 |", owned="", other="u7"),
    "unrevoked to stable": Case(UNREVOKED, "t2@10 u5@10", "t1@10", "t2 u5", "STABLE 11/10 t2@10 u5@10 |", owned="t2 u5"),
    "unrevoked, not said": Case(UNREVOKED, "t2@10", "t1@10", "t2 u5", "UNREVOKED 10/9 t2@10 | t1@10"),
    "unrevoked, still owned": Case(UNREVOKED, "t2@10", "t1@10", "t2 u5", "UNREVOKED 10/9 t2@10 | t1@10", owned="t1,2"),
    "unrevoked, and more to revoke": Case(UNREVOKED, "t2,3@10", "t1@10", "t3", "UNREVOKED 10/10 t3@10 | t2@10", owned="t2,3"),
    "unrevoked to unreleased": Case(UNREVOKED, "t2@10", "t1@10", "t2,4", "UNRELEASED 11/10 t2@10 |", owned="t2", other="t4"),
    "pending, and back in the target": Case(
        UNREVOKED, "t2@10", "t4@10", "t2,4 u7", "STABLE 11/10 t2@10 t4@11 u7@11 |", owned="t2", other="t4"
    ),
    "unreleased to stable": Case(UNRELEASED, "t2@10", "", "t2,4", "STABLE 10/10 t2,4@10 |", epoch=10),
    "unreleased to stable, new target": Case(UNRELEASED, "t2@10", "", "t2,4 u7", "STABLE 11/10 t2@10 t4@11 u7@11 |"),
    "unreleased to unreleased": Case(UNRELEASED, "t2@10", "", "t2,4", "UNRELEASED 11/10 t2@10 |", other="t4"),
    "unreleased to unrevoked": Case(UNRELEASED, "t2,3@10", "", "t3,4", "UNREVOKED 10/10 t3@10 | t2@10", other="t4"),
    "unknown, without partitions": Case(UNKNOWN, "t3@10", "", "t3 u5", "STABLE 11/10 t3@10 u5@11 |", owned=""),
    "a topic left, target later": Case(
        STABLE, "t1@10 u4@10", "", "t1 u4", "UNREVOKED 10/10 u4@10 | t1@10", subscribed="u", is_changed=True, epoch=10
    ),
    "a topic left, given up already": Case(
        STABLE, "t1@10 u4@10", "", "t1 u4", "STABLE 10/10 u4@10 |", owned="u4", subscribed="u", is_changed=True, epoch=10
    ),
    "a topic left, still revoking": Case(
        UNREVOKED,
        "t2,3@10 u5@10",
        "t1@10 u4@10",
        "t1,3,4 u6",
        "UNREVOKED 10/10 u5@10 | t1,2,3@10 u4@10",
        owned="t1,2,3 u4,5",
        subscribed="u",
        is_changed=True,
    ),
    "nothing left, target later": Case(
        STABLE, "t1@10", "", "t1", "UNREVOKED 10/10 | t1@10", subscribed="", is_changed=True, epoch=10
    ),
    "the target of a topic that was left": Case(STABLE, "t1@10", "", "t1,2 u4", "UNREVOKED 10/10 | t1@10", subscribed="u"),
    "a change that takes nothing": Case(STABLE, "t1@10", "", "t1 u4", "STABLE 10/9 t1@10 |", is_changed=True, epoch=10),
}


def after(case: Case) -> ConsumerGroupMember:
    member = ConsumerGroupMember("m").with_current(
        current_assignment(10, 9, case.state, epochs(case.assigned), epochs(case.pending))
    )
    owners = {
        topic_id: set(numbers) for text in (case.assigned, case.pending, case.other) for topic_id, numbers in epochs(text).items()
    }
    for text in (case.assigned, case.pending, case.other):
        for topic_id, numbers in epochs(text).items():
            owners[topic_id] |= set(numbers)
    owned = (
        None if case.owned is None else [TopicPartitions(topic, list(numbers)) for topic, numbers in epochs(case.owned).items()]
    )
    goal = Goal(
        case.epoch,
        {topic_id: list(numbers) for topic_id, numbers in epochs(case.target).items()},
        case.subscribed,
        lambda topic_id: topic_id in {TOPICS[name] for name in case.subscribed},
        case.is_changed,
        owned,
        lambda topic_id: dict.fromkeys(owners.get(topic_id, ()), 10),
    )
    found = reconcile(member, goal)
    # What is in the record is what the member has.
    assert found == found.with_current(found.current)
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_reconciliation_step_by_state_and_epochs(name: str) -> None:
    """State, epoch and previous epoch, what the member has and what it has to give up."""
    found = after(CASES[name])

    state = {STABLE: "STABLE", UNREVOKED: "UNREVOKED", UNRELEASED: "UNRELEASED"}[found.state]
    has, loses = text_of(found.assigned), text_of(found.pending_revocation)
    told = f"{state} {found.member_epoch}/{found.previous_member_epoch} {has} | {loses}"
    assert re.sub(" +", " ", told).strip() == CASES[name].after


@pytest.mark.parametrize("owned", [None, "t3"])
def test_an_unknown_state_makes_the_member_begin_anew(owned: str | None) -> None:
    """A later version of Kafka wrote it. The member joins again without partitions."""
    with pytest.raises(CoordinatorError) as refused:
        after(Case(UNKNOWN, "t3@10", "", "t3", "", owned=owned))

    assert refused.value.error is ErrorCode.FENCED_MEMBER_EPOCH
    assert refused.value.message == (
        "The consumer group member is in a unknown state. The member must abandon all its partitions and rejoin."
    )
