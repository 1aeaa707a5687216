"""The owners of partitions over a window of time, as lanes of a picture: no more spans than it has columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from msgspec import Struct

from coordinator_server.pipeline.replay.group_events import Client
from coordinator_server.pipeline.replay.group_owners import Ownership

COLOURS: Final = 7
"""So many colours are there before one comes again with a pattern (static/palette.js)."""
MIXED: Final = -1
"""Stands for owners in a span in which they change faster than the picture can show."""


class Window(NamedTuple):
    """A time, in ms since 1970, and the number of columns in which it is shown."""

    since_ms: int
    until_ms: int
    columns: int

    @property
    def column_ms(self) -> float:
        """The time that a column stands for."""
        return (self.until_ms - self.since_ms) / self.columns


Span = tuple[int, int | None, tuple[int, ...]]
"""Since when, until when (None: it goes on), and the numbers of the owners."""


class Lane(Struct):
    """A partition."""

    topic: str
    partition: int
    spans: list[Span]


class Owner(Struct):
    """A member that has had a partition. Of those that are there at the same time no two have the same colour."""

    member: str
    client_id: str
    host: str
    colour: int


class Owners:
    """The owners of a group, in the order in which they came: the same member has the same number and colour in each window.

    A client that comes back gets the colour that it had, if that is free: it is another member, and the same program.
    """

    def __init__(self, owned: Iterable[Ownership]) -> None:
        self._numbers: dict[str, int] = {}
        self.found: list[Owner] = []
        times: dict[str, tuple[int, float]] = {}
        clients: dict[str, Client] = {}
        for each in owned:
            until_ms = math.inf if each.until_ms is None else each.until_ms
            for member in each.members:
                since_ms, last_ms = times.get(member, (each.since_ms, until_ms))
                times[member] = min(since_ms, each.since_ms), max(last_ms, until_ms)
            clients |= each.clients
        free_ms: list[float] = []
        last_of_client: dict[str, int] = {}
        for member, (since_ms, last_ms) in sorted(times.items(), key=lambda item: (item[1][0], item[0])):
            client = clients.get(member, _UNKNOWN)
            colour = last_of_client.get(client.client_id)
            if colour is None or free_ms[colour] > since_ms:
                free = (at for at, free_from_ms in enumerate(free_ms) if free_from_ms <= since_ms)
                colour = len(free_ms) if len(free_ms) < COLOURS else next(free, len(free_ms))
            if colour == len(free_ms):
                free_ms.append(0)
            free_ms[colour] = last_ms
            last_of_client[client.client_id] = colour
            self._numbers[member] = len(self.found)
            self.found.append(Owner(member, client.client_id, client.client_host, colour))

    def of(self, members: Iterable[str]) -> tuple[int, ...]:
        """Return the numbers of members."""
        return tuple(self._numbers[member] for member in members)


_UNKNOWN: Final = Client("", "")


def lanes(owned: Sequence[Ownership], owners: Owners, window: Window, first: int, most: int) -> list[Lane]:
    """Return the lanes from number ``first`` on, at most ``most``. ``owned`` is sorted by partition and time."""
    found = []
    for number, (position, some) in enumerate(groupby(owned, key=lambda each: (each.topic, each.partition))):
        if first <= number < first + most:
            found.append(Lane(*position, list(_spans(some, owners, window))))
    return found


def _spans(owned: Iterable[Ownership], owners: Owners, window: Window) -> Iterator[Span]:
    """Yield spans that are a column or longer, and one for each stretch of shorter ones."""
    mixed: list[Ownership] = []
    for each in owned:
        if (each.until_ms is not None and each.until_ms <= window.since_ms) or each.since_ms >= window.until_ms:
            continue
        if each.until_ms is not None and each.until_ms - each.since_ms < window.column_ms:
            mixed.append(each)
            if each.until_ms - mixed[0].since_ms >= window.column_ms:
                yield _one(mixed, owners)
                mixed = []
            continue
        if mixed:
            yield _one(mixed, owners)
            mixed = []
        yield each.since_ms, each.until_ms, owners.of(each.members)
    if mixed:
        yield _one(mixed, owners)


def _one(mixed: Sequence[Ownership], owners: Owners) -> Span:
    """Return the span that stands for some that are too short. One on its own stays what it is."""
    if len(mixed) == 1:
        return mixed[0].since_ms, mixed[0].until_ms, owners.of(mixed[0].members)
    return mixed[0].since_ms, mixed[-1].until_ms, (MIXED,)
