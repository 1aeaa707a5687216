"""The uniform assignor: members get equally many partitions, and keep what they have (Kafka's UniformAssignor)."""

from __future__ import annotations

from coordinator_server.group.assign.heterogeneous import Balancer
from coordinator_server.group.assign.homogeneous import assign_alike
from coordinator_server.group.assign.spec import GroupSpec, Partitions


def assign_uniformly(group: GroupSpec) -> dict[str, Partitions]:
    """Return the target of every member. Raises CannotAssign."""
    if not group.members:
        return {}
    return assign_alike(group) if group.is_homogeneous else Balancer(group).assign()
