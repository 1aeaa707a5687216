"""A member of a group of one of the newer protocols, as clients are: heartbeats, and what a client makes of their answers.

A heartbeat says only what is new, and everything after an answer that did not come, or an error. ``native_member.py``,
``share_member.py`` and ``streams_member.py`` say what there is to say, and what an answer gives. A ``ReconcilingMember`` goes from
one assignment to the next: a new one takes the client a while. Then it has given up what it is to give up, before it says so, and
has what it gets.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Final, Generic, TypeVar

from protocol.error_codes import ErrorCode
from protocol.fields import Message
from tests.simulation.group_member import RETRY_MS, GroupMember, Identity, Subscription
from tests.simulation.ownership import Position
from tests.simulation.world import MS

T = TypeVar("T")

JOIN: Final = 0
LEAVE: Final = -1
_REMOVED: Final = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.GROUP_ID_NOT_FOUND}


class HeartbeatMember(GroupMember):
    """One life of a client that sends heartbeats of one type, in one version."""

    response: ClassVar[type[Message]]
    version = 1
    # Whether members commit offsets.
    has_commits = True

    # Whether the last answer came, and was good: what it knows is the newest then.
    _is_sure = False
    # A request without an answer may have run after the last one that was answered: it moved the member to an epoch of which nobody
    # has heard. So it could, if a server had it still when the answered one was sent.
    _may_be_moved = False
    _is_full = True
    _interval_ms = 500
    # Of heartbeats without an answer. One may arrive after what was said later, on another connection.
    _unanswered: frozenset[Subscription] = frozenset()

    def thaw(self) -> None:
        """Go on at the next moment. Say all once more if something else, which has no answer, may have come last."""
        super().thaw()
        if not self._unanswered <= {self.subscription}:
            self._is_full = True

    @abstractmethod
    def _bare(self, epoch: int) -> Any:
        """Return a heartbeat that says nothing but that the member is there, with this epoch."""

    @abstractmethod
    def _request(self) -> Any:
        """Return the next heartbeat."""

    @abstractmethod
    def _took(self, request: Any, answer: Any) -> None:
        """Take what a good answer gives."""

    @abstractmethod
    def _forget(self) -> None:
        """Forget what it was given: it is no member any more."""

    async def _reconcile(self) -> None:
        """Come to have what the last answer has given, if that takes a while."""

    async def _after_answer(self) -> int:
        """Do what a member does between heartbeats. Return in how many milliseconds the next one is due."""
        return self._interval_ms

    async def _live(self) -> None:
        self._new_id()
        while self.is_alive:
            await self._sleep(await self._beat())

    def _new_id(self) -> None:
        self.member_id = f"id-{self.name}-{self.rng.getrandbits(32):x}"

    def _is_to_say_all(self) -> bool:
        """Return whether the next heartbeat says everything. A client may do so at any time."""
        return self._is_full or self.epoch == JOIN or self.rng.random() < 0.05

    def _leave_epoch(self) -> int:
        """Return the epoch that says that the member leaves."""
        return LEAVE

    async def _beat(self) -> int:
        """Send a heartbeat. Return in how many milliseconds the next one is due."""
        await self._reconcile()
        request, sent_us, may_be_moved = self._request(), self.surroundings.world.now_us, self.client.may_be_heard_late
        answer: Any = await self._ask(request, self.version, self.response)
        if answer is None or answer.error_code != ErrorCode.NONE:
            was_sure, self._is_sure, self._is_full = self._is_sure, False, True
            if answer is None:
                self._unanswered |= {self.subscription}
            else:
                await self._refused(ErrorCode(answer.error_code), was_sure=was_sure)
            return self.rng.randint(20, RETRY_MS)
        if request.member_epoch > 0 and answer.member_epoch < self.epoch:
            self._complain(f"was in epoch {self.epoch}, and is in {answer.member_epoch}")
        self.member_id, self.epoch = answer.member_id or self.member_id, answer.member_epoch
        self.beats += 1
        self._is_sure, self._is_full, self.is_refused = True, False, False
        self._may_be_moved = may_be_moved
        self._interval_ms = answer.heartbeat_interval_ms
        self._took(request, answer)
        self.surroundings.ledger.confirm(self.life, sent_us)
        return await self._after_answer()

    async def _refused(self, error: ErrorCode, *, was_sure: bool) -> None:
        if error in _REMOVED:
            if self.epoch == JOIN:
                self.is_refused = error is ErrorCode.GROUP_ID_NOT_FOUND
                return
            # A member that has lost an answer may be in an epoch that it has not heard of: it is fenced then, and still a member.
            if error is ErrorCode.FENCED_MEMBER_EPOCH and (self._may_be_moved or not was_sure):
                self.life.in_force_until_us = 0
            self._lose_membership(error)
            self._forget()
            if error is ErrorCode.UNKNOWN_MEMBER_ID:
                if self.has_commits and self.rng.random() < 0.3:
                    await self._commit_once_more()
                if self.rng.random() < 0.5:
                    self.surroundings.gone.append(Identity(self.group_id, self.member_id, self.epoch))
                    self._new_id()
            self.epoch = JOIN
        elif error is ErrorCode.FENCED_INSTANCE_ID:
            self._end()
            self.client.close()
        elif error in (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.INVALID_REQUEST):
            self._complain(f"sent what it may not: {error.name}")

    async def _say_goodbye(self) -> None:
        if self.epoch == JOIN:
            return
        epoch = self._leave_epoch()
        answer: Any = await self.client.ask(self._bare(epoch), self.version, self.response)
        if answer is not None and answer.error_code == ErrorCode.NONE and epoch == LEAVE:
            self.surroundings.gone.append(Identity(self.group_id, self.member_id, self.epoch))


class ReconcilingMember(HeartbeatMember, Generic[T]):
    """One whose assignment takes a while, of partitions or tasks. ``held`` is what it has."""

    never = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.STALE_MEMBER_EPOCH})
    held: frozenset[T] = frozenset()

    # The answer that it is on its way to; None when there was none since it joined.
    _target: frozenset[T] | None = None
    _reconcile_us = 0
    _has_told: frozenset[T] | None = None

    @property
    def is_settled(self) -> bool:
        return self.is_alive and self.epoch > 0 and self._target == self.held and self._is_sure

    @abstractmethod
    def _owned(self, held: frozenset[T]) -> Iterable[Position]:
        """Return what nobody else may have at the same time, as positions."""

    def _is_to_tell(self, *, is_full: bool) -> bool:
        """Return whether the next heartbeat says what the member has."""
        return is_full or (self.held != self._has_told and self._target == self.held)

    def _has_been_told(self) -> None:
        """The server knows what the member has."""
        self._has_told = self.held
        if self._target == self.held:
            self.surroundings.ledger.has_revoked(self.life)

    def _was_given(self, target: frozenset[T]) -> None:
        # What it was given and has not begun with has to be given up, too.
        has = self.held | (self._target or frozenset())
        self._target = target
        # Each assignment is acknowledged, also one that is what the member has.
        self._has_told = None
        most_us = 100 * MS if self.surroundings.is_calm else 700 * MS
        self._reconcile_us = self.surroundings.world.now_us + self.surroundings.world.between(0, most_us)
        if not has <= target:
            self.surroundings.ledger.must_revoke(self.life)

    async def _after_answer(self) -> int:
        if not self.surroundings.is_calm or self.rng.random() < 0.2:
            await self._work()
        if self._target is not None and self._target != self.held:
            return min(self._interval_ms, max(self._reconcile_us - self.surroundings.world.now_us, 0) // MS)
        return self._interval_ms

    async def _reconcile(self) -> None:
        """Have what the last answer has given, and nothing else."""
        if not self._is_sure or self._target is None or self._target == self.held:
            return
        if self.surroundings.world.now_us < self._reconcile_us:
            return
        if self.rng.random() < 0.5:
            # As with automatic commits.
            await self._commit()
        self.held = self._target
        self.surroundings.ledger.own(self.life, self._owned(self.held))

    def _forget(self) -> None:
        self.held = frozenset()
        self._target = self._has_told = None
