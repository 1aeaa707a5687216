"""What DescribeCluster says of the server."""

from __future__ import annotations

import pytest

from protocol.error_codes import ErrorCode
from protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
)
from protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.support.client import Client

VERSIONS = range(3)
CONTROLLERS, NOTHING_KNOWN = 2, 9


@pytest.mark.parametrize("version", VERSIONS)
def test_describe_cluster_says_what_metadata_says(client: Client, version: int) -> None:
    """Cluster id, controller and brokers are the same; operations are told to who asks for them."""
    metadata = client.ask(MetadataRequest(topics=[]), 12, MetadataResponse)

    plain = client.ask(DescribeClusterRequest(), version, DescribeClusterResponse)
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    authorized = client.ask(request, version, DescribeClusterResponse)

    assert (plain.error_code, plain.cluster_id, plain.controller_id) == (0, metadata.cluster_id, metadata.controller_id)
    assert [(each.broker_id, each.host, each.port) for each in plain.brokers] == [
        (each.node_id, each.host, each.port) for each in metadata.brokers
    ]
    assert plain.cluster_authorized_operations == -(2**31)
    assert authorized.cluster_authorized_operations > 0


@pytest.mark.parametrize("version", VERSIONS[1:])
def test_fenced_brokers_and_controllers_are_not_served_here(client: Client, version: int) -> None:
    """The endpoint types of KIP-919: a broker's endpoint answers for brokers."""
    answers = {
        asked: client.ask(DescribeClusterRequest(endpoint_type=asked), version, DescribeClusterResponse)
        for asked in (CONTROLLERS, NOTHING_KNOWN)
    }

    assert {asked: answer.error_code for asked, answer in answers.items()} == {
        CONTROLLERS: ErrorCode.MISMATCHED_ENDPOINT_TYPE,
        NOTHING_KNOWN: ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
    }
    assert all(answer.error_message and not answer.brokers for answer in answers.values())


def test_no_partition_moves_between_brokers(client: Client) -> None:
    """Of all topics, and of one that is named, known or not."""
    named = [ListPartitionReassignmentsTopics("orders", [0]), ListPartitionReassignmentsTopics("unknown", [7])]
    for request in (ListPartitionReassignmentsRequest(), ListPartitionReassignmentsRequest(topics=named)):
        answer = client.ask(request, 0, ListPartitionReassignmentsResponse)

        assert (answer.error_code, answer.error_message, answer.topics) == (ErrorCode.NONE, None, [])
