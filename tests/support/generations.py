"""Generations of a group that a test writes down: who has what, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coordinator_server.catalog.topics import Topic
from coordinator_server.client.offsets import TopicPartition
from coordinator_server.machine.provenance import Reason
from coordinator_server.whatif.life import Generation, Life, LifeMember, Protocol
from coordinator_server.whatif.turns import Turn

START_MS = 1_764_000_000_000


def partitions(text: str) -> tuple[TopicPartition, ...]:
    """``t0 t1 u0``."""
    return tuple(TopicPartition(each[0], int(each[1:])) for each in text.split())


def held(**seats: str) -> dict[str, tuple[TopicPartition, ...]]:
    """What each seat has."""
    return {seat: partitions(text) for seat, text in seats.items()}


def member(
    member_id: str, client: str = "", *, host: str = "10.0.0.1", wants: str = "t", instance: str | None = None
) -> LifeMember:
    return LifeMember(member_id, client or member_id, host, instance, tuple(wants), session_timeout_ms=10_000)


def generation(
    number: int,
    members: Sequence[LifeMember],
    assigned: Mapping[str, tuple[TopicPartition, ...]] | None = None,
    *,
    at_s: float = 0,
    took_ms: int | None = 100,
    assignor: str = "range",
    topics: Mapping[str, int] | None = None,
    reasons: tuple[Reason, ...] = (),
) -> Generation:
    """One generation, a second after the one before unless ``at_s`` says another time."""
    counts = {"t": 6} if topics is None else topics
    return Generation(
        number=number,
        offset=number,
        at_ms=START_MS + round((at_s or number) * 1000),
        protocol=Protocol.CLASSIC,
        assignor=assignor if members else "",
        members={each.seat: each for each in members},
        order=tuple(each.seat for each in members),
        assigned={each.seat: () for each in members} | dict(assigned or {}),
        is_alike=len({each.wanted for each in members}) <= 1,
        topics={name: Topic(name, name.encode() * 16, count) for name, count in counts.items()},
        reasons=reasons,
        took_ms=took_ms,
    )


def turns(*generations: Generation) -> list[Turn]:
    return [Turn(each) for each in generations]


def life(*generations: Generation) -> Life:
    return Life("g", list(generations), [])
