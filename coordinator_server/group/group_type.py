"""The interface of a group type to the rest of ``group/``, and the arguments of its constructor.

Every hosted shard has one object per type; ``types.py`` has their table. A type has the hard and the soft state of its groups.
The shard has the offsets, because groups of any type may have some. Methods refuse by raising CoordinatorError.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from msgspec import Struct, field

from coordinator_server.config import Config
from coordinator_server.group.common.metadata_hash import TopicHashes
from coordinator_server.group.common.regexes import Authorize
from coordinator_server.group.common.settings import SettingsOf
from coordinator_server.group.common.topics import NO_TOPICS, TopicImage
from coordinator_server.group.member_memory import MemberMemory
from coordinator_server.group.pass_times import PassTimes
from coordinator_server.machine.executor import CoordinatorExecutor
from coordinator_server.machine.outbox import NO_OUTBOX, Outbox
from coordinator_server.machine.shard import Clock, CoordinatorTimer, Report, report_nothing
from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict
from coordinator_server.offsets.pending import PendingOffsets
from coordinator_server.offsets.store import OffsetStore
from protocol.coordinator_records import CoordinatorRecord
from protocol.fields import Message
from protocol.messages.describe_groups import DescribedGroup
from protocol.messages.list_groups import ListedGroup
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from protocol.plain_commits import CommitShape

Replay = Callable[[int, Any, Any], None]
"""Applies one record, given its offset, key, and value or None."""


CheckPartition = Callable[[bytes, str, int], None]
"""Refuses to commit the offset of a partition, given its topic's id and name, by raising CoordinatorError."""


FindShareShard = Callable[[str, bytes, int], int]


def only_share_shard(_group_id: str, _topic_id: bytes, _partition: int, /) -> int:
    """Return the shard of every share partition, if there is only one."""
    return 0


class ExpiryRule(NamedTuple):
    """The expiry rule of one group's offsets: ``offsets.retention.minutes`` after ``since_ms``, or after the commit if None."""

    is_kept: Callable[[str], bool]
    """Whether the offsets of a topic are in use and do not expire."""
    since_ms: int | None
    is_ending: bool
    """Whether the group is deleted when its last offset expires, or if it has none."""


class GroupType(Protocol):
    """One group type in one shard. A group id belongs to at most one type."""

    @property
    def name(self) -> str:
        """The type as in ListGroups, in lower case."""

    @property
    def replay(self) -> Mapping[type[Message], Replay]:
        """The replay functions of its record types, by type of the key."""

    @property
    def tables(self) -> Sequence[TimelineDict[str, Any]]:
        """The containers of hard state whose keys are group ids."""

    def __contains__(self, group_id: str, /) -> bool:
        """Return whether the group has records of this type, committed or not."""

    def admit_commit(
        self, request: OffsetCommitRequest | CommitShape, api_version: int, *, is_transactional: bool
    ) -> CheckPartition | None:
        """Refuse an invalid commit. A transactional commit may be without a member.

        Return None if all partitions are accepted, otherwise the check of each. If it refuses one, the whole commit is refused.
        """

    def admit_fetch(self, request: OffsetFetchRequestGroup, committed_offset: int) -> None:
        """Refuse a read of offsets if the requesting member is invalid."""

    def admit_delete(self, group_id: str) -> None:
        """Refuse a DeleteGroups of a group that cannot be deleted."""

    def admit_offset_delete(self, group_id: str) -> None:
        """Refuse an OffsetDelete of the whole group. ``is_subscribed_to`` decides for each topic."""

    def admit_classic_member(self, group_id: str) -> list[CoordinatorRecord]:
        """Return the records to write before a member of the classic protocol joins. Refuse if it may not join."""

    def admit_restore(self, group_id: str) -> None:
        """Refuse to replace the offsets if they may be in use. The error message says what to do."""

    def tombstones(self, group_id: str) -> list[CoordinatorRecord]:
        """Return the tombstones of the group's records, without its offsets."""

    def outliving_records(self, group_id: str) -> list[CoordinatorRecord]:
        """Return the records that keep a group whose last offset is deleted; none if it has other records in the log."""

    def is_subscribed_to(self, group_id: str, topic: str) -> bool:
        """Return whether members may be consuming the topic."""

    def expiry_rule(self, group_id: str) -> ExpiryRule | None:
        """Return when the group's offsets expire, or None for never."""

    def listed(self, group_id: str, committed_offset: int) -> ListedGroup | None:
        """Return the ListGroups entry of a group, or None if the group did not exist."""

    def described(self, group_id: str, committed_offset: int) -> DescribedGroup:
        """Return the DescribeGroups answer for a group."""

    def digest_items(self, group_id: str, committed_offset: int) -> Mapping[str, int]:
        """Return the hash of every hard-state record of the group, without its offsets, by a human-readable name."""

    def digest_containers(self, group_id: str, committed_offset: int) -> Sequence[object]:
        """Return the timeline containers that ``digest_items`` reads besides ``tables``."""

    def topics_changed(self, names: Collection[str]) -> None:
        """Take note that these topics were created, deleted or extended. The topic image shows it already."""

    def on_loaded(self) -> None:
        """Build soft state and start sessions. Called when the log has been replayed."""

    def on_unloaded(self) -> None:
        """Answer all waiting requests and drop soft state. Called when the shard is unloaded."""


class GroupContext(Struct, frozen=True):
    """The services for operations on groups: configuration, timers, clocks, new ids, reports of refusals, lines of the log,
    the topics, the settings of a group, and messages to other shards.

    ``member_memory``, ``pass_times`` and ``topic_hashes`` are common to all shards of a loop.
    """

    config: Config
    timer: CoordinatorTimer
    clock: Clock
    new_id: Callable[[], str]
    settings: SettingsOf
    report: Report = report_nothing
    tell: Report = report_nothing
    member_memory: MemberMemory = field(default_factory=MemberMemory)
    pass_times: PassTimes = field(default_factory=PassTimes)
    topics: TopicImage = NO_TOPICS
    topic_hashes: TopicHashes = field(default_factory=partial(TopicHashes, NO_TOPICS))
    # Without one, everything is computed by the loop.
    executor: CoordinatorExecutor | None = None
    outbox: Outbox = NO_OUTBOX
    # Returns the partition of ``__share_group_state`` for a share partition: group id, topic id and partition.
    share_shard: FindShareShard = only_share_shard
    # Which topics the sender of a request may describe; None: all.
    authorize: Authorize | None = None


class SharedTables(Struct, frozen=True):
    """The hard state common to groups of all types."""

    registry: SnapshotRegistry
    offsets: OffsetStore
    pending: PendingOffsets
    others: TimelineDict[str, GroupType]
    """The groups of all types except classic, by id. Any other id is a classic (possibly simple) group, or does not exist."""
