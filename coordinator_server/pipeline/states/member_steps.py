"""The steps by which members of a consumer group (KIP-848), share group (KIP-932) or streams group (KIP-1071) come to their
assignments, as the log has them, and who waits for whom.

A member's target is what the assignor gives it. The member first revokes what is not in its target, then adopts the target's epoch,
and gets each partition when the members that had it have given it up. A member whose record has the state UNRELEASED_PARTITIONS
waits for those members (``CurrentAssignmentBuilder`` in Kafka).
Members of a share group take records of the same partitions, so none of them waits. The members of a streams group have tasks in
place of partitions; who waits for a task is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from msgspec import Struct

from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from protocol.coordinator_records import CLASSIC_GROUP_SERDE, GROUP_SERDE, KeyedSerde
from protocol.fields import Message, uuid_text
from protocol.messages.consumer_group_records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
)
from protocol.messages.share_group_records import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupMemberMetadataKey,
    ShareGroupMetadataKey,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue,
    ShareGroupTargetAssignmentMetadataKey,
)
from protocol.messages.streams_group_records import (
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupMemberMetadataKey,
    StreamsGroupMetadataKey,
    StreamsGroupTargetAssignmentMemberKey,
    StreamsGroupTargetAssignmentMemberValue,
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupTopologyKey,
)

CONSUMER_KEYS: Final = frozenset(
    {
        ConsumerGroupMetadataKey,
        ConsumerGroupMemberMetadataKey,
        ConsumerGroupTargetAssignmentMetadataKey,
        ConsumerGroupTargetAssignmentMemberKey,
        ConsumerGroupCurrentMemberAssignmentKey,
    }
)
SHARE_KEYS: Final = frozenset(
    {
        ShareGroupMetadataKey,
        ShareGroupMemberMetadataKey,
        ShareGroupTargetAssignmentMetadataKey,
        ShareGroupTargetAssignmentMemberKey,
        ShareGroupCurrentMemberAssignmentKey,
        ShareGroupStatePartitionMetadataKey,
    }
)
STREAMS_KEYS: Final = frozenset(
    {
        StreamsGroupMetadataKey,
        StreamsGroupMemberMetadataKey,
        StreamsGroupTargetAssignmentMetadataKey,
        StreamsGroupTargetAssignmentMemberKey,
        StreamsGroupCurrentMemberAssignmentKey,
        StreamsGroupTopologyKey,
    }
)
HISTORY_SERDE: Final = KeyedSerde(
    *CLASSIC_GROUP_SERDE.types.values(),
    *(pair for pair in GROUP_SERDE.types.values() if pair[0] in CONSUMER_KEYS | SHARE_KEYS | STREAMS_KEYS),
)
"""The record types of groups that have a history. Those of other group types are unknown to it."""
STABLE: Final = "Stable"
UNREVOKED: Final = "UnrevokedPartitions"
UNRELEASED: Final = "UnreleasedPartitions"
STATES: Final = {0: STABLE, 1: UNREVOKED, 2: UNRELEASED}
UNKNOWN_STATE: Final = "Unknown"
STREAMS_STATES: Final = {1: STABLE, 2: "UnrevokedTasks", 3: "UnreleasedTasks"}
NO_EPOCH: Final = -1


# No topic has the id of zeros, with which that of a task begins.
_TASK_ID: Final = bytes(16)


def task_id(kind: str, subtopology_id: str) -> bytes:
    """Return what is shown instead of the topic id where a partition is a task: ``kind`` is "", "standby " or "warm-up "."""
    return _TASK_ID + f"{kind}task {subtopology_id}".encode()


def task_text(topic_id: bytes) -> str | None:
    """Return the text of a task's id; None for a topic's."""
    return topic_id[len(_TASK_ID) :].decode() if len(topic_id) > len(_TASK_ID) else None


def shown_topic(topic_id: bytes, names: NamesOfTopics) -> str:
    """Return the name of a topic, or its id, or the text of a task."""
    return task_text(topic_id) or names.get(topic_id) or uuid_text(topic_id)


class StepKind(StrEnum):
    """What a record says of a member."""

    TARGET = "target"
    ASSIGNED = "assigned"
    LEFT = "left"


class Owned(NamedTuple):
    """A partition of an assignment, or a task. ``epoch`` is that in which the member got it; None if the record does not say it."""

    topic_id: bytes
    partition: int
    epoch: int | None = None


class MemberStep(Struct, frozen=True):
    """One record about one member.

    ``partitions`` are its target, or what it has; ``revoking`` what it must give up and may still use.
    """

    kind: StepKind
    group_id: str
    member_id: str
    state: str | None = None
    member_epoch: int | None = None
    previous_epoch: int | None = None
    partitions: tuple[Owned, ...] = ()
    revoking: tuple[Owned, ...] = ()

    @property
    def held(self) -> set[tuple[bytes, int]]:
        """Return the partitions that no other member gets before this one has given them up."""
        return {each[:2] for each in (*self.partitions, *self.revoking)}


def member_step(key: Message, value: Message | None) -> MemberStep | None:
    """Return the step of a record; None for records of other types, and for the removal of a target."""
    match key, value:
        case (
            (ConsumerGroupTargetAssignmentMemberKey() | ShareGroupTargetAssignmentMemberKey()) as named,
            (ConsumerGroupTargetAssignmentMemberValue() | ShareGroupTargetAssignmentMemberValue()) as target,
        ):
            return MemberStep(StepKind.TARGET, named.group_id, named.member_id, partitions=_owned(target.topic_partitions))
        case (
            (ConsumerGroupCurrentMemberAssignmentKey() | ShareGroupCurrentMemberAssignmentKey()) as named,
            (ConsumerGroupCurrentMemberAssignmentValue() | ShareGroupCurrentMemberAssignmentValue()) as current,
        ):
            return MemberStep(
                StepKind.ASSIGNED,
                named.group_id,
                named.member_id,
                STATES.get(current.state, UNKNOWN_STATE),
                current.member_epoch,
                current.previous_member_epoch,
                _owned(current.assigned_partitions),
                _owned(getattr(current, "partitions_pending_revocation", ())),
            )
        case (
            (
                ConsumerGroupCurrentMemberAssignmentKey()
                | ShareGroupCurrentMemberAssignmentKey()
                | StreamsGroupCurrentMemberAssignmentKey()
            ) as named,
            None,
        ):
            return MemberStep(StepKind.LEFT, named.group_id, named.member_id)
        case StreamsGroupTargetAssignmentMemberKey() as named, StreamsGroupTargetAssignmentMemberValue() as wanted:
            partitions = _tasks(wanted.active_tasks, wanted.standby_tasks, wanted.warmup_tasks)
            return MemberStep(StepKind.TARGET, named.group_id, named.member_id, partitions=partitions)
        case StreamsGroupCurrentMemberAssignmentKey() as named, StreamsGroupCurrentMemberAssignmentValue() as tasks:
            return MemberStep(
                StepKind.ASSIGNED,
                named.group_id,
                named.member_id,
                STREAMS_STATES.get(tasks.state, UNKNOWN_STATE),
                tasks.member_epoch,
                tasks.previous_member_epoch,
                _tasks(tasks.active_tasks, tasks.standby_tasks, tasks.warmup_tasks),
                _tasks(
                    tasks.active_tasks_pending_revocation,
                    tasks.standby_tasks_pending_revocation,
                    tasks.warmup_tasks_pending_revocation,
                ),
            )
    return None


class Wait(Struct):
    """A member waits in an epoch for a partition that another member still has, since a record, until a record or to the end."""

    member_id: str
    member_epoch: int
    partition: tuple[bytes, int]
    holder: str
    since_offset: int
    since_ms: int
    until_ms: int | None = None


class WaitsState(Struct, array_like=True):
    """What says who waits for whom: the target of each member, what it has, and what it lacks, with its epoch."""

    targets: dict[str, frozenset[tuple[bytes, int]]] = {}
    held: dict[str, set[tuple[bytes, int]]] = {}
    lacking: dict[str, tuple[int, frozenset[tuple[bytes, int]]]] = {}


class Waits:
    """Who waits for whom in one group. ``found`` has every wait, in the order in which they began.

    With ``state``, which it takes over, it continues from an earlier object, but does not know since when its waits last.
    """

    def __init__(self, state: WaitsState | None = None) -> None:
        state = WaitsState() if state is None else state
        self.found: list[Wait] = []
        self._targets = state.targets
        self._held = state.held
        self._holders: dict[tuple[bytes, int], set[str]] = {}
        # What each waiting member lacks, with its epoch.
        self._lacking = state.lacking
        self._waiting: dict[tuple[bytes, int], set[str]] = {}
        self._open: dict[tuple[str, tuple[bytes, int], str], Wait] = {}
        # A member may come to wait again in the same epoch: that is the same wait.
        self._known: dict[tuple[str, int, tuple[bytes, int], str], Wait] = {}
        for member_id, held in self._held.items():
            for partition in held:
                self._holders.setdefault(partition, set()).add(member_id)
        for member_id, (_, lacks) in self._lacking.items():
            for partition in lacks:
                self._waiting.setdefault(partition, set()).add(member_id)
                for holder in self._holders.get(partition, ()):
                    self._begin(member_id, partition, holder, 0, 0)

    def state(self) -> WaitsState:
        """Return what is known, to be encoded before the next record."""
        return WaitsState(self._targets, self._held, self._lacking)

    def add(self, step: MemberStep, offset: int, at_ms: int) -> None:
        """Take the next record of the group."""
        member_id = step.member_id
        if step.kind is StepKind.TARGET:
            self._targets[member_id] = frozenset(each[:2] for each in step.partitions)
            return
        before = self._held.pop(member_id, set())
        held = step.held
        if held:
            self._held[member_id] = held
        for partition in before - held:
            self._drop(self._holders, partition, member_id)
            for waiter in self._waiting.get(partition, ()):
                self._end(waiter, partition, member_id, at_ms)
        for partition in held - before:
            self._holders.setdefault(partition, set()).add(member_id)
        self._set_lacking(step, at_ms)
        for partition in held - before:
            for waiter in self._waiting.get(partition, ()):
                self._begin(waiter, partition, member_id, offset, at_ms)
        _, lacks = self._lacking.get(member_id, (NO_EPOCH, frozenset()))
        for partition in lacks:
            for holder in self._holders.get(partition, ()):
                self._begin(member_id, partition, holder, offset, at_ms)

    def of(self, member_id: str) -> list[Wait]:
        """Return what a member waits for now."""
        _, lacks = self._lacking.get(member_id, (NO_EPOCH, frozenset()))
        holders = [(partition, holder) for partition in lacks for holder in self._holders.get(partition, ())]
        return [self._open[member_id, *each] for each in sorted(holders) if (member_id, *each) in self._open]

    def _set_lacking(self, step: MemberStep, at_ms: int) -> None:
        """Note what the member of a record lacks, and end its waits for what it does not lack any longer."""
        member_id = step.member_id
        epoch, before = self._lacking.pop(member_id, (NO_EPOCH, frozenset()))
        lacks: frozenset[tuple[bytes, int]] = frozenset()
        member_epoch = NO_EPOCH if step.member_epoch is None else step.member_epoch
        if step.state == UNRELEASED:
            lacks = self._targets.get(member_id, frozenset()) - {each[:2] for each in step.partitions}
        if lacks:
            self._lacking[member_id] = member_epoch, lacks
        for partition in before if epoch != member_epoch else before - lacks:
            for holder in list(self._holders.get(partition, ())):
                self._end(member_id, partition, holder, at_ms)
        for partition in before - lacks:
            self._drop(self._waiting, partition, member_id)
        for partition in lacks - before:
            self._waiting.setdefault(partition, set()).add(member_id)

    def _begin(self, waiter: str, partition: tuple[bytes, int], holder: str, offset: int, at_ms: int) -> None:
        if waiter == holder or (waiter, partition, holder) in self._open:
            return
        key = (waiter, self._lacking[waiter][0], partition, holder)
        if key not in self._known:
            self._known[key] = Wait(*key, offset, at_ms)
            self.found.append(self._known[key])
        self._known[key].until_ms = None
        self._open[waiter, partition, holder] = self._known[key]

    def _end(self, waiter: str, partition: tuple[bytes, int], holder: str, at_ms: int) -> None:
        ended = self._open.pop((waiter, partition, holder), None)
        if ended is not None:
            ended.until_ms = at_ms

    @staticmethod
    def _drop(table: dict[tuple[bytes, int], set[str]], partition: tuple[bytes, int], member_id: str) -> None:
        members = table[partition]
        members.discard(member_id)
        if not members:
            del table[partition]


def _owned(topics: Iterable[Any]) -> tuple[Owned, ...]:
    return tuple(each for topic in topics for each in _of_topic(topic))


def _of_topic(topic: Any) -> Iterable[Owned]:
    return _numbered(topic.topic_id, topic)


def _tasks(*kinds: Iterable[Any]) -> tuple[Owned, ...]:
    """Return active, standby and warm-up tasks."""
    named = zip(("", "standby ", "warm-up "), kinds, strict=True)
    return tuple(
        owned for kind, tasks in named for each in tasks for owned in _numbered(task_id(kind, each.subtopology_id), each)
    )


def _numbered(topic_id: bytes, having: Any) -> Iterable[Owned]:
    epochs: Sequence[int] | None = getattr(having, "assignment_epochs", None)
    known = epochs if epochs and len(epochs) == len(having.partitions) else [None] * len(having.partitions)
    owned = (Owned(topic_id, partition, epoch) for partition, epoch in zip(having.partitions, known, strict=True))
    return sorted(owned, key=lambda each: each.partition)
