"""The storm itself: seats of many groups are taken, left, abandoned and taken over at random;
then it is quiet, and all must settle.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from tests.storm.coordinators import Address, Coordinators
from tests.storm.ledger import Ledger
from tests.storm.member import SESSION_S, TOPIC, Seat, StormMember
from tests.storm.wire import Wire

DESCRIBE_VERSION = 6
GROUP_SIZES = (60, 40, 30, 20, 16, 12, 8, 6, 4, 3, 1)
STATIC_SHARE = 0.4
# What a server needs to know for a storm.
OVERRIDES = {"topics": f"{TOPIC}:{2 * max(GROUP_SIZES)}"}
EVENT_EVERY_S = 0.06
ROUND_S = 30.0
LOOK_EVERY_S = 0.1


class Report(NamedTuple):
    """What a storm came to; ``quiet_s`` is how long the groups took to settle after each of its rounds.

    ``longest_pause_s`` is how long a client looked for its coordinator.
    """

    seed: int
    happened: Counter[str]
    quiet_s: list[float]
    broken: list[str]
    longest_pause_s: float

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {what}" for what, count in sorted(self.happened.items()))
        settled = ", ".join(f"{seconds:.1f}" for seconds in self.quiet_s)
        told = [f"seed {self.seed}: {counts}", f"settled after {settled} s of quiet"]
        if self.happened["sent elsewhere"]:
            told.append(f"longest pause of a client: {self.longest_pause_s:.2f} s")
        return "\n".join([*told, *self.broken[:20]])


async def storm(addresses: Sequence[Address], seed: int, seconds: float, settle_within_s: float) -> Report:
    """Rounds of weather and quiet until ``seconds`` of weather have passed, or a rule was broken."""
    weather = Weather(Coordinators(addresses), seed)
    await weather.begin()
    quiet_s: list[float] = []
    left = seconds
    while left > 0 and not weather.ledger.broken:
        await weather.blow(min(left, ROUND_S))
        left -= ROUND_S
        quiet_s.append(await weather.settle(settle_within_s))
    await weather.end()
    weather.ledger.happened["sent elsewhere"] = weather.coordinators.followed
    return Report(seed, weather.ledger.happened, quiet_s, weather.ledger.broken, weather.coordinators.longest_pause_s)


class Weather:
    """200 seats in groups of all sizes, and whoever sits there: two, for a while, where one usurps the other's instance id."""

    def __init__(self, coordinators: Coordinators, seed: int) -> None:
        self.ledger = Ledger()
        self.coordinators = coordinators
        self._random = random.Random(seed)
        self._seats = [
            # Some groups have fewer partitions than members, some more.
            Seat(f"storm-{size}", f"{size}-{place}", self._random.random() < STATIC_SHARE, max(1, size + size // 3 - 2))
            for size in GROUP_SIZES
            for place in range(size)
        ]
        self._members: dict[Seat, list[StormMember]] = {seat: [] for seat in self._seats}
        self._number = 0
        self._under_way: set[asyncio.Task[None]] = set()
        self._events: dict[str, Callable[[Seat], Awaitable[None]]] = {
            "left": self._leave,
            "died": self._die,
            "restarted": self._restart,
            "usurped": self._usurp,
            "dozed": self._doze,
        }

    async def begin(self) -> None:
        """Everybody comes at once."""
        for seat in self._seats:
            self._take(seat)

    async def blow(self, seconds: float) -> None:
        """Events until the time is over; each runs by itself, for a LeaveGroup may take its time."""
        ends_at = time.monotonic() + seconds
        while time.monotonic() < ends_at:
            await asyncio.sleep(self._random.expovariate(1 / EVENT_EVERY_S))
            seat = self._random.choice(self._seats)
            if not self._sitting(seat):
                self.ledger.happened["came"] += 1
                self._take(seat)
                continue
            [what] = self._random.choices(list(self._events), weights=[3, 3, 3, 1, 1])
            self.ledger.happened[what] += 1
            task = asyncio.ensure_future(_done(self._events[what](seat)))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

    async def settle(self, within_s: float) -> float:
        """How long it took until every group was as its members say; a rule is broken if that is longer than ``within_s``."""
        began = time.monotonic()
        await asyncio.gather(*self._under_way)
        while wrong := await self._wrong():
            if time.monotonic() - began > within_s:
                self.ledger.broken += [f"not settled {within_s:.0f} s after the storm: {what}" for what in wrong]
                break
            await asyncio.sleep(LOOK_EVERY_S)
        return time.monotonic() - began

    async def end(self) -> None:
        await asyncio.gather(*(member.die() for members in self._members.values() for member in members))

    # --- events

    def _sitting(self, seat: Seat) -> list[StormMember]:
        """Who was fenced has gone by itself."""
        return [member for member in self._members[seat] if not member.is_fenced]

    def _take(self, seat: Seat) -> None:
        self._number += 1
        member = StormMember(self.coordinators, self.ledger, seat, self._number)
        self._members[seat] = [*self._sitting(seat), member]
        member.start()

    def _vacate(self, seat: Seat) -> list[StormMember]:
        members, self._members[seat] = self._members[seat], []
        return members

    async def _leave(self, seat: Seat) -> None:
        await asyncio.gather(*(member.leave() for member in self._vacate(seat)))

    async def _die(self, seat: Seat) -> None:
        await asyncio.gather(*(member.die() for member in self._vacate(seat)))

    async def _restart(self, seat: Seat) -> None:
        """Die, and come back at once: a static member finds its place kept."""
        await self._die(seat)
        self._take(seat)

    async def _usurp(self, seat: Seat) -> None:
        """A second process with the same instance id; the first one goes on until it is told.

        Of dynamic members, one more is just one more.
        """
        if seat.is_static:
            self._take(seat)
        else:
            await self._restart(seat)

    async def _doze(self, seat: Seat) -> None:
        """Silent for longer than the session lasts, then back as if nothing had been."""
        for member in self._sitting(seat):
            member.doze_s = 1.5 * SESSION_S

    # --- quiet

    async def _wrong(self) -> list[str]:
        """What is not yet as it has to be, one line per group."""
        by_owner: dict[Address, list[str]] = {}
        for group_id in sorted({seat.group_id for seat in self._seats}):
            by_owner.setdefault(await self.coordinators.of(group_id), []).append(group_id)
        found: list[str] = []
        for address, group_ids in by_owner.items():
            wire = await Wire.open(address, "onlooker")
            answer = await wire.ask(DescribeGroupsRequest(groups=group_ids), DESCRIBE_VERSION, DescribeGroupsResponse)
            wire.cut()
            found += [wrong for group in answer.groups if (wrong := self._wrong_with(group))]
        return found

    def _wrong_with(self, group: DescribedGroup) -> str:
        if self.coordinators.is_to_be_repeated(group):
            return f"{group.group_id} moves"
        seats = [seat for seat in self._seats if seat.group_id == group.group_id]
        members = [member for seat in seats for member in self._sitting(seat)]
        known, living = {member.member_id for member in group.members}, {member.member_id for member in members}
        state = f"{group.group_id} is {group.group_state}"
        if not members:
            return "" if group.group_state in {"Empty", "Dead"} and not known else f"{state}, and nobody is there"
        if group.group_state != "Stable":
            return f"{state} with {len(known)} members, {len(living)} of them living"
        if known != living or len(living) != len(members):
            return f"{state} with strangers {sorted(known - living)}, without {sorted(living - known)}"
        if not all(member.is_settled for member in members):
            return f"{state}, but {[member.name for member in members if not member.is_settled]} wait"
        if len({member.generation_id for member in members}) != 1:
            return f"{state} in generations {sorted({member.generation_id for member in members})}"
        owned = sorted(partition for member in members for partition in member.owned)
        return "" if owned == list(range(seats[0].partitions)) else f"{state}, and owned are {owned}"


async def _done(event: Awaitable[None]) -> None:
    await event
