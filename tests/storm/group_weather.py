"""A storm over groups: members come, leave, die, freeze, and come back; topics grow. Then it is quiet, and all groups must settle.

The members are those of the simulation (``simulation/group_member.py``), and so are the rules that they keep.
"""

from __future__ import annotations

import asyncio
import random
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from tests.simulation.client import Client
from tests.simulation.group_member import GroupMember, Surroundings
from tests.simulation.history import Op
from tests.storm.coordinators import OF_GROUPS, RETRY_S, Address, Coordinators, Following
from tests.storm.real_time import RealTime, Tcp
from tests.storm.weather import LOOK_EVERY_S, ROUND_S, Report
from tests.storm.wire import Wire

M = TypeVar("M", bound=Message)

SIZES: Final = (60, 40, 30, 20, 16, 12, 8, 6, 4, 3, 1)
SESSION_MS: Final = 3000
EVENT_EVERY_S: Final = 0.06
GROWN_EVERY_S: Final = 2.0
MOST_TIMES: Final = 3
"""How many times as many partitions a topic has in the end."""


def topic_of(size: int) -> str:
    """Return the topic of a group of this size."""
    return f"s{size}s"


def topic_overrides(sizes: Sequence[int]) -> dict[str, str]:
    """Return the topics that a server must have."""
    return {"topics": ",".join(topic_of(size) for size in sizes), "num.partitions": "4"}


class Seat:
    """A place in a group."""

    def __init__(self, size: int, place: int) -> None:
        self.size = size
        self.place = place
        self.group_id = f"storm-{size}"
        self.topic = topic_of(size)
        self.member: GroupMember | None = None

    @property
    def living(self) -> GroupMember | None:
        return self.member if self.member is not None and self.member.is_alive else None


