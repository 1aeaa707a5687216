"""What programs do with the client library, and what of it must be true whatever befalls them.

Each program takes part in an election, shares work, and is in a group that notes its callbacks.
"""

from __future__ import annotations

import asyncio
import traceback
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from coordinator_server.client import (
    ClientError,
    ConnectionSettings,
    Election,
    ElectionSettings,
    FencedInstance,
    GroupSettings,
    Term,
    WorkSharing,
)
from tests.simulation.program import Program
from tests.support.client_chaos import CALLBACKS, LETTERS
from tests.support.recording_coordinator import RecordingCoordinator

ELECTION: Final = "the-election"
WORK: Final = "the-work"
NOTING: Final = "the-noting"
TOKENS: Final = "coordination"
ITEMS: Final = tuple(f"item-{number}" for number in range(5))
SESSION_S: Final = 1.0
HEARTBEAT_S: Final = 0.2
CONNECTION: Final = {
    "request_timeout_s": 3.0,
    "connect_timeout_s": 2.0,
    "api_timeout_s": 10.0,
    "retry_backoff_max_s": 0.5,
}
SAVED_EVERY_S: Final = 0.15
WORKED_EVERY_S: Final = 0.2

Save = tuple[int, int]
"""A saved text: the token of its term, and a number that rises in it."""


class Ledger:
    """What all programs did. ``wrong`` is what they, or the server, never should have done."""

    def __init__(self, now_us: Callable[[], int]) -> None:
        self.wrong: list[str] = []
        self.participants: list[Participant] = []
        self.terms = 0
        self.saves = 0
        self.checkpoints = 0
        self.highest_token = 0
        self.deletions = 0
        """How many requests to delete the election's group are under way: what it has may be gone before one is answered."""
        self._token_us = 0
        self._now_us = now_us
        self._forgotten_us = -1
        self._tried: set[str] = {""}
        self._acknowledged: list[tuple[int, Save]] = []
        self._values: dict[str, dict[int, str]] = defaultdict(dict)

    # The election.

    def forget(self, until_us: int) -> None:
        """The offsets of the election that were acknowledged until then may be gone: its group was deleted."""
        self._forgotten_us = max(self._forgotten_us, until_us)

    def begin(self, who: Participant, term: Term) -> None:
        """A term has begun."""
        self.terms += 1
        if not term.is_current:
            return
        if term.token <= self.highest_token:
            self.wrong.append(f"a token has fallen: {who.name} leads with {term.token} after {self.highest_token}")
        self.highest_token, self._token_us = max(term.token, self.highest_token), self._now_us()
        self._check_alone(who)
        self._check_saved(who, term)

    def lead(self, who: Participant, term: Term) -> None:
        """A candidate believes to lead."""
        if term.is_current and term.token < self.highest_token:
            self.wrong.append(f"two terms overlap: {who.name} leads with {term.token} after {self.highest_token} has begun")

    def try_to_save(self, save: Save) -> None:
        """A leader saves a text."""
        self._tried.add(text_of(save))

    def saved(self, who: Participant, save: Save, was_overtaken: bool) -> None:
        """The text was acknowledged. ``was_overtaken``: a later term had begun before it was sent."""
        self.saves += 1
        self._acknowledged.append((self._now_us(), save))
        if was_overtaken:
            self.wrong.append(f"a text of an old term was taken: {who.name} saved {text_of(save)} after a later token")

    def see_token(self, committed: int | None) -> None:
        """The coordinator has this token, now."""
        if not self.deletions and self._token_us > self._forgotten_us and (committed or 0) < self.highest_token:
            self.wrong.append(f"a later token was overwritten: {self.highest_token} by {committed}")

    def _check_alone(self, who: Participant) -> None:
        for other in self.participants:
            if other is not who and other.program.is_alive and other.election is not None and other.election.term is not None:
                self.wrong.append(f"two terms overlap: those of {who.name} and {other.name}")

    def _check_saved(self, who: Participant, term: Term) -> None:
        if term.saved not in self._tried:
            self.wrong.append(f"{who.name} read {term.saved!r}, which nobody saved")
        last = max((save for when_us, save in self._acknowledged if when_us > self._forgotten_us), default=None)
        if not self.deletions and last is not None and (not term.saved or save_of(term.saved) < last):
            self.wrong.append(f"a saved text is lost: {who.name} read {term.saved!r} after {text_of(last)!r}")

    # The work.

    def highest_checkpoint(self, item: str) -> int:
        """Return the highest checkpoint of an item that was acknowledged."""
        return max(self._values[item], default=-1)

    def checkpoint(self, who: Participant, item: str, value: int, highest_before: int) -> None:
        """A checkpoint was acknowledged. ``highest_before``: the highest one that was acknowledged before it was sent."""
        self.checkpoints += 1
        if value <= highest_before:
            self.wrong.append(f"a checkpoint went back: {who.name} wrote {value} of {item} after {highest_before}")
        elif value in self._values[item]:
            self.wrong.append(f"two own {item}: {who.name} and {self._values[item][value]} wrote {value}")
        self._values[item][value] = who.name

    def see_checkpoints(self, committed: Mapping[str, int]) -> None:
        """The coordinator has these checkpoints, on a quiet day."""
        for item in self._values:
            if committed.get(item, -1) < self.highest_checkpoint(item):
                self.wrong.append(f"a checkpoint is lost: {committed.get(item)} of {item}, not {self.highest_checkpoint(item)}")

    # Callbacks.

    def check_callbacks(self) -> None:
        """Callbacks came in order, and once per rebalance."""
        for each in self.participants:
            word = "".join(LETTERS.get(str(event[0]), "") for event in each.events)
            if not CALLBACKS.fullmatch(word):
                self.wrong.append(f"callbacks of {each.name} are out of order: {word}")
            completed = [event[1:3] for event in each.events if event[0] == "on_join_complete"]
            if len(completed) != len(set(completed)):
                self.wrong.append(f"{each.name} completed a generation twice: {completed}")


