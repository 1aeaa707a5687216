"""Groups that change between the protocols, under random requests of members of both, time, failed appends and restarts.
After every step

- the live state is what the log says
- no partition is had by two members, as far as they have been answered
- the generation or epoch has not gone back, as long as the group has members

and in the end, when nothing changes any more, all partitions have one owner. Classic members are eager:
they give everything up before they join.
"""

from __future__ import annotations

import pytest

from protocol.error_codes import ErrorCode
from tests.property.test_consumer_groups import Model, positions
from tests.support.classic_members import ClassicMember, assignment
from tests.support.group import FakeReply
from tests.support.heartbeats import Beats

SEEDS = range(8)
STEPS = 80
PARTITIONS = 6


class EagerClient:
    """A classic consumer: it joins, syncs, sends heartbeats, and begins anew when it is told so. It leads if it is asked to."""

    def __init__(self, beats: Beats, instance_id: str | None) -> None:
        self.member = ClassicMember(beats, instance_id=instance_id)
        self._joining: FakeReply | None = None
        self._syncing: FakeReply | None = None
        self.is_fenced = False

    @property
    def having(self) -> set[tuple[str, int]]:
        return positions(self.member.assigned)

    def begin(self, *, is_unknown: bool = False) -> None:
        """Give everything up, and join at the next turn."""
        self.member.assignment = b""
        self.member.generation = -1
        self._joining = self._syncing = None
        if is_unknown:
            self.member.member_id = ""

    def reconnect(self) -> None:
        if self._joining is not None or self._syncing is not None:
            self.begin()

    def turn(self) -> None:
        """Send the next request, unless one waits for its answer."""
        if self._syncing is not None:
            self._take_sync(self._syncing)
        elif self._joining is not None:
            self._take_join(self._joining)
        elif self.member.generation < 0:
            self._joining = self.member.join()
        else:
            self._take_error(self.member.heartbeat())

    def _take_join(self, reply: FakeReply) -> None:
        if not reply.is_answered:
            return
        self._joining = None
        error = reply.error or ErrorCode(reply.response.error_code)
        if error is not ErrorCode.NONE:
            self._take_error(error)
            return
        shares = []
        roster = reply.response.members
        if roster:
            for number, each in enumerate(roster):
                other = ClassicMember(None)  # type: ignore[arg-type]
                other.member_id = each.member_id
                share = [partition for partition in range(PARTITIONS) if partition % len(roster) == number]
                shares.append((other, assignment({"t": share} if share else {})))
        self._syncing = self.member.sync(*shares)

    def _take_sync(self, reply: FakeReply) -> None:
        if reply.is_answered:
            self._syncing = None
            self._take_error(reply.error or ErrorCode(reply.response.error_code))

    def _take_error(self, error: ErrorCode) -> None:
        match error:
            case ErrorCode.NONE:
                return
            case ErrorCode.FENCED_INSTANCE_ID:
                self.is_fenced = True
            case ErrorCode.UNKNOWN_MEMBER_ID:
                self.begin(is_unknown=True)
            case _:
                self.begin()


class Mixed(Model):
    """Members of both protocols in one group."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.beats.log.topics.extend("t", PARTITIONS)
        self.classic: list[EagerClient] = []
        self._newest = 0

    def step(self) -> None:
        choices = [
            (self.join_native, 2),
            (self.join_classic, 2),
            (self.beat, 8),
            (self.turn, 16),
            (self.leave, 1),
            (self.leave_classic, 1),
            (self.time, 2),
            (self.log, 1),
            (self.log_classic, 1),
        ]
        self.random.choices([each for each, _ in choices], [weight for _, weight in choices])[0]()
        self.classic = [each for each in self.classic if not each.is_fenced]

    def join_native(self) -> None:
        if len(self.members) < 2:
            self.numbers += 1
            member = self.beats.member(f"m{self.numbers}", instance_id=self.random.choice([None, "i", "j"]))
            self.answered(member, member.join())

    def join_classic(self) -> None:
        if len(self.classic) < 3:
            self.classic.append(EagerClient(self.beats, self.random.choice([None, None, "i", "j"])))

    def turn(self) -> None:
        if self.classic:
            self.random.choice(self.classic).turn()

    def leave_classic(self) -> None:
        if self.classic:
            member = self.classic.pop(self.random.randrange(len(self.classic)))
            if member.member.member_id:
                member.member.leave()

    def time(self) -> None:
        super().time()
        self.forget()

    def forget(self) -> None:
        """A client whose session has ended finds out at its next heartbeat; until then it may believe what it likes."""
        present = self.present()
        for each in self.classic:
            if each.member.member_id not in present and each.member.generation >= 0:
                each.begin(is_unknown=True)
        for member in self.members:
            if member.member_id not in present:
                member.epoch, member.assigned = 0, {}
                self.having[member.member_id] = set()

    def present(self) -> set[str]:
        if self.group is not None:
            return set(self.group.members)
        found = self.beats.log.shard.groups.classic.find("g")
        return set() if found is None else set(found.members)

    def log(self) -> None:
        shard = self.beats.log.shard
        super().log()
        if self.beats.log.shard is not shard:
            # Connections broke: who waited for an answer asks again.
            for each in self.classic:
                each.reconnect()

    def log_classic(self) -> None:
        """What a classic member sends is not written."""
        log = self.beats.log
        if not self.classic:
            return
        each = self.random.choice(self.classic)
        log.is_holding = True
        each.turn()
        log.fail()
        log.is_holding = False

    def topics(self) -> None:
        """Topics stay as they are: leaders count on it."""

    def check(self) -> None:
        # A member that another one has replaced, or that was removed by an administrator, has not heard of it yet.
        self.forget()
        super().check()
        group = self.group
        if group is not None:
            assert group.classic_members.value == sum(each.classic_member_metadata is not None for each in group.members.values())
        owners = [position for each in self.classic for position in each.having]
        owners += [position for member in self.members for position in self.having.get(member.member_id, ())]
        assert len(owners) == len(set(owners)), sorted(owners)
        epoch = self.epoch()
        assert not self.present() or epoch >= self._newest
        self._newest = epoch if self.present() else 0

    def epoch(self) -> int:
        if self.group is not None:
            return self.group.group_epoch
        found = self.beats.log.shard.groups.classic.stored.get("g")
        return 0 if found is None else found.value.generation

    def finish(self) -> None:
        """Whoever is away is removed, and the others settle."""
        self.beats.log.advance(60_000)
        self.forget()
        # Nobody was left: a new group may begin.
        self._newest = 0
        self.settle()
        owned = [position for each in self.classic for position in each.having]
        owned += [position for member in self.members for position in positions(member.assigned)]
        if self.classic or self.members:
            assert sorted(owned) == [("t", partition) for partition in range(PARTITIONS)]

    def settle(self) -> None:
        """Everybody is up, and does what it is told."""
        for _ in range(30):
            self.beats.log.advance(500)
            for member in list(self.members):
                self.having[member.member_id] = positions(member.assigned)
                self.answered(member, member.beat(owned=True) if member.epoch > 0 else member.join())
            for each in self.classic:
                for _ in range(3):
                    each.turn()
            self.classic = [each for each in self.classic if not each.is_fenced]
            self.forget()


@pytest.mark.parametrize("seed", SEEDS)
def test_random_members_of_both_protocols(seed: int) -> None:
    model = Mixed(seed)
    for _ in range(STEPS):
        model.step()
        model.check()
    model.finish()
    model.check()
