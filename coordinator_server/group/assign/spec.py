"""What an assignor gets and what it returns (Kafka's GroupSpec, SubscribedTopicDescriber and GroupAssignment).

An assignor's result depends on the order of the members and of their topics, which in Kafka is the iteration order of hash
tables (assign/order.py). Racks are left out: no assignor of Kafka 4.3.1 reads them.

A child process may run an assignor, so msgspec must be able to encode these types.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

Partitions = dict[bytes, list[int]]
"""The partitions of one member by topic id (16 bytes), both in the order of the record that holds them."""


class Subscription(Struct, frozen=True, gc=False):
    """The topics that some members subscribe to."""

    topic_ids: tuple[bytes, ...]
    """The topics that exist, in the order in which Kafka's set of names yields them."""
    name_count: int
    """The number of distinct names, with those of topics that do not exist. Kafka sizes a hash table with it."""


class Member(Struct, gc=False):
    """A member of the group that the target is computed for."""

    member_id: str
    instance_id: str | None
    subscription: int
    """Its place in the group's ``subscriptions``."""
    target: Partitions
    """Its current target assignment. That of a static member is its predecessor's, if it replaces one."""
    has_target: bool = True
    """Whether the current target is its own. If not, it gets a record even if the new target is equal."""


class GroupSpec(Struct, gc=False):
    """A group, as an assignor sees it."""

    members: list[Member]
    """In the order in which Kafka's coordinator iterates over them."""
    subscriptions: list[Subscription]
    is_homogeneous: bool
    """Whether all members subscribe to the same topics, as the group counts it."""
    partition_counts: dict[bytes, int]
    """The number of partitions of each topic that a member subscribes to."""
    assignable: dict[bytes, list[int]] | None = None
    """The partitions that may be assigned; None for all. The assignors of consumer groups do not read it."""


Assignor = Callable[[GroupSpec], dict[str, Partitions]]
"""Returns the new target of every member. A member that is missing from the result gets nothing.

It neither changes the group nor returns targets that the group shares, except those that it leaves as they are.
Raises CannotAssign.
"""


class CannotAssign(Exception):
    """No target can be computed (Kafka's PartitionAssignorException). The message is part of the answer to the member."""
