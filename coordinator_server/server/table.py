"""The APIs that are served, a row each. ApiVersions answers with what ``protocol/api.py`` says; a test holds the two together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from coordinator_server.server.apis import brokers, configs, deletion, groups, offsets, produce, records, topic_pages, topics
from coordinator_server.server.dispatch import Api, ShortWay
from coordinator_server.server.node import Node
from protocol.api import APIS
from protocol.fields import Message
from protocol.plain_commits import accepting, commit_reader

HANDLERS: dict[str, tuple[Callable[..., None], Callable[..., Message]]] = {
    "ApiVersions": (brokers.api_versions, brokers.refuse_api_versions),
    "Metadata": (brokers.metadata, brokers.refuse_metadata),
    "FindCoordinator": (brokers.find_coordinator, brokers.refuse_find_coordinator),
    "DescribeCluster": (brokers.describe_cluster, brokers.refuse_describe_cluster),
    "JoinGroup": (groups.join_group, groups.refuse_join_group),
    "SyncGroup": (groups.sync_group, groups.refuse_sync_group),
    "Heartbeat": (groups.heartbeat, groups.refuse_heartbeat),
    "LeaveGroup": (groups.leave_group, groups.refuse_leave_group),
    "DescribeGroups": (groups.describe_groups, groups.refuse_describe_groups),
    "ListGroups": (groups.list_groups, groups.refuse_list_groups),
    "DeleteGroups": (deletion.delete_groups, deletion.refuse_delete_groups),
    "OffsetDelete": (deletion.delete_offsets, deletion.refuse_delete_offsets),
    "OffsetCommit": (offsets.commit_offsets, offsets.refuse_commit_offsets),
    "OffsetFetch": (offsets.fetch_offsets, offsets.refuse_fetch_offsets),
    "CreateTopics": (topics.create_topics, topics.refuse_create_topics),
    "DeleteTopics": (topics.delete_topics, topics.refuse_delete_topics),
    "CreatePartitions": (topics.create_partitions, topics.refuse_create_partitions),
    "DescribeTopicPartitions": (topic_pages.describe_topic_partitions, topic_pages.refuse_describe_topic_partitions),
    "DescribeConfigs": (configs.describe_configs, configs.refuse_describe_configs),
    "IncrementalAlterConfigs": (configs.alter_configs, configs.refuse_alter_configs),
    "AlterConfigs": (configs.replace_configs, configs.refuse_replace_configs),
    "ListConfigResources": (configs.list_config_resources, configs.refuse_list_config_resources),
    "Produce": (produce.produce, produce.refuse_produce),
    "ListOffsets": (records.list_offsets, records.refuse_list_offsets),
    "Fetch": (records.fetch, records.refuse_fetch),
}

# Those whose usual requests and answers need not be made into objects.
SHORT_WAYS: dict[str, ShortWay] = {"OffsetCommit": ShortWay(commit_reader, accepting)}


def served_apis(node: Node) -> list[Api]:
    """The dispatcher's table, with each handler bound to this node."""
    return [
        Api.of(api, partial(HANDLERS[api.name][0], node), HANDLERS[api.name][1], SHORT_WAYS.get(api.name))
        for api in APIS.values()
        if api.name in HANDLERS
    ]
