"""A server, or one of its loops, killed at the N-th system call that changes a file or answers,
in the midst of transactions: all groups move, or none.

Each kill has a new directory: the first use of all topics, the block of producer ids, PREPARE,
markers and COMPLETE are killed, too.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from protocol.error_codes import ErrorCode
from protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.killed_servers import is_killed, kill_at_every
from tests.support.ledger import Ledger
from tests.support.mover import TOPIC, Given, Moved, Outcome
from tests.support.processes import is_alive
from tests.support.producer import LATER, Producer
from tests.support.server import Server
from tests.support.strace import killing, needs_strace
from tests.support.transactional_server import PROPERTIES, await_coordinators, left_open, read

CALLS: Final = ("pwrite64", "fdatasync", "fsync", "write", "rename", "ftruncate", "unlink", "fallocate", "mkdir")
# What the default run kills at: a write of the journal in the midst. --every-syscall kills at all calls.
SAMPLED: Final = 32
SAMPLED_OF_LOOP: Final = 12
# Those of two loops have different ones, and so have the shards of the groups: the first two share one.
IDS: Final = ["txn-2", "txn-1"]
GROUPS: Final = ["group-0", "group-8", "group-1"]


class Story:
    """Transactions of two ids, one after the other, until the server dies; then others that must succeed."""

    def __init__(self) -> None:
        self.moved: list[Moved] = []
        self.given: list[Given] = []
        self._offsets = count(1)

    def play(self, server: Server) -> None:
        """Raises ConnectionError when the server dies."""
        with Producer(server.address, IDS[0]) as first, Producer(server.address, IDS[1]) as other:
            self._begin(first)
            self._end(first, self._move(first, 5, GROUPS), 5, is_commit=True)
            self._end(first, self._move(first, 5, GROUPS), 5, is_commit=False)
            self._take_id(server)
            self._begin(other)
            self._end(other, self._move(other, 3, GROUPS[1:]), 3, is_commit=True)
            self._move(first, 5, GROUPS[:2])
            self._end(other, self._move(other, 3, GROUPS), 3, is_commit=False)
            with Producer(server.address, IDS[0]) as next_one:
                self._begin(next_one)
                self._end(next_one, self._move(next_one, 5, GROUPS), 5, is_commit=True)

    def go_on(self, server: Server) -> None:
        """Every id can be used again: whatever was open or decided has ended."""
        for transactional_id, version in zip(IDS, (5, 3), strict=True):
            self._take_id(server)
            with Producer(server.address, transactional_id) as producer:
                self._begin(producer)
                self._end(producer, self._move(producer, version, GROUPS[:1]), version, is_commit=True)

    def _begin(self, producer: Producer) -> None:
        answer = producer.init()
        assert answer.error == ErrorCode.NONE
        self._give(producer.id, answer.producer_id, answer.epoch)

    def _move(self, producer: Producer, version: int, groups: Sequence[str]) -> Moved:
        current = (producer.producer_id, producer.epoch)
        moved = Moved(producer.id, current, next(self._offsets), list(groups), time.monotonic_ns() // 1000)
        self.moved.append(moved)
        for group in groups:
            self._commit(producer, moved, group, version)
        return moved

    def _commit(self, producer: Producer, moved: Moved, group: str, version: int) -> None:
        """The group's loop may ask for patience, and so may that of the transactional id (NOT_COORDINATOR)."""
        if version < 5:
            eventually(lambda: producer.add_offsets(group, version=3) not in LATER)
        offsets = {IDS.index(producer.id): moved.offset}
        eventually(lambda: producer.commit(group, TOPIC, offsets, version=version) == {ErrorCode.NONE})

    def _end(self, producer: Producer, moved: Moved, version: int, *, is_commit: bool) -> None:
        if is_commit:
            moved.outcome = Outcome.UNKNOWN
        assert producer.end(is_commit=is_commit, version=version).error == ErrorCode.NONE
        moved.outcome = Outcome.COMMITTED if is_commit else Outcome.ABORTED

    def _take_id(self, server: Server) -> None:
        """For a producer without transactions."""
        with Client(server.address) as client:
            while (answer := client.ask(InitProducerIdRequest(None), 5, InitProducerIdResponse)).error_code:
                assert answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
                time.sleep(0.005)
        self._give(None, answer.producer_id, answer.producer_epoch)

    def _give(self, transactional_id: str | None, producer_id: int, epoch: int) -> None:
        self.given.append(Given(transactional_id, (producer_id, epoch), time.monotonic_ns() // 1000))


@pytest.mark.crash
@needs_strace
@pytest.mark.parametrize("call", CALLS)
def test_a_kill_at_any_system_call_moves_all_or_none(call: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--every-syscall"):
        kill_at_every(tmp_path, call, lambda directory, number: is_story_killed(directory, call, number))
    elif call == "pwrite64":
        assert is_story_killed(tmp_path / "sample", call, SAMPLED)


@pytest.mark.crash
@needs_strace
@pytest.mark.parametrize("call", ["pwrite64", "write"])
@pytest.mark.parametrize("loop", [0, 1])
def test_a_loop_killed_at_any_system_call_moves_all_or_none(
    loop: int, call: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """The other loop goes on: with markers of which it does not know whether they were written, or with half of a transaction."""
    if pytestconfig.getoption("--every-syscall"):
        kill_at_every(tmp_path, f"{call} of loop {loop}", lambda directory, number: is_loop_killed(directory, loop, call, number))
    elif (loop, call) == (0, "pwrite64"):
        assert is_loop_killed(tmp_path / "sample", loop, call, SAMPLED_OF_LOOP)


def is_story_killed(directory: Path, call: str, number: int) -> bool:
    """Kill a server at that call of a thread, and look at what is left; False when it makes fewer such calls."""
    directory.mkdir()
    story = Story()
    server = Server(directory, PROPERTIES | {"topics": f"{TOPIC}:{len(IDS)}"})
    return is_killed(server, call, number, story.play, lambda again: check(again, story))


def is_loop_killed(directory: Path, loop: int, call: str, number: int) -> bool:
    """The same with one of two loops, which is started again while the other one serves."""
    directory.mkdir()
    story = Story()
    with Server(directory, PROPERTIES | {"topics": f"{TOPIC}:{len(IDS)}"}, loops=2) as server:
        pid = server.loop_pids()[loop]
        with killing(pid, call, number, directory / "strace"), suppress(ConnectionError):
            story.play(server)
        is_dead = not is_alive(pid)
        eventually(lambda: (server.loop_pids()[loop] != pid) == is_dead)
        eventually(lambda: [each["stage"] for each in server.control(op="loops")["loops"]] == ["serving"] * 2)
        check(server, story)
    return is_dead


def check(server: Server, story: Story) -> None:
    ledger = Ledger([story], IDS)
    await_coordinators(server, IDS)
    assert ledger.wrong_now(read(server, GROUPS)) == []
    story.go_on(server)
    eventually(lambda: left_open(server) == [])
    committed = read(server, GROUPS)
    assert ledger.wrong_now(committed) == []
    assert ledger.wrong_after_all(committed) == []
