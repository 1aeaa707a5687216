"""What a task assignor of streams groups gets and returns (Kafka's GroupSpec and GroupAssignment of ``group.streams.assignor``).

A task is a partition of a subtopology. An assignor's result depends on the order of the members, which in Kafka is the iteration
order of a hash table (assign/order.py). Racks, client tags and task offsets are left out: no task assignor of Kafka 4.3.1 reads
them. It assigns no warm-up tasks either.

A child process may run an assignor, so msgspec must be able to encode these types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

Tasks = dict[str, list[int]]
"""The partitions of tasks by subtopology id. Records have both sorted."""


class TaskAssignment(Struct, frozen=True, array_like=True):
    """The tasks of one member (Kafka's TasksTuple)."""

    active: Tasks = {}
    standby: Tasks = {}
    warmup: Tasks = {}


NO_TASKS: Final = TaskAssignment()
"""The target of a member without one."""


class TaskMember(Struct):
    """A member of the group that the target is computed for."""

    member_id: str
    process_id: str
    target: TaskAssignment
    """Its current target."""
    has_target: bool = True
    """Whether it has a target. If not, it gets a record even if the new target is equal."""


class SubtopologyTasks(Struct, frozen=True, gc=False):
    """A subtopology, as an assignor sees it (Kafka's TopologyDescriber)."""

    subtopology_id: str
    tasks: int
    """The number of its tasks: the largest number of partitions of its source topics."""
    is_stateful: bool
    """Whether it has changelog topics, so that its tasks can have standby replicas."""


class TaskGroup(Struct):
    """A group, as an assignor sees it."""

    members: list[TaskMember]
    """In the order in which Kafka's coordinator iterates over them."""
    subtopologies: list[SubtopologyTasks]
    """Sorted by id, as Java compares strings."""
    num_standby_replicas: int


TaskAssignor = Callable[[TaskGroup], dict[str, TaskAssignment]]
"""Returns the new target of every member, with sorted tasks and no empty lists. It does not change the group.

Raises CannotAssign (assign/spec.py).
"""
