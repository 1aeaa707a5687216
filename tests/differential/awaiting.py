"""What a script waits for on one server: what it has changed, and what takes time to be known everywhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Final

from protocol.error_codes import ErrorCode
from protocol.messages.alter_client_quotas import RequestEntryData
from protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.differential.images import partitions_known
from tests.differential.names import Names
from tests.differential.script_requests import ALTER, CHANGES_TOPICS, QUOTA, REMOVE
from tests.differential.streaming import STREAM, Streaming, is_missing_topics
from tests.differential.wire import PATIENCE_S, Connection, Sent
from tests.scenarios.player import Words

# Sources of a value that was set for one topic, or one group (DescribeConfigsResponse.ConfigSource).
_DYNAMIC: Final = {1, 8}
# Between two looks at what takes time.
_LONGEST_PAUSE_S: Final = 0.02


class Server:
    """What scripts need to know of a server; ``has_delay`` if the first rebalance of a group waits for more members.

    ``is_first`` is whether it has not been started again; ``is_late`` if what it does by itself is seen a moment after what it was
    asked: nodes over a database.
    """

    def __init__(
        self,
        name: str,
        address: tuple[str, int],
        topic_ids: dict[str, bytes],
        *,
        has_delay: bool = False,
        is_first: bool = True,
        is_late: bool = False,
    ) -> None:
        self.name = name
        self.is_late = is_late
        self.is_first = is_first
        self.address = address
        self.topic_ids = topic_ids
        self.has_delay = has_delay
        self.has_late_images = name == "Kafka"


class Awaiting(Streaming):
    """The clients of a script on one server, which is asked whether what they have changed is known."""

    server: Server
    names: Names
    sent: list[Sent]
    _control: Connection
    _has_consumers: bool
    _has_shares: bool
    _has_streams: bool

    def await_topics(self, plain: list[str], words: Words) -> None:
        """A change of topics is known to the node a moment after it was answered."""
        sent = self.sent[-1]
        if sent.api not in CHANGES_TOPICS or "validate" in words or sent.answer is None:
            return
        refused = {
            each["name"]
            for each in sent.answer.get("topics") or sent.answer.get("responses") or sent.answer["results"]
            if each["errorCode"]
        }
        for text in plain:
            name, _, count = text.partition(":")
            wanted = 0 if sent.api == REMOVE.name else abs(int(count.partition(":")[0]))
            if self._topic(name) not in refused:
                until(partial(self._has_partitions, name, wanted), f"{name} has {wanted} partitions")
                if self._has_consumers or self._has_shares or self._has_streams:
                    self._await_image(self._topic(name))

    def await_configs(self, plain: list[str], words: Words) -> None:
        """Settings, too, are known to the node a moment after they were altered."""
        sent = self.sent[-1]
        if sent.api != ALTER.name or "validate" in words or sent.answer is None or sent.answer["responses"][0]["errorCode"]:
            return
        for text in plain[1:]:
            operation, name, *value = text.split(":", 2)
            if operation in {"set", "delete"}:
                until(partial(self._has_config, plain[0], name, value), f"{name} is altered")

    def await_quotas(self, plain: list[str], words: Words) -> None:
        """Quotas, too, are known to the node a moment after they were altered."""
        sent = self.sent[-1]
        if sent.api != QUOTA.name or "validate" in words or sent.answer is None or sent.answer["entries"][0]["errorCode"]:
            return
        entry = self._quota_entry(plain)
        until(partial(self._has_quotas, entry), f"{plain} is altered")

    def _has_quotas(self, entry: RequestEntryData) -> bool:
        """Whether an entity has what was set, and nothing that was removed."""
        entity = {each.entity_type: each.entity_name for each in entry.entity}
        components = [ComponentData(kind, int(name is None), name) for kind, name in entity.items()]
        answer = self._control.ask(DescribeClientQuotasRequest(components, True), 1)
        found = {value["key"]: value["value"] for each in answer["entries"] for value in each["values"]}
        return all(found.get(op.key) == (None if op.remove else op.value) for op in entry.ops)

    def _has_config(self, resource: str, name: str, value: list[str]) -> bool:
        """Whether a setting has that value, or none of its own where there is none."""
        request = DescribeConfigsRequest([DescribeConfigsResource(*self._resource(resource), [name])])
        [config] = self._control.ask(request, 4)["results"][0]["configs"]
        return config["value"] == value[0] if value else config["configSource"] not in _DYNAMIC

    def _has_partitions(self, name: str, count: int) -> bool:
        """Whether a topic has that many; none if there is no such topic. Its id is noted."""
        [topic] = self._control.ask(MetadataRequest([MetadataRequestTopic(name=self._topic(name))], False), 12)["topics"]
        if topic["errorCode"] == ErrorCode.NONE:
            self._topic_ids[topic["name"]] = topic["topicId"]
            self.names.know_topic(name, topic["topicId"])
        return len(topic["partitions"]) == count

    def _exists(self, topic: str) -> bool:
        [found] = self._control.ask(MetadataRequest([MetadataRequestTopic(name=topic)], False), 12)["topics"]
        if found["errorCode"] == ErrorCode.NONE:
            self.names.know_topic(topic, found["topicId"])
        return bool(found["errorCode"] == ErrorCode.NONE)

    def await_internal_topics(self, client: str, plain: list[str]) -> None:
        """Those of a topology are made when its member has been answered that they are missing."""
        sent = self.sent[-1]
        if sent.api != STREAM.name or "unmade" in plain or not is_missing_topics(sent.answer):
            return
        for name in self.internal_topics(client, plain[1]):
            until(partial(self._exists, name), f"{name} is made")
            self._await_image(name)

    def _await_image(self, topic: str) -> None:
        """A broker tells its coordinator of topics a moment after clients."""
        if self.server.has_late_images:
            until(partial(self._is_known_to_coordinator, topic), f"the coordinator knows {topic}")

    def _is_known_to_coordinator(self, topic: str) -> bool:
        """Whether each shard knows as many partitions as clients do."""
        [found] = self._control.ask(MetadataRequest([MetadataRequestTopic(name=topic)], False), 12)["topics"]
        return partitions_known(self._control, topic) == {len(found["partitions"])}


def until(condition: Callable[[], bool], what: str, within_s: float = PATIENCE_S) -> None:
    """Wait for it; TimeoutError becomes a difference."""
    deadline, pause_s = time.monotonic() + within_s, 0.001
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {within_s} s: {what}")
        time.sleep(pause_s)
        pause_s = min(1.5 * pause_s, _LONGEST_PAUSE_S)
