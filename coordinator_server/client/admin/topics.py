"""Topics: what the cluster says of them, and changes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coordinator_server.client.admin.cluster import Cluster, check, error_of
from coordinator_server.client.errors import ClientError, Refused
from protocol.error_codes import ErrorCode
from protocol.fields import Uuid
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic
from protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

DEFAULT = -1
"""The number of partitions or replicas that the server chooses."""


@dataclass(frozen=True)
class Topic:
    """A topic. ``leaders`` has the node id of each partition's leader, -1 if there is none."""

    name: str
    topic_id: Uuid
    is_internal: bool
    leaders: dict[int, int]

    @property
    def partitions(self) -> int:
        """The number of partitions."""
        return len(self.leaders)


async def describe_topics(cluster: Cluster, names: Iterable[str] | None = None) -> dict[str, Topic]:
    """Return those topics that exist, or all, by name. Raises ClientError."""
    wanted = None if names is None else [MetadataRequestTopic(name=name) for name in dict.fromkeys(names)]
    if wanted == []:
        return {}
    answer = await cluster.ask(MetadataRequest(wanted, allow_auto_topic_creation=False), MetadataResponse)
    topics = {}
    for each in answer.topics:
        if each.error_code in {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION} or not each.name:
            continue
        check(f"Metadata of topic {each.name}", each.error_code)
        leaders = {partition.partition_index: partition.leader_id for partition in each.partitions}
        topics[each.name] = Topic(each.name, each.topic_id, each.is_internal, dict(sorted(leaders.items())))
    return dict(sorted(topics.items()))


async def describe_topic(cluster: Cluster, name: str) -> Topic:
    """Return a topic. Raises Refused if it does not exist, and ClientError."""
    found = await describe_topics(cluster, [name])
    if name not in found:
        raise Refused(f"there is no topic {name}", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return found[name]


async def create_topic(
    cluster: Cluster, name: str, partitions: int, replicas: int, settings: Mapping[str, str], *, is_trial: bool
) -> ClientError | None:
    """Create a topic, or only ask whether that would be refused. Return why it is refused. Raises ClientError."""
    configs = [CreatableTopicConfig(*each) for each in settings.items()]
    topic = CreatableTopic(name, partitions, replicas, configs=configs)
    request = CreateTopicsRequest([topic], _timeout_ms(cluster), is_trial)
    answer = await cluster.ask_controller(request, CreateTopicsResponse)
    [created] = answer.topics
    return error_of(f"creation of topic {name}", created.error_code, created.error_message)


async def grow_topic(cluster: Cluster, name: str, partitions: int, *, is_trial: bool) -> ClientError | None:
    """Give a topic more partitions, or only ask whether that would be refused. Return why it is refused. Raises ClientError."""
    request = CreatePartitionsRequest([CreatePartitionsTopic(name, partitions, None)], _timeout_ms(cluster), is_trial)
    answer = await cluster.ask_controller(request, CreatePartitionsResponse)
    [grown] = answer.results
    return error_of(f"growth of topic {name}", grown.error_code, grown.error_message)


async def delete_topic(cluster: Cluster, name: str) -> ClientError | None:
    """Delete a topic. Return why it was refused. Raises ClientError."""
    request = DeleteTopicsRequest(topic_names=[name], timeout_ms=_timeout_ms(cluster))
    answer = await cluster.ask_controller(request, DeleteTopicsResponse)
    [deleted] = answer.responses
    return error_of(f"deletion of topic {name}", deleted.error_code, deleted.error_message)


def _timeout_ms(cluster: Cluster) -> int:
    """Return how long the server may take: less than the client waits for the answer."""
    return round(cluster.settings.request_timeout_s * 900)
