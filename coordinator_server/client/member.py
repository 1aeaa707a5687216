"""This member's state: how far it has come, its generation, and whether it must rejoin. No I/O.

UNJOINED ──JoinGroup sent──► PREPARING_REBALANCE ──answered──► COMPLETING_REBALANCE ──SyncGroup answered──► STABLE
    ▲                                                                                                         │
    └──── reset: fenced, session expired, left ◄── all states                rejoin: JoinGroup sent again ◄───┘
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from coordinator_server.client.errors import MembershipLost
from coordinator_server.client.generation import NO_GENERATION, Generation, MemberState

_log = logging.getLogger(__name__)

MAX_REASON_LENGTH: Final = 255


class Member:
    """The state of a member, shared by the owner's calls and the heartbeats. ``changed`` is set whenever the owner has to act."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.state = MemberState.UNJOINED
        self.generation = NO_GENERATION
        self.is_leader = False
        self.is_rejoin_needed = True
        self.rejoin_reason = ""
        self.needs_prepare = True
        """Whether ``on_join_prepare`` is due before the next JoinGroup."""
        self.assigned: Generation | None = None
        """The generation whose assignment the owner was given."""
        self.loss: MembershipLost | None = None
        """Why ``assigned`` is no longer valid, until the owner has been notified."""
        self.changed = asyncio.Event()
        self.joined = asyncio.Event()
        """Set while there is a generation to send heartbeats in."""
        self._requests = 0

    def request_rejoin(self, reason: str) -> None:
        """Rejoin at the owner's next call."""
        _log.info("group %s: will rejoin: %s", self.group_id, reason)
        self.rejoin_reason = reason
        self.is_rejoin_needed = True
        self._requests += 1
        self.changed.set()

    def begin_join(self) -> int:
        """Note that JoinGroup is sent. Return a mark for ``complete_sync``."""
        self.state = MemberState.PREPARING_REBALANCE
        self.joined.clear()
        return self._requests

    def complete_join(self, generation: Generation, *, is_leader: bool) -> None:
        """Note that JoinGroup is answered: heartbeats are due from now on."""
        self.state = MemberState.COMPLETING_REBALANCE
        self.generation = generation
        self.is_leader = is_leader
        self.joined.set()
        _log.info("group %s: joined generation %s as %s", self.group_id, generation.generation_id, generation.member_id)

    def complete_sync(self, mark: int) -> None:
        """Note that there is an assignment. A rejoin that was requested after ``mark`` stays requested."""
        self.state = MemberState.STABLE
        if self._requests == mark:
            self.is_rejoin_needed = False
            self.rejoin_reason = ""
            self.changed.clear()

    def require_member_id(self, member_id: str) -> None:
        """Take an id from the coordinator, to join with it (KIP-394)."""
        self.generation = Generation(NO_GENERATION.generation_id, member_id, None)
        self.request_rejoin("need to re-join with the given member-id")

    def reset(self, loss: MembershipLost, *, keep_member_id: bool = False) -> None:
        """Leave the generation, and rejoin. The id is kept if the coordinator may still know it."""
        _log.info("group %s: generation %s is over: %s", self.group_id, self.generation.generation_id, loss)
        self.state = MemberState.UNJOINED
        self.joined.clear()
        self.is_leader = False
        member_id = self.generation.member_id if keep_member_id else NO_GENERATION.member_id
        self.generation = Generation(NO_GENERATION.generation_id, member_id, None)
        if self.assigned is not None and self.loss is None:
            self.loss = loss
        self.needs_prepare = True
        self.request_rejoin(str(loss))

    def leave(self) -> Generation | None:
        """Be no member any more, and have nothing to lose. Return the generation that ends, if there is one."""
        left = self.generation if self.state is not MemberState.UNJOINED and self.generation.has_member_id else None
        self.state, self.generation, self.is_leader = MemberState.UNJOINED, NO_GENERATION, False
        self.joined.clear()
        self.assigned = self.loss = None
        return left

    def take_loss(self) -> tuple[Generation, MembershipLost] | None:
        """Return what the owner has lost and why, once."""
        if self.loss is None or self.assigned is None:
            return None
        taken = self.assigned, self.loss
        self.assigned = self.loss = None
        return taken


def short_reason(reason: str) -> str:
    """Return the reason as the coordinator takes it (KIP-800)."""
    return reason[:MAX_REASON_LENGTH]
