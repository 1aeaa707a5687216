"""A server that is killed at the N-th system call of a thread, in the midst of a story, and what is left of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from tests.support.server import Server, ServerDied
from tests.support.strace import killed_at

KILLED: Final = -9
# One thread or two make the calls, as the disk is quick or slow: so a run may make fewer than the next.
MOST_MISSED: Final = 5


def kill_at_every(tmp_path: Path, name: str, kill: Callable[[Path, int], bool]) -> None:
    """Kill at call 1, 2, …, each in a directory of its own, until several in a row find that fewer calls are made."""
    kills = missed = 0
    for number in count(1):
        is_missed = not kill(tmp_path / str(number), number)
        missed = missed + 1 if is_missed else 0
        kills += not is_missed
        if missed == MOST_MISSED:
            break
    print(f"{name}: {kills} kills")  # noqa: T201 - the result of a long run
    assert kills > 0


def is_killed(server: Server, call: str, number: int, play: Callable[[Server], None], check: Callable[[Server], None]) -> bool:
    """Kill a server at that call of a thread while ``play`` runs, start it again and check it;
    False when it makes fewer such calls.
    """
    server.run_by = killed_at(call, number, server.data_dir.parent / "strace")
    code = KILLED
    # It dies before it is ready, or later.
    with suppress(ServerDied, ConnectionError):
        server.start()
        play(server)
        code = server.stop()
    if server.is_running:
        server.kill()
    server.run_by = []
    with server:
        check(server)
    assert code in (0, KILLED), code
    return code == KILLED
