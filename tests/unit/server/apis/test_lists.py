"""Answers to long lists: at once if they are little work, in short steps otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.groups import DESCRIBE_GROUPS_API
from coordinator_server.server.apis.lists import UNITS_PER_STEP, answer_list
from coordinator_server.server.exchange.api_row import serve_row
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Steps, Work
from coordinator_server.server.wire.turns import STEPS_PER_TURN
from protocol.codec import decoder
from protocol.frames import FrameSplitter, encode_request
from protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from tests.support.transport import MemoryTransport
from tests.support.turns import ManualLoop

VERSION = 4


class Server:
    """Describes groups that do not exist. Each of them is so much work."""

    def __init__(self, units: int, large: int = 0) -> None:
        """With ``large``, each group named "large" takes that many steps."""
        self._large = large
        self.loop = ManualLoop()
        self.units = units
        self.answered = 0
        self._steps = Steps(self.loop.turns)
        self._dispatcher = Dispatcher([serve_row(DESCRIBE_GROUPS_API, self._describe)], self.loop.background)
        self.connection, self._transport = self.loop.connect(self._dispatcher)

    def _describe(self, context: RequestContext, request: Any, reply: Exchange[Any]) -> None:
        def answer(group_id: str) -> tuple[DescribedGroup, int]:
            self.answered += 1
            return DescribedGroup(group_id=group_id), self.units

        def in_steps() -> Work[DescribedGroup]:
            for _ in range(self._large):
                self.answered += 1
                yield
            return DescribedGroup(group_id="large")

        def large(group_id: str) -> Work[DescribedGroup] | None:
            return in_steps() if group_id == "large" else None

        answer_list(self._steps, reply, request.groups, answer, lambda groups: DescribeGroupsResponse(groups=groups), large)

    def ask(self, *groups: str) -> None:
        self.connection.data_received(encode_request(15, VERSION, 7, "client", DescribeGroupsRequest([*groups])))

    @property
    def described(self) -> list[list[str]]:
        """The groups of each response."""
        assert isinstance(self._transport, MemoryTransport)
        frames = FrameSplitter(1 << 26).feed(b"".join(self._transport.writes))
        return [[group.group_id for group in decoder(DescribeGroupsResponse, VERSION)(frame, 4)[0].groups] for frame in frames]


def test_a_short_list_is_answered_without_steps() -> None:
    """Without a step, and each item once."""
    server = Server(units=1)
    groups = [f"g{each}" for each in range(UNITS_PER_STEP // 2)]
    server.ask(*groups)

    assert (server.described, server.answered) == ([groups], len(groups))


@pytest.mark.parametrize(("units", "count"), [(UNITS_PER_STEP // 10, 200), (UNITS_PER_STEP, 20), (10 * UNITS_PER_STEP, 20)])
def test_much_work_goes_in_steps(units: int, count: int) -> None:
    """Of bounded work each, and the answer has all items in their order."""
    server = Server(units)
    groups = [f"g{each}" for each in range(count)]
    server.ask(*groups)

    most = server.answered
    while not server.described:
        before = server.answered
        server.loop.turn()
        most = max(most, server.answered - before)
        if not server.loop.soon:
            server.loop.work()
    assert most <= STEPS_PER_TURN * -(-UNITS_PER_STEP // units) + 1
    assert server.described == [groups]


def test_one_large_item_goes_in_steps_of_its_own() -> None:
    """Between others, and nothing of it is done twice."""
    server = Server(units=1, large=100)
    server.ask("a", "large", "b")
    assert server.answered == 1

    most = 0
    while not server.described:
        before = server.answered
        server.loop.turn()
        most = max(most, server.answered - before)
        if not server.loop.soon:
            server.loop.work()
    assert most <= STEPS_PER_TURN + 1
    assert server.answered == 1 + 1 + 100 + 1
    assert server.described == [["a", "large", "b"]]


def test_a_large_request_goes_in_steps_from_the_beginning() -> None:
    """Nothing is answered while it is being decoded, or twice."""
    server = Server(units=1)
    groups = [f"group-{each}" for each in range(10_000)]
    server.ask(*groups)
    assert server.answered == 0
    server.loop.work()

    assert (server.described, server.answered) == ([groups], len(groups))
