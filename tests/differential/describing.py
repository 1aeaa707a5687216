"""ConsumerGroupDescribe, ShareGroupDescribe and StreamsGroupDescribe in few words: a script compares it after each step,
so a transcript has it after each step.
"""

from __future__ import annotations

from typing import Any

from tests.differential.holders import Holders
from tests.support.oracle import Value

_PROTOCOLS = {-1: "", 0: "classic", 1: "consumer"}


def described(group: Value) -> Value:
    """Of one group: its state and epochs, and of each member epoch, protocol, subscription, and what it has and is to have.

    ``consumers g`` in a script compares the rest: clients, hosts, and operations.
    """
    return {
        "groupId": group["groupId"],
        "groupState": group["groupState"],
        "epoch": group["groupEpoch"],
        "assignmentEpoch": group["assignmentEpoch"],
        "assignor": group["assignorName"],
        "members": [_member(member) for member in group["members"]],
    }


def described_shares(group: Value, holders: Holders) -> Value:
    """ShareGroupDescribe of one group, likewise, its partitions by who has had them: ``sharers g`` compares the rest."""
    return {
        "groupId": group["groupId"],
        "groupState": group["groupState"],
        "epoch": group["groupEpoch"],
        "assignmentEpoch": group["assignmentEpoch"],
        "members": [_sharer(member, holders) for member in group["members"]],
    }


def described_streams(group: Value) -> Value:
    """StreamsGroupDescribe of one group, likewise: ``streamers g`` compares the topology and the rest."""
    return {
        "groupId": group["groupId"],
        "groupState": group["groupState"],
        "epoch": group["groupEpoch"],
        "assignmentEpoch": group["assignmentEpoch"],
        "members": [_streamer(member) for member in group["members"]],
    }


def _streamer(member: Value) -> Value:
    words: dict[str, Any] = {
        "memberId": member["memberId"],
        "epoch": member["memberEpoch"],
        "process": member["processId"],
        "has": _tasks(member["assignment"]),
        "target": _tasks(member["targetAssignment"]),
    }
    return {name: value for name, value in words.items() if value}


def _tasks(assignment: Value) -> str:
    return " ".join(
        f"{kind.removesuffix('Tasks')} {each['subtopologyId']}:{','.join(map(str, each['partitions']))}"
        for kind, tasks in assignment.items()
        for each in tasks
    )


def _sharer(member: Value, holders: Holders) -> Value:
    topics = sorted(member["assignment"]["topicPartitions"], key=lambda topic: str(topic["topicName"]))
    words: dict[str, Any] = {
        "memberId": member["memberId"],
        "epoch": member["memberEpoch"],
        "topics": " ".join(sorted(member["subscribedTopicNames"])),
        "rack": member["rackId"],
        "has": " ".join(f"{each['topicName']}:{','.join(holders.names(each['topicId'], each['partitions']))}" for each in topics),
    }
    return {name: value for name, value in words.items() if value}


def _member(member: Value) -> Value:
    words: dict[str, Any] = {
        "memberId": member["memberId"],
        "epoch": member["memberEpoch"],
        "protocol": _PROTOCOLS[member["memberType"]],
        "topics": " ".join(sorted(member["subscribedTopicNames"])),
        "regex": member["subscribedTopicRegex"],
        "instance": member["instanceId"],
        "rack": member["rackId"],
        "has": _partitions(member["assignment"]),
        "target": _partitions(member["targetAssignment"]),
    }
    return {name: value for name, value in words.items() if value}


def _partitions(assignment: Value) -> str:
    topics = sorted(assignment["topicPartitions"], key=lambda topic: str(topic["topicName"]))
    return " ".join(f"{topic['topicName']}:{','.join(map(str, sorted(topic['partitions'])))}" for topic in topics)
