"""One member of a streams group: the values of its two records, and its tasks (Kafka's ``StreamsGroupMember``).

A value: a change makes a new one. A member exists while one of its records does; the other then has the defaults that Kafka uses.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Final

from msgspec import Struct, field

from coordinator_server.group.assign.tasks import Tasks
from coordinator_server.group.streams.reconciliation import (
    NO_MEMBER_TASKS,
    HeldTasks,
    MemberState,
    MemberTasks,
    TaskEpochs,
)
from coordinator_server.machine.java import text_order
from protocol.messages.streams_group_records import (
    StreamsGroupCurrentMemberAssignmentTaskIds,
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupMemberMetadataValue,
)

LEAVE_GROUP_EPOCH: Final = -1
LEAVE_GROUP_STATIC_EPOCH: Final = -2
NOT_GIVEN: Final = -1
"""The rebalance timeout and the topology epoch of a member that has not sent them."""

NO_METADATA: Final = StreamsGroupMemberMetadataValue(instance_id=None, rack_id=None, topology_epoch=NOT_GIVEN)
NO_ASSIGNMENT: Final = StreamsGroupCurrentMemberAssignmentValue(state=MemberState.STABLE)
_STATES: Final = {state.value: state for state in MemberState}


class StreamsGroupMember(Struct, frozen=True):
    """One member. The fields of ``metadata`` and ``current`` are those of the records; ``tasks`` is what ``current`` says."""

    is_classic: ClassVar[bool] = False
    member_id: str
    metadata: StreamsGroupMemberMetadataValue = field(default_factory=lambda: NO_METADATA)
    current: StreamsGroupCurrentMemberAssignmentValue = field(default_factory=lambda: NO_ASSIGNMENT)
    tasks: MemberTasks = NO_MEMBER_TASKS

    @property
    def member_epoch(self) -> int:
        return self.current.member_epoch

    @property
    def process_id(self) -> str | None:
        """The process of the member; None while its metadata is not known."""
        return None if self.metadata is NO_METADATA else self.metadata.process_id

    @property
    def is_in_log(self) -> bool:
        """Whether the member has a record."""
        return self.metadata is not NO_METADATA or self.current is not NO_ASSIGNMENT

    @property
    def is_revoking(self) -> bool:
        """Whether the member has tasks to give up."""
        return self.tasks.state is MemberState.UNREVOKED_TASKS

    @property
    def stable_epoch(self) -> int | None:
        """The epoch to which the member has reconciled; None while it has not."""
        return self.tasks.member_epoch if self.tasks.state is MemberState.STABLE else None

    def with_metadata(self, metadata: StreamsGroupMemberMetadataValue) -> StreamsGroupMember:
        return StreamsGroupMember(self.member_id, metadata, self.current, self.tasks)

    def with_current(self, current: StreamsGroupCurrentMemberAssignmentValue) -> StreamsGroupMember:
        """Return the member with this record of its assignment."""
        return StreamsGroupMember(self.member_id, self.metadata, current, _read(current))

    def with_tasks(self, tasks: MemberTasks) -> StreamsGroupMember:
        """Return the member with these tasks, and the record of them."""
        assigned, pending = tasks.assigned, tasks.pending_revocation
        current = StreamsGroupCurrentMemberAssignmentValue(
            tasks.member_epoch, tasks.previous_member_epoch, tasks.state.value, *_listed(assigned), *_listed(pending)
        )
        return StreamsGroupMember(self.member_id, self.metadata, current, tasks)


def read_tasks(listed: Iterable[Any]) -> Tasks:
    """Return the tasks of a list in a record or a request, sorted. Of a subtopology that is named twice, the last list counts."""
    found = {each.subtopology_id: sorted(set(each.partitions)) for each in listed}
    return {each: found[each] for each in sorted(found, key=text_order)}


def _read(current: StreamsGroupCurrentMemberAssignmentValue) -> MemberTasks:
    epoch = current.member_epoch
    assigned = HeldTasks(
        _read_epochs(current.active_tasks, epoch), read_tasks(current.standby_tasks), read_tasks(current.warmup_tasks)
    )
    pending = HeldTasks(
        _read_epochs(current.active_tasks_pending_revocation, epoch),
        read_tasks(current.standby_tasks_pending_revocation),
        read_tasks(current.warmup_tasks_pending_revocation),
    )
    state = _STATES.get(current.state, MemberState.UNKNOWN)
    return MemberTasks(state, epoch, current.previous_member_epoch, assigned, pending)


def _read_epochs(listed: Iterable[StreamsGroupCurrentMemberAssignmentTaskIds], default_epoch: int) -> TaskEpochs:
    """Return the assignment epochs of active tasks. Those of records without epochs are the member's."""
    found: TaskEpochs = {}
    for each in sorted(listed, key=lambda each: text_order(each.subtopology_id)):
        epochs = each.assignment_epochs
        if epochs is None or len(epochs) != len(each.partitions):
            epochs = [default_epoch] * len(each.partitions)
        found[each.subtopology_id] = dict(sorted(zip(each.partitions, epochs, strict=True)))
    return found


def _listed(tasks: HeldTasks) -> tuple[list[StreamsGroupCurrentMemberAssignmentTaskIds], ...]:
    """Return the tasks as in a record: active, standby and warm-up tasks."""
    active = [
        StreamsGroupCurrentMemberAssignmentTaskIds(subtopology_id, list(epochs), list(epochs.values()))
        for subtopology_id, epochs in tasks.active.items()
    ]
    others = (
        [StreamsGroupCurrentMemberAssignmentTaskIds(*each) for each in kind.items()] for kind in (tasks.standby, tasks.warmup)
    )
    return active, *others
