"""A history, as the checkers look things up in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final, NamedTuple

from protocol.messages.delete_groups import DeleteGroupsRequest
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue
from protocol.messages.join_group import JoinGroupRequest
from protocol.messages.sync_group import SyncGroupRequest
from tests.simulation.history import History, Op
from tests.simulation.mirror import LogRecord
from tests.simulation.world import SECOND

FULL: Final = "the disk refuses"
# For no longer than that.
REFUSES_US: Final = 5 * SECOND


class Span(NamedTuple):
    """A length of time, microseconds."""

    begin: int
    end: int

    def meets(self, other: Span) -> bool:
        return self.begin <= other.end and other.begin <= self.end


class Reading:
    """Indexes over a history, made when they are first asked for."""

    def __init__(self, history: History, written: Iterable[LogRecord] = ()) -> None:
        self.history = history
        self.written = list(written)

    @cached_property
    def joins(self) -> list[Op]:
        """The JoinGroup requests that were answered with a generation."""
        return [op for op in self.history.answered(JoinGroupRequest) if op.response.error_code == 0]

    @cached_property
    def syncs(self) -> list[Op]:
        """The SyncGroup requests that were answered with an assignment."""
        return [op for op in self.history.answered(SyncGroupRequest) if op.response.error_code == 0]

    @cached_property
    def instances(self) -> dict[str, str]:
        """The group instance id of each member id that was given out for one, to somebody who heard of it or in the log."""
        told = {op.response.member_id: op.request.group_instance_id for op in self.joins}
        for each in self.written:
            if isinstance(each.record.value, GroupMetadataValue):
                told |= {member.member_id: member.group_instance_id for member in each.record.value.members}
        return {member_id: instance for member_id, instance in told.items() if instance is not None}

    def who(self, member_id: str) -> str:
        """Who a member is, whatever it is called: a static one is its instance."""
        instance = self.instances.get(member_id)
        return member_id if instance is None else f"instance {instance}"

    @cached_property
    def _deletions(self) -> dict[str, list[Span]]:
        deletions: dict[str, list[Span]] = defaultdict(list)
        for op in self.history.of(DeleteGroupsRequest):
            results = {each.group_id: each.error_code for each in op.response.results} if op.is_answered else {}
            for group_id in op.request.groups_names:
                if results.get(group_id, 0) == 0:
                    deletions[group_id].append(Span(op.sent_us, op.ended_us))
        return deletions

    @cached_property
    def _aged(self) -> set[str]:
        """Groups that are gone from the log, where the retention took any: when it did that only the log knows."""
        tombstones = [each for each in self.written if each.record.value is None]
        if not any(each.provenance is not None and each.provenance.operation == "timer" for each in tombstones):
            return set()
        return {each.record.key.group for each in tombstones if isinstance(each.record.key, GroupMetadataKey)}

    def is_parted(self, group_id: str, begin_us: int, end_us: int) -> bool:
        """Whether the group may have been deleted in that time, and have begun anew."""
        return group_id in self._aged or any(span.meets(Span(begin_us, end_us)) for span in self._deletions.get(group_id, ()))

    def is_mortal(self, group_id: str) -> bool:
        """Whether the group may have been deleted at all."""
        return group_id in self._deletions or group_id in self._aged

    def moments(self, *beginnings: str) -> list[int]:
        """When something of that name befell the server."""
        return [each.at_us for each in self.history.incidents if each.what.startswith(beginnings)]

    @cached_property
    def _starts(self) -> list[int]:
        return self.moments("start")

    def life_of(self, op: Op) -> int | None:
        """The server's life that answered; None when that cannot be told."""
        first, last = (sum(start <= at for start in self._starts) for at in (op.sent_us, op.answered_us))
        return first if first == last else None

    @cached_property
    def _refusals(self) -> list[int]:
        return self.moments(FULL)

    def is_refused_between(self, begin_us: int, end_us: int) -> bool:
        """Whether the log may have refused something: what was not written yet may begin again."""
        return any(at <= end_us and at + REFUSES_US >= begin_us for at in self._refusals)

    @cached_property
    def loads(self) -> list[Span]:
        """The times from each start to the end of its load."""
        served = self.moments("serving")
        return [Span(start, next((at for at in served if at >= start), 2**62)) for start in self._starts]

    @cached_property
    def standstills(self) -> list[Span]:
        """Times in which the server could not hear anybody, and after which every session has its whole timeout again."""
        spans = list(self.loads)
        # A pause ends with its process, too.
        resumed = self.moments("resumed", "start")
        for each in self.history.incidents:
            words = each.what.split()
            if words[:2] == ["paused", "for"]:
                until = each.at_us + int(words[2]) * 1000
                spans.append(Span(each.at_us, min([until, *(at for at in resumed if at > each.at_us)])))
        return sorted(spans)


def by(ops: Iterable[Op], key: Any) -> dict[Any, list[Op]]:
    """The ops of each key, in their order."""
    found: dict[Any, list[Op]] = defaultdict(list)
    for op in ops:
        found[key(op)].append(op)
    return found


def error_codes(response: Any) -> list[int]:
    """Every error code of an answer to a request about a group: its own, or that of each part of it."""
    if hasattr(response, "error_code") and (response.error_code or not getattr(response, "members", None)):
        return [response.error_code]
    if hasattr(response, "members"):
        return [member.error_code for member in response.members]
    return [partition.error_code for topic in response.topics for partition in topic.partitions]
