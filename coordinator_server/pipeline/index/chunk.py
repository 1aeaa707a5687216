"""A chunk: a stretch of the records of one group, and what the group was before them.

    start      the ledger and the runs as they were, so that a replay of the chunk's records goes on with its events
    base       the records that compaction keeps of all before it, so that a replay goes on with its state
    records    the batches of the group in the stretch
    owned      who had a partition up to some moment in the stretch
    shown      the events that have ended in the stretch, with runs of commits as one
    part       the commits of the stretch alone, by run, if no run has ended in it

A chunk has ended when its records are CHUNK_BYTES or as large as its base. The last one of each group grows.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Final

import msgspec
from msgspec import Struct

from coordinator_server.pipeline.compact.keyed import KeyedCompaction
from coordinator_server.pipeline.layer.batches import lay_out
from coordinator_server.pipeline.replay.group_events import Event, Runs, RunState
from coordinator_server.pipeline.replay.group_ledger import GroupLedger, LedgerState
from coordinator_server.pipeline.replay.group_owners import Owners, Ownership, OwnersState
from coordinator_server.pipeline.rules import GROUP_RECORDS
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from protocol.fields import Message
from protocol.record_batch import BatchHeader, iter_batches

CHUNK_BYTES: Final = 64 * 1024
_LEVEL: Final = 3
_NO_TOMBSTONES: Final = 2**63 - 1

IsChosen = Callable[[Event], bool]


def everything(_: Event) -> bool:
    """Choose each event."""
    return True


class Start(Struct, array_like=True):
    """What was known before a chunk."""

    ledger: LedgerState
    runs: tuple[RunState, ...] = ()
    owners: OwnersState | None = None


def first_start() -> Start:
    """Return the start of a group's first chunk."""
    return Start(LedgerState())


class GroupReplay:
    """What happens to a group from a start on. ``owned`` collects who had partitions and has them no longer."""

    def __init__(self, group_id: str, names: NamesOfTopics, start: Start) -> None:
        self.owners = Owners(names, start.owners)
        self.owned: list[Ownership] = []
        self.ledger = GroupLedger(group_id, names, start.ledger, self._watch)
        self.runs = Runs(start.runs)

    def events(self, batches: bytes) -> Iterator[Event]:
        """Take batches, and return their events. Raises DecodeError."""
        for position, header in iter_batches(batches):
            yield from self.ledger.add(batches, position, header)

    def shown(self, batches: bytes, is_chosen: IsChosen = everything) -> Iterator[Event]:
        """Take batches, and return the chosen events that have ended, with runs of commits as one. Raises DecodeError."""
        for event in self.events(batches):
            yield from self.runs.add(event, is_chosen=is_chosen(event))

    def _watch(self, key: Message, value: Message | None, at_ms: int) -> None:
        self.owned += self.owners.add(key, value, at_ms)


class Ended(Struct):
    """A chunk that has ended: what is in it, and what the next one begins with. ``part`` is None if a run has ended in it."""

    events: int
    shown: list[Event]
    owned: list[Ownership]
    part: tuple[RunState, ...] | None
    first_ms: int | None
    last_ms: int | None
    is_ordered: bool
    start: Start
    base: bytes


def end_chunk(replay: GroupReplay, base: bytes, batches: bytes) -> Ended:
    """Return the contents of a chunk with these batches. Raises DecodeError, Unsupported."""
    events = list(replay.events(batches))
    breaks = replay.runs.breaks
    found = [ended for event in events for ended in replay.runs.add(event)]
    part: Runs | None = None
    if replay.runs.breaks == breaks:
        part = Runs()
        for event in events:
            part.add(event)
    times = [event.at_ms for event in events]
    return Ended(
        events=len(times),
        shown=found,
        owned=replay.owned,
        part=None if part is None else part.state(),
        first_ms=min(times, default=None),
        last_ms=max(times, default=None),
        is_ordered=times == sorted(times),
        start=Start(replay.ledger.state(), replay.runs.state(), replay.owners.state()),
        base=_compacted(base + batches),
    )


def _compacted(data: bytes) -> bytes:
    """Return batches that replay to the same state."""
    compaction, batches = KeyedCompaction(GROUP_RECORDS), list(iter_batches(data))
    for position, header in batches:
        compaction.add(data, position, header)
    kept = compaction.kept(_NO_TOMBSTONES)
    items = chain.from_iterable(kept.of_batch(data, position, header) for position, header in batches)
    return b"".join(batch.data for batch in lay_out(items))


def packed(value: Any) -> bytes:
    """Return bytes, or a struct, as the database has them."""
    return zlib.compress(value if isinstance(value, bytes) else msgspec.msgpack.encode(value), _LEVEL)


unpacked = zlib.decompress
NOTHING_OWNED: Final = packed([])
_STARTS: Final = msgspec.msgpack.Decoder(Start)
_EVENTS: Final = msgspec.msgpack.Decoder(list[Event])
_OWNED: Final = msgspec.msgpack.Decoder(list[Ownership])
_RUNS: Final = msgspec.msgpack.Decoder(tuple[RunState, ...])


def start_of(data: bytes) -> Start:
    """Return the start that was packed."""
    return _STARTS.decode(unpacked(data))


def events_of(data: bytes) -> list[Event]:
    """Return the events that were packed."""
    return _EVENTS.decode(unpacked(data))


def owned_of(data: bytes) -> list[Ownership]:
    """Return the owners that were packed."""
    return _OWNED.decode(unpacked(data))


def runs_of(data: bytes) -> tuple[RunState, ...]:
    """Return the runs that were packed."""
    return _RUNS.decode(unpacked(data))


def batches_of(data: bytes) -> Iterator[tuple[bytes, int, BatchHeader]]:
    """Return batches as the log's readers have them: bytes, position, header. Raises DecodeError."""
    for position, header in iter_batches(data):
        yield data, position, header
