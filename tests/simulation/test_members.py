"""What members of plays do about answers that did not come: a play must not ask of a server what no server can know."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatResponse
from tests.simulation.client import Client, Wait
from tests.simulation.group_member import GroupMember, Subscription, Surroundings
from tests.simulation.loop import SimulatedLoop
from tests.simulation.native_member import NativeMember
from tests.simulation.network import ClientSocket, Network, ServerTransport
from tests.simulation.share_member import ShareMember
from tests.simulation.world import SECOND, World


class ScriptedClient:
    """Gives the answers of a list. None: no answer comes."""

    may_be_heard_late = False

    def __init__(self, answers: list[Any]) -> None:
        self.requests: list[Any] = []
        self._answers = answers
        self._waits: list[Wait] = []

    async def ask(self, request: Any, *_: Any) -> Any:
        self.requests.append(request)
        return self._answers.pop(0)

    async def sleep(self, _ms: int) -> None:
        wait = Wait()
        self._waits.append(wait)
        await wait

    def go_on(self) -> None:
        """Let it have slept."""
        self._waits.pop().end()


@pytest.mark.parametrize("is_lost", [True, False])
@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        (ShareMember, ShareGroupHeartbeatResponse(member_id="m", member_epoch=1, heartbeat_interval_ms=500)),
        (NativeMember, ConsumerGroupHeartbeatResponse(member_id="m", member_epoch=1, heartbeat_interval_ms=500)),
    ],
)
def test_what_was_said_without_an_answer_may_come_last(kind: type[GroupMember], answer: Any, is_lost: bool) -> None:
    """A request may wait on one connection until a later one has acted on another, and undo it. So it is said once more."""
    client: Any = ScriptedClient([None if is_lost else answer, answer, answer])
    member = kind(Surroundings(World(Random(1)), lambda *_: client), "g", None, Subscription(("t1",)), (3000, 3000))
    member.rng = Random(4)
    member.start()
    member.subscription = Subscription(("t0",))
    client.go_on()
    member.thaw()
    client.go_on()

    assert [each.subscribed_topic_names for each in client.requests] == [["t1"], ["t0"], ["t0"] if is_lost else None]


@pytest.mark.parametrize("is_held", [True, False])
def test_an_old_request_may_run_right_after_the_one_that_is_answered(is_held: bool) -> None:
    """It moves the member to a later epoch, so that the next heartbeat is fenced. The answer may come when all has been read."""

    class ReadingClient(ScriptedClient):
        may_be_heard_late = is_held

        async def ask(self, request: Any, *_: Any) -> Any:
            self.may_be_heard_late = False
            return await super().ask(request)

    fenced = ConsumerGroupHeartbeatResponse(error_code=ErrorCode.FENCED_MEMBER_EPOCH)
    joined = ConsumerGroupHeartbeatResponse(member_id="m", member_epoch=1, heartbeat_interval_ms=500)
    client: Any = ReadingClient([joined, fenced])
    surroundings = Surroundings(World(Random(1)), lambda *_: client)
    member = NativeMember(surroundings, "g", None, Subscription(("t0",)), (3000, 3000))
    member.start()
    client.go_on()

    assert surroundings.ledger.wrong == ([] if is_held else [f"{member.name} was put out of g in time: FENCED_MEMBER_EPOCH"])


class HeldNetwork(Network):
    """A server that has what was sent, and has not read it."""

    def arrive(self, socket: ClientSocket) -> None:
        socket.has_arrived = True
        socket.transport = ServerTransport(self, SimulatedLoop(lambda: 0, lambda: None, is_timers_first=True), socket)  # type: ignore[abstract]


@pytest.mark.parametrize("end", ["is read", "process is gone"])
def test_a_request_that_was_given_up_may_be_heard_late(end: str) -> None:
    """Until the server knows that its connection has ended, or is gone."""
    network = HeldNetwork(World(Random(1)))
    client = Client(network, "c", lambda _: None, lambda _: None)
    client.send(HeartbeatRequest("g", 1, "m"), 4)
    [socket] = network.sockets
    network.world.run_for(SECOND)
    found = [client.may_be_heard_late]
    client.cut()
    network.world.run_for(4 * SECOND)
    found.append(client.may_be_heard_late)

    assert socket.transport is not None
    if end == "is read":
        socket.transport._is_over = True
    else:
        socket.transport.is_gone = True

    assert [*found, client.may_be_heard_late] == [False, True, False]
