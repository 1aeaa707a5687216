"""SlowTurns: what is counted and said of a turn that took long."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from structlog.testing import capture_logs

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.groups import LIST_GROUPS_API
from coordinator_server.server.apis.offset_delete import OFFSET_DELETE_API
from coordinator_server.server.exchange.api_row import serve_row
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.hosting.slow_turns import NO_API, Seen, SlowTurns, look_at, waited_for_core
from protocol.frames import encode_request
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestTopic
from tests.support.api_peer import ApiPeer
from tests.support.turns import ManualLoop

SLOW_S = 0.4
NO_PAUSES: Mapping[float, float] = {}


def slow_handler(_context: RequestContext, _request: Any, reply: Exchange[ListGroupsResponse]) -> None:
    time.sleep(SLOW_S)
    reply.complete(ListGroupsResponse())


def watched(work: Any) -> tuple[SlowTurns, list[Any]]:
    """Watch a loop that does ``work`` in one turn, again until a turn was found slow: a busy machine may hide one."""
    slow = SlowTurns()

    async def play() -> None:
        slow.start()
        for _ in range(50):
            await asyncio.sleep(0.1)
            work()
            await asyncio.sleep(0.2)
            if slow.counts:
                break
        slow.stop()

    with capture_logs() as lines:
        asyncio.run(play())
    return slow, lines


def test_a_slow_turn_is_counted_and_logged_with_its_api() -> None:
    loop = ManualLoop()
    connection, _ = loop.connect(Dispatcher([serve_row(LIST_GROUPS_API, slow_handler)], loop.background))
    frame = encode_request(16, 4, 1, "client", ListGroupsRequest())
    slow, lines = watched(lambda: connection.data_received(frame))

    assert slow.counts["ListGroups"] >= 1
    line = next(line for line in lines if line["event"] == "slow-turn")
    assert (line["api"], line["count"], line["log_level"]) == ("ListGroups", 1, "warning")
    assert line["ms"] >= 100


class Stage:
    """A loop that gives signs of life at given times, each with the time that it had waited for a core until then.

    The watch runs in the test's thread, until ``ends_s``. ``pauses`` has by how much the watch itself wakes late at a time.
    """

    def __init__(self, *signs: tuple[float, float], ends_s: float, pauses: Mapping[float, float] = NO_PAUSES) -> None:
        self.now_s = 0.0
        self._signs = deque(signs)
        self._ends_s = ends_s
        self._pauses = pauses
        self._waited_s = 0.0
        self.looks: list[float] = []
        self.slow = SlowTurns(self._look, lambda _thread: self._waited_s, lambda: self.now_s, self._wait)

    def _look(self, thread: int) -> Seen:
        self.looks.append(round(self.now_s, 3))
        return Seen("Heartbeat", f"thread {thread}")

    def _wait(self, seconds: float) -> bool:
        until_s = self.now_s + seconds
        until_s += self._pauses.get(round(until_s, 3), 0.0)
        while self._signs and self._signs[0][0] <= until_s:
            self.now_s, self._waited_s = self._signs.popleft()
            self.slow.sign()
        self.now_s = until_s
        return until_s >= self._ends_s

    def lines(self) -> list[Any]:
        """Watch, and return what is logged."""
        with capture_logs() as lines:
            self.slow.sign()
            self.slow.watch(7)
        return lines


def test_a_turn_is_slow_when_it_takes_a_tenth_of_a_second() -> None:
    """The loop is looked at once, when its sign is late."""
    stage = Stage((0.1, 0), (0.3001, 0), (0.4001, 0), ends_s=0.55)

    [line] = stage.lines()

    assert (line["event"], line["api"], line["function"]) == ("slow-turn", "Heartbeat", "thread 7")
    assert (line["ms"], line["waited_for_core_ms"], line["count"]) == (100, 0, 1)
    assert (stage.looks, stage.slow.counts) == ([0.3], {"Heartbeat": 1})


@pytest.mark.parametrize(
    "signs",
    [[(0.1, 0), (0.2, 0), (0.3, 0), (0.4, 0)], [(0.19, 0), (0.38, 0), (0.57, 0)]],
    ids=["in time", "a little late"],
)
def test_quick_turns_are_not_looked_at(signs: list[tuple[float, float]]) -> None:
    stage = Stage(*signs, ends_s=0.55)

    assert stage.lines() == []
    assert (stage.looks, stage.slow.counts) == ([], {})


@pytest.mark.parametrize(("waited_s", "ms"), [(0.31, None), (0.3, 100), (0.05, 350)])
def test_a_wait_for_a_core_is_no_part_of_a_turn(waited_s: float, ms: int | None) -> None:
    """A busy machine makes a loop late that has nothing to do. A turn that worked for long is still slow."""
    stage = Stage((0.5, waited_s), ends_s=0.65)

    lines = stage.lines()

    assert [(line["ms"], line["waited_for_core_ms"]) for line in lines] == ([] if ms is None else [(ms, 1000 * waited_s)])
    assert stage.looks == [0.2]


def test_a_loop_that_is_stopped_in_a_slow_turn_is_not_judged() -> None:
    assert Stage(ends_s=0.4).lines() == []


def test_a_process_that_stood_still_has_no_slow_turn() -> None:
    """The watch wakes late itself, and nothing is known about the loop: it has the time of a slow turn again."""
    quick = Stage((60.05, 0), (60.15, 0), ends_s=60.2, pauses={0.2: 59.8})
    slow = Stage((60.3, 0), ends_s=60.35, pauses={0.2: 59.8})

    assert (quick.lines(), quick.looks) == ([], [])
    assert [line["ms"] for line in slow.lines()] == [60_200]
    assert slow.looks == [60.1]


def test_the_kernel_says_how_long_a_thread_had_no_core() -> None:
    """Many threads that want one core wait for it."""
    waits: list[float] = []

    def spin() -> None:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        before, until_s = waited_for_core(threading.get_native_id()), time.monotonic() + 0.2
        while time.monotonic() < until_s:
            hashlib.sha256(b"x" * 1_000_000)
        waits.append(waited_for_core(threading.get_native_id()) - before)

    threads = [threading.Thread(target=spin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert max(waits) > 0.05
    assert waited_for_core(1 << 30) == 0.0


def test_a_thread_is_in_the_innermost_function_of_ours() -> None:
    """Of those that the request's handler has called."""
    is_there, is_over = threading.Event(), threading.Event()

    def topic(_name: str) -> None:
        is_there.set()
        is_over.wait()

    node = SimpleNamespace(image=SimpleNamespace(topic=topic, check_current=lambda: None))
    request = OffsetDeleteRequest("", [OffsetDeleteRequestTopic("orders")])
    thread = threading.Thread(target=lambda: ApiPeer(OFFSET_DELETE_API, node).ask(request, 0))
    thread.start()
    is_there.wait()
    seen = look_at(thread.ident or 0)
    is_over.set()
    thread.join()

    assert seen == Seen("OffsetDelete", "coordinator_server.server.apis.offset_delete._take_unknown")


def test_a_thread_that_has_ended_is_in_no_function() -> None:
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()

    assert look_at(thread.ident or 0) == Seen(NO_API, "")
