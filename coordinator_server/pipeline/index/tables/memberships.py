"""Which groups a client belonged to, and when: its memberships in all groups."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from coordinator_server.pipeline.input.topic_names import NO_NAMES
from coordinator_server.pipeline.replay.memberships import CLASSIC, Membership, Memberships, MembersState
from coordinator_server.pipeline.states.member_steps import shown_topic
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from protocol.fields import Message

_STATES: Final = msgspec.msgpack.Decoder(MembersState)


class GroupMembership(NamedTuple):
    """A client in a group, between two moments in ms; ``until_ms`` is None while it is a member. ``most``: members at once."""

    group: str
    client_id: str
    client_host: str
    since_ms: int
    until_ms: int | None
    most: int


class MembershipRows:
    """Writes the memberships of groups. Groups are followed from where the database has them."""

    def __init__(self) -> None:
        self._groups: dict[int, Memberships] = {}
        self._changed: set[int] = set()
        self._ended: list[tuple[int, Membership]] = []

    def add(
        self,
        database: sqlite3.Connection,
        group_no: int,
        records: Iterable[tuple[Message, Message | None]],
        offset: int,
        at_ms: int,
    ) -> None:
        """Take the records of a group in a batch that begins at an offset, those of committed offsets left out."""
        found = self._groups.get(group_no)
        if found is None:
            row = database.execute("SELECT state FROM members WHERE group_no = ?", (group_no,)).fetchone()
            found = self._groups[group_no] = Memberships(None if row is None else _STATES.decode(row[0]))
        self._ended += ((group_no, each) for each in found.add(records, offset, at_ms))
        if found.is_changed:
            self._changed.add(group_no)

    def flush(self, database: sqlite3.Connection) -> None:
        """Write what has changed, and forget it."""
        for group_no, ended in self._ended:
            _write(database, group_no, ended)
        for group_no in self._changed:
            found = self._groups[group_no]
            for who in found.changed:
                _write(database, group_no, found.of(who))
            database.execute("INSERT OR REPLACE INTO members VALUES (?, ?)", (group_no, msgspec.msgpack.encode(found.state)))
        self._ended, self._changed = [], set()
        self.forget()

    def forget(self) -> None:
        """Forget what is known of groups."""
        self._groups = {}


def _write(database: sqlite3.Connection, group_no: int, found: Membership) -> None:
    row = found.since_offset, found.since_ms, found.until_offset, found.until_ms, found.most
    database.execute(
        "INSERT OR REPLACE INTO memberships VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (found.client_id, found.client_host, group_no, *row),
    )


class Assigned(NamedTuple):
    """What a group has of a topic: members with partitions of it, and these partitions."""

    members: int
    partitions: int


class GroupNow(NamedTuple):
    """A group as of the end of the index: what it is, how many members it has, and how many of those have no partition.

    ``topics`` has, by topic, the members that have partitions of it, and the number of these partitions.
    """

    group: str
    type: str
    protocol_type: str
    protocol: str
    members: int
    empty_members: int
    topics: Mapping[str, Assigned]

    @property
    def state(self) -> str:
        """Kafka's name of the state, as the log has it: it does not say that a rebalance is in progress."""
        return "Stable" if self.members else "Empty"


def groups_now(database: sqlite3.Connection, names: NamesOfTopics = NO_NAMES) -> Iterator[GroupNow]:
    """Yield all groups that have more than offsets, by id. A topic without a name has its id."""
    rows: Iterable[tuple[str, bytes]] = database.execute(
        "SELECT g.id, m.state FROM members m JOIN groups g ON g.group_no = m.group_no ORDER BY g.id"
    )
    for group, packed in rows:
        state = _STATES.decode(packed)
        if state.group is not None:
            yield group_now(group, state, names)


def group_now(group: str, state: MembersState, names: NamesOfTopics) -> GroupNow:
    """Return a group as the state of its members says it."""
    described = state.group
    assert described is not None, group
    having = [state.assigned[each] for each in state.members if each in state.assigned]
    topics: dict[str, Assigned] = {}
    for topic, partitions in (each for counts in having for each in counts.items()):
        name = topic if described.type == CLASSIC else shown_topic(bytes.fromhex(topic), names)
        members, so_far = topics.get(name, (0, 0))
        topics[name] = Assigned(members + 1, so_far + partitions)
    empty = len(state.members) - len(having)
    return GroupNow(group, described.type, described.protocol_type, described.protocol, len(state.members), empty, topics)


def memberships(
    database: sqlite3.Connection,
    *,
    client_id: str | None = None,
    group_id: str | None = None,
    since_ms: int = 0,
    until_ms: int = 2**62,
    limit: int = -1,
) -> list[GroupMembership]:
    """Return the memberships of a client, in a group, or all, that overlap a time: the newest ``limit``, the last one first.

    Only a client is looked up by key: with a group alone, or nothing, the table is read.
    """
    chosen = {"client_id": client_id, "g.id": group_id}
    where = [f"{column} = ?" for column, value in chosen.items() if value is not None]
    rows = database.execute(
        "SELECT g.id, client_id, client_host, since_ms, until_ms, most FROM memberships m JOIN groups g ON g.group_no = m.group_no"
        f" WHERE {' AND '.join([*where, 'since_ms <= ?', 'coalesce(until_ms, ?) >= ?'])}"
        " ORDER BY since_ms DESC, g.id, client_host LIMIT ?",
        (*(value for value in chosen.values() if value is not None), until_ms, until_ms, since_ms, limit),
    )
    return [GroupMembership(*row) for row in rows]