class GroupWeather(ABC):
    """The seats of all groups, and who sits there."""

    def __init__(self, addresses: Sequence[Address], seed: int, sizes: Sequence[int]) -> None:
        self.happened: Counter[str] = Counter()
        self._rng = random.Random(seed)
        self._coordinators = Coordinators(addresses)
        self._address = addresses[0]
        self._sizes = sizes
        # Of the groups whose topics grow.
        self._growing = list(sizes)
        self._seats = [Seat(size, place) for size in sizes for place in range(size)]
        self._topics: dict[str, tuple[bytes, int]] = {}
        self._wire: Wire
        self._surroundings: Surroundings
        self._events: dict[str, Callable[[Seat, GroupMember], None]] = {
            "left": lambda _, member: member.leave(),
            "died": lambda _, member: member.die(),
            "restarted": self._restart,
            "froze": lambda _, member: member.freeze(self._rng.randint(SESSION_MS // 3, 2 * SESSION_MS)),
            "was cut off": lambda _, member: member.client.cut(),
            "did not read": lambda _, member: member.client.stall(self._rng.randint(100, 2000)),
        }

    @property
    def broken(self) -> list[str]:
        return self._surroundings.ledger.wrong

    @abstractmethod
    def _new_member(self, seat: Seat) -> GroupMember:
        """Return who takes a seat."""

    @abstractmethod
    async def _wrong(self) -> list[str]:
        """Return what is not yet as it has to be."""

    @abstractmethod
    def _blow(self) -> None:
        """Have something else happen, with each event."""

    async def storm(self, seed: int, seconds: float, settle_within_s: float) -> Report:
        """Rounds of weather and quiet until ``seconds`` of weather have passed, or a rule was broken."""
        await self.begin()
        quiet_s: list[float] = []
        left = seconds
        while left > 0 and not self.broken:
            await self.blow(min(left, ROUND_S))
            left -= ROUND_S
            quiet_s.append(await self.settle(settle_within_s))
        self.end()
        self.happened["sent elsewhere"] = self._coordinators.followed
        return Report(seed, self.happened, quiet_s, self.broken, self._coordinators.longest_pause_s)

    async def begin(self) -> None:
        """Everybody comes at once."""
        self._world = RealTime(self._rng)
        self._wire = await Wire.open(self._address, "onlooker")
        self._surroundings = Surroundings(self._world, self._client)
        self._surroundings.counts = lambda: {name: count for name, (_, count) in self._topics.items()}
        request = MetadataRequest([MetadataRequestTopic(name=topic_of(size)) for size in self._sizes])
        answer = await self._ask(request, 12, MetadataResponse)
        self._topics = {each.name or "": (each.topic_id, len(each.partitions)) for each in answer.topics}
        self._surroundings.lasting = {name: topic_id for name, (topic_id, _) in self._topics.items()}
        for seat in self._seats:
            self._take(seat)

    async def blow(self, seconds: float) -> None:
        """Events until the time is over."""
        self._surroundings.is_calm = False
        now = time.monotonic()
        ends_at, grows_at = now + seconds, now
        while (now := time.monotonic()) < ends_at and not self.broken:
            await asyncio.sleep(self._rng.expovariate(1 / EVENT_EVERY_S))
            if now >= grows_at:
                grows_at = now + GROWN_EVERY_S
                await self._grow()
            self._blow()
            seat = self._rng.choice(self._seats)
            member = seat.living
            if member is None:
                self.happened["came"] += 1
                self._take(seat)
                continue
            [what] = self._rng.choices(list(self._events), weights=[2, 2, 5, 1, 2, 1])
            self.happened[what] += 1
            self._events[what](seat, member)

    async def settle(self, within_s: float) -> float:
        """Return how long it took until every group was settled; a rule is broken if that is longer than ``within_s``."""
        self._surroundings.is_calm = True
        for seat in self._seats:
            if seat.living is not None:
                seat.living.thaw()
        began = time.monotonic()
        while wrong := await self._wrong():
            if time.monotonic() - began > within_s:
                self.broken.extend(f"not settled {within_s:.0f} s after the storm: {what}" for what in wrong)
                break
            await asyncio.sleep(LOOK_EVERY_S)
        return time.monotonic() - began

    def end(self) -> None:
        """Everybody goes."""
        for seat in self._seats:
            if seat.living is not None:
                seat.living.die()
        self._wire.cut()

    def _take(self, seat: Seat) -> None:
        seat.member = self._new_member(seat)
        seat.member.start()

    def _restart(self, seat: Seat, member: GroupMember) -> None:
        """End, and come back at once, maybe in the other protocol."""
        member.is_coming_back = True
        member.leave() if self._rng.random() < 0.7 else member.die()
        self._take(seat)

    async def _grow(self) -> None:
        size = self._rng.choice(self._growing)
        topic_id, count = self._topics[topic_of(size)]
        if count >= MOST_TIMES * max(size, 2):
            return
        more = min(count + self._rng.randint(1, 1 + size // 4), MOST_TIMES * max(size, 2))
        request = CreatePartitionsRequest([CreatePartitionsTopic(topic_of(size), more, None)], 5000)
        answer = await self._ask(request, 3, CreatePartitionsResponse)
        assert answer.results[0].error_code == ErrorCode.NONE, answer
        self._topics[topic_of(size)] = topic_id, more
        self.happened["topics grown"] += 1

    def _of(self, group_id: str) -> list[GroupMember]:
        return [seat.living for seat in self._seats if seat.group_id == group_id and seat.living is not None]

    async def _ask(self, request: Message, version: int, response: type[M]) -> M:
        return await self._wire.ask(request, version, response)

    async def _ask_coordinator(self, group_id: str, request: Message, version: int, response: type[M]) -> M:
        while True:
            wire = await Wire.open(await self._coordinators.of(group_id), "onlooker")
            answer = await wire.ask(request, version, response)
            wire.cut()
            if not self._coordinators.is_to_be_repeated(answer):
                return answer
            await asyncio.sleep(RETRY_S)

    def _client(
        self, group_id: str, name: str, answered: Callable[[Op], None], key_type: int = OF_GROUPS, key: str | None = None
    ) -> Client:
        """Return a client that follows the coordinator of a group, or of what ``key`` names."""
        following = Following(self._coordinators)

        def told(op: Op) -> None:
            answered(op)
            if following.is_sent_elsewhere(op.response, time.monotonic() - (op.answered_us - op.sent_us) / 1e6):
                client.close()

        client = Client(Tcp(self._world, lambda: self._coordinators.of(key or group_id, key_type)), name, _forget, told)
        return client


def _forget(_op: Op) -> None:
    """Requests are too many to be kept."""
