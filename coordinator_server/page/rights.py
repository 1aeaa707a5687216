"""What a viewer may see, as the cluster says to that viewer: DESCRIBE of groups, topics, transactional ids and the cluster.

The cluster is asked with the viewer's own login, in requests that leave out what the viewer may not describe. So the page has no
rule of its own, and needs none of the cluster's ACLs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from coordinator_server.client.admin.cluster import Cluster, check
from coordinator_server.client.admin.groups import list_groups
from coordinator_server.client.admin.transactions import list_transactions
from protocol.error_codes import ErrorCode
from protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from protocol.messages.list_transactions import ListTransactionsRequest
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

_DESCRIBE: Final = 8
"""Kafka's AclOperation."""
_TOPICS_A_REQUEST: Final = 2000


class Rights(NamedTuple):
    """What may be seen; None is all. ``has_cluster``: the log, too, and groups that were deleted, which no cluster names."""

    groups: frozenset[str] | None = None
    topics: frozenset[str] | None = None
    transactional_ids: frozenset[str] | None = None
    has_cluster: bool = True

    def may_see(self, group_id: str, topics: Iterable[str]) -> bool:
        """Return whether a group may be seen that consumes some topics: each has to be seen, too, as for ConsumerGroupDescribe."""
        return (self.groups is None or group_id in self.groups) and all(map(self.may_see_topic, topics))

    def may_see_topic(self, topic: str) -> bool:
        """Return whether a topic may be seen."""
        return self.topics is None or topic in self.topics

    def may_see_transactions(self, transactional_id: str) -> bool:
        """Return whether the transactions of an id may be seen."""
        return self.transactional_ids is None or transactional_id in self.transactional_ids


EVERYTHING: Final = Rights()


async def rights_of(cluster: Cluster, topics: Collection[str]) -> Rights:
    """Ask what the user of a connection may describe. ``topics`` are all that a view may name. Raises ClientError."""
    answer = await cluster.ask(DescribeClusterRequest(include_cluster_authorized_operations=True), DescribeClusterResponse)
    check("DescribeCluster", answer.error_code, answer.error_message)
    operations = answer.cluster_authorized_operations
    has_cluster = operations >= 0 and bool(operations >> _DESCRIBE & 1)
    groups = None if has_cluster else frozenset(each.group_id for each in await list_groups(cluster))
    return Rights(groups, await _topics(cluster, sorted(topics)), await _transactional_ids(cluster), has_cluster)


async def _topics(cluster: Cluster, wanted: list[str]) -> frozenset[str]:
    """Return the topics that may be described. One that does not exist any more may be, unless the cluster says no."""
    found: set[str] = set()
    for start in range(0, len(wanted), _TOPICS_A_REQUEST):
        asked = [MetadataRequestTopic(name=name) for name in wanted[start : start + _TOPICS_A_REQUEST]]
        answer = await cluster.ask(MetadataRequest(asked, allow_auto_topic_creation=False), MetadataResponse)
        found |= {
            each.name
            for each in answer.topics
            if each.name is not None and each.error_code != ErrorCode.TOPIC_AUTHORIZATION_FAILED
        }
    return frozenset(found)


async def _transactional_ids(cluster: Cluster) -> frozenset[str]:
    if not await cluster.serves(ListTransactionsRequest):
        return frozenset()
    return frozenset(each.transactional_id for each in await list_transactions(cluster))
