"""Members of the client library that live, freeze, die and come back, each in a process of its own;
and what is wrong with their notes.

A freeze is SIGSTOP, a death SIGKILL. ``chaos_member`` is what runs in the processes.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Self

from tests.support.chaos_member import Life
from tests.support.server import ROOT

# Prepare, complete, lost, leave: what a member may see, in order.
CALLBACKS: Final = re.compile(r"((L?P)+C)*(L?P)*L?V?")
LETTERS: Final = {"on_join_prepare": "P", "on_join_complete": "C", "on_lost": "L", "on_leave_prepare": "V"}

DISTURBANCES: Final = ("freeze", "blink", "die", "leave", "restart")
LOOK_S: Final = 0.02


class Member:
    """One process, from its start to its end."""

    def __init__(self, crew: Crew, name: str, notes: Path, *, is_static: bool) -> None:
        self.name, self.is_static, self.notes = name, is_static, notes
        self.leads, self.owned = False, frozenset[str]()
        self.is_fenced = False
        self.frozen_until = 0.0
        self._crew = crew
        self._read = 0
        notes.touch()
        self._pid = crew.order(start=name, is_static=is_static, notes=str(notes))

    def freeze(self, seconds: float) -> None:
        """SIGSTOP, until ``thaw`` is called after so long."""
        os.kill(self._pid, signal.SIGSTOP)
        self.frozen_until = time.monotonic() + seconds

    def thaw(self) -> None:
        """SIGCONT, if it is time."""
        if 0 < self.frozen_until <= time.monotonic():
            os.kill(self._pid, signal.SIGCONT)
            self.frozen_until = 0

    def end(self, number: signal.Signals) -> None:
        """Send SIGTERM or SIGKILL, and wait for its end."""
        os.kill(self._pid, number)
        os.kill(self._pid, signal.SIGCONT)
        self._crew.order(wait=self._pid)
        # The pid may be another's from now on.
        self.frozen_until = 0

    def look(self) -> None:
        """Read what it has now. Fails if it has failed."""
        with self.notes.open() as notes:
            notes.seek(self._read)
            lines = notes.read()
        whole = lines[: lines.rfind("\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            if line.startswith('["has"'):
                _, self.leads, owned = json.loads(line)
                self.owned = frozenset(owned)
            self.is_fenced |= line == '["fenced"]'
            assert not line.startswith('["failed"'), f"{self.name} has failed: {json.loads(line)[1]}"


class Crew:
    """All members: each has a place, and who ends is followed by another one there. A context manager: they end with it."""

    def __init__(self, life: Life, directory: Path, rng: random.Random) -> None:
        self.life, self.directory = life, directory
        self.members: list[Member] = []
        self.done: Counter[str] = Counter()
        self._rng = rng
        self._numbers = itertools.count()

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.support.chaos_member", json.dumps(self.life)]
        self._forks = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        # Its children end with it.
        self._forks.kill()
        self._forks.communicate()

    def order(self, **order: object) -> int:
        """Send an order to the process that forks. Return its answer."""
        assert self._forks.stdin is not None
        assert self._forks.stdout is not None
        print(json.dumps(order), file=self._forks.stdin, flush=True)
        return int(self._forks.stdout.readline())

    def start(self, name: str, *, is_static: bool) -> Member:
        """Start a process."""
        return Member(self, name, self.directory / f"{next(self._numbers):05}", is_static=is_static)

    def disturb(self) -> str:
        """Do something to a member, to a leader each fourth time. Return what."""
        places = range(len(self.members))
        leaders = [place for place in places if self.members[place].leads]
        place = self._rng.choice(leaders if leaders and self._rng.random() < 0.25 else places)
        what, member = self._rng.choice(DISTURBANCES), self.members[place]
        self.done[what] += 1
        match what:
            case "freeze":
                member.freeze(1.5 * self.life.session_s)
            case "blink":
                member.freeze(0.5 * self.life.session_s)
            case _:
                member.end(signal.SIGKILL if what == "die" else signal.SIGTERM)
                # A static member comes back under its name. Who restarts is there at once, others are not.
                name = member.name if member.is_static else f"{member.name}+"
                if what != "restart":
                    self.rest(self._rng.random() * self.life.session_s / 4)
                self.members[place] = self.start(name, is_static=member.is_static)
        return f"{what} {member.name}"

    def rest(self, seconds: float) -> None:
        """Wait, and thaw members meanwhile."""
        until = time.monotonic() + seconds
        while True:
            for place, member in enumerate(self.members):
                member.thaw()
                member.look()
                if member.is_fenced and not member.frozen_until:
                    self.done["fenced"] += 1
                    member.end(signal.SIGTERM)
                    self.members[place] = self.start(member.name, is_static=True)
            left_s = until - time.monotonic()
            if left_s <= 0:
                return
            time.sleep(min(LOOK_S, left_s))

    def settle(self, within_s: float) -> float:
        """Wait until all is settled. Return the seconds since nobody is frozen any more."""
        while any(each.frozen_until for each in self.members):
            self.rest(LOOK_S)
        began = time.monotonic()
        while not self.is_settled():
            self.rest(LOOK_S)
            had = [(each.name, each.leads, sorted(each.owned)) for each in self.members]
            assert time.monotonic() < began + within_s, f"not settled within {within_s} s: {had}"
        return time.monotonic() - began

    def is_settled(self) -> bool:
        """Whether every item has one owner, everybody has a fair share, and one leads."""
        sizes = [len(each.owned) for each in self.members]
        return (
            sorted(item for each in self.members for item in each.owned) == sorted(self.life.items)
            and max(sizes) - min(sizes) <= 1
            and sum(each.leads for each in self.members) == 1
        )

    def leave(self) -> None:
        """All leave."""
        for member in self.members:
            member.end(signal.SIGTERM)


class Ledger:
    """What all members have noted."""

    def __init__(self, directory: Path) -> None:
        self.terms: dict[int, list[float]] = {}
        self.resigned: set[int] = set()
        self.written: dict[str, list[int]] = defaultdict(list)
        self.callbacks: dict[str, list[tuple[str, tuple[object, ...]]]] = {}
        self.failures: list[str] = []
        for notes in sorted(directory.iterdir()):
            calls = self.callbacks[notes.name] = []
            for line in notes.read_text().splitlines():
                self._read(json.loads(line), calls)

    def _read(self, note: list[Any], calls: list[tuple[str, tuple[object, ...]]]) -> None:
        match note:
            case ["term", token, when, until]:
                self.terms[token] = [self.terms.get(token, note[2:])[0], when, until]
            case ["resigned", token]:
                self.resigned.add(token)
            case ["wrote", item, value]:
                self.written[item].append(value)
            case ["callback", name, *generation] if name in LETTERS:
                calls.append((name, tuple(generation)))
            case ["failed", trace]:
                self.failures.append(trace)

    def wrong(self) -> Iterator[str]:
        """What never should have been."""
        yield from self.failures
        yield from self._overlaps()
        for item, values in self.written.items():
            twice = [value for value, times in Counter(values).items() if times > 1]
            if twice:
                yield f"two owners wrote {twice[:5]} of {item}"
        for who, calls in self.callbacks.items():
            word = "".join(LETTERS[name] for name, _ in calls)
            if not CALLBACKS.fullmatch(word):
                yield f"callbacks of {who} are out of order: {word}"
            completed = Counter(generation for name, generation in calls if name == "on_join_complete")
            yield from (f"{who} completed {each} {times} times" for each, times in completed.items() if times > 1)

    def _overlaps(self) -> Iterator[str]:
        """A term lasts for as long as its leader could count on it, unless the leader resigned:
        also if it was frozen or killed meanwhile.
        """
        terms = sorted(self.terms.items(), key=lambda term: term[1][0])
        for (earlier, (_, last, until)), (later, (begin, _, _)) in itertools.pairwise(terms):
            end = last if earlier in self.resigned else until
            if end >= begin:
                yield f"the terms of {earlier} and {later} overlap for {end - begin:.3f} s"
            if earlier >= later:
                yield f"a token has fallen: {later} after {earlier}"
