"""The child process that tasks run in, as a real one."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import msgspec
import pytest

from coordinator_server.cli.executor import done_with, find_task
from coordinator_server.runtime.executor import Done
from coordinator_server.server.hosting.executor import ExecutorProcess, Run, start_executor
from tests.toy.purse import ADD_UP, SERDE, Contents, Summed, add_up
from tests.toy.purse_records import SumValue

CONTENTS = Contents(7, [1, 2, 39])


def amount(done: Done) -> int:
    assert done.result is not None
    [record] = msgspec.msgpack.decode(done.result, type=Summed).records
    found = SERDE.decode(*record)
    assert found is not None
    assert isinstance(found.value, SumValue)
    return found.value.amount


async def test_it_runs_what_comes_until_it_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the moment on that it is started, whether it listens already or not."""
    monkeypatch.setattr("coordinator_server.server.hosting.interpreter.interpreter", lambda: [sys.executable])
    done: asyncio.Queue[Done] = asyncio.Queue()
    lost = asyncio.Event()
    child = start_executor(done.put_nowait, lost.set)
    assert isinstance(child, ExecutorProcess)
    for task in (ADD_UP.name, "tests.toy.purse:MISSING", ADD_UP.name):
        child.run(task, msgspec.msgpack.encode(CONTENTS))
    first, second, third = [await asyncio.wait_for(done.get(), 20) for _ in range(3)]
    assert (amount(first), second.result, amount(third)) == (42, None, 42)
    assert "AttributeError" in second.why

    child.kill()
    await asyncio.wait_for(lost.wait(), 20)
    assert child._process.returncode == -9


def test_what_a_task_raises_is_told() -> None:
    """With where it was raised."""
    done = done_with(Run(ADD_UP.name, b"\xc1"))

    assert done.result is None
    assert done.why.startswith("Traceback")


def test_a_task_is_found_by_its_name() -> None:
    assert find_task(ADD_UP.name) is ADD_UP
    assert done_with(Run(ADD_UP.name, msgspec.msgpack.encode(CONTENTS))) == Done(msgspec.msgpack.encode(add_up(CONTENTS)))


async def test_a_child_that_ends_by_itself_is_reaped(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays no zombie."""
    monkeypatch.setattr("coordinator_server.server.hosting.interpreter.interpreter", lambda: [sys.executable])
    lost = asyncio.Event()
    child = start_executor(lambda _done: None, lost.set)
    assert isinstance(child, ExecutorProcess)

    reaped, poll = asyncio.Event(), child._process.poll

    def watched() -> int | None:
        code = poll()
        if code is not None:
            reaped.set()
        return code

    monkeypatch.setattr(child._process, "poll", watched)
    await child._connecting
    os.kill(child._process.pid, signal.SIGSTOP)
    child._link.close()
    await asyncio.wait_for(lost.wait(), 20)

    await asyncio.wait_for(reaped.wait(), 20)
    assert child._process.returncode == -9
