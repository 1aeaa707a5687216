"""Groups of every type: lists, descriptions, and their end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, zip_longest
from operator import attrgetter
from sys import intern
from typing import Any, Final, NamedTuple

from msgspec import Struct

from coordinator_server.client.admin.cluster import Cluster, check, error_of
from coordinator_server.client.consumer.subscription import decode_assignment, decode_subscription
from coordinator_server.client.errors import ClientError, Refused
from protocol.error_codes import ErrorCode
from protocol.messages import consumer_group_describe as consumer
from protocol.messages import describe_groups as classic
from protocol.messages import share_group_describe as share
from protocol.messages import streams_group_describe as streams
from protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.share_group_describe import ShareGroupDescribeRequest, ShareGroupDescribeResponse
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from protocol.messages.streams_group_describe import StreamsGroupDescribeRequest, StreamsGroupDescribeResponse
from protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse

CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"
SHARE: Final = "share"
STREAMS: Final = "streams"
DEAD: Final = "Dead"
LEAVES: Final = -1
"""The member epoch of a heartbeat with which a member leaves (KIP-848)."""
_ANY_NAME: Final = "a group that nobody has"
_ABSENT: Final = {ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION}

Partitions = dict[str, list[int]]
"""Partitions by topic, in order."""


class Listed(Struct, frozen=True, gc=False):
    """A group as ListGroups names it. ``type`` and ``state`` are empty if the server is too old to say."""

    group_id: str
    type: str
    state: str
    protocol_type: str
    node_id: int


@dataclass(frozen=True)
class Member:
    """A member of a group.

    Of a classic group it has neither epoch nor target. ``assignment`` is None if it is in the members' own format.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    epoch: int | None = None
    rack_id: str | None = None
    topics: tuple[str, ...] = ()
    topic_regex: str | None = None
    assignment: Partitions | None = None
    target: Partitions | None = None
    is_classic: bool | None = None
    """In a group of the consumer protocol: whether it speaks the classic one. None if the server does not say."""

    @property
    def partition_count(self) -> int:
        """The number of its partitions."""
        return sum(map(len, (self.assignment or {}).values()))


@dataclass(frozen=True)
class Description:
    """A group and its members. ``epoch`` is None in classic groups; ``protocol`` is the name of the assignor."""

    group_id: str
    type: str
    state: str
    node_id: int
    protocol_type: str = ""
    protocol: str = ""
    epoch: int | None = None
    assignment_epoch: int | None = None
    members: list[Member] = field(default_factory=list)


async def list_groups(cluster: Cluster, states: Iterable[str] = (), types: Iterable[str] = ()) -> list[Listed]:
    """Return the groups of all servers, by id. Without states or types, those of all. Raises ClientError."""
    answers = await cluster.ask_all(ListGroupsRequest(list(states), list(types)), ListGroupsResponse)
    listed = []
    for node_id, answer in answers.items():
        check("ListGroups", answer.error_code)
        groups, answer.groups = answer.groups, []
        groups.reverse()
        # There may be a million. Each answer of a group is dropped when it has been read, and all share the names of states.
        while groups:
            each = groups.pop()
            names = intern(each.group_type.lower()), intern(each.group_state), intern(each.protocol_type)
            listed.append(Listed(each.group_id, *names, node_id))
    listed.sort(key=attrgetter("group_id"))
    # A group that moves meanwhile may be in two answers.
    return [each for each, after in zip_longest(listed, islice(listed, 1, None)) if not after or after.group_id != each.group_id]


async def may_describe_all_groups(cluster: Cluster) -> bool:
    """Return whether the user may describe groups of any name. ListGroups leaves the others out. Raises ClientError."""
    try:
        await describe_groups(cluster, [_ANY_NAME])
    except Refused as refused:
        if refused.code is not ErrorCode.GROUP_AUTHORIZATION_FAILED:
            raise
        return False
    return True


async def describe_groups(cluster: Cluster, group_ids: Iterable[str]) -> dict[str, Description]:
    """Return those groups that exist, in the order of their ids. Raises ClientError.

    As Kafka's admin does it, the consumer protocol is asked first: of a group it does not have, the others are.
    """
    left = list(dict.fromkeys(group_ids))
    found: dict[str, Description] = {}
    for kind in _DESCRIBED:
        if left and await cluster.serves(kind.request):
            answers = await cluster.ask_coordinators(left, kind.request, kind.response, _codes)
            found |= {
                each.group_id: kind.read(node, each) for node, answer in answers for each in answer.groups if _is_there(each)
            }
            left = [each for each in left if each not in found]
    return dict(sorted(found.items()))


async def describe_group(cluster: Cluster, group_id: str) -> Description:
    """Return a group. Raises Refused if it does not exist, and ClientError."""
    found = await describe_groups(cluster, [group_id])
    if group_id not in found:
        raise Refused(f"there is no group {group_id}", ErrorCode.GROUP_ID_NOT_FOUND)
    return found[group_id]


async def delete_group(cluster: Cluster, group_id: str) -> ClientError | None:
    """Delete a group without members. Return why it was refused. Raises ClientError if there is no answer."""
    answer = await cluster.ask_coordinator(
        group_id,
        DeleteGroupsRequest([group_id]),
        DeleteGroupsResponse,
        lambda answer: (each.error_code for each in answer.results),
    )
    return error_of(f"deletion of group {group_id}", answer.results[0].error_code)


