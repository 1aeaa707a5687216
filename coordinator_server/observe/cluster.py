"""The cluster that is followed: its id, who leads the internal topics, and its topics; all by Metadata."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from coordinator_server.client.admin.cluster import Cluster
from coordinator_server.client.errors import Refused
from coordinator_server.client.settings import Address, ConnectionSettings, Sasl
from coordinator_server.kinds import CATALOG, GROUPS, KINDS
from coordinator_server.log.shards import ShardId
from protocol.error_codes import ErrorCode
from protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)

TOPICS: Final = tuple(topic for topic in KINDS if topic != CATALOG.topic)
"""The topics that are followed. Our catalog is written from what Metadata says: Kafka's is not among its topics."""
_ABSENT: Final = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.LEADER_NOT_AVAILABLE})


class AccessDenied(Refused):
    """The error that the cluster does not let us read what we follow."""


class Leader(NamedTuple):
    """Who leads a partition, and since which epoch. The node is -1 if none does."""

    node_id: int
    epoch: int


class InternalTopics(NamedTuple):
    """The internal topics as they are now: ids, numbers of partitions and leaders. A topic without a partition is not there yet."""

    cluster_id: str
    servers: Mapping[int, Address]
    ids: Mapping[str, bytes]
    counts: Mapping[str, int]
    leaders: Mapping[ShardId, Leader]


class ClusterTopic(NamedTuple):
    """A topic of clients."""

    name: str
    topic_id: bytes
    partitions: int


async def internal_topics(cluster: Cluster) -> InternalTopics:
    """Ask for the internal topics. Raises AccessDenied and other ClientErrors."""
    asked = [MetadataRequestTopic(name=name) for name in TOPICS]
    answer = await cluster.ask(MetadataRequest(asked, allow_auto_topic_creation=False), MetadataResponse)
    if answer.cluster_id is None:
        raise Refused("the cluster does not say its id: Kafka's brokers do since 0.10.1")
    for each in answer.topics:
        if each.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            raise AccessDenied(f"the cluster does not let this user describe {each.name}", ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        if each.error_code and each.error_code not in _ABSENT:
            raise Refused(f"the cluster does not describe {each.name}: error {each.error_code}")
    there = {each.name: each for each in answer.topics if each.name in TOPICS and each.partitions}
    return InternalTopics(
        answer.cluster_id,
        {each.node_id: Address(each.host, each.port) for each in answer.brokers},
        {name: topic.topic_id for name, topic in there.items()},
        {name: len(topic.partitions) for name, topic in there.items()},
        {shard: leader for name, topic in there.items() for shard, leader in _leaders(name, topic)},
    )


def _leaders(name: str, topic: MetadataResponseTopic) -> Iterable[tuple[ShardId, Leader]]:
    for each in topic.partitions:
        yield ShardId(name, each.partition_index), Leader(each.leader_id, each.leader_epoch)


async def topics_of_clients(cluster: Cluster) -> list[ClusterTopic]:
    """Return all topics that the user may describe, but the internal ones, by name. Raises ClientError."""
    answer = await cluster.ask(MetadataRequest(None, allow_auto_topic_creation=False), MetadataResponse)
    return sorted(
        ClusterTopic(each.name, each.topic_id, len(each.partitions))
        for each in answer.topics
        if each.name is not None and not each.error_code and each.name not in KINDS and each.partitions
    )


def acls_needed(settings: ConnectionSettings) -> list[str]:
    """Return the commands that let a user follow the cluster."""
    named = " ".join(f"--topic {name}" for name in (GROUPS.topic, *(each for each in TOPICS if each != GROUPS.topic)))
    return [_acl(settings, f"--operation Read {named}"), _acl(settings, "--operation Describe --topic '*'")]


def acl_of_groups(settings: ConnectionSettings) -> str:
    """Return the command that lets a user describe all groups of the cluster."""
    return _acl(settings, "--operation Describe --group '*'")


def _acl(settings: ConnectionSettings, what: str) -> str:
    # The name of a certificate, or of a token, is what the cluster makes of it.
    name = settings.sasl.username if isinstance(settings.sasl, Sasl) else "NAME"
    servers = ",".join(map(str, settings.addresses))
    return f"kafka-acls.sh --bootstrap-server {servers} --add --allow-principal {shlex.quote(f'User:{name}')} {what}"
