"""Election: at most one leader, with a fencing token that only rises.

The candidates are a group. The group's own leader chooses the candidate that leads: the one whose term runs, or else the first one.
The chosen one commits a token as an offset of the group, which the coordinator takes from members of the present generation only.
A term begins when the token is acknowledged. It is over when its candidate resigns or learns that it was removed, and at the latest
when the coordinator may have removed it, by this candidate's own clock.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import Final, Self

from coordinator_server.client.background import Background, Latest
from coordinator_server.client.coordinator import Coordinator
from coordinator_server.client.environment import SYSTEM, Environment
from coordinator_server.client.errors import Closed, InvalidSettings, MembershipLost, RebalanceInProgress, RetriableError
from coordinator_server.client.generation import GroupMember
from coordinator_server.client.offsets import Committed, TopicPartition
from coordinator_server.client.settings import ConnectionSettings, ElectionSettings, GroupSettings
from coordinator_server.client.term import Term

PARTITIONS: Final = 2
RETRY_S: Final = 0.1


class Election:
    """Take part in an election.

        async with Election("127.0.0.1:9092", "scheduler") as election:
            async for term in election:
                async with term:
                    ...

    The iterator yields this candidate's terms.
    """

    def __init__(
        self, connection: ConnectionSettings | str, election: ElectionSettings | str, *, environment: Environment = SYSTEM
    ) -> None:
        settings = ElectionSettings.of(election)
        self._margin_s = settings.session_timeout_s * settings.clock_drift
        self._environment = environment
        self._terms: Latest[Term | None] = Latest(None)
        self._background = Background(self._terms)
        self._tokens, self._barrier = TopicPartition(settings.topic, 0), TopicPartition(settings.topic, 1)
        candidate = settings.candidate or f"{socket.gethostname()}-{os.getpid()}"
        self._member = _Candidate(connection, settings.group, environment, candidate)
        self._member.term_of = self._terms
        self._watch: asyncio.TimerHandle | None = None

    @property
    def term(self) -> Term | None:
        """This candidate's term, if it leads."""
        term = self._terms.value
        return term if term is not None and term.is_current else None

    @property
    def leader(self) -> str | None:
        """The name of the candidate that was chosen last, as far as this one knows; None while it is in no group."""
        return self._member.leader_name

    async def close(self) -> None:
        """Resign and leave. The next term begins after the bodies of this one have ended."""
        try:
            await self._background.stop()
            if (term := self._terms.value) is not None:
                term.end()
                await term.wait_left()
            await self._member.close()
        finally:
            if self._watch is not None:
                self._watch.cancel()
            self._terms.fail(Closed("it is closed"))

    async def __aenter__(self) -> Self:
        self._background.start(self._run(), f"election of {self._member.group.group_id}")
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def __aiter__(self) -> AsyncIterator[Term]:
        last: Term | None = None
        while True:
            try:
                term = await self._terms.wait(lambda: self.term is not None and self.term is not last)  # noqa: B023 - called at once
            except Closed:
                return
            last = term
            if term is not None:
                yield term
                await term.wait_over()

    async def _run(self) -> None:
        """Stay a candidate, and begin a term whenever this one is chosen."""
        while True:
            try:
                await self._member.ensure_active_group()
                if self._member.is_chosen and self.term is None:
                    await self._begin()
                    # If the coordinator is silent, a term that is over can begin anew only after its next answer.
                    await self._member.wait_for_rejoin(RETRY_S if self.term is None else self._member.group.heartbeat_interval_s)
                else:
                    await self._member.wait_for_rejoin(self._member.group.heartbeat_interval_s)
            except (RetriableError, MembershipLost):
                await asyncio.sleep(RETRY_S)

    async def _begin(self) -> None:
        """Begin a term: choose a token, and let the coordinator acknowledge it.

        The first commit is a barrier. When it is acknowledged, the commits of all earlier generations are: they come before it in
        the coordinator's log, and none is taken after it. So the token that is read then is the highest one.
        """
        member = self._member
        if await member.ensure_topic(self._tokens.topic, PARTITIONS) < PARTITIONS:
            raise InvalidSettings(f"the topic {self._tokens.topic!r} needs {PARTITIONS} partitions")
        generation = member.generation_if_stable
        await member.commit({self._barrier: 0})
        before = (await member.committed([self._tokens])).get(self._tokens, Committed(0))
        token = max(before.offset + 1, self._environment.wall_ms())
        await member.commit({self._tokens: Committed(token, before.metadata)})
        if generation is None or member.generation_if_stable != generation:
            raise RebalanceInProgress("a rebalance began while the token was committed")
        term = Term(token, before.metadata, self._surely_until_s, self._environment.now_s, self._save)
        if term.is_current:
            self._terms.set(term)
            self._check()

    def _surely_until_s(self) -> float:
        return self._member.surely_member_until_s - self._margin_s

    def _check(self) -> None:
        """End the term when its time is over, unless the coordinator has acknowledged more of it by then."""
        term = self._terms.value
        if term is not None and not term.is_current:
            term.end()
        elif term is not None:
            self._watch = asyncio.get_running_loop().call_later(term.remaining_s, self._check)

    async def _save(self, text: str) -> None:
        term = self._terms.value
        while term is not None and term.is_current:
            try:
                await self._member.commit({self._tokens: Committed(term.token, text)}, timeout_s=max(term.remaining_s, RETRY_S))
            except RetriableError:
                await asyncio.sleep(RETRY_S)
            else:
                return
        raise MembershipLost("the term is over")


class _Candidate(Coordinator):
    """Says which token it leads with, if it leads. Its group's leader sends every member who was chosen."""

    term_of: Latest[Term | None]

    def __init__(self, connection: ConnectionSettings | str, group: GroupSettings, environment: Environment, name: str) -> None:
        super().__init__(connection, group, environment=environment)
        self._name = name
        self.is_chosen = False
        self.leader_name: str | None = None

    @property
    def protocol_type(self) -> str:
        return "election"

    def metadata(self) -> Sequence[tuple[str, bytes]]:
        term = self.term_of.value
        token = term.token if term is not None and term.is_current else 0
        return [("highest-token", json.dumps([token, self._name]).encode())]

    def perform_assignment(self, leader_id: str, protocol: str, members: Sequence[GroupMember]) -> Mapping[str, bytes]:
        said = {each.member_id: json.loads(each.metadata) for each in members}
        chosen = max(sorted(said), key=lambda member_id: said[member_id][0])
        return dict.fromkeys(said, json.dumps([chosen, said[chosen][1]]).encode())

    def on_join_complete(self, generation: int, member_id: str, protocol: str, assignment: bytes) -> None:
        chosen, self.leader_name = json.loads(assignment or b'["", null]')
        self.is_chosen = chosen == member_id
        if not self.is_chosen:
            self._end_term()

    def on_lost(self, generation: int, member_id: str, reason: MembershipLost) -> None:
        self.is_chosen, self.leader_name = False, None
        self._end_term()

    def on_leave_prepare(self) -> None:
        self.is_chosen, self.leader_name = False, None

    def _end_term(self) -> None:
        if (term := self.term_of.value) is not None:
            term.end()
