"""One of the two servers, as a script sees it: clients that remember, requests in flight, and a way to know what is parked.

No answer can be waited for that may never come, so a step is over by order, not by time. The broker has one network thread, one
request handler and one coordinator thread, and our server has one loop; so a request that is sent after the answer to another was
read is handled after it. A heartbeat of nobody to the same group, twice, and a DescribeGroups have all been answered only after
everything that the step's own request set off has been done and its answers have been written. The one thing that a coordinator
does later by itself is to end the first rebalance of a group, or one that has lost its last member, with a timer of zero
milliseconds: there the describe is asked again until the group is past it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from typing import Any, Final

from coordinator_server.kinds import SHARE_STATE, TRANSACTIONS
from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from protocol.messages.api_versions import ApiVersionsRequest
from protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from protocol.messages.delete_groups import DeleteGroupsRequest
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.describe_transactions import DescribeTransactionsRequest
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.init_producer_id import InitProducerIdRequest
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from protocol.messages.share_group_describe import ShareGroupDescribeRequest
from protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from tests.differential.awaiting import Awaiting, Server, until
from tests.differential.consuming import BEAT
from tests.differential.describing import described, described_shares, described_streams
from tests.differential.names import Names
from tests.differential.records import (
    OFFSETS_PARTITIONS,
    SHARES_PARTITIONS,
    TRANSACTIONS_PARTITIONS,
    Tail,
    by_share_partition,
    told,
)
from tests.differential.script_requests import NEWEST
from tests.differential.share_states import WRITE
from tests.differential.sharing import ACKNOWLEDGE, ACQUIRE, INITIALIZING, SHARE
from tests.differential.streaming import ASKED, STREAM
from tests.differential.wire import PATIENCE_S, Connection, Sent, value_of
from tests.scenarios.player import JOIN, SYNC, Api, Client, Words
from tests.support.oracle import Value

# What a script waits for the end of: markers that are being written, or transactions.
_BUSY: Final[dict[str, tuple[str, ...]]] = {"rest": ("Prepare",), "over": ("Prepare", "Ongoing")}
_TIMEOUT_MS: Final = 60_000
# The last epoch that a producer gets; the one after it is for the end of its transaction.
_LAST_EPOCH: Final = 2**15 - 2
NOT_RUNNING: Final = {"", "Dead", "Empty"}


class Side(Awaiting):
    """A script's clients on one server."""

    def __init__(
        self, server: Server, prefix: str, *, has_consumers: bool = False, has_shares: bool = False, has_streams: bool = False
    ) -> None:
        super().__init__(prefix, server.topic_ids)
        self._has_consumers = has_consumers
        self._has_shares = has_shares
        self._has_streams = has_streams
        self.server = server
        self.names = Names(prefix, server.topic_ids, server.address[1], has_consumers=has_consumers)
        self.names.has_first_coordinator = server.is_first
        self.sent: list[Sent] = []
        # Of the last request, in the words that both sides have for it.
        self.request_digest = ""
        self.states: dict[str, str] = {}
        self._described: dict[str, Value] = {}
        self._connections: dict[str, list[Connection]] = {}
        self._remembering: dict[int, Callable[[Any], str]] = {}
        self._control = Connection(server.address, "control")
        self._tail = Tail(server.address)
        self._transactions_tail = Tail(server.address, TRANSACTIONS, TRANSACTIONS_PARTITIONS)
        self._shares_tail = Tail(server.address, SHARE_STATE, SHARES_PARTITIONS) if has_shares else None

    @property
    def name(self) -> str:
        return self.server.name

    def move_to(self, server: Server) -> None:
        """The server was started again: what waits there for an answer gets none."""
        self.close()
        for sent in self.parked:
            sent.is_lost = True
        self.server = server
        self.names.port = server.address[1]
        self.names.has_first_coordinator = False
        self._connections.clear()
        self._control = Connection(server.address, "control")
        for tail in self._tails:
            tail.move_to(server.address)

    def forget_nameless(self) -> None:
        """The group without a name is the one that scripts share."""
        self._control.ask(DeleteGroupsRequest([""]), 2)

    def close(self) -> None:
        for connections in self._connections.values():
            for connection in connections:
                connection.close()
        self._control.close()
        for tail in self._tails:
            tail.close()

    @property
    def _tails(self) -> list[Tail]:
        tails = [self._tail, self._transactions_tail]
        return tails if self._shares_tail is None else [*tails, self._shares_tail]

    # --- what a line sends

    def ask(self, first: str, plain: list[str], words: Words) -> None:
        """Send what the line says, and wait for the answer where there always is one."""
        if first in ASKED:
            ASKED[first](self, plain, words)
        else:
            self.request(first, plain, words)
        sent = self.sent[-1]
        if sent.api not in {JOIN.name, SYNC.name} or not sent.group_id:
            self.await_answer(sent)
            self.learn(plain, sent.answer)
        self.await_topics(plain, words)
        self.await_configs(plain, words)
        self.await_quotas(plain, words)
        self.await_internal_topics(first, plain)
        if sent.api in INITIALIZING and sent.group_id:
            until(lambda: self._tail.progress(sent.group_id).pending == 0, f"{sent} has initialized what it needs")

    def _send(self, client: Client, api: Api, request: Any, words: Words, tell: Callable[[Any], str]) -> None:
        version = int(words.get("v", NEWEST.get(api.name, api.newest)))
        message = self._message(api, request, version, words)
        sent = Sent(len(self.sent), client.name, api.name, version, getattr(message, "group_id", ""))
        sent.member_id = getattr(message, "member_id", "")
        if isinstance(message, OffsetFetchRequest) and message.groups[0].topics is None:
            sent.extent = " of all"
        self.sent.append(sent)
        self.request_digest = self.names.digest(type(message).__name__, value_of(message, version))
        if api in {JOIN, BEAT, SHARE, ACQUIRE, ACKNOWLEDGE, STREAM}:
            self._remembering[sent.ordinal] = tell
        elif api is SYNC:
            self._remembering[sent.ordinal] = self.tell_sync(client)
        self._connection(client.name).send(message, version, sent)

    def _connection(self, client_id: str) -> Connection:
        """One that waits for nothing; a client whose requests are parked opens another."""
        open_already = self._connections.setdefault(client_id, [])
        for connection in open_already:
            if connection.is_idle:
                return connection
        connection = Connection(self.server.address, client_id)
        # A connection is handed from thread to thread before it is read;
        # from its first answer on it is one of those that are read in order.
        connection.ask(ApiVersionsRequest(), 0)
        open_already.append(connection)
        return connection

    # --- what came of it

    @property
    def parked(self) -> list[Sent]:
        return [sent for sent in self.sent if sent.answer is None and not sent.is_lost]

    def settle(self, line: str, groups: Iterable[str]) -> None:
        """Wait until the step is over; collect all that arrived, and what DescribeGroups says of these groups then."""
        touched = [self._group(name) for name in groups]
        before = dict(self.states)
        waiting = sorted({sent.group_id for sent in self.parked if sent.group_id} | set(touched))
        # A heartbeat waits for records that are not durable yet; a describe does not, and would not know the group that they make.
        self._pass_by(waiting, 2 if self.parked else 1)
        if self.server.is_late:
            self._await_durable(touched)
        described = self._describe(touched)
        deadline = time.monotonic() + PATIENCE_S
        # One that is late is looked at until it says what the other says (lockstep.py).
        is_told = self.server.has_delay or self.server.is_late
        while not is_told and any(self._ends_by_itself(group, before) for group in described.values()):
            if time.monotonic() > deadline:
                raise TimeoutError("a rebalance that needs nobody does not end")
            described = self._describe(touched)
            self._pass_by(waiting, 2)
        self.collect()
        self._described = described

    def named_answers(self, ordinals: Iterable[int]) -> dict[int, Any]:
        """The answers to these requests, with names for what the server makes up."""
        return self.names.of_step(self.sent[ordinal] for ordinal in ordinals)

    def named_states(self) -> Any:
        """Of the groups of the last step."""
        return self.names.named("DescribeGroupsResponse", {"groups": [*self._described.values()]})

    def named_log(self) -> dict[str, list[Any]]:
        """The records of each group and each transactional id of the script, so far."""
        found = self._tail.records(self._prefix)
        found |= {f"transaction:{name}": each for name, each in self._transactions_tail.records(self._prefix).items()}
        log = {owner: told(self.names, records) for owner, records in found.items()}
        if self._shares_tail is not None:
            for owner, records in self._shares_tail.records(self._prefix).items():
                for share_partition, each in by_share_partition(self.names, records).items():
                    log[f"state:{owner}:{share_partition}"] = told(self.names, each)
        # Markers name no group: they are those of producers that were in answers.
        markers = self._tail.markers()
        named = {self.names.producer(each).replace(" ", "-"): each for each in markers if self.names.producer(each)}
        return log | {f"markers:{name}": self.names.named("Markers", markers[each]) for name, each in named.items()}

    def _ends_by_itself(self, group: Value, before: dict[str, str]) -> bool:
        """Whether a timer of no time at all ends the rebalance: that of the first one of a group,
        and of one that starts without members.

        One that loses its last member while pending members hold it up keeps the timer that it has.
        """
        was = before.get(group["groupId"], "")
        is_without = not group["members"] and was != "PreparingRebalance"
        return group["groupState"] == "PreparingRebalance" and (was in NOT_RUNNING or is_without)

    def await_state(self, name: str, state: str) -> None:
        """Until the group, or the transaction, is in that state: time decides."""
        kind, _, transactional_id = name.rpartition(":")
        if kind:
            until(partial(self._is_in, transactional_id, state), f"{name} is {state}")
            return
        group_id = self._group(name)
        until(lambda: self._describe([group_id])[name]["groupState"] == state, f"{name} is {state}")

    def _is_in(self, transactional_id: str, state: str) -> bool:
        """Whether the transaction is in that state, or in none of those that ``rest`` and ``over`` exclude."""
        asked = DescribeTransactionsRequest([self._group(transactional_id)])
        found = self._control.ask(asked, 0)["transactionStates"][0]
        if state == "gone":
            return bool(found["errorCode"] == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
        unwanted = _BUSY.get(state)
        return found["transactionState"] == state if unwanted is None else not found["transactionState"].startswith(unwanted)

    def await_offset(self, name: str, position: str, offset: int) -> None:
        """Until the group has that offset there; or, for ``epoch``, until a consumer group has that epoch."""
        if position == "epoch":
            group_id = self._group(name)
            until(lambda: self._describe([group_id])[name].get("epoch") == offset, f"{name} has epoch {offset}")
            return
        if position == "shared":
            until(lambda: self._tail.progress(self._group(name)) == (offset, 0), f"{name} has {offset} share partitions")
            return
        if position == "kept":
            until(lambda: self._kept(name) == offset, f"{name} has state of {offset} share partitions")
            return
        topic, partition = position.split(":")
        asked = OffsetFetchRequestTopics(self._topic(topic), partition_indexes=[int(partition)])
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(self._group(name), topics=[asked])])

        def has_offset() -> bool:
            [found] = self._control.ask(request, 9)["groups"][0]["topics"][0]["partitions"]
            return bool(found["committedOffset"] == offset)

        until(has_offset, f"{name} has {offset} for {position}")

    def _kept(self, name: str) -> int:
        assert self._shares_tail is not None
        records = self._shares_tail.records(self._prefix).get(name, [])
        by_partition = by_share_partition(self.names, records).values()
        return sum(each[-1].record.value is not None for each in by_partition)

    def flood(self, plain: list[str]) -> None:
        """As many writes as the last word says, of a batch that moves on."""
        for offset in range(int(plain[-1])):
            request = self.written([self._group(plain[0]), plain[1], f"{offset}..{offset}:0:1"], {})
            self._control.ask(request, WRITE.newest)

    def exhaust(self, name: str) -> None:
        """Take epochs of a producer until one is left."""
        request = InitProducerIdRequest(self._group(name), _TIMEOUT_MS)
        while self._producers[name][1] < _LAST_EPOCH - 1:
            self.learn([name], self._control.ask(request, 5))

    def await_client(self, name: str) -> None:
        """Until none of the client's requests is parked."""
        for sent in self.parked:
            if sent.client == name:
                self.await_answer(sent)

    def await_answer(self, sent: Sent, within_s: float = PATIENCE_S) -> None:
        """Until the request is answered."""

        def is_answered() -> bool:
            self.collect(0.01)
            return sent.answer is not None

        until(is_answered, f"{sent} is answered", within_s)

    def remember(self) -> None:
        """Have the clients take in what a step brought, in the order of their requests: later ones count."""
        for ordinal in sorted(self._remembering):
            if self.sent[ordinal].answer is not None:
                self._remembering.pop(ordinal)(self.sent[ordinal].message)

    def collect(self, within_s: float = 0.0) -> None:
        """Take what has arrived; wait that long for each that has not."""
        for connections in self._connections.values():
            for connection in connections:
                sent = connection.sent
                if sent is None or (answer := connection.poll(within_s)) is None:
                    continue
                if self.server.is_late and answer[0].get("errorCode") == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                    # Clients ask again, too: a node says it until it knows the topics of a shard's former owner (difference 130).
                    connection.repeat(sent)
                    continue
                sent.answer, sent.message = answer

    def _pass_by(self, group_ids: list[str], times: int) -> None:
        for _ in range(times):
            for group_id in group_ids:
                self._control.ask(HeartbeatRequest(group_id, 0, "nobody"), 4)

    def _await_durable(self, group_ids: Iterable[str]) -> None:
        """Wait for what is written of these groups: a refused heartbeat waits for nothing.

        An operation of the same shard that writes nothing is answered when all before it is durable.
        """
        for shard in {partition_for(group_id, OFFSETS_PARTITIONS) for group_id in group_ids}:
            names = (f"{self._prefix}nobody-{number}" for number in count())
            nobody = next(name for name in names if partition_for(name, OFFSETS_PARTITIONS) == shard)
            self._control.ask(DeleteGroupsRequest([nobody]), 2)

    def _describe(self, group_ids: list[str]) -> dict[str, Value]:
        if not group_ids:
            return {}
        groups = self._control.ask(DescribeGroupsRequest(group_ids), 6)["groups"]
        if self._has_consumers:
            asked = self._control.ask(ConsumerGroupDescribeRequest(group_ids), 1)["groups"]
            consumers = {group["groupId"]: described(group) for group in asked if group["errorCode"] == ErrorCode.NONE}
            groups = [consumers.get(group["groupId"], group) for group in groups]
        if self._has_shares:
            asked = self._control.ask(ShareGroupDescribeRequest(group_ids), 1)["groups"]
            shares = {}
            for group in asked:
                if group["errorCode"] == ErrorCode.NONE:
                    self.names.holders.take_group(group, self._prefix)
                    shares[group["groupId"]] = described_shares(group, self.names.holders)
            groups = [shares.get(group["groupId"], group) for group in groups]
        if self._has_streams:
            asked = self._control.ask(StreamsGroupDescribeRequest(group_ids), 0)["groups"]
            streams = {group["groupId"]: described_streams(group) for group in asked if group["errorCode"] == ErrorCode.NONE}
            groups = [streams.get(group["groupId"], group) for group in groups]
        self.states |= {group["groupId"]: group["groupState"] for group in groups}
        return {group["groupId"].removeprefix(self._prefix): group for group in groups}
