"""The events of a consumer group (KIP-848) from its records: epochs, and what each member gives up, gets and waits for.

A rebalance of such a group is a sequence of steps, one member at a time. It is over when every member has the target of the group's
epoch, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from coordinator_server.pipeline.input.topic_names import TopicNames
from coordinator_server.pipeline.states.member_steps import STABLE, MemberStep, StepKind, Waits, member_step
from protocol.fields import Message, uuid_text
from protocol.messages.consumer_group_records import (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)

EPOCH: Final = "epoch"
TARGET: Final = "target"
STEP: Final = "step"
LEFT: Final = "left"
SETTLED: Final = "settled"
DELETED: Final = "deleted"

Partition = tuple[bytes, int]


class WaitsFor(Struct, frozen=True):
    """The partitions that a member waits for until another one has given them up."""

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
    """

    what: str
    epoch: int | None = None
    members: int | None = None
    member: MemberChanges | None = None
    after_ms: int | None = None


class ConsumerEvents:
    """Follows one group."""

    def __init__(self, names: TopicNames) -> None:
        self._names = names
        self._members: set[str] = set()
        self._steps: dict[str, MemberStep] = {}
        self._waits = Waits()
        self._epoch = 0
        self._epoch_ms = 0
        # Since when the group has not been settled; None if it is, or if it has no members.
        self._since_ms: int | None = None

    def add(self, key: Message, value: Message | None, offset: int, at_ms: int) -> Iterator[ConsumerEvent]:
        """Take the group's next record, and return its events."""
        match key, value:
            case ConsumerGroupMetadataKey(), ConsumerGroupMetadataValue(epoch=epoch):
                self._epoch, self._epoch_ms = epoch, at_ms
                if self._members:
                    self._since_ms = at_ms if self._since_ms is None else self._since_ms
                else:
                    self._since_ms = None
                yield ConsumerEvent(EPOCH, epoch, len(self._members))
            case ConsumerGroupMetadataKey(), None:
                self._since_ms = None
                yield ConsumerEvent(DELETED)
            case ConsumerGroupTargetAssignmentMetadataKey(), ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=epoch):
                if at_ms != self._epoch_ms:
                    yield ConsumerEvent(TARGET, epoch, len(self._members), after_ms=at_ms - self._epoch_ms)
            case ConsumerGroupMemberMetadataKey(member_id=member_id), _:
                (self._members.discard if value is None else self._members.add)(member_id)
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

    def _changes(self, before: MemberStep | None, step: MemberStep) -> MemberChanges:
        had, held = (before.held if before is not None else set()), step.held
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
            self._shown(had - held),
            tuple(WaitsFor(holder, self._shown(partitions)) for holder, partitions in sorted(waits.items())),
        )

    def _is_settled(self) -> bool:
        steps = self._steps.values()
        return self._members <= self._steps.keys() and all(
            each.state == STABLE and each.member_epoch == self._epoch for each in steps
        )

    def _shown(self, partitions: Iterable[Partition]) -> tuple[str, ...]:
        named = sorted((self._names.get(topic_id) or uuid_text(topic_id), partition) for topic_id, partition in partitions)
        return tuple(f"{topic}-{partition}" for topic, partition in named)
