"""Follows one group through the batches of its shard: each operation becomes events, with who did it, why, and what it changed.

Offsets of a transaction count at its marker, and the event is of that time. So far they are kept by producer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Provenance, attributed
from coordinator_server.pipeline.input.topic_names import NO_NAMES
from coordinator_server.pipeline.replay.consumer_events import DELETED, EPOCH, ConsumerEvent, ConsumerEvents, ConsumerState
from coordinator_server.pipeline.replay.group_events import (
    COMMITTED,
    CREATED,
    EMPTY,
    GENERATION,
    KEPT,
    NOT_COMMITTED,
    OFFSETS_DELETED,
    OFFSETS_RESTORED,
    RESET,
    TO_CLASSIC,
    TO_CONSUMER,
    Client,
    Event,
    OffsetChange,
)
from coordinator_server.pipeline.states.changes import Change, change_of
from coordinator_server.pipeline.states.member_steps import HISTORY_SERDE
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from protocol.control_records import ABORT, COMMIT, control_type
from protocol.fields import Message
from protocol.messages.consumer_group_records import ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue
from protocol.messages.share_group_records import ShareGroupMemberMetadataKey, ShareGroupMemberMetadataValue
from protocol.messages.streams_group_records import StreamsGroupMemberMetadataKey, StreamsGroupMemberMetadataValue
from protocol.record_batch import NO_PRODUCER_ID, BatchHeader, Record, iter_records

OPERATORS: Final = ("coordinator-server-cli", "adminclient-")
"""How the client ids of administrators begin: those of this project's commands and of Kafka's tools."""
_MEMBERS: Final = (ConsumerGroupMemberMetadataKey, ShareGroupMemberMetadataKey, StreamsGroupMemberMetadataKey)
_OF_OFFSETS: Final = frozenset({COMMITTED, RESET, OFFSETS_DELETED, OFFSETS_RESTORED})

Position = tuple[str, int]
Watch = Callable[[Message, Message | None, int], object]


class LedgerState(Struct, array_like=True):
    """All that a ledger knows between two batches. Whoever stores it counts its format (``index/database.py``)."""

    offsets: dict[Position, int] = {}
    # The changes of open transactions: for each producer, the changes of each operation by position.
    pending: dict[int, list[tuple[Change | None, dict[Position, int | None]]]] = {}
    clients: dict[str, Client] = {}
    members: frozenset[str] = frozenset()
    has_had_members: bool = False
    has_events: bool = False
    of_consumers: ConsumerState | None = None


class GroupLedger:
    """The events of one group. It keeps the group's offsets and the clients of its members, as of the last batch.

    With ``state``, which it takes over, it goes on where another ledger has ended. ``watch`` gets each record that is of no
    offset, with its time.
    """

    def __init__(
        self, group_id: str, names: NamesOfTopics = NO_NAMES, state: LedgerState | None = None, watch: Watch = lambda *_: None
    ) -> None:
        state = LedgerState() if state is None else state
        self.group_id = group_id
        self._watch = watch
        self._of_consumers = ConsumerEvents(names, state.of_consumers)
        self._offsets = state.offsets
        self._pending = state.pending
        self._clients = state.clients
        # Members that have left in this batch: its events may name them.
        self._gone: set[str] = set()
        self._members = state.members
        self._has_had_members = state.has_had_members
        self.has_events = state.has_events

    def state(self) -> LedgerState:
        """Return what the ledger knows, to be encoded before the next batch: it shares its tables."""
        return LedgerState(
            self._offsets,
            self._pending,
            self._clients,
            self._members,
            self._has_had_members,
            self.has_events,
            self._of_consumers.state(),
        )

    def add(self, data: bytes, position: int, header: BatchHeader) -> list[Event]:
        """Take the next batch of the shard, and return its events. Raises DecodeError."""
        if header.is_control:
            return self._ended(data, position, header) if header.producer_id in self._pending else []
        found: list[Event] = []
        came: list[str] = []
        went: list[str] = []
        for record, key, value, provenance in group_records(self.group_id, data, position, header):
            by = None if provenance is None else change_of(record.offset, record.timestamp, provenance)
            if isinstance(key, OffsetCommitKey):
                assert value is None or isinstance(value, OffsetCommitValue)
                self._take_offset(found, header, record.timestamp, key, value, by)
            else:
                self._watch(key, value, record.timestamp)
            if isinstance(key, GroupMetadataKey):
                assert value is None or isinstance(value, GroupMetadataValue)
                _add(found, self._group_event(record.timestamp, value, by))
            if isinstance(key, _MEMBERS):
                is_known = key.member_id in self._clients and key.member_id not in self._gone
                (went if value is None else [] if is_known else came).append(key.member_id)
            self._know(key, value)
            for step in self._of_consumers.add(key, value, record.offset, record.timestamp):
                event = _consumer_event(step, record.timestamp, by)
                if by is None and event.epoch is not None and event.what in (EPOCH, EMPTY):
                    # Nobody says why: those who came and went just before it are all that is known.
                    event.joined, event.gone = tuple(came), tuple(went)
                    came, went = [], []
                _add(found, event)
        for event in found:
            event.clients = {member: self._clients[member] for member in _named(event) if member in self._clients}
        for member in self._gone:
            self._clients.pop(member, None)
        self._gone = set()
        self.has_events |= bool(found)
        return found

    # --- offsets

    def _take_offset(
        self,
        found: list[Event],
        header: BatchHeader,
        at_ms: int,
        key: OffsetCommitKey,
        value: OffsetCommitValue | None,
        by: Change | None,
    ) -> None:
        after = None if value is None else value.offset
        where = key.topic, key.partition
        if header.producer_id != NO_PRODUCER_ID:
            pending = self._pending.setdefault(header.producer_id, [])
            if not pending or not _is_same(pending[-1][0], by):
                pending.append((by, {}))
            pending[-1][1][where] = after
            return
        change = self._change(where, after)
        what = OFFSETS_DELETED if value is None else self._kind_of_commit(by)
        last = found[-1] if found else None
        if (
            last is not None
            and last.what in _OF_OFFSETS
            and (last.what == OFFSETS_DELETED) == (value is None)
            and last.at_ms == at_ms
            and _is_same(last.by, by)
        ):
            last.changes = (*last.changes, change)
        else:
            last = Event(at_ms, what, changes=(change,), by=by)
            found.append(last)
        if last.what == COMMITTED and _is_without_member(by) and _goes_back(change):
            last.what = RESET

    def _change(self, where: Position, after: int | None) -> OffsetChange:
        before = self._offsets.pop(where, None)
        if after is not None:
            self._offsets[where] = after
        return OffsetChange(*where, before, after)

    def _kind_of_commit(self, by: Change | None) -> str:
        if by is not None and any(each.why == Why.OFFSETS_RESTORED for each in by.reasons):
            return OFFSETS_RESTORED
        # Members of a group commit as members: whoever does not is an operator.
        is_reset = by is not None and _is_without_member(by) and (self._has_had_members or by.client_id.startswith(OPERATORS))
        return RESET if is_reset else COMMITTED

    def _ended(self, data: bytes, position: int, header: BatchHeader) -> list[Event]:
        """Return what a transaction has committed, or would have, at its marker."""
        found = []
        for record in iter_records(data, position, header):
            kind = control_type(record.key)
            for by, changes in self._pending.pop(header.producer_id, ()) if kind in (ABORT, COMMIT) else ():
                if kind == COMMIT:
                    made = tuple(self._change(where, after) for where, after in changes.items())
                else:
                    made = tuple(OffsetChange(*where, self._offsets.get(where), after) for where, after in changes.items())
                what = COMMITTED if kind == COMMIT else NOT_COMMITTED
                found.append(Event(record.timestamp, what, changes=made, by=by, in_transaction=True))
        self.has_events |= bool(found)
        return found

    # --- members

    def _know(self, key: Message, value: Message | None) -> None:
        """Note the clients of members, and who has left."""
        joined = clients_of(key, value)
        if joined:
            self._clients |= joined
            self._gone -= joined.keys()
            self._has_had_members = True
        elif isinstance(key, _MEMBERS):
            self._gone.add(key.member_id)

    def _group_event(self, at_ms: int, value: GroupMetadataValue | None, by: Change | None) -> Event:
        before = self._members
        members = [] if value is None else [each.member_id for each in value.members]
        self._members = frozenset(members)
        self._gone |= before - self._members
        if value is None:
            return Event(at_ms, DELETED, by=by)
        if value.generation or members:
            what = GENERATION if members else EMPTY
        else:
            what = KEPT if by is not None and any(each.why == Why.OFFSETS_DELETED for each in by.reasons) else CREATED
        event = Event(at_ms, what, value.generation, len(members), by=by, after_ms=None if by is None else by.took_ms)
        # A group that was of a newer protocol keeps its members.
        event.joined = tuple(each for each in members if each not in self._clients)
        event.gone = tuple(sorted(before - self._members))
        return event


def group_records(
    group_id: str, data: bytes, position: int, header: BatchHeader
) -> Iterator[tuple[Record, Message, Message | None, Provenance | None]]:
    """Return the records of a group in a batch, decoded, each with its provenance. Raises DecodeError."""
    # A batch that does not contain the id, and is not compressed, is not about the group.
    if header.is_control or (not header.compression and data.find(group_id.encode(), position, position + header.size) < 0):
        return
    for record, provenance in attributed(iter_records(data, position, header)):
        decoded = HISTORY_SERDE.decode(record.key, record.value)
        if decoded is None:
            continue
        if group_id in (getattr(decoded.key, "group", None), getattr(decoded.key, "group_id", None)):
            yield record, decoded.key, decoded.value, provenance


def clients_of(key: Message, value: Message | None) -> dict[str, Client]:
    """Return the members of a record with their clients; none if it is not about clients."""
    match key, value:
        case GroupMetadataKey(), GroupMetadataValue(members=members):
            return {each.member_id: Client(each.client_id, _host(each.client_host), each.group_instance_id) for each in members}
        case ConsumerGroupMemberMetadataKey(member_id=member_id), ConsumerGroupMemberMetadataValue() as consumer:
            return {member_id: Client(consumer.client_id, _host(consumer.client_host), consumer.instance_id)}
        case ShareGroupMemberMetadataKey(member_id=member_id), ShareGroupMemberMetadataValue() as share:
            return {member_id: Client(share.client_id, _host(share.client_host))}
        case StreamsGroupMemberMetadataKey(member_id=member_id), StreamsGroupMemberMetadataValue() as streams:
            return {member_id: Client(streams.client_id, _host(streams.client_host), streams.instance_id)}
    return {}


def _consumer_event(event: ConsumerEvent, at_ms: int, by: Change | None) -> Event:
    what = (EPOCH if event.members else EMPTY) if event.what == EPOCH else event.what
    of_members = Event(at_ms, what, members=event.members, by=by, epoch=event.epoch, member=event.member, after_ms=event.after_ms)
    return replace(of_members, partitions=event.partitions)


def _add(found: list[Event], event: Event) -> None:
    """Add an event. If the operation has also deleted the group's records of another protocol, it has converted the group."""
    last = found[-1] if found else None
    if (
        last is not None
        and last.what == DELETED
        and event.what != DELETED
        and last.at_ms == event.at_ms
        and _is_same(last.by, event.by)
    ):
        last.what = TO_CONSUMER if event.generation is None else TO_CLASSIC
    found.append(event)


def _named(event: Event) -> Iterator[str]:
    """Yield the ids of the members that an event names."""
    yield from event.joined
    yield from event.gone
    if event.by is not None:
        yield event.by.member_id
        yield from (each.whom for each in event.by.reasons)
    if event.member is not None:
        yield event.member.member_id
        yield from (each.member_id for each in event.member.waits_for)


def _is_without_member(by: Change | None) -> bool:
    """Return whether a commit names no member, as that of an operator, or of a consumer that is in no group."""
    return by is not None and by.operation.startswith("OffsetCommit ") and not by.member_id and by.group_instance_id is None


def _goes_back(change: OffsetChange) -> bool:
    return change.before is not None and change.after is not None and change.after < change.before


def _host(client_host: str) -> str:
    """Return an address without the slash that Java puts before it."""
    return client_host.removeprefix("/")


def _is_same(one: Change | None, other: Change | None) -> bool:
    """Return whether two records are of one operation: they differ in nothing but their offsets."""
    if one is None or other is None:
        return one is other
    return replace(one, offset=other.offset) == other
