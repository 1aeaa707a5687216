"""Which members have had which partitions, in words for partitions that do not depend on their numbers.

Kafka's simple assignor goes through hash tables of topic ids, which each broker makes up: whether a member is given partition 0
or 1 differs, and how many it is given, which of those that another had, and which it keeps, does not. So a partition of a share
group is called by the members that have had it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, Final
from zlib import crc32

from protocol.fields import Message
from protocol.messages.share_group_records import (
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue,
)
from tests.support.oracle import Value

# A topic id and a partition.
Place = tuple[bytes, int]
# What is further back becomes a checksum.
_LONGEST: Final = 40


class Holders:
    """The history of each partition: ``A>A+B>B`` was A's, then that of both, and is B's."""

    def __init__(self) -> None:
        self._held: dict[Place, set[str]] = {}
        self._histories: dict[Place, str] = {}

    def take(self, members: Mapping[str, Iterable[Place]]) -> None:
        """These members have these partitions from now on, and no others; all others have what they had."""
        before = {place: set(holders) for place, holders in self._held.items()}
        for member, places in members.items():
            for holders in self._held.values():
                holders.discard(member)
            for place in places:
                self._held.setdefault(place, set()).add(member)
        for place, holders in self._held.items():
            if holders != before.get(place, set()):
                self._note(place, "+".join(sorted(holders)).replace("g/", ""))

    def take_group(self, group: Value, prefix: str) -> None:
        """The members of a described share group have what it says, and those that have left it have nothing."""
        name = group["groupId"].removeprefix(prefix)
        members: dict[str, list[Place]] = {
            holder: [] for held in self._held.values() for holder in held if holder.startswith(f"{name}/")
        }
        for member in group["members"]:
            topics = member["assignment"]["topicPartitions"]
            members[f"{name}/{member['memberId']}"] = [
                (each["topicId"], place) for each in topics for place in each["partitions"]
            ]
        self.take(members)

    def names(self, topic_id: bytes, partitions: Iterable[int]) -> list[str]:
        """What the partitions are called."""
        return sorted(self._histories.get((topic_id, partition), "nobody's") for partition in partitions)

    def _note(self, place: Place, holders: str) -> None:
        history = self._histories.get(place)
        text = holders if history is None else f"{history}>{holders}"
        self._histories[place] = text if len(text) <= _LONGEST else f"{crc32(text.encode()):08x}"


def in_words(group_records: list[tuple[Message, Message | None]], plain: list[dict[str, Any]]) -> None:
    """Put such names into the records of one share group, which are told in ``plain``."""
    holders = Holders()
    for is_target, run in groupby(zip(group_records, plain, strict=True), key=lambda each: _is_target(each[0][0])):
        records = list(run)
        if is_target:
            holders.take({_member_of(key): _places(value) for (key, value), _ in records})
        for (_, value), each in records:
            for name in _ASSIGNED.get(type(value), ()):
                for topic, told in zip(getattr(value, name), each["value"][name], strict=True):
                    told["partitions"] = holders.names(topic.topic_id, topic.partitions)


def _member_of(key: Message) -> str:
    assert isinstance(key, ShareGroupTargetAssignmentMemberKey)
    return key.member_id


def _is_target(key: Message) -> bool:
    return isinstance(key, ShareGroupTargetAssignmentMemberKey)


def _places(value: Message | None) -> list[Place]:
    if not isinstance(value, ShareGroupTargetAssignmentMemberValue):
        return []
    return [(topic.topic_id, partition) for topic in value.topic_partitions for partition in topic.partitions]


_ASSIGNED: Final[dict[type, tuple[str, ...]]] = {
    ShareGroupTargetAssignmentMemberValue: ("topic_partitions",),
    ShareGroupCurrentMemberAssignmentValue: ("assigned_partitions",),
}
