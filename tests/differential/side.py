"""One of the two servers, as a script sees it: clients that remember, requests in flight, and a way to know what is parked.

No answer can be waited for that may never come, so a step is over by order, not by time. The broker has one network thread, one request
handler and one coordinator thread, and our server has one loop; so a request that is sent after the answer to another was read is handled after it. A heartbeat
of nobody to the same group, twice, and a DescribeGroups have all been answered only after everything that the step's own request set off has
been done and its answers have been written. The one thing that a coordinator does later by itself is to end the first rebalance of a group, or one that has lost
its last member, with a timer of zero milliseconds: there the describe is asked again until the group is past it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from hashlib import md5
from typing import Any, Final

from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.api_versions import ApiVersionsRequest
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from protocol.messages.delete_groups import DeleteGroupsRequest
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.find_coordinator import FindCoordinatorRequest
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.incremental_alter_configs import AlterableConfig, AlterConfigsResource, IncrementalAlterConfigsRequest
from protocol.messages.join_group import JoinGroupRequestProtocol
from protocol.messages.list_config_resources import ListConfigResourcesRequest
from protocol.messages.list_groups import ListGroupsRequest
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.offset_delete import OffsetDeleteRequest
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.differential.names import Names
from tests.differential.wire import PATIENCE_S, Connection, Sent
from tests.scenarios.player import COMMIT, DELETE, FETCH, JOIN, SYNC, Api, Client, Player, Words
from tests.scenarios.told import subscribed_to
from tests.support.oracle import Value

NOT_RUNNING: Final = {"", "Dead", "Empty"}
DESCRIBE = Api("describe", 6)
LIST = Api("list", 5)
FIND = Api("find", 6)
TOPICS = Api("topics", 13)
CREATE = Api("create", 7)
REMOVE = Api("remove", 6)
GROW = Api("grow", 3)
CONFIGS = Api("configs", 4)
ALTER = Api("alter", 1)
RESOURCES = Api("resources", 1)
_OPERATIONS: Final = {"set": 0, "delete": 1, "append": 2, "subtract": 3}
_RESOURCES: Final = {"topic": 2, "broker": 4, "group": 32, "nothing": 99}
# Sources of a value that was set for one topic, or one group (DescribeConfigsResponse.ConfigSource).
_DYNAMIC: Final = {1, 8}
_CHANGES_TOPICS: Final = {CREATE.name, REMOVE.name, GROW.name}
TIMEOUT_MS: Final = 30_000
_BY_TOPIC_ID: Final = 10
_NEWEST: Final = {COMMIT.name: 10, FETCH.name: 10}


class Server:
    """What scripts need to know of a server; ``has_delay`` if the first rebalance of a group waits for more members."""

    def __init__(self, name: str, address: tuple[str, int], topic_ids: dict[str, bytes], has_delay: bool = False) -> None:
        self.name = name
        self.address = address
        self.topic_ids = topic_ids
        self.has_delay = has_delay


class Side(Player):
    """A script's clients on one server."""

    def __init__(self, server: Server, prefix: str) -> None:
        super().__init__()
        self.server = server
        self.names = Names(prefix, server.topic_ids, server.address[1])
        self.sent: list[Sent] = []
        self.states: dict[str, str] = {}
        self._prefix = prefix
        self._topic_ids = dict(server.topic_ids)
        self._connections: dict[str, list[Connection]] = {}
        self._remembering: dict[int, Callable[[Any], str]] = {}
        self._control = Connection(server.address, "control")

    def move_to(self, server: Server) -> None:
        """The server was started again: what waits there for an answer gets none."""
        self.close()
        for sent in self.parked:
            sent.is_lost = True
        self.server = server
        self.names.port = server.address[1]
        self._connections.clear()
        self._control = Connection(server.address, "control")

    def close(self) -> None:
        for connections in self._connections.values():
            for connection in connections:
                connection.close()
        self._control.close()

    # --- what a line sends

    def ask(self, first: str, plain: list[str], words: Words) -> None:
        """Send what the line says, and wait for the answer where there always is one."""
        if first in ASKED_BY_NOBODY:
            ASKED_BY_NOBODY[first](self, plain, words)
        else:
            self.request(first, plain, words)
        sent = self.sent[-1]
        if sent.api not in {JOIN.name, SYNC.name}:
            self.await_answer(sent)
        self.await_topics(plain, words)
        self.await_configs(plain, words)

    def describe_groups(self, plain: list[str], words: Words) -> None:
        groups = [self._group(name) for name in plain if name != "ops"]
        self._send(NOBODY, DESCRIBE, DescribeGroupsRequest(groups, "ops" in plain), words, str)

    def list_groups(self, plain: list[str], words: Words) -> None:
        states, types = ([part for part in words.get(key, "").split(",") if part] for key in ("states", "types"))
        self._send(NOBODY, LIST, ListGroupsRequest(states, types), words, str)

    def find_coordinator(self, plain: list[str], words: Words) -> None:
        keys = [self._group(name) for name in plain]
        self._send(NOBODY, FIND, FindCoordinatorRequest(keys[0] if keys else "", int(words.get("type", 0)), keys), words, str)

    def list_topics(self, plain: list[str], words: Words) -> None:
        asked = [MetadataRequestTopic(name=self._topic(name)) for name in plain]
        self._send(NOBODY, TOPICS, MetadataRequest(asked, "make" in words), words, str)

    def create_topics(self, plain: list[str], words: Words) -> None:
        topics = []
        for text in plain:
            name, count, *replicas = text.split(":")
            topics.append(CreatableTopic(self._topic(name), int(count), int(replicas[0]) if replicas else 1))
        self._send(NOBODY, CREATE, CreateTopicsRequest(topics, TIMEOUT_MS, "validate" in words), words, str)

    def delete_topics(self, plain: list[str], words: Words) -> None:
        names = [self._topic(name) for name in plain]
        by_name = [DeleteTopicState(name) for name in names]
        topics = [DeleteTopicState(None, self._topic_id(name)) for name in names] if "id" in words else by_name
        self._send(NOBODY, REMOVE, DeleteTopicsRequest(topics, names, TIMEOUT_MS), words, str)

    def create_partitions(self, plain: list[str], words: Words) -> None:
        topics = [
            CreatePartitionsTopic(self._topic(name), int(count), None) for name, count in (text.split(":") for text in plain)
        ]
        self._send(NOBODY, GROW, CreatePartitionsRequest(topics, TIMEOUT_MS, "validate" in words), words, str)

    def describe_configs(self, plain: list[str], words: Words) -> None:
        keys = words["keys"].split(",") if "keys" in words else None
        resources = [DescribeConfigsResource(*self._resource(text), keys) for text in plain]
        request = DescribeConfigsRequest(resources, "synonyms" in words, "docs" in words)
        self._send(NOBODY, CONFIGS, request, words, str)

    def alter_configs(self, plain: list[str], words: Words) -> None:
        changes = []
        for text in plain[1:]:
            operation, name, *value = text.split(":", 2)
            changes.append(AlterableConfig(name, _OPERATIONS.get(operation, 9), value[0] if value else None))
        request = IncrementalAlterConfigsRequest([AlterConfigsResource(*self._resource(plain[0]), changes)], "validate" in words)
        self._send(NOBODY, ALTER, request, words, str)

    def list_resources(self, plain: list[str], words: Words) -> None:
        self._send(NOBODY, RESOURCES, ListConfigResourcesRequest([_RESOURCES[name] for name in plain]), words, str)

    def _resource(self, text: str) -> tuple[int, str]:
        kind, _, name = text.partition(":")
        return _RESOURCES[kind], self._group(name) if kind == "group" else self._topic(name)

    def await_topics(self, plain: list[str], words: Words) -> None:
        """A change of topics is known to the node a moment after it was answered."""
        sent = self.sent[-1]
        if sent.api not in _CHANGES_TOPICS or "validate" in words or sent.answer is None:
            return
        refused = {
            each["name"]
            for each in sent.answer.get("topics") or sent.answer.get("responses") or sent.answer["results"]
            if each["errorCode"]
        }
        deadline = time.monotonic() + PATIENCE_S
        for text in plain:
            name, _, count = text.partition(":")
            wanted = 0 if sent.api == REMOVE.name else abs(int(count.partition(":")[0]))
            while self._topic(name) not in refused and self._partitions(name) != wanted:
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{name} does not have {wanted} partitions")
                time.sleep(0.01)

    def await_configs(self, plain: list[str], words: Words) -> None:
        """Settings, too, are known to the node a moment after they were altered."""
        sent = self.sent[-1]
        if sent.api != ALTER.name or "validate" in words or sent.answer is None or sent.answer["responses"][0]["errorCode"]:
            return
        deadline = time.monotonic() + PATIENCE_S
        for text in plain[1:]:
            operation, name, *value = text.split(":", 2)
            request = DescribeConfigsRequest([DescribeConfigsResource(*self._resource(plain[0]), [name])])
            while operation in {"set", "delete"}:
                [config] = self._control.ask(request, 4)["results"][0]["configs"]
                if config["value"] == value[0] if operation == "set" else config["configSource"] not in _DYNAMIC:
                    break
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{name} is {config['value']}")
                time.sleep(0.01)

    def _partitions(self, name: str) -> int:
        """How many a topic has; none if there is no such topic. Its id is noted."""
        [topic] = self._control.ask(MetadataRequest([MetadataRequestTopic(name=self._topic(name))], False), 12)["topics"]
        if topic["errorCode"] == ErrorCode.NONE:
            self._topic_ids[topic["name"]] = topic["topicId"]
            self.names.know_topic(name, topic["topicId"])
        return len(topic["partitions"])

    def _new_client(self, name: str) -> Client:
        # No session ends by itself while a script runs, unless the script wants it to.
        return Client(name, "60000", "60000")

    def _protocol(self, client: Client, text: str) -> JoinGroupRequestProtocol:
        """Metadata of consumers is a real subscription: Kafka reads it (difference 7 is what happens otherwise)."""
        name, _, metadata = text.partition(":")
        if client.protocol_type == "consumer" and not metadata.startswith(("[", "!")):
            return JoinGroupRequestProtocol(name, subscribed_to([metadata]))
        return super()._protocol(client, text)

    def _fetch(self, client: Client, request: OffsetFetchRequestGroup, words: Words) -> None:
        if "member" in words:
            request.member_id, request.member_epoch = self._member_id(words["member"]), int(words.get("epoch", -1))
        also = words["also"].split(",") if "also" in words else []
        groups = [request, *(OffsetFetchRequestGroup(name, topics=request.topics) for name in also)]
        self._send(client, FETCH, groups, words, str)

    def _send(self, client: Client, api: Api, request: Any, words: Words, tell: Callable[[Any], str]) -> None:
        version = int(words.get("v", _NEWEST.get(api.name, api.newest)))
        message = self._message(api, request, version, words)
        sent = Sent(len(self.sent), client.name, api.name, version, getattr(message, "group_id", ""))
        sent.member_id = getattr(message, "member_id", "")
        if isinstance(message, OffsetFetchRequest) and message.groups[0].topics is None:
            sent.extent = " of all"
        self.sent.append(sent)
        if api is JOIN:
            self._remembering[sent.ordinal] = tell
        self._connection(client.name).send(message, version, sent)

    def _message(self, api: Api, request: Any, version: int, words: Words) -> Message:
        """The whole request, with this script's own group ids, and the ids of topics where names are no longer sent."""
        if api is DELETE:
            return DeleteGroupsRequest([self._group(name) for name in request])
        if api is FETCH:
            return self._fetch_message(request, version, "stable" in words)
        if isinstance(request, OffsetCommitRequest | OffsetDeleteRequest):
            for topic in request.topics:
                topic.name = self._topic(topic.name)
        if isinstance(request, OffsetCommitRequest):
            for topic in request.topics:
                topic.topic_id = self._topic_id(topic.name)
        if hasattr(request, "group_id"):
            request.group_id = self._group(request.group_id)
        assert isinstance(request, Message)
        return request

    def _fetch_message(self, groups: list[OffsetFetchRequestGroup], version: int, is_stable: bool) -> OffsetFetchRequest:
        for group in groups:
            group.group_id = self._group(group.group_id)
            for topic in group.topics or ():
                topic.name = self._topic(topic.name)
                topic.topic_id = self._topic_id(topic.name)
        first = groups[0]
        topics = None
        if first.topics is not None:
            topics = [OffsetFetchRequestTopic(topic.name, topic.partition_indexes) for topic in first.topics]
        return OffsetFetchRequest(first.group_id, topics, groups, is_stable and version >= 7)

    def _group(self, name: str) -> str:
        return self._prefix + name if name and name != "''" else ""

    def _topic(self, name: str) -> str:
        """Topics that a script makes are its own, and are called so."""
        return self._prefix + name if name.startswith("own") else name

    def _topic_id(self, name: str) -> bytes:
        return self._topic_ids.get(name) or md5(name.encode(), usedforsecurity=False).digest()

    def _connection(self, client_id: str) -> Connection:
        """One that waits for nothing; a client whose requests are parked opens another."""
        open_already = self._connections.setdefault(client_id, [])
        for connection in open_already:
            if connection.is_idle:
                return connection
        connection = Connection(self.server.address, client_id)
        # A connection is handed from thread to thread before it is read; from its first answer on it is one of those that are read in order.
        connection.ask(ApiVersionsRequest(), 0)
        open_already.append(connection)
        return connection

    # --- what came of it

    @property
    def parked(self) -> list[Sent]:
        return [sent for sent in self.sent if sent.answer is None and not sent.is_lost]

    def settle(self, groups: Iterable[str]) -> dict[str, Value]:
        """Wait until the step is over; what DescribeGroups says of these groups then, and all that arrived is collected."""
        touched = [self._group(name) for name in groups]
        before = dict(self.states)
        waiting = sorted({sent.group_id for sent in self.parked if sent.group_id} | set(touched))
        # A heartbeat waits for records that are not durable yet; a describe does not, and would not know the group that they make.
        self._pass_by(waiting, 2 if self.parked else 1)
        described = self._describe(touched)
        deadline = time.monotonic() + PATIENCE_S
        while not self.server.has_delay and any(self._ends_by_itself(group, before) for group in described.values()):
            assert time.monotonic() < deadline, "a rebalance that needs nobody does not end"
            described = self._describe(touched)
            self._pass_by(waiting, 2)
        self.collect()
        return described

    def _ends_by_itself(self, group: Value, before: dict[str, str]) -> bool:
        """The first rebalance of a group has a timer of no time at all, and so has one that waits for pending members alone."""
        is_first = before.get(group["groupId"], "") in NOT_RUNNING
        return group["groupState"] == "PreparingRebalance" and (is_first or not group["members"])

    def await_state(self, name: str, state: str) -> None:
        """Until the group is in that state: time decides."""
        deadline = time.monotonic() + PATIENCE_S
        group_id = self._group(name)
        while self._describe([group_id]) and self.states[group_id] != state:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{name} is {self.states[group_id]}, not {state}")
            time.sleep(0.02)

    def await_offset(self, name: str, position: str, offset: int) -> None:
        """Until the group has that offset there."""
        topic, partition = position.split(":")
        asked = OffsetFetchRequestTopics(self._topic(topic), partition_indexes=[int(partition)])
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(self._group(name), topics=[asked])])
        deadline = time.monotonic() + PATIENCE_S
        while (found := self._control.ask(request, 9)["groups"][0]["topics"][0]["partitions"][0]["committedOffset"]) != offset:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{name} has {found} for {position}, not {offset}")
            time.sleep(0.02)

    def await_client(self, name: str) -> None:
        """Until none of the client's requests is parked."""
        deadline = time.monotonic() + PATIENCE_S
        while any(sent.client == name for sent in self.parked):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{name} is not answered")
            self.collect(0.01)

    def await_answer(self, sent: Sent, within_s: float = PATIENCE_S) -> None:
        deadline = time.monotonic() + within_s
        while sent.answer is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{sent} is not answered")
            self.collect(0.01)

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
                sent.answer, sent.message = answer

    def _pass_by(self, group_ids: list[str], times: int) -> None:
        for _ in range(times):
            for group_id in group_ids:
                self._control.ask(HeartbeatRequest(group_id, 0, "nobody"), 4)

    def _describe(self, group_ids: list[str]) -> dict[str, Value]:
        if not group_ids:
            return {}
        groups = self._control.ask(DescribeGroupsRequest(group_ids), 6)["groups"]
        self.states |= {group["groupId"]: group["groupState"] for group in groups}
        return {group["groupId"].removeprefix(self._prefix): group for group in groups}


NOBODY = Client("nobody")
ASKED_BY_NOBODY: dict[str, Callable[[Side, list[str], Words], None]] = {
    "describe": Side.describe_groups,
    "list": Side.list_groups,
    "topics": Side.list_topics,
    "create": Side.create_topics,
    "remove": Side.delete_topics,
    "configs": Side.describe_configs,
    "alter": Side.alter_configs,
    "resources": Side.list_resources,
    "grow": Side.create_partitions,
    "find": Side.find_coordinator,
}
