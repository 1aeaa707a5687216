"""What a service manager is told, and what is taken from it."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator_server.cli import service_manager
from coordinator_server.cli.service_manager import ServiceManager
from coordinator_server.server.errors import StartError
from tests.support.virtual_time import run_virtual

PID = 4711


@pytest.fixture(params=["a path", "abstract"])
def told(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[socket.socket]:
    """The end of the service manager."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiving:
        receiving.bind(f"{tmp_path}/notify" if request.param == "a path" else f"\0coordinator-server-{os.getpid()}")
        receiving.settimeout(10)
        yield receiving


def address_of(told: socket.socket) -> str:
    name = told.getsockname()
    return f"@{name[1:].decode()}" if isinstance(name, bytes) else name


def manager(told: socket.socket, **more: str) -> ServiceManager:
    return ServiceManager({"NOTIFY_SOCKET": address_of(told)} | more, PID)


def message(told: socket.socket) -> list[str]:
    return told.recv(4096).decode().splitlines()


def test_the_life_of_a_server(told: socket.socket) -> None:
    """While it loads it asks for more time; then it is ready, and gives signs of life until it stops."""
    service = manager(told, WATCHDOG_USEC="30000000", WATCHDOG_PID=str(PID))

    async def live() -> None:
        service.begin(lambda: "loading: 3 of 51 shards")
        assert message(told) == ["STATUS=loading: 3 of 51 shards", "EXTEND_TIMEOUT_USEC=60000000"]
        assert message(told) == ["WATCHDOG=1"]
        await asyncio.sleep(0.5)
        service.reloading()
        service.reloaded()
        service.ready("serving")
        service.reloading()
        service.reloaded()
        service.stopping()
        await asyncio.sleep(100)

    run_virtual(live())

    found = [message(told) for _ in range(5)]
    assert [each[0] for each in found] == ["RELOADING=1", "READY=1", "RELOADING=1", "READY=1", "STOPPING=1"]
    assert found[1] == ["READY=1", "STATUS=serving"]
    told.setblocking(False)
    with pytest.raises(BlockingIOError):
        told.recv(1)


def test_signs_of_life_come_three_times_in_the_time_of_the_watchdog(told: socket.socket) -> None:
    service = manager(told, WATCHDOG_USEC="3000000", WATCHDOG_PID=str(PID))

    async def live() -> None:
        service.begin(lambda: "loading")
        await asyncio.sleep(2.5)
        service.stopping()

    run_virtual(live())

    messages = [message(told) for _ in range(7)]
    assert messages.count(["WATCHDOG=1"]) == 3
    assert messages[-1][0] == "STOPPING=1"


def test_the_status_is_told_again(told: socket.socket) -> None:
    """Every second, without a request for more time when all is loaded."""
    statuses = iter(["loading", "serving", "serving more"])
    service = manager(told)

    async def live() -> None:
        service.begin(lambda: next(statuses))
        service.ready("ready")
        await asyncio.sleep(2.5)
        service.stopping()

    run_virtual(live())

    assert [message(told) for _ in range(4)] == [
        ["STATUS=loading", "EXTEND_TIMEOUT_USEC=60000000"],
        ["READY=1", "STATUS=ready"],
        ["STATUS=serving"],
        ["STATUS=serving more"],
    ]


@pytest.mark.parametrize("environment", [{}, {"NOTIFY_SOCKET": "/nowhere/notify"}, {"WATCHDOG_USEC": "1"}])
async def test_without_a_service_manager_nothing_is_sent(environment: dict[str, str]) -> None:
    """Nothing happens; what cannot be sent is dropped."""
    service = ServiceManager(environment, PID)

    service.begin(lambda: "loading")
    service.ready("serving")
    service.stopping()

    assert environment == {}
    assert service.inherited() == []


def test_what_is_meant_for_a_different_process() -> None:
    """A shell that has started this one may have forgotten to remove it."""
    environment = {"WATCHDOG_PID": "1", "WATCHDOG_USEC": "5000000", "LISTEN_PID": "1", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "a:b"}
    service = ServiceManager(environment, PID)

    assert (service.watchdog_s, service.inherited(), environment) == (0.0, [], {})


def test_sockets_that_are_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the server's own from then on; children do not get them."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        copy = os.dup(listening.fileno())
        os.set_inheritable(copy, True)
        monkeypatch.setattr(service_manager, "FIRST_SOCKET", copy)

        [found] = ServiceManager({"LISTEN_PID": str(PID), "LISTEN_FDS": "1"}, PID).inherited()

        with found:
            assert found.getsockname() == listening.getsockname()
            assert not found.get_inheritable()


@pytest.mark.parametrize("kind", ["datagram", "unix", "file"])
def test_what_is_no_tcp_socket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str) -> None:
    """The unit has a wrong ListenStream=."""
    if kind == "file":
        fd = os.open(tmp_path, os.O_RDONLY)
    else:
        family = socket.AF_UNIX if kind == "unix" else socket.AF_INET
        fd = socket.socket(family, socket.SOCK_STREAM if kind == "unix" else socket.SOCK_DGRAM).detach()
    monkeypatch.setattr(service_manager, "FIRST_SOCKET", fd)
    try:
        with pytest.raises(StartError, match=f"descriptor {fd}, which is no"):
            ServiceManager({"LISTEN_PID": str(PID), "LISTEN_FDS": "1"}, PID).inherited()
    finally:
        if kind == "file":
            os.close(fd)


async def test_a_manager_that_does_not_read(told: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signs of life are dropped; what comes once waits, and not for ever."""
    monkeypatch.setattr(service_manager, "_EVERY_S", 1000)
    service = manager(told)
    for _ in range(2000):
        service.tell("WATCHDOG=1", patience_s=0.0)
    started_s = time.monotonic()
    service.tell("READY=1", patience_s=0.1)
    assert time.monotonic() - started_s >= 0.1

    reading = asyncio.get_running_loop().run_in_executor(None, message, told)
    service.ready("serving")

    assert await reading == ["WATCHDOG=1"]
    assert told.recv(4096) == b"WATCHDOG=1"
    while (last := message(told)) == ["WATCHDOG=1"]:
        pass
    assert last == ["READY=1", "STATUS=serving"]
