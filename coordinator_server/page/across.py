"""What is across groups: clients, topics, transactions and share partitions, as far as a viewer may see them.

Each answer has at most MOST rows, those that matter first, and says how many there are.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from msgspec import Struct, structs

from coordinator_server.page.rights import Rights
from coordinator_server.page.summaries import Summaries
from coordinator_server.pipeline.index.tables.group_writes import hanging
from coordinator_server.pipeline.index.tables.memberships import GroupMembership, memberships
from coordinator_server.pipeline.index.tables.share_partitions import share_partitions
from coordinator_server.pipeline.index.tables.transactions import IndexedTransaction, transactional_ids, transactions
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from protocol.fields import uuid_text

MOST: Final = 200
_MOST_READ: Final = 20_000
_MOST_UNSETTLED: Final = 20
_MOST_GROUPS: Final = 50

MaySee = Callable[[str], bool]
"""Whether a group may be seen."""


class Client(Struct):
    """A client id, and the groups that it belongs to."""

    client_id: str
    memberships: list[dict[str, Any]]


class Topic(Struct):
    """A topic, and groups that consume it: some of them, and their number."""

    topic: str
    groups: list[str]
    group_count: int
    members: int


class Transaction(Struct):
    """A transaction; times in ms since 1970. ``due_ms`` is when an open one times out."""

    transactional_id: str
    begun_ms: int
    ended_ms: int | None
    decided_ms: int | None
    outcome: str
    reason: str
    producer_id: int
    producer_epoch: int
    client_id: str
    client_host: str
    partitions: list[str]
    groups: list[str]
    due_ms: int | None = None


class SharePartition(Struct):
    """A share partition: where it stands, and its deliveries that are not settled, the oldest first."""

    group: str
    topic: str
    partition: int
    changed_ms: int
    start_offset: int
    in_flight: int
    acknowledged: int
    archived: int
    most_deliveries: int
    oldest_ms: int | None
    unsettled: list[dict[str, Any]]


class Some(Struct):
    """Some of all rows, and their number."""

    rows: list[Any]
    count: int


def clients(database: sqlite3.Connection, typed: str, may_see: MaySee, *, with_past: bool) -> Some:
    """Return clients of which a word is in the id, a host or a group, with the groups that they belong to, or ever did."""
    word = typed.lower().strip()
    of: dict[str, list[GroupMembership]] = {}
    for each in memberships(database, limit=_MOST_READ):
        if (with_past or each.until_ms is None) and may_see(each.group) and _has(word, each):
            of.setdefault(each.client_id, []).append(each)
    found = [Client(client_id, [each._asdict() for each in some[:_MOST_GROUPS]]) for client_id, some in sorted(of.items())]
    return Some(found[:MOST], len(found))


def _has(word: str, each: GroupMembership) -> bool:
    return any(word in text.lower() for text in (each.client_id, each.client_host, each.group))


def topics(summaries: Summaries, typed: str, rights: Rights) -> Some:
    """Return topics of which a word is in the name, with the groups that consume them; those with most groups first."""
    word = typed.lower().strip()
    found: dict[str, Topic] = {}
    for group_id, names, members in summaries.consumers(rights):
        for name in names:
            if word in name.lower():
                topic = found.setdefault(name, Topic(name, [], 0, 0))
                topic.group_count += 1
                topic.members += members
                if len(topic.groups) < _MOST_GROUPS:
                    topic.groups.append(group_id)
    rows = sorted(found.values(), key=lambda each: (-each.group_count, each.topic))
    return Some(rows[:MOST], len(rows))


def all_transactions(database: sqlite3.Connection, rights: Rights, may_see: MaySee) -> dict[str, Any]:
    """Return the transactions that are open, those that hang, and those that ended last."""
    timeouts = {each.transactional_id: each.timeout_ms for each in transactional_ids(database)}
    seen = [each for each in timeouts if rights.may_see_transactions(each)]

    def shown(found: Iterable[IndexedTransaction]) -> list[Transaction]:
        return [
            _transaction(each, timeouts.get(each.transactional_id), rights, may_see)
            for each in found
            if rights.may_see_transactions(each.transactional_id)
        ]

    opened = shown(transactions(database, is_open=True))
    ended = shown(transactions(database, is_open=False, limit=MOST))
    hang = [structs.replace(each, groups=list(filter(may_see, each.groups))) for each in hanging(database)]
    return {
        "ids": len(seen),
        "open": sorted(opened, key=lambda each: each.begun_ms)[:MOST],
        "open_count": len(opened),
        "hanging": [each for each in hang if each.groups or rights.has_cluster][:MOST],
        "ended": ended,
    }


def _transaction(found: IndexedTransaction, timeout_ms: int | None, rights: Rights, may_see: MaySee) -> Transaction:
    one = found.transaction
    partitions = [each for each in one.partitions if rights.may_see_topic(each.rpartition("-")[0])]
    is_open = one.decided_ms is None
    return Transaction(
        found.transactional_id,
        one.begun_ms,
        one.ended_ms,
        one.decided_ms,
        one.outcome,
        one.reason,
        one.producer_id,
        one.producer_epoch,
        one.client_id,
        one.client_host,
        partitions,
        list(filter(may_see, found.groups)),
        one.begun_ms + timeout_ms if is_open and timeout_ms is not None else None,
    )


def shares(database: sqlite3.Connection, names: NamesOfTopics, rights: Rights) -> Some:
    """Return share partitions, those first that have been waiting for longest for a delivery to be settled."""
    found = []
    for each in share_partitions(database):
        topic = names.get(each.topic_id) or uuid_text(each.topic_id)
        if not rights.may_see(each.group_id, [topic]):
            continue
        unsettled = sorted(each.unsettled, key=lambda one: one.since_ms)
        found.append(
            SharePartition(
                each.group_id,
                topic,
                each.partition,
                each.changed_ms,
                *each.standing,
                [one._asdict() for one in unsettled[:_MOST_UNSETTLED]],
            )
        )
    return Some(_waiting_first(found)[:MOST], len(found))


def _waiting_first(found: Sequence[SharePartition]) -> list[SharePartition]:
    return sorted(found, key=lambda each: (each.oldest_ms is None, each.oldest_ms or 0, each.group, each.topic, each.partition))
