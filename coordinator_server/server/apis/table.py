"""The table of served APIs: the rows of ``server/apis``.

ApiVersions answers with the table of ``protocol/api.py``; a test checks that both tables agree.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from coordinator_server.server.apis import (
    acls,
    alter_configs,
    brokers,
    configs,
    consumer_group_describe,
    consumer_group_heartbeat,
    delete_groups,
    find_coordinator,
    groups,
    metadata,
    offset_commit,
    offset_delete,
    offset_fetch,
    produce,
    producers,
    quotas,
    records,
    sasl,
    scram_users,
    share_acknowledge,
    share_fetch,
    share_groups,
    share_offset_changes,
    share_offset_descriptions,
    share_state,
    streams_groups,
    topic_pages,
    topics,
    transaction_partitions,
    transaction_states,
    transactions,
    txn_offset_commit,
)
from coordinator_server.server.exchange.api_row import ApiRow, DenyUnread, serve_row
from coordinator_server.server.exchange.exchange import Handle
from coordinator_server.server.guard.audited_apis import audited
from coordinator_server.server.hosting.node import Node
from protocol.api import APIS

ROWS: Final[tuple[ApiRow[Any, Any], ...]] = (
    brokers.API_VERSIONS_API,
    sasl.SASL_HANDSHAKE_API,
    sasl.SASL_AUTHENTICATE_API,
    metadata.METADATA_API,
    find_coordinator.FIND_COORDINATOR_API,
    brokers.DESCRIBE_CLUSTER_API,
    brokers.LIST_PARTITION_REASSIGNMENTS_API,
    groups.JOIN_GROUP_API,
    groups.SYNC_GROUP_API,
    groups.HEARTBEAT_API,
    groups.LEAVE_GROUP_API,
    groups.DESCRIBE_GROUPS_API,
    groups.LIST_GROUPS_API,
    consumer_group_describe.CONSUMER_GROUP_DESCRIBE_API,
    consumer_group_heartbeat.CONSUMER_GROUP_HEARTBEAT_API,
    share_groups.SHARE_GROUP_HEARTBEAT_API,
    share_groups.SHARE_GROUP_DESCRIBE_API,
    streams_groups.STREAMS_GROUP_HEARTBEAT_API,
    streams_groups.STREAMS_GROUP_DESCRIBE_API,
    delete_groups.DELETE_GROUPS_API,
    offset_delete.OFFSET_DELETE_API,
    offset_commit.OFFSET_COMMIT_API,
    offset_fetch.OFFSET_FETCH_API,
    transactions.INIT_PRODUCER_ID_API,
    transaction_partitions.ADD_PARTITIONS_TO_TXN_API,
    transactions.ADD_OFFSETS_TO_TXN_API,
    transactions.END_TXN_API,
    transaction_states.DESCRIBE_TRANSACTIONS_API,
    transaction_states.LIST_TRANSACTIONS_API,
    topics.CREATE_TOPICS_API,
    topics.DELETE_TOPICS_API,
    topics.CREATE_PARTITIONS_API,
    topic_pages.DESCRIBE_TOPIC_PARTITIONS_API,
    configs.DESCRIBE_CONFIGS_API,
    alter_configs.INCREMENTAL_ALTER_CONFIGS_API,
    alter_configs.ALTER_CONFIGS_API,
    configs.LIST_CONFIG_RESOURCES_API,
    scram_users.DESCRIBE_USER_SCRAM_CREDENTIALS_API,
    scram_users.ALTER_USER_SCRAM_CREDENTIALS_API,
    acls.DESCRIBE_ACLS_API,
    acls.CREATE_ACLS_API,
    acls.DELETE_ACLS_API,
    quotas.DESCRIBE_CLIENT_QUOTAS_API,
    quotas.ALTER_CLIENT_QUOTAS_API,
    produce.PRODUCE_API,
    records.LIST_OFFSETS_API,
    records.FETCH_API,
    share_fetch.SHARE_FETCH_API,
    share_acknowledge.SHARE_ACKNOWLEDGE_API,
    txn_offset_commit.TXN_OFFSET_COMMIT_API,
    producers.WRITE_TXN_MARKERS_API,
    producers.DESCRIBE_PRODUCERS_API,
    share_state.INITIALIZE_SHARE_GROUP_STATE_API,
    share_state.READ_SHARE_GROUP_STATE_API,
    share_state.WRITE_SHARE_GROUP_STATE_API,
    share_state.DELETE_SHARE_GROUP_STATE_API,
    share_state.READ_SHARE_GROUP_STATE_SUMMARY_API,
    share_offset_descriptions.DESCRIBE_SHARE_GROUP_OFFSETS_API,
    share_offset_changes.ALTER_SHARE_GROUP_OFFSETS_API,
    share_offset_changes.DELETE_SHARE_GROUP_OFFSETS_API,
)


def served_apis(node: Node) -> list[ApiRow[Any, Any]]:
    """Return the dispatcher's table: each handler is bound to this node, guarded and audited."""
    return [serve_row(row, _handle(row, node), _deny_unread(row, node)) for row in ROWS]


def _handle(row: ApiRow[Any, Any], node: Node) -> Handle:
    handle: Handle = partial(row.handle, node)
    if node.authorizer is not None:
        assert row.access is not None, f"{row.request.__name__} says nothing about access"
        handle = row.access.guarded(handle, node)
    return handle if node.audit is None else audited(APIS[row.request.kafka.key].name, handle, node.audit)


def _deny_unread(row: ApiRow[Any, Any], node: Node) -> DenyUnread | None:
    if row.unread is None or row.access is None or node.authorizer is None:
        return None
    return row.access.denying_unread(row.unread, node)
