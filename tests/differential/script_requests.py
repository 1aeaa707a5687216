"""What the lines of a script ask for, as whole requests: those of clients (tests/scenarios/player.py),
and those of nobody in particular.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import md5
from typing import Any, Final

from protocol.fields import Message
from protocol.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, OpData, RequestEntryData
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from protocol.messages.delete_groups import DeleteGroupsRequest
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.find_coordinator import FindCoordinatorRequest
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
)
from tests.scenarios.player import COMMIT, DELETE, FETCH, Api, Client, Player, Words
from tests.scenarios.wording import subscribed_to

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
QUOTAS = Api("quotas", 1)
QUOTA = Api("quota", 1)
_OPERATIONS: Final = {"set": 0, "delete": 1, "append": 2, "subtract": 3}
_RESOURCES: Final = {"topic": 2, "broker": 4, "group": 32, "nothing": 99}
CHANGES_TOPICS: Final = {CREATE.name, REMOVE.name, GROW.name}
_TIMEOUT_MS: Final = 30_000
NEWEST: Final = {COMMIT.name: 10, FETCH.name: 10}


class Asking(Player):
    """One script on one server: its groups have ``prefix`` in front, and so have the topics that it makes."""

    def __init__(self, prefix: str, topic_ids: dict[str, bytes]) -> None:
        super().__init__()
        self._prefix = prefix
        self._topic_ids = dict(topic_ids)

    def describe_groups(self, plain: list[str], words: Words) -> None:
        groups = [self._group(name) for name in plain if name != "ops"]
        self._send(NOBODY, DESCRIBE, DescribeGroupsRequest(groups, "ops" in plain), words, str)

    def list_groups(self, plain: list[str], words: Words) -> None:
        states, types = ([part for part in words.get(key, "").split(",") if part] for key in ("states", "types"))
        self._send(NOBODY, LIST, ListGroupsRequest(states, types), words, str)

    def find_coordinator(self, plain: list[str], words: Words) -> None:
        key_type = int(words.get("type", 0))
        keys = [self._coordinator_key(name, key_type) for name in plain]
        self._send(NOBODY, FIND, FindCoordinatorRequest(keys[0] if keys else "", key_type, keys), words, str)

    def list_topics(self, plain: list[str], words: Words) -> None:
        asked = [MetadataRequestTopic(name=self._topic(name)) for name in plain]
        self._send(NOBODY, TOPICS, MetadataRequest(asked, "make" in words), words, str)

    def create_topics(self, plain: list[str], words: Words) -> None:
        topics = []
        for text in plain:
            name, count, *replicas = text.split(":")
            topics.append(CreatableTopic(self._topic(name), int(count), int(replicas[0]) if replicas else 1))
        self._send(NOBODY, CREATE, CreateTopicsRequest(topics, _TIMEOUT_MS, "validate" in words), words, str)

    def delete_topics(self, plain: list[str], words: Words) -> None:
        names = [self._topic(name) for name in plain]
        by_name = [DeleteTopicState(name) for name in names]
        topics = [DeleteTopicState(None, self._topic_id(name)) for name in names] if "id" in words else by_name
        self._send(NOBODY, REMOVE, DeleteTopicsRequest(topics, names, _TIMEOUT_MS), words, str)

    def create_partitions(self, plain: list[str], words: Words) -> None:
        topics = [
            CreatePartitionsTopic(self._topic(name), int(count), None) for name, count in (text.split(":") for text in plain)
        ]
        self._send(NOBODY, GROW, CreatePartitionsRequest(topics, _TIMEOUT_MS, "validate" in words), words, str)

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

    def describe_quotas(self, plain: list[str], words: Words) -> None:
        """``user:own-a`` is a name, ``user:*`` the default, ``user:?`` any of the type."""
        components = []
        for text in plain:
            kind, _, name = text.partition(":")
            match = {"*": 1, "?": 2, "!": 9}.get(name, 0)
            components.append(ComponentData(kind, match, None if match or name == "null" else self._named(name)))
        self._send(NOBODY, QUOTAS, DescribeClientQuotasRequest(components, "strict" in words), words, str)

    def alter_quotas(self, plain: list[str], words: Words) -> None:
        """Entities, as for ``quotas``, and changes:
        ``user:own-a client-id:* set:request_percentage:10 remove:producer_byte_rate``.
        """
        request = AlterClientQuotasRequest([self._quota_entry(plain)] * int(words.get("times", 1)), "validate" in words)
        self._send(NOBODY, QUOTA, request, words, str)

    def _quota_entry(self, plain: list[str]) -> RequestEntryData:
        entry = RequestEntryData([], [])
        for text in plain:
            first, _, rest = text.partition(":")
            if first == "set":
                name, _, value = rest.partition(":")
                entry.ops.append(OpData(name, float(value)))
            elif first == "remove":
                entry.ops.append(OpData(rest, remove=True))
            else:
                entry.entity.append(EntityData(first, None if rest == "*" else self._named(rest)))
        return entry

    def _named(self, name: str) -> str:
        return self._prefix + name if name.startswith("own") else name

    def list_resources(self, plain: list[str], words: Words) -> None:
        self._send(NOBODY, RESOURCES, ListConfigResourcesRequest([_RESOURCES[name] for name in plain]), words, str)

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

    def _resource(self, text: str) -> tuple[int, str]:
        kind, _, name = text.partition(":")
        return _RESOURCES[kind], self._group(name) if kind == "group" else self._topic(name)

    def _coordinator_key(self, name: str, _key_type: int) -> str:
        return self._group(name)

    def _group(self, name: str) -> str:
        return self._prefix + name if name and name != "''" else ""

    def _topic(self, name: str) -> str:
        """Topics that a script makes are its own, and are called so."""
        return self._prefix + name if name.startswith("own") else name

    def _topic_id(self, name: str) -> bytes:
        return self._topic_ids.get(name) or md5(name.encode(), usedforsecurity=False).digest()


NOBODY = Client("nobody")
ASKED_BY_NOBODY: dict[str, Callable[[Asking, list[str], Words], None]] = {
    "describe": Asking.describe_groups,
    "list": Asking.list_groups,
    "topics": Asking.list_topics,
    "create": Asking.create_topics,
    "remove": Asking.delete_topics,
    "configs": Asking.describe_configs,
    "alter": Asking.alter_configs,
    "resources": Asking.list_resources,
    "quotas": Asking.describe_quotas,
    "quota": Asking.alter_quotas,
    "grow": Asking.create_partitions,
    "find": Asking.find_coordinator,
}
