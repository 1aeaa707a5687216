"""Members of the client library that live, freeze, die and come back, each in a thread with an event loop of its own; and what they did.

A member takes part in three groups: an election, a division of items, and a group that notes its callbacks. A freeze blocks its loop,
as SIGSTOP does its process. A death closes its sockets, and nobody says goodbye.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Final, NamedTuple

from coordinator_server.client import (
    ClientError,
    ConnectionSettings,
    Coordinator,
    Election,
    ElectionSettings,
    GroupSettings,
    WorkSharing,
)
from tests.support.recording_coordinator import RecordingCoordinator

HEARTBEAT_S: Final = 0.2
# Prepare, complete, lost, leave: what a member may see, in order.
CALLBACKS: Final = re.compile(r"((L?P)+C)*(L?P)*L?V?")
LETTERS: Final = {"on_join_prepare": "P", "on_join_complete": "C", "on_lost": "L", "on_leave_prepare": "V"}


class Life(NamedTuple):
    """How long members last, and what they share."""

    bootstrap: str
    name: str
    items: tuple[str, ...]
    session_s: float


class Ledger:
    """What all members did, with the times at which they believed to be allowed to."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.terms: dict[int, list[float]] = {}
        self.written: dict[str, list[tuple[int, str]]] = defaultdict(list)
        self.callbacks: list[tuple[str, list[tuple[object, ...]]]] = []
        self.failures: list[BaseException] = []

    def led(self, token: int, when: float) -> None:
        """A member led with this token then."""
        with self.lock:
            self.terms.setdefault(token, [when, when])[1] = when

    def wrote(self, item: str, value: int, who: str) -> None:
        """A member's checkpoint was acknowledged."""
        with self.lock:
            self.written[item].append((value, who))

    def check(self) -> None:
        """Terms do not overlap, and tokens rise; no checkpoint was written twice; callbacks came in order."""
        assert self.failures == []
        terms = sorted(self.terms.items(), key=lambda term: term[1][0])
        for (earlier, (_, end)), (later, (begin, _)) in itertools.pairwise(terms):
            assert end < begin, f"the terms of {earlier} and {later} overlap for {end - begin} s"
            assert earlier < later, "a token has fallen"
        for item, written in self.written.items():
            values = [value for value, _ in written]
            assert len(values) == len(set(values)), f"{item} was checkpointed by two: {written}"
        for who, events in self.callbacks:
            word = "".join(LETTERS.get(str(event[0]), "") for event in events)
            assert CALLBACKS.fullmatch(word), f"{who}: {word}"
            completed = [event[1] for event in events if event[0] == "on_join_complete"]
            assert len(completed) == len(set(completed)) or "L" in word, f"{who} completed one generation twice: {completed}"


class Member:
    """One member, from its start to its end."""

    def __init__(self, life: Life, ledger: Ledger, name: str, *, is_static: bool) -> None:
        self.name, self.is_static = name, is_static
        self._life, self._ledger = life, ledger
        self.owned: frozenset[str] = frozenset()
        self.leads = False
        self._coordinators: list[Coordinator] = []
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name)
        self._thread.start()
        self._ready.wait(30)

    def freeze(self, seconds: float) -> None:
        """Let nothing of it run for so long."""
        self._call(lambda: time.sleep(seconds))

    def die(self) -> None:
        """End without a word."""
        self._call(self._break)
        self.leave()

    def leave(self) -> None:
        """End as programs should."""
        self._call(self._stop.set)
        self._thread.join(60)
        assert not self._thread.is_alive(), f"{self.name} does not end"

    def _call(self, work: Callable[[], object]) -> None:
        self._loop.call_soon_threadsafe(work)

    def _break(self) -> None:
        for each in self._coordinators:
            each._network.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as error:  # noqa: BLE001 - the test raises it
            self._ledger.failures.append(error)

    async def _live(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        life, instance = self._life, self.name if self.is_static else None
        times = {"session_timeout_s": life.session_s, "heartbeat_interval_s": HEARTBEAT_S}
        settings = ConnectionSettings(life.bootstrap, client_id=self.name, request_timeout_s=5, retry_backoff_max_s=0.3)
        election = Election(settings, ElectionSettings(f"{life.name}-election", candidate=self.name, **times))  # type: ignore[arg-type]
        work = WorkSharing(settings, GroupSettings(f"{life.name}-work", group_instance_id=instance, **times), life.items)
        noting = RecordingCoordinator(settings, GroupSettings(f"{life.name}-noting", group_instance_id=instance, **times))
        self._coordinators = [election._member, work._member, noting]
        self._ledger.callbacks.append((self.name, noting.events))
        async with election, work, noting:
            tasks = [asyncio.create_task(each) for each in (self._lead(election), self._work(work), noting.run())]
            self._ready.set()
            await self._stop.wait()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _lead(self, election: Election) -> None:
        async for term in election:
            while True:
                now_s = time.monotonic()
                self.leads = term.is_current
                if not self.leads:
                    break
                self._ledger.led(term.token, now_s)
                await asyncio.sleep(0.01)

    async def _work(self, work: WorkSharing) -> None:
        while True:
            self.owned = work.owned
            for item in self.owned:
                try:
                    last = work.checkpoint_of(item)
                    value = last.value + 1 if last is not None else 0
                    await work.checkpoint(item, value)
                except ClientError:
                    continue
                self._ledger.wrote(item, value, self.name)
            await asyncio.sleep(0.02)


def is_settled(members: list[Member], items: tuple[str, ...]) -> bool:
    """Whether every item has one owner, everybody has a fair share, and one leads."""
    owned = [member.owned for member in members]
    sizes = [len(each) for each in owned]
    return (
        sorted(item for each in owned for item in each) == sorted(items)
        and max(sizes) - min(sizes) <= 1
        and sum(member.leads for member in members) == 1
    )


def disturb(members: list[Member], rng: random.Random, session_s: float, start: Callable[[str, bool], Member]) -> str:
    """Do something to a member. Return what."""
    i = rng.randrange(len(members))
    member = members[i]
    what = rng.choice(["freeze", "blink", "die", "leave", "restart"])
    match what:
        case "freeze":
            member.freeze(session_s * 1.5)
        case "blink":
            member.freeze(session_s * 0.5)
        case "die":
            member.die()
        case "leave" | "restart":
            member.leave()
    if what in {"die", "leave", "restart"}:
        # A static member comes back under its name.
        members[i] = start(member.name if member.is_static else f"{member.name}+", member.is_static)
    return f"{what} {member.name}"
