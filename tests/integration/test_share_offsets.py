"""The offsets of a share group while loops die: the group is one loop's, the states of its share partitions are both loops'."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
)
from protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
    DeleteShareGroupOffsetsResponse,
)
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsResponse,
)
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.simple_requests import make_topic

PARTITIONS = 8
NONE, NOT_FOUND = ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND


class Admin:
    """An administrator of group ``g`` and topic ``t``, who asks again whenever something is refused or lost."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._loop = partition_for("g", 50) % server.loops

    def client(self) -> Client:
        return Client((self._server.host, self._server.ports[self._loop]), timeout_s=5)

    def until(self, ask: Callable[[Client], bool]) -> None:
        """Ask on new connections until the answer is good."""

        def is_good() -> bool:
            try:
                with self.client() as client:
                    return ask(client)
            except OSError:
                return False

        eventually(is_good, 30)

    def kill(self, is_own: bool) -> None:
        """SIGKILL for the group's loop, or for the other one; it starts again."""
        loop = self._loop if is_own else 1 - self._loop
        pid = self._server.loop_pids()[loop]
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: self._server.loop_pids()[loop] != pid)

    def disturbed(self, ask: Callable[[Client], bool], *, is_own: bool) -> None:
        """Ask once, kill a loop before the answer, and ask until it is good."""
        with self.client() as client:
            client.send(*REQUESTS[ask])
            time.sleep(0.002)
            self.kill(is_own)
        self.until(ask)

    def offsets(self, *, named: bool = False) -> dict[int, int]:
        """The start offsets: of all partitions that have a state, or of all."""
        found: dict[int, int] = {}

        def ask(client: Client) -> bool:
            found.clear()
            topics = [DescribeShareGroupOffsetsRequestTopic("t", list(range(PARTITIONS)))] if named else None
            request = DescribeShareGroupOffsetsRequest([DescribeShareGroupOffsetsRequestGroup("g", topics)])
            [group] = client.ask(request, 1, DescribeShareGroupOffsetsResponse).groups
            found.update({each.partition_index: each.start_offset for topic in group.topics for each in topic.partitions})
            return group.error_code == NONE

        self.until(ask)
        return found


def alteration(offset: int) -> AlterShareGroupOffsetsRequest:
    partitions = [AlterShareGroupOffsetsRequestPartition(index, offset + index) for index in range(PARTITIONS)]
    return AlterShareGroupOffsetsRequest("g", [AlterShareGroupOffsetsRequestTopic("t", partitions)])


def alter(offset: int) -> Callable[[Client], bool]:
    def ask(client: Client) -> bool:
        answer = client.ask(alteration(offset), 0, AlterShareGroupOffsetsResponse)
        return {answer.error_code, *(each.error_code for topic in answer.responses for each in topic.partitions)} == {NONE}

    REQUESTS[ask] = alteration(offset), 0
    return ask


def drop(client: Client) -> bool:
    answer = client.ask(DROPPING, 0, DeleteShareGroupOffsetsResponse)
    # It may have been done before the answer was lost.
    done = (NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return answer.error_code == NONE and all(topic.error_code in done for topic in answer.responses)


def end(client: Client) -> bool:
    [result] = client.ask(DeleteGroupsRequest(["g"]), 2, DeleteGroupsResponse).results
    return result.error_code in (NONE, NOT_FOUND)


DROPPING = DeleteShareGroupOffsetsRequest("g", [DeleteShareGroupOffsetsRequestTopic("t")])
REQUESTS: dict[Callable[[Client], bool], tuple[Message, int]] = {drop: (DROPPING, 0), end: (DeleteGroupsRequest(["g"]), 2)}


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Admin]:
    """Fewer than six loops may die in a minute."""
    with Server(tmp_path_factory.mktemp("pair"), loops=2) as server:
        with Client(server.address) as client:
            make_topic(client, "t", PARTITIONS)
        yield Admin(server)


def delete_topic(client: Client) -> bool:
    answer = client.ask(DeleteTopicsRequest([DeleteTopicState("t")]), 6, DeleteTopicsResponse)
    # It may have been done before the answer was lost.
    return answer.responses[0].error_code in (NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def test_offsets_survive_the_deaths_of_loops(admin: Admin) -> None:
    """What is answered is the case, wherever it is kept; what is lost on the way is done when it is asked for again."""
    for offset, is_own in ((100, True), (200, False)):
        admin.disturbed(alter(offset), is_own=is_own)
        assert admin.offsets() == admin.offsets(named=True) == {index: offset + index for index in range(PARTITIONS)}

    admin.disturbed(drop, is_own=True)
    assert (admin.offsets(), set(admin.offsets(named=True).values())) == ({}, {-1})
    admin.until(alter(300))
    admin.disturbed(end, is_own=False)
    assert (admin.offsets(), set(admin.offsets(named=True).values())) == ({}, {-1})


def test_a_deleted_topic_leaves_the_group_also_through_a_death(admin: Admin) -> None:
    """A topic of the same name has no offsets."""
    admin.until(alter(100))
    admin.until(delete_topic)
    admin.kill(is_own=True)

    eventually(lambda: admin.offsets() == {}, 30)
    with admin.client() as client:
        make_topic(client, "t", PARTITIONS)
    assert set(admin.offsets(named=True).values()) == {-1}
    admin.until(alter(200))
    assert admin.offsets()[0] == 200
    admin.until(end)
