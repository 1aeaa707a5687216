"""When each member of a group was there, from its events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from coordinator_server.pipeline.replay.consumer_events import DELETED, LEFT
from coordinator_server.pipeline.replay.group_events import EMPTY, Event

MOST: Final = 500


class Session(Struct):
    """A member, since when and until when; None if that is before the events, or after them."""

    member: str
    client_id: str
    host: str
    since_ms: int | None
    until_ms: int | None = None


def sessions(events: Iterable[Event]) -> list[Session]:
    """Return the sessions in the order in which they began. A member that is known first by its end was there before."""
    found: list[Session] = []
    present: dict[str, Session] = {}

    def begin(event: Event, member: str, since_ms: int | None) -> Session:
        client = event.clients.get(member)
        session = Session(member, client.client_id if client else "", client.client_host if client else "", since_ms)
        found.append(session)
        present[member] = session
        return session

    def end(event: Event, member: str) -> None:
        session = present.pop(member, None) or begin(event, member, None)
        present.pop(member, None)
        session.until_ms = event.at_ms

    for event in events:
        for member in event.gone:
            end(event, member)
        for member in event.joined:
            if member not in present:
                begin(event, member, event.at_ms)
        if event.member is not None:
            if event.what == LEFT:
                end(event, event.member.member_id)
            elif event.member.member_id not in present:
                begin(event, event.member.member_id, event.at_ms)
        if event.what in (EMPTY, DELETED) and event.generation is not None:
            for member in list(present):
                end(event, member)
    return found


def overlapping(found: Iterable[Session], since_ms: int, until_ms: int) -> list[Session]:
    """Return the sessions in a time, the newest MOST of them."""
    some = [
        each
        for each in found
        if (each.since_ms is None or each.since_ms <= until_ms) and (each.until_ms is None or each.until_ms >= since_ms)
    ]
    return some[-MOST:]
