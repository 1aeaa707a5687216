"""Kills and stops of a server's processes, drawn at random."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from coordinator_server.server.supervisor.rules import DELAYS_S, WINDOW_S
from tests.support.eventually import eventually
from tests.support.server import Server

# Of one loop within WINDOW_S. The supervisor bears one death more, which is left for a machine that is too slow.
MOST_KILLS: Final = len(DELAYS_S) - 1


class ServerFaults:
    """Kills and stops loops, their supervisor, and all together. ``counts`` has how often it did what."""

    def __init__(self, server: Server, chance: random.Random) -> None:
        self.counts: Counter[str] = Counter()
        self._server = server
        self._chance = chance
        self._kills_s: defaultdict[int, list[float]] = defaultdict(list)

    def trouble(self) -> None:
        """Kill or stop some processes of a server with several. In the end all loops serve."""
        if self._server.loops == 1:
            return
        for _ in range(self._chance.randint(1, 3)):
            time.sleep(self._chance.uniform(0.2, 0.8))
            self._trouble_loop()
        eventually(self._do_all_serve)

    def kill_all(self) -> None:
        """Kill the server, whose loops die with it, and start it again."""
        self.counts["server killed"] += 1
        self._kills_s.clear()
        self._server.kill()
        self._server.start()

    def _trouble_loop(self) -> None:
        """Kill a loop, or stop it; or stop the supervisor, under which a loop may die."""
        loops = self._server.control(op="loops")["loops"]
        loop = self._chance.randrange(len(loops))
        pid = loops[loop]["pid"]
        if loops[loop]["stage"] == "gone":
            return
        if self._chance.random() < 0.2:
            with self._stopped("supervisor", self._server.pid):
                if self._chance.random() < 0.5:
                    self._kill(loop, pid)
        elif self._chance.random() < 0.5:
            self._kill(loop, pid)
        else:
            with self._stopped("loop", pid):
                pass

    def _kill(self, loop: int, pid: int) -> None:
        now_s = time.monotonic()
        recent = self._kills_s[loop] = [each for each in self._kills_s[loop] if each > now_s - WINDOW_S]
        if len(recent) < MOST_KILLS:
            recent.append(now_s)
            self.counts["loop killed"] += 1
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    @contextmanager
    def _stopped(self, name: str, pid: int) -> Iterator[None]:
        """Stop a process, and let it go on after a while."""
        self.counts[f"{name} stopped"] += 1
        # Most stops are shorter than the timeout of a transaction.
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
            yield
            time.sleep(self._chance.uniform(0.1, 0.8) if self._chance.random() < 0.9 else self._chance.uniform(1, 3.5))
            os.kill(pid, signal.SIGCONT)

    def _do_all_serve(self) -> bool:
        return {each["stage"] for each in self._server.control(op="loops")["loops"]} == {"serving"}
