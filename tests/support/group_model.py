"""A small reference model of one classic group with its offsets, written from the protocol's rules and not from the server's code.

It keeps no log and knows no appends: everything it does is done at once. Each request returns what is answered because of it, to
whomever: a list of tickets with plain tuples. Time passes by ``run_until``. ``reload`` forgets what only the living know, and
goes on from what was written.

    join    (error, generation, protocol, leader, member id, members, is the assignment to be skipped)
    sync    (error, assignment)
    others  (error,)
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any, Final

from msgspec import Struct, field

from coordinator_server.machine.java import hash_map_order
from protocol.error_codes import ErrorCode

EMPTY, PREPARING, COMPLETING, STABLE = "Empty", "PreparingRebalance", "CompletingRebalance", "Stable"
FIRST_JOIN_MS: Final = 300_000
RETENTION_CHECK_MS: Final = 600_000
Protocols = list[tuple[str, bytes]]
Answer = tuple[Any, ...]
Answers = list[tuple[Hashable, Answer]]


class Parked(Struct):
    """A request that waits."""

    ticket: Hashable
    version: int = 0


class Member(Struct):
    """One member, as the group knows it."""

    member_id: str
    instance_id: str | None
    session_ms: int
    rebalance_ms: int
    protocols: Protocols
    assignment: bytes = b""
    is_new: bool = False
    joining: Parked | None = None
    syncing: Parked | None = None


class Join(Struct, frozen=True):
    """A JoinGroup request."""

    ticket: Hashable
    version: int
    client_id: str
    member_id: str
    instance_id: str | None
    session_ms: int
    rebalance_ms: int
    protocols: Protocols


class LastRecord(Struct):
    """The group's last record."""

    generation: int = 0
    protocol: str | None = None
    leader: str | None = None
    has_type: bool = False
    members: list[Member] = field(default_factory=list)


