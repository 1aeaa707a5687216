"""ConsumerGroupDescribe: at once for few partitions, otherwise in steps of bounded work, each group as of one moment."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.consumer_group_describe import CONSUMER_GROUP_DESCRIBE_API
from coordinator_server.server.exchange.api_row import serve_row
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.exchange.steps import Steps
from protocol.codec import decoder
from protocol.error_codes import ErrorCode
from protocol.frames import FrameSplitter, encode_request
from protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)
from tests.support.consumer_group import log_of, write
from tests.support.consumer_records import current, group_epoch, left, member, target, target_epoch
from tests.support.transport import MemoryTransport
from tests.support.turns import ManualLoop

ORDERS = (1).to_bytes(16, "big")
MANY = 200


class Server:
    """A node whose only shard has the group ``few`` with a member, and ``many`` with many of them."""

    def __init__(self) -> None:
        self.loop = ManualLoop()
        self.log = log_of()
        for group_id, count in (("few", 1), ("many", MANY)):
            write(self.log, [group_epoch(group_id, 2), target_epoch(group_id, 2)])
            for number in range(count):
                parts = {ORDERS: range(number * 500, number * 500 + 500)}
                write(self.log, [member(group_id, f"m-{number}"), target(group_id, f"m-{number}", parts)])
                write(self.log, [current(group_id, f"m-{number}", 2, parts)])
        self.reads = 0
        node = SimpleNamespace(steps=Steps(self.loop.turns), groups=SimpleNamespace(read=self._read), partition_of=lambda _: 0)
        row = serve_row(CONSUMER_GROUP_DESCRIBE_API, partial(CONSUMER_GROUP_DESCRIBE_API.handle, node))
        self.connection, self._transport = self.loop.connect(Dispatcher([row], self.loop.background))

    def _read(self, _partition: int, operation: Any, group_id: str) -> Any:
        self.reads += 1
        return operation(self.log.shard, self.log.committed_offset, group_id)

    def ask(self, *groups: str) -> None:
        request = ConsumerGroupDescribeRequest([*groups], include_authorized_operations=True)
        self.connection.data_received(encode_request(69, 1, 7, "client", request))

    @property
    def described(self) -> list[list[DescribedGroup]]:
        assert isinstance(self._transport, MemoryTransport)
        frames = FrameSplitter(1 << 26).feed(b"".join(self._transport.writes))
        return [decoder(ConsumerGroupDescribeResponse, 1)(frame, 5)[0].groups for frame in frames]


def test_few_members_are_described_at_once() -> None:
    server = Server()
    server.ask("few", "", "none")

    [[few, nameless, none]] = server.described
    assert (few.group_id, few.group_state, [each.member_id for each in few.members]) == ("few", "Stable", ["m-0"])
    assert few.authorized_operations > 0
    assert (nameless.error_code, none.error_code) == (ErrorCode.INVALID_GROUP_ID, ErrorCode.GROUP_ID_NOT_FOUND)
    assert server.reads == 2


def test_many_partitions_are_described_in_steps() -> None:
    """As they were when the group's turn came: what changes between two steps is not mixed in."""
    server = Server()
    server.ask("many")
    server.loop.turn()
    assert (server.described, server.reads) == ([], 2)
    write(server.log, [left("many", f"m-{number}") for number in range(MANY)])
    for number in range(MANY):
        write(server.log, [member("many", f"m-{number}", None)])

    server.loop.work()

    [[many]] = server.described
    assert [each.member_id for each in many.members] == [f"m-{number}" for number in range(MANY)]
    assert all(len(each.assignment.topic_partitions[0].partitions) == 500 for each in many.members)


def test_only_an_unknown_group_is_explained() -> None:
    """As in Kafka; errors of the log have the names that clients know."""
    request, context = ConsumerGroupDescribeRequest(["g"]), RequestContext("", "", 69, 1)
    refuse = CONSUMER_GROUP_DESCRIBE_API.refuse

    said = [
        (group.error_code, group.error_message)
        for error in (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        for group in refuse(context, request, error, "because").groups
    ]

    assert said == [
        (ErrorCode.GROUP_ID_NOT_FOUND, "because"),
        (ErrorCode.NOT_COORDINATOR, None),
        (ErrorCode.NOT_COORDINATOR, None),
    ]
