"""kill -9 of a loop or of the supervisor at any system call of a move, or of the move back: nothing acknowledged is lost, one loop
has the shard afterwards, and the server starts.

``--every-syscall`` kills at each call of each name; otherwise at a few that are drawn. Reproduce a draw with --seed N.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from coordinator_server.runtime.partitioner import partition_for
from tests.support.client import Client
from tests.support.control import ask_control_raw
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.simple_requests import committed, must_commit
from tests.support.strace import killing, needs_strace

# What a step of a move does, on disk and between processes.
CALLS = (
    *("openat", "close", "read", "write", "pread64", "pwrite64", "ftruncate", "fallocate", "fsync", "fdatasync"),
    *("rename", "unlink", "mkdir", "newfstatat", "getdents64", "lseek", "flock", "fcntl", "ioctl", "futex"),
    *("sendto", "recvfrom", "epoll_wait", "epoll_ctl", "clone3", "mmap", "munmap"),
)
VICTIMS = ("former owner", "next owner", "supervisor")
SHARDS = 50
# Deaths of a loop within a minute after which the server is started anew: it bears one more.
MOST_DEATHS = 4
DRAWN = 1


class Site:
    """A server of two loops, and groups of which one moves. ``acked`` is the position that each has acknowledged."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.moving, *others = list(groups_of_different_shards())
        self.acked = dict.fromkeys((self.moving, *others), 0)
        self.deaths = 0
        for group in self.acked:
            self.commit(group)

    @property
    def shard(self) -> str:
        return shard_of(self.moving)

    def owner(self, group: str) -> int:
        loop: int = self.server.control(op="owners")["owners"][shard_of(group)]["loop"]
        return loop

    def commit(self, group: str) -> None:
        with Client(self.server.addresses[self.owner(group)]) as client:
            must_commit(client, group, "orders", {0: self.acked[group] + 1})
        self.acked[group] += 1

    def move(self, to: int) -> bool:
        """Move the shard to a loop. Return whether the server said that it did; it may die of it."""
        request = {"op": "move-shard", "shard": self.shard, "loop": to}
        with suppress(ConnectionError):
            return bool(json.loads(ask_control_raw(self.server.data_dir, **request) or b'{"ok": false}')["ok"])
        return False

    def pid_of(self, victim: str) -> int:
        owner = self.owner(self.moving)
        return {
            "former owner": self.server.loop_pids()[owner],
            "next owner": self.server.loop_pids()[1 - owner],
            "supervisor": self.server.pid,
        }[victim]

    def is_killed_at(self, victim: str, call: str, number: int, output: Path) -> bool:
        """Move, and kill a process at a call. Return whether the move came to that."""
        pid, to = self.pid_of(victim), 1 - self.owner(self.moving)
        with killing(pid, call, number, output):
            is_moved = self.move(to)
        is_dead = not is_alive(pid)
        assert is_dead or is_moved
        if is_dead:
            self.deaths += 1
            if victim == "supervisor":
                self.server.wait()
                self.restart()
        if self.deaths == MOST_DEATHS:
            self.server.kill()
            self.restart()
        self.check()
        return is_dead

    def restart(self) -> None:
        self.deaths = 0
        self.server.port = 0
        self.server.start()

    def check(self) -> None:
        eventually(lambda: {each["stage"] for each in self.server.control(op="loops")["loops"]} == {"serving"})
        for group, position in self.acked.items():
            with Client(self.server.addresses[self.owner(group)]) as client:
                assert committed(client, group) == {("orders", 0): position}
            self.commit(group)


def groups_of_different_shards() -> Iterator[str]:
    """Two of each loop."""
    for partition in range(4):
        yield next(name for name in map(str, range(999)) if partition_for(name, SHARDS) == partition)


def shard_of(group: str) -> str:
    return f"__consumer_offsets-{partition_for(group, SHARDS)}"


def is_alive(pid: int) -> bool:
    """A process that waits to be reaped is dead."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    return False


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Server(tmp_path_factory.mktemp("killed"), {"topics": "orders:1"}, loops=2) as server:
        yield Site(server)


@pytest.mark.crash
@needs_strace
@pytest.mark.parametrize("victim", VICTIMS)
def test_a_kill_at_any_system_call_of_a_move(victim: str, site: Site, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """The shard has moved or not; it moves again, there and back, whatever was killed."""
    output = tmp_path / "strace"
    if not pytestconfig.getoption("--every-syscall"):
        seed = pytestconfig.getoption("--seed")
        seed = random.randrange(1 << 32) if seed is None else seed
        print(f"--seed {seed}")  # noqa: T201 - pytest shows it when the test fails
        chance = random.Random(f"{seed} {victim}")
        for _ in range(DRAWN):
            site.is_killed_at(victim, chance.choice(CALLS), chance.randint(1, 3), output)
        return
    kills = Counter[str]()
    for call in CALLS:
        number, is_made = 1, True
        while is_made:
            # In a move, and in the move back.
            killed = [site.is_killed_at(victim, call, number, output) for _ in range(2)]
            kills[call] += sum(killed)
            number, is_made = number + 1, any(killed)
        print(f"{victim}: {kills[call]} kills at {call}", flush=True)  # noqa: T201 - the progress of a long run
    print(f"{victim}: killed at {kills.total()} calls")  # noqa: T201 - the result of a long run
    assert kills.total() > 0