async def remove_member(cluster: Cluster, group: Description, member: Member, reason: str) -> ClientError | None:
    """Let a member leave its group. Return why it was refused. The member joins again, if it lives."""
    what = f"removal of {member.member_id} from group {group.group_id}"
    if group.type == CLASSIC or member.is_classic:
        identity = MemberIdentity(member.member_id, member.instance_id, reason)
        left = await cluster.ask_coordinator(
            group.group_id,
            LeaveGroupRequest(group.group_id, members=[identity]),
            LeaveGroupResponse,
            lambda answer: [answer.error_code],
        )
        return error_of(what, left.error_code or left.members[0].error_code)
    request_type, response_type = _HEARTBEATS[group.type]
    request = request_type(group_id=group.group_id, member_id=member.member_id, member_epoch=LEAVES)
    if group.type == CONSUMER:
        request.instance_id = member.instance_id
    answer = await cluster.ask_coordinator(group.group_id, request, response_type, lambda answer: [answer.error_code])
    return error_of(what, answer.error_code, answer.error_message)


def _codes(answer: Any) -> list[int]:
    return [each.error_code for each in answer.groups]


def _is_there(group: Any) -> bool:
    """Return whether it is a group of that type. Before version 6, DescribeGroups calls one that does not exist Dead."""
    if group.error_code in _ABSENT:
        return False
    check(f"description of group {group.group_id}", group.error_code, group.error_message)
    state: str = group.group_state
    return state != DEAD


def _newer(group_type: str, of_type: Callable[[Any], Mapping[str, Any]], node_id: int, group: Any) -> Description:
    """Return a group of one of the newer types. ``of_type`` returns what a member of that type has beside what all have."""
    found = [
        Member(
            member_id=each.member_id,
            client_id=each.client_id,
            client_host=each.client_host,
            epoch=each.member_epoch,
            rack_id=each.rack_id,
            **of_type(each),
        )
        for each in group.members
    ]
    names = group.group_id, group_type, group.group_state, node_id, group_type, getattr(group, "assignor_name", "")
    return Description(*names, group.group_epoch, group.assignment_epoch, found)


def _consumer(member: consumer.Member) -> Mapping[str, Any]:
    return {
        "instance_id": member.instance_id,
        "topics": tuple(member.subscribed_topic_names),
        "topic_regex": member.subscribed_topic_regex or None,
        "assignment": _partitions(member.assignment),
        "target": _partitions(member.target_assignment),
        "is_classic": None if member.member_type < 0 else member.member_type == 0,
    }


def _share(member: share.Member) -> Mapping[str, Any]:
    return {"instance_id": None, "topics": tuple(member.subscribed_topic_names), "assignment": _partitions(member.assignment)}


def _streams(member: streams.Member) -> Mapping[str, Any]:
    """Return the tasks of a member: ``task 0`` is in the place of a topic's name, with the id of the subtopology."""
    tasks, target = _tasks(member.assignment), _tasks(member.target_assignment)
    return {"instance_id": member.instance_id, "assignment": tasks, "target": target}


def _tasks(assignment: streams.Assignment) -> Partitions:
    kinds = (("", assignment.active_tasks), ("standby ", assignment.standby_tasks), ("warm-up ", assignment.warmup_tasks))
    return _sorted({f"{kind}task {each.subtopology_id}": each.partitions for kind, tasks in kinds for each in tasks})


def _classic(node_id: int, group: classic.DescribedGroup) -> Description:
    is_consumer = group.protocol_type == CONSUMER
    members = []
    for each in group.members:
        topics, assignment = _read_consumer(each) if is_consumer else ((), None)
        members.append(
            Member(
                each.member_id,
                each.group_instance_id,
                each.client_id,
                each.client_host,
                topics=topics,
                assignment=assignment,
            )
        )
    return Description(
        group.group_id, CLASSIC, group.group_state, node_id, group.protocol_type, group.protocol_data, members=members
    )


def _read_consumer(member: classic.DescribedGroupMember) -> tuple[tuple[str, ...], Partitions | None]:
    """Return subscription and assignment of a consumer. What cannot be read, or is not known yet, counts as none."""
    topics: tuple[str, ...] = ()
    assignment: Partitions = {}
    try:
        if member.member_metadata:
            topics = decode_subscription(member.member_metadata).topics
        for each in decode_assignment(member.member_assignment) if member.member_assignment else ():
            assignment.setdefault(each.topic, []).append(each.partition)
    except Refused:
        return topics, None
    return topics, _sorted(assignment)


def _partitions(assignment: consumer.Assignment | share.Assignment) -> Partitions:
    return _sorted({each.topic_name: list(each.partitions) for each in assignment.topic_partitions})


def _sorted(partitions: Mapping[str, Iterable[int]]) -> Partitions:
    return {topic: sorted(partitions[topic]) for topic in sorted(partitions)}


class _Described(NamedTuple):
    """How groups of one type are asked for, and how the answer for one is read, with the node that gave it."""

    request: type[Any]
    response: type[Any]
    read: Callable[[int, Any], Description]


_DESCRIBED: Final = (
    _Described(ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, partial(_newer, CONSUMER, _consumer)),
    _Described(DescribeGroupsRequest, DescribeGroupsResponse, _classic),
    _Described(ShareGroupDescribeRequest, ShareGroupDescribeResponse, partial(_newer, SHARE, _share)),
    _Described(StreamsGroupDescribeRequest, StreamsGroupDescribeResponse, partial(_newer, STREAMS, _streams)),
)
_HEARTBEATS: Final[Mapping[str, tuple[type[Any], type[Any]]]] = {
    CONSUMER: (ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse),
    SHARE: (ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse),
    STREAMS: (StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse),
}
