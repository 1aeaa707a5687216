"""What a member knows of itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final


@dataclass(frozen=True)
class Generation:
    """One round of a group: its number, this member's id in it, and the protocol that the group chose."""

    generation_id: int
    member_id: str
    protocol_name: str | None

    @property
    def has_member_id(self) -> bool:
        """Return whether the coordinator has given an id to this member. It may have one before it is in a generation."""
        return bool(self.member_id)

    @property
    def is_reset(self) -> bool:
        """Return whether this is no generation of the group. The member id may still be valid."""
        return self.generation_id == NO_GENERATION.generation_id and self.protocol_name is None


NO_GENERATION: Final = Generation(-1, "", None)


@dataclass(frozen=True)
class GroupMember:
    """A member as the leader sees it. ``metadata`` is what it sent for the protocol that the group chose."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


class MemberState(Enum):
    """How far this member has come. The names are Kafka's."""

    UNJOINED = "unjoined"
    """Not in the group."""
    PREPARING_REBALANCE = "preparing rebalance"
    """JoinGroup is sent and not answered."""
    COMPLETING_REBALANCE = "completing rebalance"
    """JoinGroup is answered, SyncGroup is not."""
    STABLE = "stable"
    """In a generation, with an assignment."""

    @property
    def is_joined(self) -> bool:
        return self in {MemberState.COMPLETING_REBALANCE, MemberState.STABLE}
