"""What the supervisor knows of one loop's process, by what the process says. The test is the process: it has the other end."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from coordinator_server.config import Config
from coordinator_server.server.cluster.link import Link, encode_message
from coordinator_server.server.local_operation import Refusal
from coordinator_server.server.supervisor import loop_process as module
from coordinator_server.server.supervisor.loop_process import LoopProcess, Stage, Unanswered
from coordinator_server.server.supervisor.messages import (
    AnswerPiece,
    FromLoop,
    Listen,
    Listening,
    LoopEnded,
    OperationDone,
    Ping,
    Pong,
    Prepared,
    Recovered,
    Reload,
    RunOperation,
    Serving,
    StartLoop,
    ToLoop,
)
from tests.support.views import loops_view

ORDER = StartLoop(Config(), "/data", 1, loops_view(2), (), (), 1, 1, "info", "json")
STAGES = (
    (Recovered(), Stage.RECOVERED, False, True),
    (Prepared(("seal",)), Stage.PREPARED, True, True),
    (Listening(), Stage.LOADING, True, True),
    (Serving(), Stage.SERVING, True, True),
)


class Started:
    """A process that does nothing by itself: subprocess.Popen's part in it."""

    pid = 4711

    def __init__(self, words: Sequence[str], *, pass_fds: Sequence[int], **_: Any) -> None:
        self.words = words
        self.socket = socket.socket(fileno=os.dup(pass_fds[0]))
        self.inherited = pass_fds[1:]
        self.code: int | None = None
        self.signals: list[str] = []

    def poll(self) -> int | None:
        return self.code

    def terminate(self) -> None:
        self.signals.append("TERM")

    def kill(self) -> None:
        self.signals.append("KILL")
        self.code = -9


class Played:
    """A LoopProcess, the other end of its socket, and what it has reported."""

    def __init__(self) -> None:
        self.events: list[object] = []
        self.process = LoopProcess(
            1,
            lambda process: self.events.append(process.stage),
            lambda _process, code: self.events.append(code),
            lambda _process: self.events.append("pong"),
        )
        self.received: list[ToLoop] = []
        self._link: Link[ToLoop] = Link(ToLoop, self.received.append, lambda: None)

    @property
    def started(self) -> Started:
        found: Any = self.process._process
        return found

    async def start(self) -> None:
        self.process.spawn(ORDER, (7,))
        await self.process.connect(ORDER)
        await asyncio.get_running_loop().create_unix_connection(lambda: self._link, sock=self.started.socket)
        await self.heard(1)

    async def say(self, *messages: FromLoop) -> None:
        count = len(self.events)
        for message in messages:
            self._link.send(message)
        await turns_until(lambda: len(self.events) == count + len(messages))

    def answer(self, *messages: FromLoop) -> None:
        for message in messages:
            self._link.send(message)

    async def heard(self, count: int) -> None:
        """Return when the process has got so many messages."""
        await turns_until(lambda: len(self.received) >= count)

    def hang_up(self) -> None:
        self._link.close()

    async def ended(self) -> None:
        async with asyncio.timeout(10):
            await self.process.ended.wait()


async def turns_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0)


@pytest.fixture
async def played(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Played]:
    monkeypatch.setattr("coordinator_server.server.supervisor.loop_process.subprocess.Popen", Started)
    monkeypatch.setattr(module, "_LOOK_AGAIN_S", 0.0)
    found = Played()
    await found.start()
    yield found
    found.started.code = 0
    found.hang_up()
    await found.ended()


async def test_it_has_its_order_and_what_it_inherits(played: Played) -> None:
    assert (played.process.pid, played.started.inherited, played.received) == (4711, (7,), [ORDER])
    assert played.started.words[-2:] == ["loop-1", "/data"]


async def test_its_stage_is_what_it_says(played: Played) -> None:
    """And the stages in which it may be asked, and is watched."""
    assert (played.process.stage, played.process.is_up, played.process.is_watched) == (Stage.STARTING, False, False)
    for message, stage, is_up, is_watched in STAGES:
        await played.say(message)
        assert (played.process.stage, played.process.is_up, played.process.is_watched) == (stage, is_up, is_watched)

    assert played.events == [stage for _, stage, _, _ in STAGES]
    assert played.process.prepared == Prepared(("seal",))


async def test_it_gets_orders_and_answers_pings(played: Played) -> None:
    played.process.ping()
    played.process.listen()
    played.process.reload(Config())
    played.process.report_end(0, 3)
    await played.heard(5)
    await played.say(Pong())

    assert played.received[1:] == [Ping(), Listen(), Reload(Config()), LoopEnded(0, 3)]
    assert played.events == ["pong"]


async def test_an_answer_comes_in_pieces(played: Played) -> None:
    """Those of another operation are its own."""
    await played.say(Prepared(()))
    first, second = (asyncio.ensure_future(played.process.ask({"op": name})) for name in ("one", "two"))
    await played.heard(3)
    one, two = played.received[1:]
    assert isinstance(one, RunOperation)
    assert isinstance(two, RunOperation)
    played.answer(
        AnswerPiece(one.id, b'{"ok": '),
        AnswerPiece(two.id, b'{"ok": false}'),
        OperationDone(two.id),
        AnswerPiece(one.id, b"true}"),
        OperationDone(one.id),
        OperationDone(one.id),
    )

    assert (await first, await second) == ({"ok": True}, {"ok": False})
    assert (one.request, two.request) == ({"op": "one"}, {"op": "two"})


async def test_one_that_is_being_started_is_not_asked(played: Played) -> None:
    await played.say(Recovered())
    with pytest.raises(Refusal, match="loop 1 is being started") as refused:
        await played.process.ask({"op": "seal"})

    assert refused.value.is_temporary


async def test_one_that_lives_may_run_the_operation_later(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its late answer is nobody's."""
    monkeypatch.setattr(module, "ANSWERS_WITHIN_S", 0.0)
    await played.say(Prepared(()))
    with pytest.raises(Unanswered, match="loop 1 did not answer within 0 s"):
        await played.process.ask({"op": "seal"})
    await played.say(Pong())
    played.answer(AnswerPiece(1, b"{}"), OperationDone(1))
    await played.say(Pong())


async def test_the_end_of_its_socket_is_its_end(played: Played) -> None:
    """What it was asked is refused, and its exit code is waited for."""
    await played.say(Serving())
    asked = asyncio.ensure_future(played.process.ask({"op": "seal"}))
    await played.heard(2)
    played.hang_up()

    with pytest.raises(Refusal, match="loop 1 ended before it answered") as refused:
        await asked
    assert (refused.value.is_temporary, played.process.stage, played.process.ended.is_set()) == (True, Stage.GONE, False)
    assert not played.process.is_watched
    played.started.code = 2
    await played.ended()
    assert played.events == [Stage.SERVING, 2]


async def test_one_that_has_hung_up_and_does_not_end_is_killed(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ENDS_WITHIN_S", -1.0)
    played.hang_up()
    await played.ended()

    assert (played.started.signals, played.events) == (["KILL"], [-9])


async def test_it_gets_signals(played: Played) -> None:
    played.process.terminate()
    played.process.kill()

    assert played.started.signals == ["TERM", "KILL"]


async def test_what_is_no_message_ends_the_link(played: Played) -> None:
    """As the death of the process does."""
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _loop, _context: None)
    assert played._link._transport is not None
    played.started.code = 1
    played._link._transport.write(encode_message({"type": "Unknown"}))
    await played.ended()

    assert played.events == [1]
