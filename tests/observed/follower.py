"""``coordinator-server observe``, which is killed and started again."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec

from tests.support.command_forks import Forked, fork_command, run_command
from tests.support.control import ask_control
from tests.support.processes import cpu_s, kilobytes, status

STOP_S: Final = 180


class Follower:
    """The command on one directory, running or not. Who holds ``lock`` decides that it goes on running."""

    def __init__(self, bootstrap: str, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.lock = threading.Lock()
        self.log = data_dir.parent / "observe.log"
        self.kills = self.stops = self.failures = 0
        self.most_kb = 0
        self.cpu_s = 0.0
        self._words = ["observe", "--bootstrap", bootstrap, "--data-dir", str(data_dir), "--end-offsets-interval", "1"]
        self._running: Forked | None = None

    def start(self) -> None:
        """Start it, or start it again if it has ended by itself: it may have begun when no broker was there."""
        if self._running is not None and self._running.poll() is None:
            return
        if self._running is not None:
            self.failures += 1
            self._running.stdout.close()
        with self.log.open("ab") as stderr:
            self._running = fork_command([*self._words, "--log-level", "info"], os.environ, stderr)

    def end(self, *, is_killed: bool) -> None:
        """End it: by SIGKILL, or by SIGTERM, after which it has to end in order."""
        running, self._running = self._running, None
        if running is None:
            return
        self._measure(running.pid)
        running.send_signal(signal.SIGKILL if is_killed else signal.SIGTERM)
        code = running.wait(STOP_S)
        running.stdout.close()
        self.kills += is_killed
        self.stops += not is_killed
        assert is_killed or code in (0, 1), f"it ended with {code}: {self.last_lines()}"

    def interrupt(self, random: Random) -> float:
        """End it, and start it again after a while. Return how long it was gone."""
        with self.lock:
            self.end(is_killed=random.random() < 0.8)
            gone_s = random.uniform(0.1, 3) if random.random() < 0.8 else random.uniform(8, 20)
            time.sleep(gone_s)
            self.start()
        return gone_s

    def has_read(self, ends: Mapping[str, int]) -> bool:
        """Return whether it runs, and has everything before these ends."""
        self.start()
        try:
            shards = ask_control(self.data_dir, op="status")["shards"]
        except (OSError, ValueError):
            return False
        return all(end == 0 or shards.get(shard, {"next_offset": 0})["next_offset"] >= end for shard, end in ends.items())

    def read_rest(self) -> str:
        """Read what is there, and end. Return what it says."""
        self.end(is_killed=False)
        done = run_command(*self._words, "--once", within_s=180)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def answer(self, *words: str, codes: Collection[int] = (0,)) -> tuple[Any, str]:
        """Ask a command about the directory. Return its answer, and what it says on stderr."""
        done = run_command(*words, "--data-dir", self.data_dir, "-o", "json", within_s=120)
        assert done.returncode in codes, f"{' '.join(words)}: {done.stderr}"
        return msgspec.json.decode(done.stdout), done.stderr

    def last_lines(self) -> str:
        """Return the end of what it has logged."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])

    def close(self) -> None:
        """Kill it."""
        if self._running is not None:
            self.end(is_killed=True)

    def _measure(self, pid: int) -> None:
        try:
            self.most_kb = max(self.most_kb, kilobytes(status(pid)["VmHWM"]))
            self.cpu_s += cpu_s(pid)
        except (OSError, KeyError):
            # It has ended by itself.
            return


def wait_until_read(follower: Follower, ends: Mapping[str, int], within_s: float) -> bool:
    """Wait until everything before these ends is read. Return whether it was."""
    deadline = time.monotonic() + within_s
    while not follower.has_read(ends):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
