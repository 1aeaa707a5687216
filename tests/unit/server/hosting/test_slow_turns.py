"""SlowTurns: what is counted and said of a turn that took long. Only the least is asserted on time: machines are noisy."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
import time
from itertools import count
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
from coordinator_server.server.hosting import slow_turns
from coordinator_server.server.hosting.slow_turns import NO_API, Seen, SlowTurns, look_at, waited_for_core
from protocol.frames import encode_request
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestTopic
from tests.support.api_peer import ApiPeer
from tests.support.turns import ManualLoop

SLOW_S = 0.4


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


def test_other_slow_work_has_no_api() -> None:
    slow, lines = watched(lambda: time.sleep(SLOW_S))

    assert set(slow.counts) == {NO_API}
    assert lines[0]["api"] == NO_API


@pytest.mark.parametrize(("worked_s", "counted"), [(0.0, 0), (0.3, 1)])
def test_a_wait_for_a_core_is_no_part_of_a_turn(worked_s: float, counted: int) -> None:
    """A busy machine makes a loop late that has nothing to do. A turn that worked for long is still slow."""
    waited = [0.0]
    slow = SlowTurns(look=lambda _thread: Seen("Heartbeat", ""), waited=lambda _id: waited[0])

    async def play() -> None:
        slow.start()
        await asyncio.sleep(0.05)
        began_s = time.monotonic()
        time.sleep(SLOW_S + worked_s)  # noqa: ASYNC251 - the loop is blocked on purpose
        waited[0] += time.monotonic() - began_s - worked_s
        await asyncio.sleep(0.2)
        slow.stop()

    with capture_logs() as lines:
        for _ in range(50):
            asyncio.run(play())
            if slow.counts["Heartbeat"] >= counted:
                break
            slow = SlowTurns(look=lambda _thread: Seen("Heartbeat", ""), waited=lambda _id: waited[0])

    assert [line["event"] for line in lines] == ["slow-turn"] * counted
    assert all(100 <= line["ms"] < 1000 * SLOW_S and line["waited_for_core_ms"] >= 100 for line in lines)


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


def test_quick_turns_are_not_counted() -> None:
    slow = SlowTurns(look=lambda _thread: Seen("never", "called"))

    async def play() -> None:
        slow.start()
        await asyncio.sleep(0.3)
        slow.stop()

    asyncio.run(play())

    assert slow.counts["never"] <= 1  # one only if the machine was busy


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


def test_a_process_that_stood_still_has_no_slow_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looked at the loop meanwhile: a minute passes between any two looks at the clock."""
    readings = count(0, 60)
    monkeypatch.setattr(slow_turns, "time", SimpleNamespace(monotonic=lambda: next(readings)))
    slow = SlowTurns(look=lambda _thread: Seen("never", "called"))

    async def play() -> None:
        slow.start()
        await asyncio.sleep(0.1)
        time.sleep(SLOW_S)  # noqa: ASYNC251 - the loop is blocked on purpose
        slow.stop()

    asyncio.run(play())
    assert not slow.counts
