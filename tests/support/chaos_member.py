"""Processes of members for ``client_chaos``: ``python -m tests.support.chaos_member LIFE`` has everything imported, and forks them.

Each line of its stdin is an order, a JSON object, and gets one line on stdout:

    {"start": "member-1", "is_static": true, "notes": "/tmp/…"}    the pid of a new process
    {"wait": 4711}                                                 its status, when it has ended

A process takes part in three groups: an election, a division of items, and a group that notes its callbacks. It ends as programs
should at SIGTERM, and with the process that forks, also while it is stopped. It notes what it does in a file, a JSON list a line,
written at once, so that the notes of a process that is killed are whole:

    ["term", token, when, until]     it led then, and may count on it until then
    ["resigned", token]              its last term ends because it leaves
    ["wrote", item, value]           a checkpoint was acknowledged
    ["has", leads, items]            what it has now, after a change
    ["callback", name, generation, member_id]
    ["fenced"]                       it ends: another one has its instance id, as it seems to the coordinator
    ["failed", traceback]
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from coordinator_server.client import (
    ClientError,
    ConnectionSettings,
    Election,
    ElectionSettings,
    FencedInstance,
    GroupSettings,
    WorkSharing,
)
from tests.support.recording_coordinator import RecordingCoordinator

PR_SET_PDEATHSIG: Final = 1
LOOK_S: Final = 0.02


class Life(NamedTuple):
    """What all members share."""

    bootstrap: str
    name: str
    items: list[str]
    session_s: float
    rebalance_s: float
    """How long a rebalance waits for those who do not rejoin."""


def main() -> None:
    """Fork members until stdin ends."""
    life = Life(*json.loads(sys.argv[1]))
    for line in sys.stdin:
        order = json.loads(line)
        if "start" in order:
            answer = _fork(life, order["start"], is_static=order["is_static"], notes=order["notes"])
        else:
            answer = os.waitpid(order["wait"], 0)[1]
        print(answer, flush=True)  # noqa: T201 - the answer


def _fork(life: Life, name: str, *, is_static: bool, notes: str) -> int:
    if pid := os.fork():
        return pid
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.close(0)
    member = Member(life, name, os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND))
    try:
        asyncio.run(member.live(name if is_static else None))
    except BaseException:  # noqa: BLE001 - whatever it is, the test raises it
        member.note("failed", traceback.format_exc())
    os._exit(0)


class Member:
    """One process."""

    def __init__(self, life: Life, name: str, notes: int) -> None:
        self._life, self._name, self._notes = life, name, notes
        self._had: tuple[bool, frozenset[str]] = (False, frozenset())
        self._leads = False

    def note(self, *what: object) -> None:
        """Write a line."""
        os.write(self._notes, json.dumps(what).encode() + b"\n")

    async def live(self, instance: str | None) -> None:
        """Take part until SIGTERM."""
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        life, session_s = self._life, self._life.session_s
        times = {"session_timeout_s": session_s, "heartbeat_interval_s": session_s / 10}
        settings = ConnectionSettings(life.bootstrap, client_id=self._name, request_timeout_s=5, retry_backoff_max_s=0.3)
        candidacy = _Candidacy(f"{life.name}-election", candidate=self._name, rebalance_s=life.rebalance_s, **times)  # type: ignore[arg-type]
        election = Election(settings, candidacy)
        group = {"group_instance_id": instance, "rebalance_timeout_s": life.rebalance_s, **times}
        work = WorkSharing(settings, GroupSettings(f"{life.name}-work", **group), life.items)  # type: ignore[arg-type]
        noting = _Noting(settings, GroupSettings(f"{life.name}-noting", **group))  # type: ignore[arg-type]
        noting.write = self.note
        async with election, work, noting:
            lives = self._lead(election), self._work(work), self._watch(work), noting.run()
            tasks = [asyncio.create_task(self._watched(each, stop)) for each in lives]
            await stop.wait()
            if (term := election.term) is not None:
                self.note("resigned", term.token)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _watched(self, life: Coroutine[Any, Any, None], stop: asyncio.Event) -> None:
        try:
            await life
        except FencedInstance:
            # A join that the server reads late, on a connection that was given up, takes the place of the one that followed it.
            self.note("fenced")
            stop.set()
        except Exception:  # noqa: BLE001 - whatever it is, the test raises it
            self.note("failed", traceback.format_exc())

    async def _lead(self, election: Election) -> None:
        async for term in election:
            while True:
                # The clock first: what lasts after that has lasted then.
                now_s, left_s = time.monotonic(), term.remaining_s
                self._leads = left_s > 0
                if not self._leads:
                    break
                self.note("term", term.token, now_s, now_s + left_s)
                await asyncio.sleep(LOOK_S)

    async def _work(self, work: WorkSharing) -> None:
        while True:
            self._note_change(work)
            for item in work.owned:
                try:
                    last = work.checkpoint_of(item)
                    value = last.value + 1 if last is not None else 0
                    await work.checkpoint(item, value)
                except ClientError:
                    continue
                self.note("wrote", item, value)
            await asyncio.sleep(5 * LOOK_S)

    async def _watch(self, work: WorkSharing) -> None:
        """Its failures are raised here."""
        async for _ in work:
            self._note_change(work)

    def _note_change(self, work: WorkSharing) -> None:
        has = (self._leads, work.owned)
        if has != self._had:
            self._had = has
            self.note("has", self._leads, sorted(work.owned))


@dataclass(frozen=True)
class _Candidacy(ElectionSettings):
    """With a rebalance timeout of its own."""

    rebalance_s: float = 0

    @property
    def group(self) -> GroupSettings:
        return replace(super().group, rebalance_timeout_s=self.rebalance_s)


class _Noting(RecordingCoordinator):
    """Notes its callbacks."""

    write: Any

    def _note(self, name: str, *values: object) -> None:
        self.write("callback", name, *values[:2])


if __name__ == "__main__":
    main()
