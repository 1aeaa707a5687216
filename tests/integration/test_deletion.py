"""DeleteGroups and OffsetDelete over the wire."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocol.error_codes import ErrorCode
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic
from protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.members import form_group
from tests.support.server import Server
from tests.support.simple_requests import committed, make_topic, must_commit, topic_of


def delete_groups(client: Client, *group_ids: str) -> dict[str, ErrorCode]:
    answer = client.ask(DeleteGroupsRequest(groups_names=list(group_ids)), 2, DeleteGroupsResponse)
    return {result.group_id: ErrorCode(result.error_code) for result in answer.results}


def delete_offsets(client: Client, group_id: str, topics: dict[str, list[int]]) -> OffsetDeleteResponse:
    asked = [OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(one) for one in ones]) for name, ones in topics.items()]
    return client.ask(OffsetDeleteRequest(group_id, asked), 0, OffsetDeleteResponse)


def told(answer: OffsetDeleteResponse) -> dict[tuple[str, int], ErrorCode]:
    return {(topic.name, one.partition_index): ErrorCode(one.error_code) for topic in answer.topics for one in topic.partitions}


def test_very_many_groups_are_deleted(address: tuple[str, int], client: Client, fresh_name: str) -> None:
    """Each is answered once. The deletion goes on when its connection ends, as a commit does."""
    make_topic(client, fresh_name, 1)
    first, second = ([f"{fresh_name}-{each}-{number}" for number in range(40)] for each in ("a", "b"))
    for name in (*first, *second):
        must_commit(client, name, fresh_name, {0: 5})
    nobody = [f"nobody-{number}" for number in range(3_000)]

    asked = [*nobody, *first, *first]
    answer = client.ask(DeleteGroupsRequest(asked), 2, DeleteGroupsResponse).results
    with Client(address) as other:
        other.send(DeleteGroupsRequest([*nobody, *second]), 2)

    assert sorted(result.group_id for result in answer) == sorted({*asked})
    assert {result.group_id for result in answer if result.error_code == ErrorCode.NONE} == {*first}
    assert [committed(client, name) for name in first] == [{}] * 40
    eventually(lambda: [committed(client, name) for name in second] == [{}] * 40)


def test_groups_of_many_shards_are_deleted_for_good(tmp_path: Path) -> None:
    """One request, many shards; gone after a kill -9 too, while the group with a member stays."""
    with Server(tmp_path) as server:
        with Client(server.address) as client:
            make_topic(client, "orders", 2)
            names = [f"simple-{number}" for number in range(20)]
            for name in names:
                must_commit(client, name, "orders", {0: 5})
            [member] = form_group(server.address, "busy", 1)

            answer = delete_groups(client, *names, "busy", "nobody")

            assert answer == dict.fromkeys(names, ErrorCode.NONE) | {
                "busy": ErrorCode.NON_EMPTY_GROUP,
                "nobody": ErrorCode.GROUP_ID_NOT_FOUND,
            }
            member.client.close()
        server.kill()
        server.start()
        with Client(server.address) as client:
            assert [committed(client, name) for name in names] == [{}] * len(names)
            assert delete_groups(client, "busy") == {"busy": ErrorCode.NON_EMPTY_GROUP}


def test_offsets_are_deleted_partition_by_partition(tmp_path: Path) -> None:
    """What does not exist is told so; what members consume stays; an unknown group is an error of the whole."""
    with Server(tmp_path) as server, Client(server.address) as client:
        make_topic(client, "orders", 2)
        make_topic(client, "consumed", 1)
        [member] = form_group(server.address, "consumed", 1)
        assert set(member.commit("orders", {0: 5, 1: 6}).values()) == {ErrorCode.NONE}
        assert member.commit("consumed", {0: 7}) == {0: ErrorCode.NONE}

        answer = delete_offsets(client, "consumed", {"orders": [0, 9], "nowhere": [0], "consumed": [0]})

        assert told(answer) == {
            ("orders", 0): ErrorCode.NONE,
            ("orders", 9): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            ("nowhere", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            ("consumed", 0): ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        }
        assert committed(client, "consumed") == {("orders", 1): 6, ("consumed", 0): 7}
        assert delete_offsets(client, "nobody", {"orders": [0]}).error_code == ErrorCode.GROUP_ID_NOT_FOUND
        beside = delete_offsets(client, "nobody", {"orders": [0], "nowhere": [0]})
        assert (beside.error_code, beside.topics) == (ErrorCode.GROUP_ID_NOT_FOUND, [])
        assert delete_offsets(client, "", {"orders": [0]}).error_code == ErrorCode.INVALID_GROUP_ID
        member.client.close()


@pytest.mark.parametrize("version", range(1, 7))
def test_a_deleted_topic_takes_its_offsets_along(client: Client, fresh_name: str, version: int) -> None:
    """From every group, for good; a topic that is made under its name afterwards begins with none."""
    groups = [f"{fresh_name}-{number}" for number in range(5)]
    make_topic(client, fresh_name, 2)
    make_topic(client, f"{fresh_name}-kept", 2)
    for group in groups:
        must_commit(client, group, fresh_name, {0: 5, 1: 6})
        must_commit(client, group, f"{fresh_name}-kept", {0: 7})

    by_name = DeleteTopicsRequest([DeleteTopicState(fresh_name)]) if version >= 6 else DeleteTopicsRequest([], [fresh_name])
    [told] = client.ask(by_name, version, DeleteTopicsResponse).responses
    gone = topic_of(client, fresh_name, is_created=False).error_code
    make_topic(client, fresh_name, 2)

    assert (told.name, told.error_code, gone) == (fresh_name, ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    eventually(lambda: [committed(client, group) for group in groups] == [{(f"{fresh_name}-kept", 0): 7}] * len(groups))


@pytest.mark.parametrize("version", range(4))
def test_a_topic_grows(client: Client, fresh_name: str, version: int) -> None:
    """CreatePartitions is known to Metadata when it has been answered, and what was there stays."""
    topic_id = make_topic(client, fresh_name, 2)
    must_commit(client, fresh_name, fresh_name, {1: 6})

    request = CreatePartitionsRequest([CreatePartitionsTopic(fresh_name, 5, None)])
    [told] = client.ask(request, version, CreatePartitionsResponse).results
    grown = topic_of(client, fresh_name, is_created=False)

    assert (told.name, told.error_code, told.error_message) == (fresh_name, ErrorCode.NONE, None)
    assert (len(grown.partitions), grown.topic_id) == (5, topic_id)
    assert committed(client, fresh_name) == {(fresh_name, 1): 6}
