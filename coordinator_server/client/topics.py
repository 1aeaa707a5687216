"""What the cluster knows of topics."""

from __future__ import annotations

from collections.abc import Iterable

from coordinator_server.client.errors import known_code, refusal
from coordinator_server.client.network import GroupLink
from protocol.error_codes import ErrorCode
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

_AUTO_CREATION_IS_A_CHOICE = 4
_DEFAULT_REPLICATION = 4
_MISSING = {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION}


async def partition_counts(link: GroupLink, topics: Iterable[str], timeout_s: float) -> dict[str, int]:
    """Return the number of partitions of each of these topics that exists. Raises ClientError."""
    connection = await link.ready_within(timeout_s)
    request = MetadataRequest(
        [MetadataRequestTopic(name=name) for name in topics],
        allow_auto_topic_creation=connection.version_of(MetadataRequest) < _AUTO_CREATION_IS_A_CHOICE,
    )
    if not request.topics:
        return {}
    answer = await link.call(request, MetadataResponse, timeout_s)
    counts = {}
    for topic in answer.topics:
        code = known_code(topic.error_code)
        if code is ErrorCode.NONE:
            counts[topic.name or ""] = len(topic.partitions)
        elif code not in _MISSING:
            raise refusal(f"Metadata of topic {topic.name!r}", code)
    return counts


async def ensure_topic(link: GroupLink, name: str, partitions: int, timeout_s: float) -> int:
    """Create a topic unless it exists. Return its number of partitions. Raises ClientError."""
    counts = await partition_counts(link, [name], timeout_s)
    if name in counts:
        return counts[name]
    connection = await link.ready_within(timeout_s)
    replicas = -1 if connection.version_of(CreateTopicsRequest) >= _DEFAULT_REPLICATION else 1
    request = CreateTopicsRequest([CreatableTopic(name, partitions, replicas)], round(timeout_s * 1000))
    answer = await link.call(request, CreateTopicsResponse, timeout_s)
    [created] = answer.topics
    code = known_code(created.error_code)
    if code not in {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}:
        raise refusal(f"CreateTopics of {name!r}", code)
    return (await partition_counts(link, [name], timeout_s)).get(name, partitions)