class GroupModel:
    """One group; ``new_id`` gives what the server's source of ids gives. Times are milliseconds."""

    def __init__(self, new_id: Callable[[], str], initial_delay_ms: int) -> None:
        self._new_id = new_id
        self._delay_ms = initial_delay_ms
        self.now_ms = 0
        self.offsets: dict[int, int] = {}
        self.written: LastRecord | None = None
        self._answers: Answers = []
        self._timers: dict[Hashable, tuple[int, int, Callable[[], None]]] = {}
        self._armed = 0
        self._begin()
        self._look_later()

    def _begin(self) -> None:
        self.exists = False
        self.state, self._before = EMPTY, ""
        self.generation, self.protocol, self.leader = 0, None, None  # type: tuple[int, str | None, str | None]
        self.has_type = False
        # What members consume is read when their generation begins, and kept until the next one does.
        self._begun_with_nobody = False
        self.members: dict[str, Member] = {}
        self.pending: set[str] = set()
        self.unsynced: list[str] = []
        self._has_newcomer = False
        self._timers = {key: timer for key, timer in self._timers.items() if key == "expiry"}

    # Requests.

    def join(self, asked: Join) -> Answers:
        is_first = self.written is None and not self.offsets
        if not self._is_there():
            if asked.member_id:
                return [(asked.ticket, _refused(ErrorCode.UNKNOWN_MEMBER_ID, asked.member_id))]
            self.exists = True
        self._join(asked)
        if is_first and self.written is None:
            self.written = LastRecord()
        return self._told()

    def sync(
        self, ticket: Hashable, member_id: str, instance_id: str | None, generation: int, shares: dict[str, bytes]
    ) -> Answers:
        error = ErrorCode.UNKNOWN_MEMBER_ID
        if self._is_there() and self.state != EMPTY:
            error = self._who(member_id, instance_id) or self._when(generation)
            error = error or (ErrorCode.REBALANCE_IN_PROGRESS if self.state == PREPARING else ErrorCode.NONE)
        if error:
            return [(ticket, (error, b""))]
        member = self.members[member_id]
        self._is_heard(member_id)
        if self.state == STABLE:
            return [(ticket, (ErrorCode.NONE, member.assignment))]
        self._end_sync(member, ErrorCode.REBALANCE_IN_PROGRESS)
        member.syncing = Parked(ticket)
        if member_id == self.leader:
            self.state = STABLE
            for each in self.members.values():
                each.assignment = shares.get(each.member_id, b"")
            self._write()
            for each in self.members.values():
                if self._end_sync(each, ErrorCode.NONE):
                    self._refresh(each)
        return self._told()

    def heartbeat(self, ticket: Hashable, member_id: str, instance_id: str | None, generation: int) -> Answers:
        if not self._is_there():
            return [(ticket, (ErrorCode.UNKNOWN_MEMBER_ID,))]
        error = self._who(member_id, instance_id) or self._when(generation)
        if not error:
            self._refresh(self.members[member_id])
            error = ErrorCode.REBALANCE_IN_PROGRESS if self.state == PREPARING else ErrorCode.NONE
        return [(ticket, (error,))]

    def leave(self, ticket: Hashable, member_id: str, instance_id: str | None) -> Answers:
        if not self._is_there():
            return [(ticket, (ErrorCode.UNKNOWN_MEMBER_ID,))]
        if not member_id and instance_id is not None:
            member_id = self._statics().get(instance_id, "")
        error = ErrorCode.NONE if member_id in self.pending else self._who(member_id, instance_id)
        if not error:
            self._remove(member_id)
            self._cancel("session", member_id)
            if self.state in {STABLE, COMPLETING}:
                self._prepare()
            else:
                self._complete_early()
        return [*self._told(), (ticket, (error,))]

    def commit(
        self, ticket: Hashable, member_id: str, instance_id: str | None, generation: int, partition: int, offset: int
    ) -> Answers:
        error = ErrorCode.NONE
        if not self._is_there():
            error = ErrorCode.GROUP_ID_NOT_FOUND if generation >= 0 else ErrorCode.NONE
        elif generation >= 0 or self.state != EMPTY:
            is_nobody = generation < 0 and not member_id and instance_id is None
            error = ErrorCode.UNKNOWN_MEMBER_ID if is_nobody else self._who(member_id, instance_id) or self._when(generation)
            error = error or (ErrorCode.REBALANCE_IN_PROGRESS if self.state == COMPLETING else ErrorCode.NONE)
            if not error:
                self._refresh(self.members[member_id])
        if not error:
            self.offsets[partition] = offset
        return [(ticket, (error,))]

    def delete(self, ticket: Hashable) -> Answers:
        error = ErrorCode.NONE
        if not self._is_there():
            error = ErrorCode.GROUP_ID_NOT_FOUND
        elif self.state != EMPTY:
            error = ErrorCode.NON_EMPTY_GROUP
        else:
            self.offsets.clear()
            self.written = None
            self._begin()
        return [(ticket, (error,))]

    def delete_offset(self, ticket: Hashable, partition: int) -> Answers:
        """The members are consumers that do not say what they consume: they may consume anything."""
        if not self._is_there():
            return [(ticket, (ErrorCode.GROUP_ID_NOT_FOUND,))]
        if self.has_type and not self._begun_with_nobody:
            return [(ticket, (ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,))]
        if self.offsets.pop(partition, None) is not None and not self.offsets and self.written is None:
            self.written = LastRecord()
        return [(ticket, (ErrorCode.NONE,))]

    # Time, and another start.

    def run_until(self, now_ms: int) -> Answers:
        """Let time pass; what is due is done in its order."""
        while self._timers:
            key = min(self._timers, key=lambda each: self._timers[each][:2])
            due_ms, _, action = self._timers[key]
            if due_ms > now_ms:
                break
            del self._timers[key]
            self.now_ms = max(due_ms, self.now_ms)
            action()
        self.now_ms = now_ms
        return self._told()

    def reload(self) -> None:
        """The process ended, and another one has read the log."""
        self._begin()
        self._look_later()
        if self.written is not None and self.written.members:
            self._is_there()

    def _look_later(self) -> None:
        """Now and then a group without members and offsets goes."""

        def look() -> None:
            if self.written is not None and self._is_there() and self.state == EMPTY and not self.offsets:
                self.written = None
                self._begin()
            self._look_later()

        self._arm("expiry", RETENTION_CHECK_MS, look)

    def _is_there(self) -> bool:
        """Whether there is a group; one that only the log knows comes back."""
        if not self.exists and (self.written is not None or self.offsets):
            self.exists = True
            self._restore(copy.deepcopy(self.written or LastRecord()))
        return self.exists

    def _restore(self, written: LastRecord) -> None:
        self.generation, self.protocol, self.leader = written.generation, written.protocol, written.leader
        self.members = {member.member_id: member for member in written.members}
        self.has_type = written.has_type
        self._begun_with_nobody = written.has_type and not self.members
        if self.members:
            self.state = STABLE
        for member in self.members.values():
            self._refresh(member)

    # The rules.

    def _join(self, asked: Join) -> None:
        if not self._fits(asked.protocols):
            self._tell(asked.ticket, _refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, asked.member_id))
        elif not asked.member_id:
            self._join_anew(asked)
        elif asked.member_id in self.pending:
            if asked.instance_id is not None:
                self._tell(asked.ticket, _refused(ErrorCode.UNKNOWN_SERVER_ERROR, ""))
            else:
                self._add(asked, asked.member_id)
        else:
            error = self._who(asked.member_id, asked.instance_id)
            if error:
                self._tell(asked.ticket, _refused(error, asked.member_id))
            else:
                self._join_again(asked, self.members[asked.member_id])

    def _join_anew(self, asked: Join) -> None:
        member_id = f"{asked.client_id if asked.instance_id is None else asked.instance_id}-{self._new_id()}"
        if asked.instance_id is not None and asked.instance_id in self._statics():
            self._replace(asked, self.members[self._statics()[asked.instance_id]], member_id)
        elif asked.instance_id is None and asked.version >= 4:
            self.pending.add(member_id)
            self._arm(("session", member_id), asked.session_ms, lambda: self._expire(member_id))
            self._tell(asked.ticket, _refused(ErrorCode.MEMBER_ID_REQUIRED, member_id))
        else:
            self._add(asked, member_id)

    def _add(self, asked: Join, member_id: str) -> None:
        if self.state == PREPARING and self._before == EMPTY:
            self._has_newcomer = True
        member = Member(member_id, asked.instance_id, asked.session_ms, asked.rebalance_ms, asked.protocols, is_new=True)
        self.pending.discard(member_id)
        self.members[member_id] = member
        self.has_type = True
        self.leader = self.leader or member_id
        member.joining = Parked(asked.ticket, asked.version)
        self._arm(("session", member_id), FIRST_JOIN_MS, lambda: self._expire(member_id))
        self._prepare_or_complete()

    def _join_again(self, asked: Join, member: Member) -> None:
        is_leader = member.member_id == self.leader
        if self.state == PREPARING or member.protocols != asked.protocols or (self.state == STABLE and is_leader):
            self._update(member, asked)
            self._end_join(member, ErrorCode.REBALANCE_IN_PROGRESS)
            member.joining = Parked(asked.ticket, asked.version)
            self._prepare_or_complete()
        else:
            self._tell(asked.ticket, self._generation(member, tells_members=is_leader and self.state == COMPLETING))

    def _replace(self, asked: Join, old: Member, member_id: str) -> None:
        former_leader = self.leader
        if old.joining is not None:
            self._tell(old.joining.ticket, _refused(ErrorCode.FENCED_INSTANCE_ID, old.member_id))
        if old.syncing is not None:
            self._tell(old.syncing.ticket, (ErrorCode.FENCED_INSTANCE_ID, b""))
        member = copy.deepcopy(old)
        member.member_id, member.is_new, member.joining, member.syncing = member_id, False, None, None
        self.members = {each.member_id: each for each in (member if one is old else one for one in self.members.values())}
        self.unsynced = [member_id if each == old.member_id else each for each in self.unsynced]
        if self.leader == old.member_id:
            self.leader = member_id
        self._cancel("session", old.member_id)
        self._refresh(member)
        self._update(member, asked)
        member.joining = Parked(asked.ticket, asked.version)
        if self.state == STABLE and self._choose() == self.protocol:
            self._write()
            member.joining = None
            self._tell(asked.ticket, self._rejoined(member, asked.version, former_leader))
        elif self.state in {STABLE, COMPLETING}:
            self._prepare()
        else:
            self._complete_early()

    def _rejoined(self, member: Member, version: int, former_leader: str | None) -> Answer:
        is_leader = member.member_id == self.leader
        error, generation, protocol, leader, member_id, members, _ = self._generation(member, tells_members=is_leader)
        if version >= 9:
            return error, generation, protocol, leader, member_id, members, is_leader
        return error, generation, protocol, former_leader, member_id, [], False

    def _prepare_or_complete(self) -> None:
        if self.state == PREPARING:
            self._complete_early()
        else:
            self._prepare()

    def _prepare(self) -> None:
        if self.state == COMPLETING:
            for member in self.members.values():
                member.assignment = b""
                if self._end_sync(member, ErrorCode.REBALANCE_IN_PROGRESS):
                    self._refresh(member)
        self.unsynced = []
        self._cancel("sync")
        self._before, self.state = self.state, PREPARING
        if self._before == EMPTY:
            self._delay(self._delay_ms, max(self._longest() - self._delay_ms, 0))
        elif self._has_everybody():
            self._complete()
        else:
            self._arm("join", self._longest(), self._complete)

    def _delay(self, delay_ms: int, left_ms: int) -> None:
        def end() -> None:
            if not self._has_newcomer or left_ms == 0:
                self._complete()
                return
            self._has_newcomer = False
            self._delay(min(self._delay_ms, left_ms), max(left_ms - delay_ms, 0))

        self._arm("join", delay_ms, end)

    def _complete_early(self) -> None:
        if self.state == PREPARING and self._before != EMPTY and self._has_everybody():
            self._complete()

    def _complete(self) -> None:
        self._cancel("join")
        for member in [each for each in self.members.values() if each.joining is None and each.instance_id is None]:
            self._remove(member.member_id)
            self._cancel("session", member.member_id)
        waiting = [member for member in self.members.values() if member.joining is not None]
        if self.members and not waiting:
            self._arm("join", self._longest(), self._complete)
            return
        self.generation += 1
        self.unsynced = []
        self._begun_with_nobody = not self.members
        if not self.members:
            self._before, self.state, self.protocol = self.state, EMPTY, None
            self._write()
            return
        if self.leader not in [member.member_id for member in waiting]:
            self.leader = waiting[0].member_id
        self._before, self.state, self.protocol = self.state, COMPLETING, self._choose()
        for member in self.members.values():
            if member.joining is not None:
                answer = self._generation(member, tells_members=member.member_id == self.leader)
                self._tell(member.joining.ticket, answer)
                member.joining = None
            self._refresh(member)
            member.is_new = False
            self.unsynced.append(member.member_id)
        generation = self.generation
        self._arm("sync", self._longest(), lambda: self._end_of_syncs(generation))

    def _end_of_syncs(self, generation: int) -> None:
        if generation == self.generation and self.state in {COMPLETING, STABLE} and self.unsynced:
            for member_id in list(self.unsynced):
                self._remove(member_id)
                self._cancel("session", member_id)
            self._prepare()

    def _expire(self, member_id: str) -> None:
        member = self.members.get(member_id)
        if member_id in self.pending:
            self._remove(member_id)
            if self.state == PREPARING and self._has_everybody():
                self._complete()
        elif member is not None and (member.is_new or (member.joining is None and member.syncing is None)):
            self._remove(member_id)
            if self.state in {STABLE, COMPLETING}:
                self._prepare()
            elif self.state == PREPARING and self._has_everybody():
                self._complete()

    def _remove(self, member_id: str) -> None:
        self.pending.discard(member_id)
        if member_id in self.unsynced:
            self.unsynced.remove(member_id)
        member = self.members.get(member_id)
        if member is not None:
            if member.joining is not None:
                self._tell(member.joining.ticket, _refused(ErrorCode.UNKNOWN_MEMBER_ID, ""))
            self._end_sync(member, ErrorCode.UNKNOWN_MEMBER_ID)
            del self.members[member_id]
            if self.leader == member_id:
                self.leader = next(iter(self.members), None)

    # What the rules are made of.

    def _who(self, member_id: str, instance_id: str | None) -> ErrorCode:
        if instance_id is not None:
            current = self._statics().get(instance_id)
            if current is not None and current != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
            if current is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def _when(self, generation: int) -> ErrorCode:
        return ErrorCode.NONE if generation == self.generation else ErrorCode.ILLEGAL_GENERATION

    def _statics(self) -> dict[str, str]:
        return {each.instance_id: each.member_id for each in self.members.values() if each.instance_id is not None}

    def _fits(self, protocols: Protocols) -> bool:
        names = {name for name, _ in protocols}
        return self.state == EMPTY or any(
            all(name in [one for one, _ in each.protocols] for each in self.members.values()) for name in names
        )

    def _choose(self) -> str:
        everybody = list(self.members.values())
        common = {name for name, _ in everybody[0].protocols if all(name in dict(each.protocols) for each in everybody)}
        votes = Counter(next(name for name, _ in each.protocols if name in common) for each in everybody)
        return max(hash_map_order(votes), key=votes.__getitem__)

    def _has_everybody(self) -> bool:
        return not self.pending and all(member.joining is not None for member in self.members.values())

    def _longest(self) -> int:
        return max((member.rebalance_ms for member in self.members.values()), default=0)

    def _update(self, member: Member, asked: Join) -> None:
        member.protocols, member.session_ms, member.rebalance_ms = asked.protocols, asked.session_ms, asked.rebalance_ms

    def _is_heard(self, member_id: str) -> None:
        if member_id in self.unsynced:
            self.unsynced.remove(member_id)
        if not self.unsynced:
            self._cancel("sync")

    def _generation(self, member: Member, *, tells_members: bool) -> Answer:
        told = []
        if tells_members:
            told = [
                (each.member_id, each.instance_id, dict(each.protocols)[self.protocol or ""]) for each in self.members.values()
            ]
        return ErrorCode.NONE, self.generation, self.protocol, self.leader or "", member.member_id, told, False

    def _end_join(self, member: Member, error: ErrorCode) -> None:
        if member.joining is not None:
            self._tell(member.joining.ticket, _refused(error, member.member_id))
            member.joining = None

    def _end_sync(self, member: Member, error: ErrorCode) -> bool:
        parked, member.syncing = member.syncing, None
        if parked is not None:
            self._tell(parked.ticket, (error, b"" if error else member.assignment))
        return parked is not None

    def _write(self) -> None:
        members = copy.deepcopy(list(self.members.values()))
        for member in members:
            member.protocols = [(self.protocol or "", dict(member.protocols)[self.protocol or ""])]
            member.joining = member.syncing = None
            member.is_new = False
        self.written = LastRecord(self.generation, self.protocol, self.leader, self.has_type, members)

    def _refresh(self, member: Member) -> None:
        member_id = member.member_id
        self._arm(("session", member_id), member.session_ms, lambda: self._expire(member_id))

    def _arm(self, key: Hashable, delay_ms: int, action: Callable[[], None]) -> None:
        self._armed += 1
        self._timers[key] = (self.now_ms + delay_ms, self._armed, action)

    def _cancel(self, *key: str) -> None:
        self._timers.pop(key[0] if len(key) == 1 else key, None)

    def _tell(self, ticket: Hashable, answer: Answer) -> None:
        self._answers.append((ticket, answer))

    def _told(self) -> Answers:
        told, self._answers = self._answers, []
        return told


def _refused(error: ErrorCode, member_id: str) -> Answer:
    return error, -1, None, "", member_id, [], False
