"""Crews: a group type of the kernel (``group/modern``), as CONTRIBUTING.md says to make one.

A member names one topic, as its process id. It gets its part of that topic's partitions, at once. The records are those of
streams groups, whose targets have tasks instead of topics: where it is plugged in, they are the crews'.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NoReturn

from msgspec import Struct, field

from coordinator_server.group.assign.spec import GroupSpec, Member, Partitions
from coordinator_server.group.assign.subscriptions import Subscriptions
from coordinator_server.group.assign.target import change_targets
from coordinator_server.group.common.counts import recount
from coordinator_server.group.common.settings import ShareSettings
from coordinator_server.group.group_type import ExpiryRule, GroupContext, SharedTables
from coordinator_server.group.modern.background_target import TargetRules
from coordinator_server.group.modern.context import ModernContext
from coordinator_server.group.modern.describe import UndescribedGroup
from coordinator_server.group.modern.epoch import is_compared, next_epoch
from coordinator_server.group.modern.group import ModernGroup
from coordinator_server.group.modern.group_table import GroupTable, put_head
from coordinator_server.group.modern.groups_by_topic import GroupServices
from coordinator_server.group.modern.leave import Removal, remove_members
from coordinator_server.group.modern.limits import texts_bytes
from coordinator_server.group.modern.membership import fenced_epoch, unknown_member
from coordinator_server.group.modern.reasons import result_because
from coordinator_server.group.modern.records import GroupRecords, TargetForm
from coordinator_server.group.modern.sessions import refresh_session, settle_session
from coordinator_server.group.modern.target import changed_targets, describe, is_due
from coordinator_server.group.modern.target_task import ComputedTargets, TargetRequest, compute_targets
from coordinator_server.group.modern.type import ModernType
from coordinator_server.group.why import Why
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.executor import Task
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult
from coordinator_server.machine.timeline import LATEST, TimelineDict
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages import streams_group_records as streams
from protocol.messages.share_group_describe import Assignment, TopicPartitions
from protocol.messages.share_group_describe import DescribedGroup as Described
from protocol.messages.share_group_describe import Member as DescribedMember

LEAVE: Final = -1
DEAL: Final = "deal"
SETTINGS: Final = ShareSettings(45_000, 5_000, 0, 0)
INLINE_MAX_SIZE: Final = 20


def _read_tasks(value: streams.StreamsGroupTargetAssignmentMemberValue) -> Partitions:
    return {bytes.fromhex(each.subtopology_id): each.partitions for each in value.active_tasks}


def _tasks(target: Partitions) -> streams.StreamsGroupTargetAssignmentMemberValue:
    tasks = [streams.StreamsGroupTargetAssignmentMemberTaskIds(topic_id.hex(), numbers) for topic_id, numbers in target.items()]
    return streams.StreamsGroupTargetAssignmentMemberValue(tasks)


RECORDS: Final = GroupRecords(
    type_name="streams",
    epoch_key=streams.StreamsGroupMetadataKey,
    epoch_value=streams.StreamsGroupMetadataValue,
    target_epoch_key=streams.StreamsGroupTargetAssignmentMetadataKey,
    target_epoch_value=streams.StreamsGroupTargetAssignmentMetadataValue,
    member_key=streams.StreamsGroupMemberMetadataKey,
    current_key=streams.StreamsGroupCurrentMemberAssignmentKey,
    target_key=streams.StreamsGroupTargetAssignmentMemberKey,
    target_form=TargetForm(_read_tasks, _tasks, {}),
    no_epoch=streams.StreamsGroupMetadataValue(epoch=1),
    no_target_epoch=streams.StreamsGroupTargetAssignmentMetadataValue(assignment_epoch=1),
    no_metadata=streams.StreamsGroupMemberMetadataValue(),
    no_current=streams.StreamsGroupCurrentMemberAssignmentValue(previous_member_epoch=LEAVE),
    metadata_bytes=lambda metadata: texts_bytes([metadata.client_host], [metadata.process_id]),
)


class CrewMember(Struct, frozen=True):
    """One member: the values of its records."""

    member_id: str
    metadata: Any = field(default_factory=lambda: RECORDS.no_metadata)
    current: Any = field(default_factory=lambda: RECORDS.no_current)

    @property
    def is_in_log(self) -> bool:
        return self.metadata is not RECORDS.no_metadata or self.current is not RECORDS.no_current

    @property
    def topic(self) -> str:
        return str(self.metadata.process_id)

    def with_metadata(self, metadata: Any) -> CrewMember:
        return CrewMember(self.member_id, metadata, self.current)

    def with_current(self, current: Any) -> CrewMember:
        return CrewMember(self.member_id, self.metadata, current)


class Crew(ModernGroup[CrewMember, Partitions]):
    """One crew. It consumes the topics of its members."""

    records = RECORDS
    new_member = CrewMember

    __slots__ = ("topics",)

    def __init__(self, group_id: str, services: GroupServices) -> None:
        super().__init__(group_id, services)
        # The number of members that name a topic.
        self.topics: TimelineDict[str, int] = TimelineDict(services.registry)

    def state_at(self, committed_offset: int = LATEST) -> str:
        return "Stable" if self.members_at(committed_offset) else "Empty"

    def other_keys(self) -> Sequence[Message]:
        return [streams.StreamsGroupTopologyKey(self.group_id)]

    def topics_with(self, old: str, new: str) -> dict[str, int]:
        """The topics when a member names another one."""
        counts = dict(self.topics)
        recount(counts, [old] if old else [], [new] if new else [])
        return counts

    def _metadata_put(self, old: CrewMember | None, member: CrewMember) -> None:
        before, after = "" if old is None else old.topic, member.topic
        if after and after not in self.topics:
            self._services.by_topic.follow([after], self.group_id)
        recount(self.topics, [before] if before else [], [after] if after else [])
        if before and before not in self.topics:
            self._services.by_topic.unfollow([before], self.group_id)


class CrewContext(ModernContext[Crew]):
    """The crews of a shard. No crew has settings of its own."""

    __slots__ = ()

    def settings_of(self, group_id: str) -> ShareSettings:
        return SETTINGS


def deal(spec: GroupSpec) -> dict[str, Partitions]:
    """Deal the partitions of each topic to the members that name it, in turn."""
    found: dict[str, Partitions] = {member.member_id: {} for member in spec.members}
    for place, subscription in enumerate(spec.subscriptions):
        takers = [member.member_id for member in spec.members if member.subscription == place]
        for topic_id in subscription.topic_ids:
            for number, member_id in enumerate(takers):
                found[member_id][topic_id] = list(range(number, spec.partition_counts[topic_id], len(takers)))
    return found


COMPUTE_TARGETS: Final = Task(
    "tests.toy.crew:COMPUTE_TARGETS",
    TargetRequest,
    ComputedTargets,
    partial(compute_targets, {DEAL: deal}, lambda member_ids, _most: sorted(member_ids), RECORDS),
)


def _spec(crews: CrewContext, crew: Crew, updated: CrewMember) -> GroupSpec:
    members = {**crew.members, updated.member_id: updated}
    subscriptions = Subscriptions(crews.topics.topic)
    found = [
        Member(name, None, subscriptions.place([member.topic]), crew.target(name), name in crew.targets)
        for name, member in sorted(members.items())
    ]
    return GroupSpec(found, subscriptions.found, False, subscriptions.partition_counts)


def _described_for_task(crews: CrewContext, crew: Crew) -> TargetRequest:
    members = ((None, [member.topic], ()) for member in crew.members.values())
    return describe(crew, DEAL, crews.topics, members, is_alike=False)


class Beat(Struct, frozen=True):
    """A heartbeat."""

    group_id: str
    member_id: str
    member_epoch: int
    topic: str = ""


class Beaten(Struct, frozen=True):
    """Its answer."""

    member_epoch: int
    assigned: Partitions


def heartbeat(crews: CrewContext, beat: Beat) -> CoordinatorResult[Beaten]:
    """Join, stay or leave."""
    crew = crews.groups.by_id.get(beat.group_id) or crews.groups.absent(beat.group_id)
    before = crew.members.get(beat.member_id)
    if before is None and beat.member_epoch != 0:
        raise unknown_member(crew.group_id, beat.member_id)
    before = before or CrewMember(beat.member_id)
    if beat.member_epoch == LEAVE:
        return fence(crews, crew, [before], Why.MEMBER_LEFT, Beaten(LEAVE, {}))
    if beat.member_epoch not in (0, before.current.member_epoch):
        raise fenced_epoch(crew, beat.member_epoch, before.current.member_epoch)
    member, records = before, []
    if beat.topic and beat.topic != before.topic:
        member = before.with_metadata(streams.StreamsGroupMemberMetadataValue(process_id=beat.topic, client_host="/h"))
        records.append(RECORDS.member(crew.group_id, member))
    epoch = crew.group_epoch
    if member is not before or not is_compared(crew):
        topics = crew.topics_with(before.topic, member.topic)
        epoch, of_epoch = next_epoch(crews, crew, topics, is_due=member is not before)
        records += of_epoch
    target_epoch, target = crew.assignment_epoch, crew.target(member.member_id)
    if target_epoch < epoch and is_due(crews, crew) and not _is_left_to_child(crews, crew, epoch, member):
        change = partial(change_targets, deal, _spec(crews, crew, member))
        changed, of_target = changed_targets(change, epoch, partial(RECORDS.target, crew.group_id))
        records += [*of_target, RECORDS.target_epoch(crew.group_id, epoch, crews.clock.wall_ms())]
        target_epoch, target = epoch, changed.get(member.member_id, target)
    if member.current.member_epoch != target_epoch:
        member = member.with_current(_current(target_epoch, member.current.member_epoch, target))
        records.append(RECORDS.current(crew.group_id, member))
    refresh_session(crews, crew.group_id, member.member_id)
    reason = Reason(Why.MEMBER_JOINED, member.member_id)
    on_append = partial(settle_session, crews, crew.group_id, member.member_id, None)
    return result_because(crews, [reason], Beaten(target_epoch, target), records, on_append)


def _is_left_to_child(crews: CrewContext, crew: Crew, epoch: int, member: CrewMember) -> bool:
    return crews.background.take(crew, epoch, lambda: len(crew.members), lambda: member.member_id in crew.targets)


def _current(epoch: int, previous: int, target: Partitions) -> streams.StreamsGroupCurrentMemberAssignmentValue:
    tasks = [streams.StreamsGroupCurrentMemberAssignmentTaskIds(topic_id.hex(), each) for topic_id, each in target.items()]
    return streams.StreamsGroupCurrentMemberAssignmentValue(epoch, previous, 0, tasks)


def fence(
    crews: CrewContext, crew: Crew, members: Sequence[CrewMember], why: Why, response: Any = DEFERRED
) -> CoordinatorResult[Any]:
    """Remove a member."""
    [member] = members
    _, epoch = next_epoch(crews, crew, crew.topics_with(member.topic, ""), is_due=True)
    return remove_members(crews, crew, Removal(members, why, epoch), response)


class CrewType(ModernType[Crew, CrewContext]):
    """The row of crews in the table of group types."""

    name = "crew"

    def __init__(self, context: GroupContext, tables: SharedTables) -> None:
        own = CrewContext(GroupTable(tables.registry, Crew, {streams.StreamsGroupTopologyKey: put_head}), context)
        super().__init__(own, TargetRules(COMPUTE_TARGETS, INLINE_MAX_SIZE, partial(_described_for_task, own)), fence)

    def admit_commit(self, request: Any, api_version: int, *, is_transactional: bool) -> NoReturn:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)

    def admit_fetch(self, request: Any, committed_offset: int) -> None:
        """Accept."""

    def admit_offset_delete(self, group_id: str) -> NoReturn:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)

    def admit_classic_member(self, group_id: str) -> NoReturn:
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    def admit_restore(self, group_id: str) -> NoReturn:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)

    def expiry_rule(self, group_id: str) -> ExpiryRule | None:
        """Return None: crews stay."""
        return None

    def group_at(self, group_id: str, committed_offset: int) -> UndescribedGroup:
        """Return what there is to describe."""
        crew = self.groups.by_id.get_at(group_id, committed_offset)
        assert crew is not None
        epoch, assignment_epoch = crew.epochs_at(committed_offset)
        head = Described(0, None, group_id, crew.state_at(committed_offset), epoch, assignment_epoch, DEAL)
        return UndescribedGroup(head, [each for _, each in crew.members.items_at(committed_offset)], _described)


def _described(member: CrewMember) -> DescribedMember:
    found = [TopicPartitions(bytes.fromhex(each.subtopology_id), "", each.partitions) for each in member.current.active_tasks]
    return DescribedMember(member.member_id, member_epoch=member.current.member_epoch, assignment=Assignment(found))
