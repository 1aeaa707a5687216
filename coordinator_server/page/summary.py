"""What the list says of a group: its state after all records that the index has, and its last rebalance with the cause."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from msgspec import Struct

from coordinator_server.machine.provenance import Reason
from coordinator_server.pipeline.index.chunk import batches_of
from coordinator_server.pipeline.index.period import Period
from coordinator_server.pipeline.index.snapshot import SnapshotGroup
from coordinator_server.pipeline.replay.consumer_events import EPOCH
from coordinator_server.pipeline.replay.group_events import EMPTY, GENERATION, Event
from coordinator_server.pipeline.states.shown_group import Group
from protocol.coordinator_records import GROUP_SERDE
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.record_batch import NO_PRODUCER_ID, iter_records

REBALANCES: Final = frozenset({GENERATION, EPOCH, EMPTY})
"""The events that begin something new for the members of a group."""
MOST_NAMES: Final = 50
"""The most clients and hosts of a group that the list knows, and the most topics of a row of it."""
_NEWEST: Final = 100
_MOST_CHUNKS: Final = 500
DELETED: Final = "deleted"
UNREADABLE: Final = "unreadable"
"""The state of a group with a record that cannot be read."""


class Words(NamedTuple):
    """How events are put into words: a sentence, and the cause alone; and one reason of a rebalance."""

    sentence: Callable[[Event], str]
    cause: Callable[[Event], str]
    reason: Callable[[Reason], str]


class Summary(Struct):
    """A group, in a row. Times are in ms since 1970, and None if the index does not have them."""

    group: str
    type: str
    state: str
    protocol: str | None = None
    epoch: int | None = None
    members: int = 0
    partitions: int = 0
    rebalanced_ms: int | None = None
    cause: str = ""
    took_ms: int | None = None
    committed_ms: int | None = None
    topics: list[str] = []
    clients: list[str] = []
    hosts: list[str] = []


def summary(group: SnapshotGroup, words: Words) -> Summary:
    """Return the summary of a group. Raises DamagedLog."""
    state = group.at(None).group
    found = Summary(group.id, "unknown", DELETED) if state is None else _of_state(state)
    event = last_rebalance(group)
    if event is not None:
        found.rebalanced_ms, found.cause, found.took_ms = event.at_ms, words.cause(event), event.after_ms
    return found


def last_rebalance(group: SnapshotGroup) -> Event | None:
    """Return the last rebalance that the index has, of as many chunks as are read in a moment."""
    event = _last(group.events(Period(limit=_NEWEST)).events)
    for chunk in reversed(group.stored.chunks[:-1][-_MOST_CHUNKS:]):
        if event is not None:
            break
        event = _last(group.stored.shown(chunk))
    return event


def plain_commits(pieces: Iterable[bytes]) -> CommitsOnly | None:
    """Return what pieces of a group's log add, if they have nothing but committed offsets; None if there is more to know."""
    found = CommitsOnly(0, set())
    for data, start, header in (batch for piece in pieces for batch in batches_of(piece)):
        if header.is_control or header.producer_id != NO_PRODUCER_ID:
            return None
        for record in iter_records(data, start, header, with_headers=False):
            decoded = None if record.value is None else GROUP_SERDE.decode(record.key, record.value)
            if (
                decoded is None
                or not isinstance(decoded.key, OffsetCommitKey)
                or not isinstance(decoded.value, OffsetCommitValue)
            ):
                return None
            found.topics.add(decoded.key.topic)
            found = found._replace(at_ms=max(found.at_ms, decoded.value.commit_timestamp))
    return found


class CommitsOnly(NamedTuple):
    """When offsets were committed last, and of which topics."""

    at_ms: int
    topics: set[str]


def _last(events: Iterable[Event]) -> Event | None:
    found = None
    for event in events:
        if event.what in REBALANCES:
            found = event
    return found


def _of_state(state: Group) -> Summary:
    topics = {each.topic for each in state.offsets} | {topic for member in state.members for topic in member.assignment or ()}
    epoch = state.epoch if state.generation is None else state.generation
    return Summary(
        state.group_id,
        state.type,
        state_name(state),
        state.protocol,
        epoch,
        len(state.members),
        sum(len(partitions) for member in state.members for partitions in (member.assignment or {}).values()),
        committed_ms=max((each.commit_timestamp_ms for each in state.offsets), default=None),
        topics=sorted(_named(topics)),
        clients=_some(each.client_id for each in state.members),
        hosts=_some(each.client_host.removeprefix("/") for each in state.members),
    )


def state_name(state: Group) -> str:
    """Return the state of a group, as its log has it: of a classic group it does not say that a rebalance is in progress."""
    if state.state is not None:
        return state.state.lower()
    return "stable" if state.members else "empty"


def _some(names: Iterable[str]) -> list[str]:
    return sorted(_named(names))[:MOST_NAMES]


def _named(names: Iterable[str]) -> Iterator[str]:
    yield from {each for each in names if each}
