"""What the rest of ``group/`` asks the type of a group, and what a type is made from.

Every hosted shard has one object per type; ``types.py`` is their table. A type keeps the hard and the soft state of its own groups. Offsets belong to
the shard: groups of any type may have some. Members raise CoordinatorError to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from msgspec import Struct

from coordinator_server.config import Config
from coordinator_server.machine.shard import Clock, CoordinatorTimer
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
"""Applies one record: its offset, key, and value or None."""


class ExpiryRule(NamedTuple):
    """When the offsets of one group expire: ``offsets.retention.minutes`` after ``since_ms``, or after their own commit where that is None."""

    is_kept: Callable[[str], bool]
    """Whether the offsets of a topic are in use, and do not expire."""
    since_ms: int | None
    is_ending: bool
    """Whether the group ends when its last offset expires, or when it has none."""


class GroupType(Protocol):
    """One group type in one shard. A group id belongs to at most one type."""

    @property
    def name(self) -> str:
        """As ListGroups has it, in lower case."""

    @property
    def replay(self) -> Mapping[type[Message], Replay]:
        """The record types of its groups, by the type of the key, each with what applies it."""

    @property
    def tables(self) -> Sequence[TimelineDict[str, Any]]:
        """The containers of hard state whose keys are group ids."""

    def __contains__(self, group_id: str, /) -> bool:
        """Whether a record of a group exists, committed or not."""

    def admit_commit(self, request: OffsetCommitRequest | CommitShape, api_version: int, *, is_transactional: bool) -> None:
        """Whether this commit is accepted. A transactional one may come without a member."""

    def admit_fetch(self, request: OffsetFetchRequestGroup, committed_offset: int) -> None:
        """Whether the offsets may be read by whom the request speaks for."""

    def admit_delete(self, group_id: str) -> None:
        """DeleteGroups."""

    def admit_offset_delete(self, group_id: str) -> None:
        """OffsetDelete; for each topic ``is_subscribed_to`` decides."""

    def admit_classic_member(self, group_id: str) -> list[CoordinatorRecord]:
        """What has to be written so that a member of the classic protocol may join. Refused where it may not."""

    def admit_restore(self, group_id: str) -> None:
        """Whether an administrator may replace the offsets. The message of a refusal says what to do."""

    def tombstones(self, group_id: str) -> list[CoordinatorRecord]:
        """What ends the group, apart from its offsets."""

    def outliving_records(self, group_id: str) -> list[CoordinatorRecord]:
        """What keeps a group whose last offset is being deleted; nothing where the log knows it by other records."""

    def is_subscribed_to(self, group_id: str, topic: str) -> bool:
        """Whether members may be consuming the topic."""

    def expiry_rule(self, group_id: str) -> ExpiryRule | None:
        """When the group's offsets expire; None for never."""

    def listed(self, committed_offset: int) -> Iterable[ListedGroup]:
        """A row for each group."""

    def described(self, group_id: str, committed_offset: int) -> DescribedGroup:
        """The answer of DescribeGroups."""

    def digest_items(self, group_id: str, committed_offset: int) -> Mapping[str, int]:
        """The hash of every record of the group that is hard state, apart from its offsets, by a name for people to read."""

    def digest_containers(self, group_id: str, committed_offset: int) -> Sequence[object]:
        """The timeline containers that ``digest_items`` reads besides ``tables``."""

    def on_loaded(self) -> None:
        """The log has been replayed: build soft state, start sessions."""

    def on_unloaded(self) -> None:
        """The shard is given up: answer whoever waits, drop soft state."""


class GroupContext(Struct, frozen=True):
    """What operations on the groups of a shard need besides the groups: configuration, timers, clocks, fresh ids."""

    config: Config
    timer: CoordinatorTimer
    clock: Clock
    new_id: Callable[[], str]


class SharedTables(Struct, frozen=True):
    """The hard state that groups of all types have in common."""

    registry: SnapshotRegistry
    offsets: OffsetStore
    pending: PendingOffsets
    others: TimelineDict[str, GroupType]
    """The groups of all types but classic, by id. What is not here is a classic group, a simple one included, or no group."""
