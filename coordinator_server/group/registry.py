"""The groups of one shard: the type of each group id, and the offsets, which groups of any type may have.

A group id is in ``others`` while a group of a type other than classic has records. Otherwise it is classic, whether it exists or
not. If a damaged log has records of two other types for one id, the id belongs to the first of them in the table of types,
regardless of the order of the records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from coordinator_server.group.classic.type import ClassicType
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.type import ConsumerType
from coordinator_server.group.group_type import GroupContext, GroupType, Replay, SharedTables
from coordinator_server.group.share.type import ShareType
from coordinator_server.group.streams.type import StreamsType
from coordinator_server.group.types import CLASSIC, CONSUMER, GROUP_TYPES, SHARE, STREAMS
from coordinator_server.machine.block import EncodedRecord, EncodedRecords, RecordBlock
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry, TimelineDict
from coordinator_server.offsets.pending import PendingOffsets
from coordinator_server.offsets.store import OffsetStore
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.group_records import LegacyOffsetCommitKey, OffsetCommitKey


class Groups:
    """The groups of one shard."""

    __slots__ = (
        "classic",
        "classic_context",
        "consumer",
        "consumer_context",
        "offsets",
        "others",
        "pending",
        "replays",
        "share",
        "share_context",
        "share_topics",
        "streams",
        "streams_context",
        "types",
    )

    def __init__(self, context: GroupContext, registry: SnapshotRegistry) -> None:
        self.offsets = OffsetStore(registry)
        self.pending = PendingOffsets(registry, self.offsets)
        self.others: TimelineDict[str, GroupType] = TimelineDict(registry)
        tables = SharedTables(registry, self.offsets, self.pending, self.others)
        self.types = {name: make(context, tables) for name, make in GROUP_TYPES.items()}
        classic = self.types[CLASSIC]
        assert isinstance(classic, ClassicType)
        # For operations of classic groups, and for commits, without a lookup in the table of types.
        self.classic = classic.groups
        self.classic_context = classic.context
        consumer = self.types[CONSUMER]
        assert isinstance(consumer, ConsumerType)
        self.consumer = consumer.groups
        self.consumer_context = consumer.context
        share = self.types[SHARE]
        assert isinstance(share, ShareType)
        self.share = share.groups
        self.share_context = share.context
        self.share_topics = share.deleted_topics
        streams = self.types[STREAMS]
        assert isinstance(streams, StreamsType)
        self.streams = streams.groups
        self.streams_context = streams.context
        # By type of the record key.
        self.replays = self._replay_table()

    def type_of(self, group_id: str) -> GroupType:
        """Return the type of a group in the latest state, committed or not."""
        return self.others.get(group_id, self.types[CLASSIC])

    def type_at(self, group_id: str, committed_offset: int) -> GroupType:
        """Return the type of a group as of ``committed_offset``."""
        other = self.others.get_at(group_id, committed_offset)
        return self.types[CLASSIC] if other is None else other

    def ids(self) -> Iterator[str]:
        """Yield every group in the latest state, committed or not. Groups may change meanwhile, so that a pass can go in steps.

        A group that exists all the time is yielded once.
        """
        return self._existing(self._each_once(chain(self.classic.stored, self.others, self.offsets.by_group)))

    def _each_once(self, group_ids: Iterable[str]) -> Iterator[str]:
        """Copy some ids now, with those that rest in memory. Yield them, and those of the checkpoint."""
        # As keys of a dict, which the collector of garbage skips (to Python 3.13). Of a list or a set it would visit each element,
        # and all shards of a loop have such a copy during their passes.
        copied = dict.fromkeys(chain(group_ids, self.offsets.resting_in_memory()))
        return chain(copied, self._without(copied, self.offsets.groups_of_checkpoint()))

    def _without(self, copied: dict[str, None], group_ids: Iterable[str]) -> Iterator[str]:
        for each in group_ids:
            if each not in copied:
                yield each

    def _existing(self, group_ids: Iterator[str]) -> Iterator[str]:
        # No generator expression: compiled, it would be a list, and the first step of a pass would look up all groups.
        for each in group_ids:
            if each in self.offsets or each in self.classic.stored or each in self.others:
                yield each

    def ids_at(self, committed_offset: int) -> set[str]:
        """Return every group that existed as of ``committed_offset``."""
        known = {group_id for table in self.tables for group_id, _ in table.items_at(committed_offset)}
        return known.union(self.offsets.groups_at(committed_offset))

    def exists_at(self, group_id: str, committed_offset: int) -> bool:
        """Return whether a group existed as of ``committed_offset``, or has living members."""
        if self.classic.living(group_id) is not None or self.offsets.has_group_at(group_id, committed_offset):
            return True
        return any(table.get_at(group_id, committed_offset) is not None for table in self.tables)

    def refusal(self, group_id: str, type_name: str, member_epoch: int) -> CoordinatorError:
        """Return the refusal of a heartbeat to a group that does not exist, or is of another type than ``type_name``."""
        if self.exists_at(group_id, LATEST):
            return CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a {type_name} group.")
        kind = "Group" if member_epoch < 0 else f"{type_name.capitalize()} group"
        return CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"{kind} {group_id} not found.")

    def count(self) -> int:
        """Return an upper bound of the number of groups."""
        return sum(len(table) for table in self.tables) + self.offsets.resting_count()

    def counts(self) -> dict[str, int]:
        """Return the number of groups of each type, committed or not. Groups that have offsets only are not counted."""
        return {name: sum(len(table) for table in each.tables) for name, each in self.types.items()}

    def candidates_at(self, committed_offset: int) -> Iterator[str]:
        """Return, each once, the groups that may have existed as of ``committed_offset``. Groups may change meanwhile."""
        return self._each_once(chain.from_iterable([table.keys_at(committed_offset) for table in self.tables]))

    @property
    def tables(self) -> list[TimelineDict[str, Any]]:
        """The containers of hard state whose keys are group ids."""
        of_types = [table for each in self.types.values() for table in each.tables]
        return [*of_types, self.offsets.by_group, self.pending.by_group]

    def offsets_of(self, group_id: str) -> int:
        """Return the number of partitions with offsets of the group, including those of open transactions."""
        offsets = self.offsets.of_group_at(group_id, LATEST) or ()
        return len(offsets) + sum(position not in offsets for position in self.pending.open_now(group_id))

    def ending(self, group_ids: Iterable[str]) -> Callable[[ErrorCode | None], None]:
        """Return the ``on_append`` for the tombstones of these groups."""
        living = [group for group_id in group_ids if (group := self.classic.living(group_id)) is not None]
        return partial(self.classic.put_back, living)

    def _replay_table(self) -> dict[type[Message], Replay]:
        table: dict[type[Message], Replay] = {
            LegacyOffsetCommitKey: self.offsets.replay_legacy,
            OffsetCommitKey: self.offsets.replay,
        }
        for name, group_type in self.types.items():
            for key_type, replay in group_type.replay.items():
                table[key_type] = replay if name == CLASSIC else partial(self._replay_other, group_type, replay)
        return table

    def block_of(self, records: Sequence[CoordinatorRecord]) -> RecordBlock:
        """Return records as a block, to be part of a sequence of blocks."""

        def keep(offset: int) -> None:
            for number, record in enumerate(records, offset):
                self.replays[type(record.key)](number, record.key, record.value)

        return encoded_block(records, keep)

    def put_consumer_group(self, end_offset: int, group: ConsumerGroup) -> None:
        """Replay the records of a new consumer group, which end before the offset, all at once: ``group`` has them."""
        group.end_offset.set(end_offset)
        self.consumer.by_id[group.group_id] = group
        self._note_type(self.types[CONSUMER], group.group_id)

    def drop_consumer_group(self, group_id: str) -> None:
        """Replay the tombstones of a consumer group all at once."""
        self.consumer.by_id.pop(group_id).forget()
        self._note_type(self.types[CONSUMER], group_id)

    def _replay_other(self, group_type: GroupType, replay: Replay, offset: int, key: Any, value: Message | None) -> None:
        replay(offset, key, value)
        self._note_type(group_type, key.group_id)

    def _note_type(self, group_type: GroupType, group_id: str) -> None:
        """Note whether the id is that of a group of this type, whose records have changed."""
        if (group_id in group_type) != (self.others.get(group_id) is group_type):
            found = next((each for name, each in self.types.items() if name != CLASSIC and group_id in each), None)
            if found is None:
                del self.others[group_id]
            else:
                self.others[group_id] = found


def encoded_block(records: Sequence[CoordinatorRecord], keep: Callable[[int], None]) -> RecordBlock:
    """Return records as a block. ``keep`` replays them all, from an offset on."""
    return EncodedRecords([encoded(record) for record in records], GROUP_SERDE.decode, keep)


def encoded(record: CoordinatorRecord) -> EncodedRecord:
    """Return the bytes of a record."""
    return GROUP_SERDE.encode_key(record), GROUP_SERDE.encode_value(record)
