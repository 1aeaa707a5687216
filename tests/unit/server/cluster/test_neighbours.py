"""Links between loops: when a message is sent, when it runs, and when it never will."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.machine.outbox import Effect
from coordinator_server.machine.shard import CoordinatorResult, CoordinatorShard, Reply, RequestContext
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.cluster.effects import Courier, Destinations, asked
from coordinator_server.server.cluster.link import encode_message
from coordinator_server.server.cluster.link_transport import UnixLinks
from coordinator_server.server.cluster.messages import Answer, Ask, Hello
from coordinator_server.server.cluster.neighbours import WINDOW, Identity, Neighbours
from coordinator_server.server.cluster.unix import Sockets, UnixSockets
from protocol.error_codes import ErrorCode
from tests.support.noted import Noted
from tests.support.runtime import CONTEXT, Outcome
from tests.support.sockets import End, MemorySockets
from tests.support.views import loops_nodes


class Said(Struct, frozen=True):
    words: str


SAY: Effect[Said, Said] = Effect("__said", "say", Said, Said)
TO_ONE = ShardId("__said", 1)
OWNED, FROM = Ownership(TO_ONE, 1), Ownership(ShardId("__said", 0), 1)


class Runtime:
    """What is said to a loop, and whom it has not answered."""

    def __init__(self) -> None:
        self.heard = Noted()
        self.replies: list[Reply[Any]] = []
        self.epoch = 1

    def ownership(self, partition: int) -> Ownership:
        return Ownership(ShardId(SAY.topic, partition), self.epoch)

    def write(
        self,
        partition: int,
        operation: WriteOperation[Any, Any, Any],
        context: RequestContext,
        request: Said,
        reply: Reply[Any],
    ) -> None:
        assert (partition, operation.name) == (1, "say")
        self.heard.append(request.words)
        self.replies.append(reply)


def never(shard: CoordinatorShard, context: RequestContext, request: Said, reply: Reply[Said]) -> CoordinatorResult[Said]:
    raise AssertionError("the runtime is none")


def here(runtime: Runtime, begin: Callable[[str], bool] = lambda _topic: True) -> Destinations:
    """A loop whose shards hear what others say."""
    rows = {SAY.topic: {SAY.name: asked(SAY, WriteOperation("say", never))}}
    return Destinations({SAY.topic: runtime}, rows, begin)  # type: ignore[dict-item]


class Loops:
    """Two loops, of which the one with number 1 has the shard. Each process of a loop is a Neighbours."""

    def __init__(self, sockets: Sockets, directory: Path = Path("/data")) -> None:
        self.sockets = sockets
        self.directory = directory
        self.runtime = Runtime()
        self.processes: list[Neighbours] = []

    async def start(self, loop: int, incarnation: int = 1) -> Neighbours:
        courier = Courier({SAY.topic: 2}, loops_nodes(2, loop), CONTEXT)
        courier.deliver_to(here(self.runtime))
        transport = UnixLinks(self.sockets, lambda to: self.directory / f"loop-{to}.sock", loop)
        process = Neighbours(Identity(loop, incarnation), transport, courier)
        courier.connect(process)
        await process.start()
        self.processes.append(process)
        return process


@pytest.fixture
def sockets() -> MemorySockets:
    return MemorySockets()


@pytest.fixture
async def loops(sockets: MemorySockets) -> Loops:
    loops = Loops(sockets)
    await loops.start(1)
    return loops


async def say(process: Neighbours, words: str) -> Outcome:
    """Have loop 1 hear something; until it is on its way."""
    outcome = Outcome()
    process.ask(1, FROM, OWNED, SAY, Said(words), outcome)
    await turns()
    return outcome


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def answer(loops: Loops, words: str) -> None:
    loops.runtime.replies.pop(0).complete(Said(words))


async def test_a_message_is_answered(loops: Loops, sockets: MemorySockets) -> None:
    """With a response, or with an error and its words; in any order."""
    sender = await loops.start(0)
    first, second, third = [await say(sender, words) for words in ("a", "b", "c")]
    sockets.carry()
    assert loops.runtime.heard == ["a", "b", "c"]
    loops.runtime.replies[2].complete(Said("C"))
    loops.runtime.replies[0].fail(ErrorCode.NOT_COORDINATOR, "go away")
    sockets.carry()

    assert (first.error, second.answers, third.response) == (ErrorCode.NOT_COORDINATOR, 0, Said("C"))
    assert len(sockets.connections) == 1


async def test_nothing_is_sent_before_the_welcome(loops: Loops, sockets: MemorySockets) -> None:
    """But who it is."""
    sender = await loops.start(0)
    await say(sender, "a")
    await say(sender, "b")
    [(here, there)] = sockets.connections
    assert bytes(there.arrived) == encode_message(Hello(0, 1, 1))
    there.read()
    assert (bytes(there.arrived), loops.runtime.heard) == (b"", [])
    here.read()
    there.read()
    assert loops.runtime.heard == ["a", "b"]


async def test_messages_to_a_stopped_loop_fail_and_later_ones_are_sent(loops: Loops, sockets: MemorySockets) -> None:
    """All who wait hear of it; the next message tries again."""
    sender = await loops.start(0)
    await loops.processes[0].stop()
    outcome = await say(sender, "a")
    assert outcome.error is ErrorCode.NETWORK_EXCEPTION

    await loops.start(1, 2)
    await say(sender, "b")
    sockets.carry()
    assert loops.runtime.heard == ["b"]


async def test_a_lost_link_fails_what_was_not_answered(loops: Loops, sockets: MemorySockets) -> None:
    """Sent or not. The answer that comes late goes nowhere, and the next message has a link of its own."""
    sender = await loops.start(0)
    first = await say(sender, "a")
    sockets.carry()
    here, there = sockets.connections[0]
    there.abort()
    here.lose()
    await turns()
    assert first.error is ErrorCode.NETWORK_EXCEPTION
    answer(loops, "A")
    assert first.answers == 1

    await say(sender, "b")
    sockets.carry()
    assert loops.runtime.heard == ["a", "b"]


async def test_what_a_dead_loop_left_does_not_run_after_the_next_is_welcome(loops: Loops, sockets: MemorySockets) -> None:
    """Its bytes are in the socket, and nobody has read them yet."""
    old = await loops.start(0)
    await say(old, "a")
    sockets.carry()
    await say(old, "left behind")
    _, left = sockets.connections[0]
    assert left.arrived
    new = await loops.start(0, incarnation=2)
    await say(new, "b")
    sockets.connections[1][1].read()
    assert not left.is_open
    left.read()
    sockets.carry()

    assert loops.runtime.heard == ["a", "b"]


async def test_a_stopped_loop_is_dropped_before_the_next_is_welcome(loops: Loops, sockets: MemorySockets) -> None:
    """It may wake up and go on: to a link that is closed."""
    old = await loops.start(0)
    late = await say(old, "a")
    sockets.carry()
    new = await loops.start(0, incarnation=2)
    await say(new, "b")
    sockets.carry()
    here, there = sockets.connections[0]
    assert not there.is_open
    # What it goes on to send gets nowhere, and then it hears that the link is lost.
    here.lose()
    await turns()

    assert loops.runtime.heard == ["a", "b"]
    assert late.error is ErrorCode.NETWORK_EXCEPTION


async def test_a_link_that_was_long_under_way_does_not_replace_a_later_one(loops: Loops, sockets: MemorySockets) -> None:
    """Of an older process, or an older try of the same: it is read after the later one."""
    for identity, known in ((Hello(0, 1, 9), Hello(0, 2, 1)), (Hello(0, 3, 1), Hello(0, 3, 2)), (Hello(0, 4, 1), Hello(0, 4, 1))):
        early, later = await raw(sockets), await raw(sockets)
        later.write(encode_message(known))
        later.other.read()
        early.write(encode_message(identity) + encode_message(Ask(1, OWNED, None, "say", b"\x81\xa5words\xa1a")))
        early.other.read()

        assert (early.other.is_open, later.other.is_open) == (False, True)
        assert early.arrived == b""
    assert loops.runtime.heard == []


async def raw(sockets: MemorySockets) -> End:
    """A connection whose near end is nobody."""
    await sockets.connect(Path("/data/loop-1.sock"), asyncio.Protocol)
    return sockets.connections[-1][0]


async def test_what_was_read_and_has_not_run_is_dropped_with_its_link(loops: Loops, sockets: MemorySockets) -> None:
    """Even in the middle of one piece of bytes: a message that has the link dropped is the last that runs."""
    near = await raw(sockets)
    ask = encode_message(Ask(1, OWNED, None, "say", b"\x81\xa5words\xa1a"))
    runtime = loops.runtime

    class Dropping(Runtime):
        def write(self, *args: Any) -> None:
            super().write(*args)
            [receiver] = loops.processes[0]._receivers.values()
            receiver.drop()

    dropping = Dropping()
    loops.processes[0]._courier.deliver_to(here(dropping))
    near.write(encode_message(Hello(0, 1, 1)) + ask + ask)
    near.other.read()

    assert (dropping.heard, runtime.heard) == (["a"], [])


async def test_an_answer_that_nobody_understands_ends_the_link(loops: Loops, sockets: MemorySockets) -> None:
    """Whoever asked hears of that."""
    sender = await loops.start(0)
    outcome = await say(sender, "a")
    sockets.carry()
    here, there = sockets.connections[0]
    there.write(encode_message(Answer(1, b"\x07")))
    with pytest.raises(msgspec.ValidationError):
        here.read()
    await turns()

    assert (here.is_open, outcome.error) == (False, ErrorCode.NETWORK_EXCEPTION)


async def test_so_many_messages_are_unanswered_at_once(loops: Loops, sockets: MemorySockets) -> None:
    """What the other loop may have to run in one go."""
    sender = await loops.start(0)
    for number in range(WINDOW + 3):
        sender.ask(1, FROM, OWNED, SAY, Said(str(number)), Outcome())
    await turns()
    sockets.carry()
    assert len(loops.runtime.heard) == WINDOW
    answer(loops, "0")
    answer(loops, "1")
    sockets.carry()
    assert len(loops.runtime.heard) == WINDOW + 2


async def test_stopping_ends_every_link(loops: Loops, sockets: MemorySockets) -> None:
    """On both sides; nobody is left without an answer."""
    sender = await loops.start(0)
    outcome = await say(sender, "a")
    sockets.carry()
    await sender.stop()
    await loops.processes[0].stop()
    await turns()

    assert [end.is_open for end in sockets.connections[0]] == [False, False]
    assert outcome.error is ErrorCode.NETWORK_EXCEPTION


async def test_on_real_sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a directory whose path is too long for one, over the socket that a dead process left."""
    directory = tmp_path / ("d" * 100)
    directory.mkdir()
    loops = Loops(UnixSockets(), directory)
    (directory / "loop-1.sock").touch()
    receiver = await loops.start(1)
    sender = await loops.start(0)
    first = await say(sender, "a")
    answers, complete = Noted(), first.complete

    def note(response: Said) -> None:
        complete(response)
        answers.append(response)

    monkeypatch.setattr(first, "complete", note)
    await loops.runtime.heard.until(lambda: bool(loops.runtime.heard))
    answer(loops, "A")
    await answers.until(lambda: bool(answers))
    assert first.response == Said("A")
    assert {path.name for path in directory.iterdir()} == {"loop-0.sock", "loop-1.sock"}

    await sender.stop()
    await receiver.stop()
    assert list(directory.iterdir()) == []


def test_a_courier_knows_the_shard_of_a_key() -> None:
    courier = Courier({SAY.topic: 2}, loops_nodes(), CONTEXT)

    assert [courier.locate(SAY.topic, to) for to in (1, "a", "b")] == [
        ShardId(SAY.topic, 1),
        ShardId(SAY.topic, 1),
        ShardId(SAY.topic, 0),
    ]


def test_what_is_not_in_use_refuses() -> None:
    """And is put to use: whoever has the message tries again."""
    runtime, begun = Runtime(), list[str]()

    def begin(topic: str) -> bool:
        begun.append(topic)
        return len(begun) > 1

    courier = Courier({SAY.topic: 2}, loops_nodes(), CONTEXT)
    courier.deliver_to(here(runtime, begin))
    outcomes = Outcome(), Outcome()
    for outcome in outcomes:
        courier.carry(None, TO_ONE, SAY, Said("a"), outcome)

    assert (outcomes[0].error, outcomes[1].answers) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, 0)
    assert (begun, runtime.heard) == ([SAY.topic] * 2, ["a"])
