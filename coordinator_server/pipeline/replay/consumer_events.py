"""The events of a consumer group (KIP-848), share group (KIP-932) or streams group (KIP-1071) from its records: epochs, and what
each member gives up, gets and waits for; of a share group also which share partitions are initialized and deleted.

A rebalance of such a group is a sequence of steps, one member at a time. It is over when every member has the target of the group's
epoch, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from coordinator_server.pipeline.states.member_steps import (
    STABLE,
    MemberStep,
    StepKind,
    Waits,
    WaitsState,
    member_step,
    shown_topic,
)
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from protocol.fields import Message
from protocol.messages.consumer_group_records import (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from protocol.messages.share_group_records import (
    ShareGroupMemberMetadataKey,
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupStatePartitionMetadataValue,
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)
from protocol.messages.streams_group_records import (
    StreamsGroupMemberMetadataKey,
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupTargetAssignmentMetadataValue,
)

EPOCH: Final = "epoch"
TARGET: Final = "target"
STEP: Final = "step"
LEFT: Final = "left"
SETTLED: Final = "settled"
INITIALIZING: Final = "initializing"
INITIALIZED: Final = "initialized"
DELETING: Final = "deleting"
DELETED: Final = "deleted"

Partition = tuple[bytes, int]


class WaitsFor(Struct, frozen=True):
    """The partitions that a member waits for until their owners have given them up."""

    member_id: str
    partitions: tuple[str, ...]


class MemberChanges(Struct, omit_defaults=True, frozen=True):
    """What a step changes for a member. ``gives_up`` is what it must give up, ``gave_up`` what it has given up."""

    member_id: str
    epoch: int | None = None
    gets: tuple[str, ...] = ()
    gives_up: tuple[str, ...] = ()
    gave_up: tuple[str, ...] = ()
    waits_for: tuple[WaitsFor, ...] = ()


class ConsumerEvent(Struct, frozen=True):
    """An event. ``members`` is their number at a new epoch.

    ``after_ms`` is how long the group took to settle, or its target was computed after its epoch had begun, if not at once.
    ``partitions`` are the share partitions that are being initialized, are initialized, or are being deleted.
    """

    what: str
    epoch: int | None = None
    members: int | None = None
    member: MemberChanges | None = None
    after_ms: int | None = None
    partitions: tuple[str, ...] = ()


class ConsumerState(Struct, array_like=True):
    """All that ``ConsumerEvents`` knows between two records."""

    members: set[str] = set()
    steps: dict[str, MemberStep] = {}
    waits: WaitsState | None = None
    epoch: int = 0
    epoch_ms: int = 0
    # The share partitions in each step of their life; of a deletion, their topics.
    shared: dict[str, set[str]] = {}
    # Since when the group has not been settled; None if it is, or if it has no members.
    since_ms: int | None = None


class ConsumerEvents:
    """Follows one group. With ``state``, which it takes over, it continues where that object ended."""

    def __init__(self, names: NamesOfTopics, state: ConsumerState | None = None) -> None:
        state = ConsumerState() if state is None else state
        self._names = names
        self._members = state.members
        self._steps = state.steps
        self._waits = Waits(state.waits)
        self._epoch = state.epoch
        self._epoch_ms = state.epoch_ms
        self._shared = state.shared
        self._since_ms = state.since_ms

    def state(self) -> ConsumerState | None:
        """Return what is known, to be encoded before the next record; None if that is nothing."""
        waits = self._waits.state()
        found = ConsumerState(self._members, self._steps, waits, self._epoch, self._epoch_ms, self._shared, self._since_ms)
        return None if found == ConsumerState(waits=WaitsState()) else found

    def add(self, key: Message, value: Message | None, offset: int, at_ms: int) -> Iterator[ConsumerEvent]:
        """Take the group's next record, and return its events."""
        match key, value:
            case (
                (ConsumerGroupMetadataKey() | ShareGroupMetadataKey() | StreamsGroupMetadataKey()),
                (ConsumerGroupMetadataValue() | ShareGroupMetadataValue() | StreamsGroupMetadataValue()) as group,
            ):
                self._epoch, self._epoch_ms = group.epoch, at_ms
                if self._members:
                    self._since_ms = at_ms if self._since_ms is None else self._since_ms
                else:
                    self._since_ms = None
                yield ConsumerEvent(EPOCH, group.epoch, len(self._members))
            case ((ConsumerGroupMetadataKey() | ShareGroupMetadataKey() | StreamsGroupMetadataKey()), None):
                self._since_ms = None
                yield ConsumerEvent(DELETED)
            case (
                (
                    ConsumerGroupTargetAssignmentMetadataKey()
                    | ShareGroupTargetAssignmentMetadataKey()
                    | StreamsGroupTargetAssignmentMetadataKey()
                ),
                (
                    ConsumerGroupTargetAssignmentMetadataValue()
                    | ShareGroupTargetAssignmentMetadataValue()
                    | StreamsGroupTargetAssignmentMetadataValue()
                ) as target,
            ):
                if at_ms != self._epoch_ms:
                    yield ConsumerEvent(TARGET, target.assignment_epoch, len(self._members), after_ms=at_ms - self._epoch_ms)
            case (ConsumerGroupMemberMetadataKey() | ShareGroupMemberMetadataKey() | StreamsGroupMemberMetadataKey()) as named, _:
                (self._members.discard if value is None else self._members.add)(named.member_id)
            case ShareGroupStatePartitionMetadataKey(), _:
                assert value is None or isinstance(value, ShareGroupStatePartitionMetadataValue)
                yield from self._share_partitions(value)
            case _ if (step := member_step(key, value)) is not None:
                yield from self._step(step, offset, at_ms)

    def _step(self, step: MemberStep, offset: int, at_ms: int) -> Iterator[ConsumerEvent]:
        self._waits.add(step, offset, at_ms)
        if step.kind is StepKind.TARGET:
            return
        before = self._steps.pop(step.member_id, None)
        if step.kind is StepKind.ASSIGNED:
            self._steps[step.member_id] = step
        yield ConsumerEvent(STEP if step.kind is StepKind.ASSIGNED else LEFT, member=self._changes(before, step))
        if self._since_ms is not None and self._is_settled():
            yield ConsumerEvent(SETTLED, self._epoch, len(self._members), after_ms=at_ms - self._since_ms)
            self._since_ms = None

    def _share_partitions(self, value: ShareGroupStatePartitionMetadataValue | None) -> Iterator[ConsumerEvent]:
        """Return what is new in each step of the life of share partitions."""
        found: dict[str, set[str]] = {}
        if value is not None:
            steps = ((INITIALIZING, value.initializing_topics), (INITIALIZED, value.initialized_topics))
            found = {
                what: {f"{each.topic_name}-{number}" for each in topics for number in each.partitions} for what, topics in steps
            }
            found[DELETING] = {each.topic_name for each in value.deleting_topics}
        for what, names in found.items():
            new = sorted(names - self._shared.get(what, set()), key=_by_number)
            if new:
                yield ConsumerEvent(what, partitions=tuple(new))
        self._shared = found

    def _changes(self, before: MemberStep | None, step: MemberStep) -> MemberChanges:
        had, held = (before.held if before is not None else set()), step.held
        # Of what a member had that is gone, that is free which no other member has: members of a share group have the same ones.
        others = (each.held for each in self._steps.values()) if step.kind is StepKind.LEFT else ()
        gave_up = (had - held).difference(*others)
        owned, revoking = ({each[:2] for each in part} for part in (step.partitions, step.revoking))
        owned_before = {each[:2] for each in before.partitions} if before is not None else set()
        waits: dict[str, list[Partition]] = {}
        for wait in self._waits.of(step.member_id):
            waits.setdefault(wait.holder, []).append(wait.partition)
        return MemberChanges(
            step.member_id,
            step.member_epoch,
            self._shown(owned - owned_before),
            self._shown(revoking - (had - owned_before)),
            self._shown(gave_up),
            tuple(WaitsFor(holder, self._shown(partitions)) for holder, partitions in sorted(waits.items())),
        )

    def _is_settled(self) -> bool:
        steps = self._steps.values()
        return self._members <= self._steps.keys() and all(
            each.state == STABLE and each.member_epoch == self._epoch for each in steps
        )

    def _shown(self, partitions: Iterable[Partition]) -> tuple[str, ...]:
        named = sorted((shown_topic(topic_id, self._names), partition) for topic_id, partition in partitions)
        return tuple(f"{topic}-{partition}" for topic, partition in named)


def _by_number(name: str) -> tuple[str, int]:
    """Return what sorts names of partitions by their numbers."""
    topic, _, number = name.rpartition("-")
    return (topic, int(number)) if number.isdecimal() else (name, -1)
