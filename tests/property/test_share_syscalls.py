"""A server killed at the N-th system call that changes a file or answers, in the midst of share groups:
no state is lost, and none is left.

Each kill has a new directory: the first use of both topics, initializations, writes, snapshots, and deletions are killed, too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from protocol.error_codes import ErrorCode
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
from protocol.messages.read_share_group_state import ReadShareGroupStateResponse
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from protocol.messages.write_share_group_state import WriteShareGroupStateResponse
from tests.simulation.ownership import Position
from tests.simulation.share_accounts import Account, Batch
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.killed_servers import is_killed, kill_at_every
from tests.support.server import Server
from tests.support.share_state import reading, results_of, summarizing, writing
from tests.support.simple_requests import coordinator, topic_of
from tests.support.strace import needs_strace

CALLS: Final = ("pwrite64", "fdatasync", "fsync", "write", "rename", "ftruncate", "unlink", "fallocate", "mkdir")
# What the default run kills at: a write of the journal in the midst. --every-syscall kills at all calls.
SAMPLED: Final = 24
GROUP: Final = "sharing"
TOPIC: Final = "t"
PARTITIONS: Final = 2
START: Final = 7
PROPERTIES: Final = {
    "topics": f"{TOPIC}:{PARTITIONS}",
    "offsets.topic.num.partitions": 2,
    "share.coordinator.state.topic.num.partitions": 2,
    "share.coordinator.snapshot.update.records.per.snapshot": 2,
    "group.share.assignment.interval.ms": 0,
}
# After these nothing has happened yet.
LATER: Final = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
}


class Story:
    """A member and leaders of a share group, and an administrator, one after the other, until the server dies."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.accounts: dict[Position, Account] = {}
        self._offsets = count(10)
        self._epoch = 0

    def play(self, server: Server) -> None:
        """Raises ConnectionError when the server dies."""
        with Client(server.address) as client:
            self.meet(client)
            self.join(client)
            self.lead(client, 4)
            self.leave(client)
            self.move(client)
            self.lead(client, 2)
            self.drop(client)
            self.join(client)
            self.lead(client, 3)
            self.leave(client)
            self.delete(client)
            self.join(client)
            self.lead(client, 3)

    def end(self, server: Server) -> None:
        """Go on after a kill, to the end: nothing is left."""
        with Client(server.address) as client:
            self.meet(client)
            self.join(client)
            self.lead(client, 1)
            self.leave(client)
            self.delete(client)

    def meet(self, client: Client) -> None:
        """The group has a coordinator, and the topic an id."""
        coordinator(client, GROUP, 0)
        topic_id = topic_of(client, TOPIC).topic_id
        for partition in range(PARTITIONS):
            known = self.accounts.get((topic_id, partition))
            if known is None:
                known = Account(GROUP, (topic_id, partition), lambda: time.monotonic_ns() // 1000, self.wrong.append)
                self.accounts[topic_id, partition] = known

    def join(self, client: Client) -> None:
        """Until the member has all partitions: then each has a state."""
        self._epoch = 0
        eventually(lambda: self._beat(client) == set(self.accounts))

    def leave(self, client: Client) -> None:
        answer = client.ask(ShareGroupHeartbeatRequest(GROUP, "m", -1), 1, ShareGroupHeartbeatResponse)
        assert answer.error_code == ErrorCode.NONE, answer

    def lead(self, client: Client, writes: int) -> None:
        """Read each share partition in a new epoch, and write to it."""
        for position, account in self.accounts.items():
            epoch = account.next_epoch()
            state_epoch = self.read(client, account, epoch)
            for _ in range(writes):
                offset = next(self._offsets)
                batches: list[Batch] = [(offset, offset + 3, (1 + offset % 2, 0)), (offset + 1, offset + 1, (2, 2))]
                flat = [(first, last, *delivery) for first, last, delivery in batches]
                start_offset = offset if offset % 3 == 0 else -1
                account.writes_of(start_offset, batches)
                asked = account.asked(epoch)
                request = writing(
                    GROUP, [position], *flat, state_epoch=state_epoch, leader_epoch=epoch, start_offset=start_offset
                )
                [result] = results_of(client.ask(request, 1, WriteShareGroupStateResponse)).values()
                assert result.error_code == ErrorCode.NONE, result
                account.written(asked, epoch, start_offset, batches)

    def read(self, client: Client, account: Account, epoch: int) -> int:
        """Return the epoch of the state."""
        asked = account.asked(epoch)
        [found] = results_of(client.ask(reading(GROUP, [account.position], epoch), 0, ReadShareGroupStateResponse)).values()
        assert found.error_code == ErrorCode.NONE, found
        account.read(asked, epoch, found)
        return int(found.state_epoch)

    def move(self, client: Client) -> None:
        partitions = [AlterShareGroupOffsetsRequestPartition(partition, START) for partition in range(PARTITIONS)]
        request = AlterShareGroupOffsetsRequest(GROUP, [AlterShareGroupOffsetsRequestTopic(TOPIC, partitions)])
        with self._anew(START):
            assert client.ask(request, 0, AlterShareGroupOffsetsResponse).error_code == ErrorCode.NONE

    def drop(self, client: Client) -> None:
        request = DeleteShareGroupOffsetsRequest(GROUP, [DeleteShareGroupOffsetsRequestTopic(TOPIC)])
        with self._anew():
            assert client.ask(request, 0, DeleteShareGroupOffsetsResponse).error_code == ErrorCode.NONE

    def delete(self, client: Client) -> None:
        """Delete the group, and with it its states."""
        with self._anew():
            eventually(lambda: self._delete(client) in (ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND))
        told = results_of(client.call(summarizing(GROUP, self.accounts), 1)).values()
        assert [each.start_offset for each in told] == [-1] * PARTITIONS, told
        refused = results_of(client.call(reading(GROUP, self.accounts), 0)).values()
        assert [each.error_code for each in refused] == [ErrorCode.INVALID_REQUEST] * PARTITIONS, refused

    def _delete(self, client: Client) -> int:
        answer = client.ask(DeleteGroupsRequest([GROUP]), 2, DeleteGroupsResponse)
        return answer.results[0].error_code

    def _beat(self, client: Client) -> set[Position]:
        request = ShareGroupHeartbeatRequest(GROUP, "m", self._epoch, None, [TOPIC])
        answer = client.ask(request, 1, ShareGroupHeartbeatResponse)
        if answer.error_code in LATER:
            return set()
        assert answer.error_code == ErrorCode.NONE, answer
        assert answer.assignment is not None
        self._epoch = answer.member_epoch
        return {(topic.topic_id, partition) for topic in answer.assignment.topic_partitions for partition in topic.partitions}

    @contextmanager
    def _anew(self, start_offset: int = -1) -> Iterator[None]:
        """Within this the states may begin anew. What a server that died has not answered happens before its next one answers."""
        for account in self.accounts.values():
            account.begins_anew(start_offset)
        try:
            yield
        finally:
            for account in self.accounts.values():
                account.began_anew(True)


@pytest.mark.crash
@needs_strace
@pytest.mark.parametrize("call", CALLS)
def test_a_kill_at_any_system_call_loses_no_state(call: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """And leaves none: what was begun goes on."""
    if pytestconfig.getoption("--every-syscall"):
        kill_at_every(tmp_path, call, lambda directory, number: is_story_killed(directory, call, number))
    elif call == "pwrite64":
        assert is_story_killed(tmp_path / "sample", call, SAMPLED)


def is_story_killed(directory: Path, call: str, number: int) -> bool:
    """Kill a server at that call of a thread, and look at what is left; False when it makes fewer such calls."""
    directory.mkdir()
    story = Story()
    found = is_killed(Server(directory, PROPERTIES), call, number, story.play, story.end)
    assert story.wrong == []
    return found
