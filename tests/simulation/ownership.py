"""Who owns which partition, and who may commit, as far as the members of groups have been answered.

A member owns what an answer has given it, until it gives it up itself. Its answers are *in force* as long as the server cannot have
removed it: for a session after the last request that was answered without an error was sent, less if it has to give something up
within its rebalance timeout. At no moment two members whose answers are in force own the same partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from protocol.error_codes import ErrorCode
from tests.simulation.world import MS

Position = tuple[bytes, int]
"""A partition by the id of its topic."""

FOREVER: Final = 1 << 62
# After these a commit has not been written, and never will be.
REFUSALS: Final = {
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.STALE_MEMBER_EPOCH,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}


class Life:
    """One member, from its start to its end."""

    def __init__(self, name: str, group_id: str, instance_id: str | None, session_ms: int, rebalance_ms: int) -> None:
        self.name = name
        self.group_id = group_id
        self.instance_id = instance_id
        self.session_ms = session_ms
        self.rebalance_ms = rebalance_ms
        self.owned: frozenset[Position] = frozenset()
        self.in_force_until_us = 0
        # By then it has to have given up what it was told to.
        self.revoke_by_us = FOREVER
        # When the last request was sent that was answered without an error.
        self.confirmed_us = 0
        # Somebody else may have removed it: what was sent before that moment confirms nothing.
        self.doubted_until_us = 0
        # Two clients claim its instance id.
        self.is_contested = False

    def __repr__(self) -> str:
        return self.name


class Ledger:
    """The lives of all groups. ``wrong`` is what never should be."""

    def __init__(self, now_us: Callable[[], int]) -> None:
        self.wrong: list[str] = []
        self.lives: dict[str, list[Life]] = {}
        # Of how many things the rules were about: a play in which nothing happens proves nothing.
        self.acquired = self.commits = self.reads = 0
        self._now_us = now_us

    def begin(self, life: Life) -> None:
        """A member starts."""
        of_group = self.lives.setdefault(life.group_id, [])
        for other in of_group:
            if life.instance_id is not None and other.instance_id == life.instance_id:
                other.is_contested = life.is_contested = True
        of_group.append(life)

    def end(self, life: Life) -> None:
        """A member does nothing more."""
        life.owned = frozenset()
        if life in self.lives.get(life.group_id, ()):
            self.lives[life.group_id].remove(life)

    def confirm(self, life: Life, sent_us: int) -> None:
        """A request that was sent at that time has been answered without an error."""
        if sent_us < life.doubted_until_us:
            return
        life.confirmed_us = sent_us
        until_us = sent_us + min(life.session_ms, life.rebalance_ms) * MS
        life.in_force_until_us = min(until_us, life.revoke_by_us)
        self._check(life)

    def must_revoke(self, life: Life) -> None:
        """The answer takes something away. The server's time for that may run since the last answer that has arrived."""
        life.revoke_by_us = min(life.revoke_by_us, life.confirmed_us + life.rebalance_ms * MS)

    def has_revoked(self, life: Life) -> None:
        """The server knows that nothing is left to give up."""
        life.revoke_by_us = FOREVER

    def doubt(self, life: Life) -> None:
        """Somebody is about to remove a member."""
        life.doubted_until_us, life.in_force_until_us = FOREVER, 0

    def own(self, life: Life, positions: Iterable[Position]) -> None:
        """From now on the member owns these, and no others."""
        before, life.owned = life.owned, frozenset(positions)
        self.acquired += len(life.owned - before)
        self._check(life)

    def resume(self, life: Life) -> None:
        """The server, which could not be asked for a while, gives a member its whole time again, unless it has been put out."""
        if life in self.lives.get(life.group_id, ()) and life.in_force_until_us:
            self.confirm(life, self._now_us())

    def is_in_force(self, life: Life) -> bool:
        """Return whether the server cannot have taken anything from the member."""
        return life.in_force_until_us > self._now_us() and not life.is_contested

    def removed(self, life: Life, what: str) -> None:
        """A member is answered that it is none."""
        if self.is_in_force(life):
            self.wrong.append(f"{life} was put out of {life.group_id} in time: {what}")
        life.in_force_until_us = 0
        life.revoke_by_us = FOREVER

    def _check(self, life: Life) -> None:
        if not self.is_in_force(life):
            return
        for other in self.lives.get(life.group_id, ()):
            if other is not life and self.is_in_force(other) and not life.owned.isdisjoint(other.owned):
                both = sorted((topic_id.hex(), partition) for topic_id, partition in life.owned & other.owned)
                self.wrong.append(f"{life} and {other} both own {both} of {life.group_id}")


class Commits:
    """The offsets of one partition in one group that were sent. None is sent twice, and each is greater than those before."""

    def __init__(self) -> None:
        self.highest_acknowledged = -1
        # Somebody may have deleted the group, and all offsets with it.
        self.may_be_deleted = False
        self._acknowledged: set[int] = set()
        self._refused: set[int] = set()
        self._in_doubt: set[int] = set()

    def sent(self, offset: int) -> None:
        """An offset is on its way."""
        self._in_doubt.add(offset)

    def answered(self, offset: int, error: ErrorCode) -> None:
        """It was written, or it was not, or nobody knows."""
        if error is ErrorCode.NONE:
            self._in_doubt.discard(offset)
            self._acknowledged.add(offset)
            self.highest_acknowledged = max(self.highest_acknowledged, offset)
        elif error in REFUSALS:
            self._in_doubt.discard(offset)
            self._refused.add(offset)

    def wrong_with(self, offset: int, highest_before: int) -> str:
        """Return what is wrong with an offset that was read. ``highest_before`` had been acknowledged when it was asked for."""
        if offset in self._in_doubt:
            return ""
        if offset in self._refused:
            return f"{offset} was refused, and is there"
        if offset >= 0 and offset not in self._acknowledged:
            return f"{offset} is there, and nobody has sent it"
        if offset < highest_before and not self.may_be_deleted:
            return f"{offset} is there, and {highest_before} had been acknowledged"
        return ""
