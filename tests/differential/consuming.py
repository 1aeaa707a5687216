"""What members of consumer groups (KIP-848) ask: verbs of scripts.

> A beat g topics=t                      ConsumerGroupHeartbeat: the first one joins with epoch 0, the later ones have the epoch
                                         of the last answer
> A beat g topics=t+u regex=o.* assignor=range rack=r instance=i rebalance=60000 owned=t:0+t:1 epoch=3 member=B v=0
> A owns g                               … with what it was given last, as a client that has let go of the rest
> A repeats g                            … with everything that it has said before and owns, as after a lost answer
> A quits g                              … with epoch -1; epoch=-2: a static member that comes back
> consumers g h                          ConsumerGroupDescribe; ``consumers g ops`` with authorized operations
> until g epoch=3                        until the group has that epoch: a regular expression is resolved later

A member's id is the client's name; at version 0 ``member=''`` has the coordinator make one up. "-" stands for null, and nothing
for an empty list or string. In a regular expression ``own`` is the beginning of the script's own topics. What a heartbeat does
not name is null, so "as before"; one that joins has a rebalance timeout, owns nothing, and names the topics that it named last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from protocol.codec import decode, encode
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID, Message
from protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from protocol.messages.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicPartition
from protocol.messages.join_group import JoinGroupRequestProtocol
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from tests.differential.producing import ASKED as ASKED_BEFORE
from tests.differential.producing import Producing
from tests.differential.script_requests import NOBODY
from tests.scenarios.player import Api, Client, Words
from tests.scenarios.wording import subscribed_to

BEAT = Api("beat", 1)
CONSUMERS = Api("consumers", 1)
JOINS: Final = 0
LEAVES: Final = -1
# Of a classic member's subscription.
_NEWEST: Final = 3
_REBALANCE_MS: Final = "60000"
# What a heartbeat says, and a later one only when it changes.
_SAID: Final = ("topics", "regex", "assignor", "rack", "rebalance")


class Consumer:
    """What a member of a consumer group remembers, beside what any client does."""

    def __init__(self, client: Client) -> None:
        # Made up by the coordinator before version 1.
        self.member_id = client.name
        self.epoch = JOINS
        self.instance = "-"
        self.said: dict[str, str] = {"rebalance": _REBALANCE_MS}
        self.assigned: list[TopicPartitions] = []


class Consuming(Producing):
    """The members of a script's consumer groups on one server."""

    def __init__(self, prefix: str, topic_ids: dict[str, bytes]) -> None:
        super().__init__(prefix, topic_ids)
        self._consumers: dict[str, Consumer] = {}
        # Of classic members, what they own as far as they say so, and what they were given last.
        self._owned_by: dict[str, str] = {}
        self._given: dict[str, list[TopicPartition]] = {}

    def request(self, name: str, plain: list[str], words: Words) -> None:
        if plain[0] not in _REQUESTS:
            if "owned" in words:
                self._owned_by[name] = words["owned"]
            super().request(name, plain, words)
            return
        client = self.clients.setdefault(name, self._new_client(name))
        consumer = self._consumers.setdefault(name, Consumer(client))
        _REQUESTS[plain[0]](self, client, consumer, plain[1], words)

    def beat(self, client: Client, consumer: Consumer, group: str, words: Words) -> None:
        epoch = int(words.get("epoch", consumer.epoch))
        instance = words.get("instance", consumer.instance)
        if epoch == JOINS:
            consumer.instance = instance
            # A client that joins says everything.
            words = {"owned": "", **consumer.said, **words}
        consumer.said |= {key: words[key] for key in _SAID if key in words}
        owned = words.get("owned", "-")
        request = ConsumerGroupHeartbeatRequest(
            group,
            self._member_of(client, consumer, words),
            epoch,
            _nullable(instance),
            _nullable(words.get("rack", "-")),
            int(words.get("rebalance", -1)),
            self._names(words.get("topics", "-")),
            self._pattern(words.get("regex", "-")),
            _nullable(words.get("assignor", "-")),
            consumer.assigned if owned == "its" else self._owned(owned),
        )
        self._send(client, BEAT, request, words, self._tell(client, consumer))

    def owns(self, client: Client, consumer: Consumer, group: str, words: Words) -> None:
        self.beat(client, consumer, group, {"owned": "its", **words})

    def repeats(self, client: Client, consumer: Consumer, group: str, words: Words) -> None:
        self.beat(client, consumer, group, {"owned": "its", **consumer.said, **words})

    def quits(self, client: Client, consumer: Consumer, group: str, words: Words) -> None:
        self.beat(client, consumer, group, {"epoch": str(LEAVES), **words})

    def describe_consumers(self, plain: list[str], words: Words) -> None:
        groups = [self._group(name) for name in plain if name != "ops"]
        self._send(NOBODY, CONSUMERS, ConsumerGroupDescribeRequest(groups, "ops" in plain), words, str)

    def tell_sync(self, client: Client) -> Callable[[Any], str]:
        """Have a classic member remember the partitions that it is given."""

        def tell(response: SyncGroupResponse) -> str:
            if response.error_code == ErrorCode.NONE and response.assignment.startswith(b"\0"):
                given = decode(
                    ConsumerProtocolAssignment, int.from_bytes(response.assignment[:2], "big"), response.assignment[2:]
                )
                topics = sorted(given.assigned_partitions, key=lambda each: each.topic)
                self._given[client.name] = [TopicPartition(each.topic, each.partitions) for each in topics]
            return ""

        return tell

    def _message(self, api: Api, request: Any, version: int, words: Words) -> Message:
        """``assign=C:[t/0+t/1]`` gives a classic member an assignment that the coordinator can read."""
        if isinstance(request, SyncGroupRequest):
            for each in request.assignments:
                if each.assignment.startswith(b"["):
                    positions = each.assignment[1:-1].decode().replace("/", ":")
                    each.assignment = b"\0\0" + encode(ConsumerProtocolAssignment(_by_name(positions, self._topic)), 0)
        return super()._message(api, request, version, words)

    def _protocol(self, client: Client, text: str) -> JoinGroupRequestProtocol:
        """``range:[t+u]`` names topics; the newest version of a subscription is used if the client says what it owns."""
        name, _, metadata = text.partition(":")
        if not metadata.startswith("["):
            return super()._protocol(client, text)
        topics = [self._topic(topic) for topic in metadata[1:-1].split("+") if topic]
        if client.name not in self._owned_by:
            return JoinGroupRequestProtocol(name, subscribed_to(topics))
        said = self._owned_by[client.name]
        owned = self._given.get(client.name, []) if said == "its" else _by_name(said, self._topic)
        subscription = ConsumerProtocolSubscription(topics, None, owned, client.generation_id)
        return JoinGroupRequestProtocol(name, _NEWEST.to_bytes(2, "big") + encode(subscription, _NEWEST))

    def _tell(self, client: Client, consumer: Consumer) -> Callable[[Any], str]:
        def tell(response: ConsumerGroupHeartbeatResponse) -> str:
            if response.error_code == ErrorCode.NONE:
                consumer.member_id = client.member_id = response.member_id or ""
                consumer.epoch = client.generation_id = max(response.member_epoch, JOINS)
                if response.assignment is not None:
                    consumer.assigned = [
                        TopicPartitions(each.topic_id, each.partitions) for each in response.assignment.topic_partitions
                    ]
            return ""

        return tell

    def _member_of(self, client: Client, consumer: Consumer, words: Words) -> str:
        if "member" not in words:
            return consumer.member_id
        name = words["member"]
        if name in self._consumers and name != client.name:
            return self._consumers[name].member_id
        return "" if name == "''" else self._member_id(name)

    def _names(self, text: str) -> list[str] | None:
        return None if text == "-" else [self._topic(name) for name in text.split("+") if name]

    def _pattern(self, text: str) -> str | None:
        return None if text == "-" else text.replace("own", self._prefix + "own")

    def _owned(self, text: str) -> list[TopicPartitions] | None:
        if text == "-":
            return None
        return [TopicPartitions(self._id_of(each.topic), each.partitions) for each in _by_name(text, str)]

    def _id_of(self, name: str) -> bytes:
        return ZERO_UUID if name == "zero" else self._topic_id(self._topic(name))


def _by_name(text: str, named: Callable[[str], str]) -> list[TopicPartition]:
    found: dict[str, list[int]] = {}
    for position in text.split("+"):
        if position:
            name, _, partition = position.partition(":")
            found.setdefault(named(name), []).append(int(partition))
    return [TopicPartition(name, partitions) for name, partitions in found.items()]


def _nullable(text: str) -> str | None:
    return None if text == "-" else text


_REQUESTS: Final[dict[str, Callable[[Consuming, Client, Consumer, str, Words], None]]] = {
    "beat": Consuming.beat,
    "owns": Consuming.owns,
    "repeats": Consuming.repeats,
    "quits": Consuming.quits,
}
ASKED: Final[dict[str, Callable[[Any, list[str], Words], None]]] = {**ASKED_BEFORE, "consumers": Consuming.describe_consumers}