class Participant:
    """What one program does, from its start to its end."""

    def __init__(self, program: Program, ledger: Ledger, bootstrap: str, instance: str | None, *, is_cooperative: bool) -> None:
        self.program = program
        self.name = program.name
        self.election: Election | None = None
        self.work: WorkSharing | None = None
        self.noting: RecordingCoordinator | None = None
        self.events: list[tuple[object, ...]] = []
        self._ledger = ledger
        self._settings = ConnectionSettings(bootstrap, client_id=program.name, **CONNECTION)  # type: ignore[arg-type]
        self._instance = instance
        self._is_cooperative = is_cooperative
        self._stop = asyncio.Event()
        ledger.participants.append(self)

    def start(self) -> None:
        """Start the program."""
        self.program.start(self._live)

    def leave(self) -> None:
        """End as programs should."""
        self.program.soon(self._stop.set)

    async def _live(self) -> None:
        environment = self.program.environment
        times = {"session_timeout_s": SESSION_S, "heartbeat_interval_s": HEARTBEAT_S}
        election = ElectionSettings(ELECTION, candidate=self.name, **times)  # type: ignore[arg-type]
        group = {"max_poll_interval_s": 2 * SESSION_S, **times}
        work, noting = (GroupSettings(name, group_instance_id=self._instance, **group) for name in (WORK, NOTING))
        self.election = Election(self._settings, election, environment=environment)
        self.work = WorkSharing(self._settings, work, ITEMS, cooperative=self._is_cooperative, environment=environment)
        self.noting = RecordingCoordinator(self._settings, noting, environment=environment)
        self.events = self.noting.events
        async with self.election, self.work, self.noting:
            lives = self._lead(self.election), self._work(self.work), self._watch(self.work), self.noting.run()
            tasks = [asyncio.create_task(self._watched(each)) for each in lives]
            await self._stop.wait()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _watched(self, life: Coroutine[Any, Any, None]) -> None:
        try:
            await life
        except FencedInstance:
            # Somebody has started it twice, as it seems to the server.
            self._stop.set()
        except Exception:  # noqa: BLE001 - whatever it is, it is for the report
            self.program.complain(traceback.format_exc())
            self._stop.set()

    async def _lead(self, election: Election) -> None:
        async for term in election:
            self._ledger.begin(self, term)
            async with term:
                await self._save_often(term)

    async def _save_often(self, term: Term) -> None:
        ledger, number = self._ledger, 0
        while True:
            ledger.lead(self, term)
            save = term.token, number
            number += 1
            ledger.try_to_save(save)
            was_overtaken = ledger.highest_token > term.token
            try:
                await term.save(text_of(save))
            except ClientError:
                await asyncio.sleep(SAVED_EVERY_S)
                continue
            if self.program.is_alive:
                ledger.saved(self, save, was_overtaken)
            await asyncio.sleep(SAVED_EVERY_S)

    async def _work(self, work: WorkSharing) -> None:
        while True:
            for item in sorted(work.owned):
                highest_before = self._ledger.highest_checkpoint(item)
                try:
                    last = work.checkpoint_of(item)
                    value = last.value + 1 if last is not None else 0
                    await work.checkpoint(item, value, self.name)
                except ClientError:
                    continue
                if self.program.is_alive:
                    self._ledger.checkpoint(self, item, value, highest_before)
            await asyncio.sleep(WORKED_EVERY_S)

    async def _watch(self, work: WorkSharing) -> None:
        owned: frozenset[str] = frozenset()
        async for share in work:
            if not share.revoked <= owned or share.owned != owned - share.revoked | share.assigned.keys():
                self.program.complain(f"a share does not follow from the last one: {sorted(owned)}, then {share}")
            owned = share.owned


def unsettled(participants: list[Participant]) -> str:
    """Return what is not settled yet: one leads, every item has one owner, all are in one generation."""
    leaders = [each.name for each in participants if each.election is not None and each.election.term is not None]
    owned = [sorted(each.work.owned) if each.work is not None else [] for each in participants]
    generations = {each.noting.generation_if_stable for each in participants if each.noting is not None}
    stable = {each.generation_id if each is not None else None for each in generations}
    if len(leaders) != 1:
        return f"leaders: {leaders}"
    if sorted(item for each in owned for item in each) != sorted(ITEMS) or max(map(len, owned)) - min(map(len, owned)) > 1:
        return f"owned: {owned}"
    return "" if len(stable) == 1 and None not in stable else f"generations: {stable}"


def text_of(save: Save) -> str:
    """Return the text that is saved."""
    return f"{save[0]} {save[1]}"


def save_of(text: str) -> Save:
    """Return what a text says."""
    token, number = text.split()
    return int(token), int(number)
