"""Lives from the batches of a log: of one group, or of all groups of a shard in one pass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from coordinator_server.group.shard import GroupShard
from coordinator_server.pipeline.states.groups import empty_shard
from coordinator_server.whatif.classic_life import ClassicLife, fill_topics
from coordinator_server.whatif.consumer_life import ConsumerLife
from coordinator_server.whatif.life import Life, missing_between
from coordinator_server.whatif.records import MemberRecord, member_records
from coordinator_server.whatif.silences import Heard, commits
from coordinator_server.whatif.topics import TopicHistory
from protocol.messages.group_records import GroupMetadataKey
from protocol.record_batch import BatchHeader

Batches = Iterable[tuple[bytes, int, BatchHeader]]
NEWEST: Final = 2**63 - 1


class LifeReader:
    """Collects lives. ``history`` has the topics, ``group_id`` is the one group that is asked for; None for all.

    With ``heard``, silences of the one group are looked for.
    """

    def __init__(self, history: TopicHistory, group_id: str | None = None, heard: Heard | None = None) -> None:
        self._history = history
        self._only = group_id
        self._groups: dict[str, _Reading] = {}
        self._shard = empty_shard()
        self._heard = heard
        self.records = 0

    def add(self, batches: Batches, upto: int = NEWEST) -> None:
        """Take the next batches, and of them the records before ``upto``. Raises DecodeError."""
        for data, position, header in batches:
            self.records += header.count
            for record in member_records(data, position, header, self._only):
                if record.offset < upto:
                    self.take(record)
            if self._heard is not None:
                for seat, at_ms in commits(data, position, header, self._only or "", upto):
                    self._heard.add(seat, at_ms)

    def take(self, record: MemberRecord) -> None:
        """Take the next record."""
        reading = self._groups.get(record.group_id)
        if reading is None:
            reading = self._groups[record.group_id] = _Reading(record.group_id, self._history, self._shard)
        reading.add(record)

    def lives(self, begins_at: int) -> dict[str, Life]:
        """Return the life of each group. What was before ``begins_at`` is what compaction has kept."""
        lives = {group_id: reading.life(begins_at) for group_id, reading in self._groups.items()}
        if self._heard is not None:
            for life in lives.values():
                life.silences = self._heard.silences(life.generations, life.static)
        return lives


class _Reading:
    """One group: it may have been of both protocols, one after the other."""

    def __init__(self, group_id: str, history: TopicHistory, shard: GroupShard) -> None:
        self._id = group_id
        self._history = history
        self._classic = ClassicLife()
        self._consumer = ConsumerLife(group_id, history, shard)

    def add(self, record: MemberRecord) -> None:
        (self._classic if isinstance(record.key, GroupMetadataKey) else self._consumer).add(record)

    def life(self, begins_at: int) -> Life:
        fill_topics(self._classic.generations, self._history)
        # Of a target assignment that compaction has kept, the members around it may be newer.
        whole = [each for each in self._consumer.generations if each.offset >= begins_at]
        generations = sorted((*self._classic.generations, *whole), key=lambda each: each.offset)
        static = self._classic.static | self._consumer.static
        return Life(self._id, generations, missing_between(generations, begins_at), self._classic.unreadable, static)
