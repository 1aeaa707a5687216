"""Committed offsets over the wire, at every version of OffsetCommit and OffsetFetch."""

from __future__ import annotations

import pytest

from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from tests.support.client import Client
from tests.support.members import form_group
from tests.support.simple_requests import commit_alone, committed, make_topic, must_commit

COMMIT_VERSIONS = range(2, 11)
FETCH_VERSIONS = range(1, 11)
BY_ID = 10
MANY_GROUPS = 8

Address = tuple[str, int]


@pytest.fixture
def topic_id(client: Client, fresh_name: str) -> bytes:
    """The id of a topic of six partitions that is named like the group."""
    return make_topic(client, fresh_name, 6)


@pytest.mark.parametrize("version", COMMIT_VERSIONS)
def test_a_member_commits(address: Address, client: Client, fresh_name: str, topic_id: bytes, version: int) -> None:
    """What is acknowledged is there, with its metadata, for whoever asks."""
    [member] = form_group(address, fresh_name, 1)
    partition = OffsetCommitRequestPartition(partition_index=3, committed_offset=42, committed_metadata="so far")
    topic = OffsetCommitRequestTopic(partitions=[partition])
    if version >= BY_ID:
        topic.topic_id = topic_id
    else:
        topic.name = fresh_name
    request = OffsetCommitRequest(
        group_id=fresh_name, generation_id_or_member_epoch=member.generation_id, member_id=member.member_id, topics=[topic]
    )

    [answer] = client.ask(request, version, OffsetCommitResponse).topics

    assert [(one.partition_index, one.error_code) for one in answer.partitions] == [(3, ErrorCode.NONE)]
    assert (answer.topic_id == topic_id) if version >= BY_ID else (answer.name == fresh_name)
    assert committed(client, fresh_name) == {(fresh_name, 3): 42}


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_positions_are_read_back(client: Client, fresh_name: str, topic_id: bytes, version: int) -> None:
    """A committed position with its metadata; -1 where there is none."""
    assert commit_alone(client, fresh_name, fresh_name, {0: 7}) == {0: ErrorCode.NONE}

    answer = client.ask(fetch_request(fresh_name, topic_id, [0, 1], version), version, OffsetFetchResponse)

    [topic] = answer.groups[0].topics if version >= MANY_GROUPS else answer.topics
    assert [(one.partition_index, one.committed_offset, one.error_code) for one in topic.partitions] == [
        (0, 7, ErrorCode.NONE),
        (1, -1, ErrorCode.NONE),
    ]


def fetch_request(group_id: str, topic_id: bytes, partitions: list[int], version: int) -> OffsetFetchRequest:
    if version < MANY_GROUPS:
        return OffsetFetchRequest(
            group_id=group_id, topics=[OffsetFetchRequestTopic(name=group_id, partition_indexes=partitions)]
        )
    topic = OffsetFetchRequestTopics(partition_indexes=partitions)
    if version >= BY_ID:
        topic.topic_id = topic_id
    else:
        topic.name = group_id
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group_id, topics=[topic])])


def test_many_groups_are_read_at_once(client: Client, fresh_name: str, topic_id: bytes) -> None:
    """From version 8 on each group answers for itself, in the order asked."""
    names = [f"{fresh_name}-{number}" for number in range(5)]
    for number, name in enumerate(names):
        must_commit(client, name, fresh_name, {0: number})

    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=name, topics=None) for name in names])
    answer = client.ask(request, 8, OffsetFetchResponse)

    assert [(group.group_id, group.topics[0].partitions[0].committed_offset) for group in answer.groups] == list(
        zip(names, range(5), strict=True)
    )


def test_a_stale_generation_may_not_commit(address: Address, client: Client, fresh_name: str, topic_id: bytes) -> None:
    """Each partition is refused, and nothing changes."""
    [member] = form_group(address, fresh_name, 1)
    assert member.commit(fresh_name, {0: 1, 1: 1}) == {0: ErrorCode.NONE, 1: ErrorCode.NONE}

    member.generation_id += 1

    assert member.commit(fresh_name, {0: 2, 1: 2}) == {0: ErrorCode.ILLEGAL_GENERATION, 1: ErrorCode.ILLEGAL_GENERATION}
    assert committed(client, fresh_name) == {(fresh_name, 0): 1, (fresh_name, 1): 1}


def test_an_outsider_may_not_commit_into_a_live_group(address: Address, client: Client, fresh_name: str, topic_id: bytes) -> None:
    """Generation -1 is for groups without members."""
    form_group(address, fresh_name, 1)

    assert commit_alone(client, fresh_name, fresh_name, {0: 1}) == {0: ErrorCode.UNKNOWN_MEMBER_ID}


def test_metadata_has_a_limit_per_partition(client: Client, fresh_name: str, topic_id: bytes) -> None:
    """offset.metadata.max.bytes: the partition that is over it is refused, its neighbour is not."""
    partitions = [
        OffsetCommitRequestPartition(partition_index=0, committed_offset=1, committed_metadata="x" * 5000),
        OffsetCommitRequestPartition(partition_index=1, committed_offset=1, committed_metadata="x" * 4000),
    ]
    request = OffsetCommitRequest(group_id=fresh_name, topics=[OffsetCommitRequestTopic(name=fresh_name, partitions=partitions)])

    [answer] = client.ask(request, 9, OffsetCommitResponse).topics

    assert [one.error_code for one in answer.partitions] == [ErrorCode.OFFSET_METADATA_TOO_LARGE, ErrorCode.NONE]
