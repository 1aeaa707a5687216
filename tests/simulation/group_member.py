"""What members of both protocols have in common in a play of groups: a connection, a life in the ledger, commits and reads.

``native_member.py`` and ``classic_member.py`` have the rest. Each is a script:
it does one thing at a time, and what it knows, it knows from answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from random import Random
from typing import Final, NamedTuple, TypeVar

from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from tests.simulation.client import Client, Script
from tests.simulation.history import Op
from tests.simulation.ownership import Commits, Ledger, Life, Position
from tests.simulation.world import MS, World

M = TypeVar("M", bound=Message)

COMMIT_VERSION: Final = 9
FETCH_VERSION: Final = 9
RETRY_MS: Final = 200
# The client waits no longer for an answer that is not parked.
PATIENCE_MS: Final = 3000


class Subscription(NamedTuple):
    """What a member of the consumer protocol wants: names, a regular expression, or both."""

    names: tuple[str, ...]
    regex: str = ""


class Identity(NamedTuple):
    """A member that is none any more, and the epoch that it had."""

    group_id: str
    member_id: str
    epoch: int


class Surroundings:
    """What all members of a play share. ``lasting`` are the topics that are never deleted, by name."""

    def __init__(self, world: World, client: Callable[[str, str, Callable[[Op], None]], Client]) -> None:
        self.world = world
        self.ledger = Ledger(lambda: world.now_us)
        self.client = client
        self.is_calm = False
        self.lasting: Mapping[str, bytes] = {}
        # The partitions of lasting topics, as clients know them.
        self.counts: Callable[[], Mapping[str, int]] = dict
        self.commits: dict[tuple[str, Position], Commits] = {}
        self.gone: list[Identity] = []
        self._offset = self._members = 0

    def next_offset(self) -> int:
        self._offset += 1
        return self._offset

    def next_name(self, kind: str) -> str:
        self._members += 1
        return f"{kind}{self._members}"

    def commits_of(self, group_id: str, position: Position) -> Commits:
        return self.commits.setdefault((group_id, position), Commits())


class GroupMember(ABC):
    """One life of one client."""

    kind = ""
    # Whether it divides the topics of its group.
    is_leader = False
    # Errors of a commit that a member whose answers are in force never gets for what it owns.
    never: Collection[ErrorCode] = ()
    # Whether it leaves in order to be started again.
    is_coming_back = False

    def __init__(
        self,
        surroundings: Surroundings,
        group_id: str,
        instance_id: str | None,
        subscription: Subscription,
        timeouts: tuple[int, int],
    ) -> None:
        """``timeouts``: of the session and of a rebalance, in milliseconds."""
        self.surroundings = surroundings
        self.group_id = group_id
        self.instance_id = instance_id
        self.subscription = subscription
        self.name = surroundings.next_name(self.kind)
        self.life = Life(self.name, group_id, instance_id, *timeouts)
        self.member_id = ""
        self.epoch = 0
        self.is_alive = False
        # The answer to the last request to join: the group is not to have such members.
        self.is_refused = False
        # Heartbeats and joins that were answered without an error since the last change of the group.
        self.beats = 0
        self.rng = Random(f"{self.name} {surroundings.world.rng.random()}")
        self.client = surroundings.client(group_id, self.name, self._answered)
        self._frozen_until_us = 0
        self._script: Script | None = None

    @property
    @abstractmethod
    def is_settled(self) -> bool:
        """Whether the member is one, and has nothing to do but to go on."""

    @abstractmethod
    async def _live(self) -> None:
        """Be a member."""

    @abstractmethod
    async def _say_goodbye(self) -> None:
        """Leave the group."""

    # What befalls it.

    def start(self) -> None:
        self.is_alive = True
        self.surroundings.ledger.begin(self.life)
        self._script = Script(self._live())

    def die(self) -> None:
        """Without a word, or with the end of its connection."""
        if self.is_alive:
            self._end()
            self._stop_script()
            self.client.close() if self.rng.random() < 0.5 else self.client.vanish()

    def leave(self) -> None:
        """As a client that is closed does: it does nothing more with what it owned."""
        if self.is_alive:
            self._end()
            self._stop_script()
            self._script = Script(self._leave())

    def freeze(self, ms: int) -> None:
        """Do nothing for a while. Answers wait."""
        self._frozen_until_us = self.surroundings.world.now_us + ms * MS

    def thaw(self) -> None:
        """Go on at the next moment."""
        self._frozen_until_us = 0

    def _end(self) -> None:
        self.is_alive = False
        self.surroundings.ledger.end(self.life)

    def _stop_script(self) -> None:
        if self._script is not None:
            self._script.abandon()

    async def _leave(self) -> None:
        await self._say_goodbye()
        self.client.close()

    # What it does.

    async def _ask(self, request: Message, version: int, response: type[M], timeout_ms: int = PATIENCE_MS) -> M | None:
        answer = await self.client.ask(request, version, response, timeout_ms)
        await self._wait_for_thaw()
        return answer

    async def _sleep(self, ms: int) -> None:
        await self.client.sleep(ms)
        await self._wait_for_thaw()

    async def _wait_for_thaw(self) -> None:
        world = self.surroundings.world
        while world.now_us < self._frozen_until_us:
            await self.client.sleep(100)

    async def _work(self) -> None:
        """Commit and read, sometimes."""
        chance = self.rng.random()
        if chance < 0.2:
            await self._commit()
        elif chance < 0.3:
            self._send_commit()
        elif chance < 0.45:
            await self._read()

    async def _commit(self) -> None:
        request = self._commit_request(self._some())
        if request is not None:
            await self._ask(request, COMMIT_VERSION, OffsetCommitResponse)

    def _send_commit(self) -> None:
        """Without waiting for the answer."""
        request = self._commit_request(self._some())
        if request is not None:
            self.client.send(request, COMMIT_VERSION, PATIENCE_MS)

    async def _commit_once_more(self) -> None:
        """Commit what it owned in the name of a member that is none any more."""
        request = self._commit_request([(topic_id, 0) for topic_id in self.surroundings.lasting.values()])
        assert request is not None
        answer = await self._ask(request, COMMIT_VERSION, OffsetCommitResponse)
        if answer is not None and any(each.error_code == ErrorCode.NONE for topic in answer.topics for each in topic.partitions):
            self._complain(
                f"has committed as {self.member_id} in epoch {self.epoch}, though it had been told that it is no member"
            )

    def _some(self) -> list[Position]:
        lasting = set(self.surroundings.lasting.values())
        return [each for each in sorted(self.life.owned) if each[0] in lasting and self.rng.random() < 0.7]

    def _commit_request(self, positions: list[Position]) -> OffsetCommitRequest | None:
        topics: dict[bytes, OffsetCommitRequestTopic] = {}
        names = {topic_id: name for name, topic_id in self.surroundings.lasting.items()}
        for position in positions:
            offset = self.surroundings.next_offset()
            self.surroundings.commits_of(self.group_id, position).sent(offset)
            topic = topics.setdefault(position[0], OffsetCommitRequestTopic(names[position[0]]))
            topic.partitions.append(OffsetCommitRequestPartition(position[1], offset))
        if not topics:
            return None
        return OffsetCommitRequest(self.group_id, self.epoch, self.member_id, self.instance_id, topics=list(topics.values()))

    async def _read(self) -> None:
        """Read positions: no committed one is lost, none that was refused is there."""
        positions, surroundings = self._some(), self.surroundings
        if not positions:
            return
        names = {topic_id: name for name, topic_id in surroundings.lasting.items()}
        highest = {each: surroundings.commits_of(self.group_id, each).highest_acknowledged for each in positions}
        topics = [OffsetFetchRequestTopics(names[topic_id], partition_indexes=[number]) for topic_id, number in positions]
        group = OffsetFetchRequestGroup(self.group_id, *self._reader(), topics)
        answer = await self._ask(OffsetFetchRequest(groups=[group], require_stable=True), FETCH_VERSION, OffsetFetchResponse)
        for found in answer.groups[0].topics if answer is not None and not answer.groups[0].error_code else ():
            for each in found.partitions:
                position = surroundings.lasting[found.name], each.partition_index
                commits = surroundings.commits_of(self.group_id, position)
                wrong = "" if each.error_code else commits.wrong_with(each.committed_offset, highest[position])
                surroundings.ledger.reads += 1
                if wrong:
                    self._complain(f"has read {found.name}-{each.partition_index} of {self.group_id}: {wrong}")

    def _reader(self) -> tuple[str | None, int]:
        """Return the member id and epoch for a read."""
        return self.member_id, self.epoch

    def _answered(self, op: Op) -> None:
        if not isinstance(op.request, OffsetCommitRequest):
            return
        errors = {
            (topic.name, each.partition_index): ErrorCode(each.error_code)
            for topic in op.response.topics
            for each in topic.partitions
        }
        for topic in op.request.topics:
            topic_id = self.surroundings.lasting[topic.name]
            for each in topic.partitions:
                position, error = (topic_id, each.partition_index), errors[topic.name, each.partition_index]
                self.surroundings.commits_of(self.group_id, position).answered(each.committed_offset, error)
                self._judge_commit(op.request, position, error)

    def _judge_commit(self, request: OffsetCommitRequest, position: Position, error: ErrorCode) -> None:
        ledger = self.surroundings.ledger
        ledger.commits += error is ErrorCode.NONE
        is_its_own = request.member_id == self.member_id and position in self.life.owned
        if error in self.never and is_its_own and ledger.is_in_force(self.life):
            self._complain(f"may not commit what it owns: {error.name}")

    def _complain(self, what: str) -> None:
        self.surroundings.ledger.wrong.append(f"{self.name} {what}")

    def _lose_membership(self, error: ErrorCode) -> None:
        """The member is none any more: what it owned is not its own."""
        self.surroundings.ledger.removed(self.life, error.name)
        self.surroundings.ledger.own(self.life, ())
