"""How a server that starts or serves waits for its end: signals, events, and work that is given up."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from coordinator_server.cli import main, serve
from coordinator_server.cli.serve import unless
from coordinator_server.cli.signals import stop_signals


async def others() -> set[asyncio.Task[object]]:
    """What still runs beside the test."""
    await asyncio.sleep(0)
    return asyncio.all_tasks() - {asyncio.current_task()}


@pytest.mark.parametrize("which", [0, 1])
async def test_the_first_of_several_events_is_found(which: int) -> None:
    """Nothing waits for the others any more."""
    events = asyncio.Event(), asyncio.Event()
    asyncio.get_running_loop().call_soon(events[which].set)

    assert await serve._first(*events) is events[which]

    assert await others() == set()


async def test_each_stop_signal_stops_the_server() -> None:
    stopping = stop_signals(signal.SIGUSR1, signal.SIGUSR2)
    assert not stopping.is_set()

    os.kill(os.getpid(), signal.SIGUSR2)

    async with asyncio.timeout(10):
        await stopping.wait()


async def test_finished_work_leaves_no_task() -> None:
    """Whether the server is to stop by then or not."""
    done = []

    async def work() -> None:
        await asyncio.sleep(0)
        done.append(1)

    assert await unless(asyncio.Event(), work())
    assert (done, await others()) == ([1], set())


async def test_work_is_given_up_when_the_server_stops() -> None:
    stopping = asyncio.Event()
    asyncio.get_running_loop().call_soon(stopping.set)

    assert not await unless(stopping, asyncio.sleep(1000))

    assert await others() == set()


async def test_work_that_fails_is_not_done() -> None:
    async def fail() -> None:
        raise OSError("no log")

    with pytest.raises(OSError, match="no log"):
        await unless(asyncio.Event(), fail())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("log.flush=never", "/a.properties:1: log.flush takes always or os, not 'never'"),
        ("", "--data-dir DIR is required, or the property log.dirs"),
        ("log.dirs=s3://bucket/log", "log.dirs=s3://bucket/log: s3://bucket/log is a URL: a local directory is required"),
    ],
)
def test_a_start_with_wrong_properties_is_a_wrong_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, problem: str
) -> None:
    """Nothing is started, and a service manager does not try again."""
    (tmp_path / "a.properties").write_text(text)

    assert main(["serve", "--config", str(tmp_path / "a.properties")]) == 2

    assert problem in capsys.readouterr().err
