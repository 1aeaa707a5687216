"""The child that runs tasks, in this process: what it reads and writes, and when it ends."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator

import msgspec
import pytest

from coordinator_server.cli import executor
from coordinator_server.runtime.executor import Done
from coordinator_server.server.cluster.link import encode_message
from coordinator_server.server.hosting.executor import Run
from tests.toy.purse import ADD_UP, Contents, add_up

CONTENTS = Contents(7, [1, 2, 39])


class Child:
    """The arguments of the child, and the other end of its socket."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.channel, its = socket.socketpair()
        self.tied: list[str] = []
        self._monkeypatch = monkeypatch
        self._descriptor = its.detach()
        for name in ("die_with_parent", "leave_memory_to_others"):
            monkeypatch.setattr(executor, name, lambda name=name: self.tied.append(name))

    def run(self, parent: int) -> int:
        self._monkeypatch.setattr(sys, "argv", ["executor", str(self._descriptor), str(parent)])
        return executor.main()


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    child, before = Child(monkeypatch), signal.getsignal(signal.SIGINT)
    yield child
    signal.signal(signal.SIGINT, before)
    child.channel.close()


def test_it_runs_task_after_task_until_its_socket_ends(child: Child) -> None:
    """Ctrl-C is for the server."""
    run = encode_message(Run(ADD_UP.name, msgspec.msgpack.encode(CONTENTS)))
    child.channel.sendall(run + encode_message(Run("no.module:task", b"")) + run)
    child.channel.shutdown(socket.SHUT_WR)

    assert child.run(os.getppid()) == 0
    with child.channel.makefile("rb") as answers:
        done = []
        while size := answers.read(4):
            done.append(msgspec.msgpack.decode(answers.read(int.from_bytes(size, "big")), type=Done))
    added = Done(msgspec.msgpack.encode(add_up(CONTENTS)))
    assert [done[0], done[2]] == [added, added]
    assert "ModuleNotFoundError" in done[1].why
    assert child.tied == ["die_with_parent", "leave_memory_to_others"]
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_an_executor_whose_server_has_ended_ends(child: Child) -> None:
    """The server ended before the two were tied together."""
    assert child.run(os.getppid() + 1) == 1
    assert child.tied == ["die_with_parent"]
