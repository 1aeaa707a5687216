"""The table of APIs is what a Kafka 4.3.1 broker serves of them."""

from __future__ import annotations

import pytest

from protocol.api import APIS, Api, known_apis
from tests.support.oracle import facts, raw_schemas, within

SERVED = {
    "AddOffsetsToTxn",
    "AddPartitionsToTxn",
    "AlterClientQuotas",
    "AlterConfigs",
    "AlterUserScramCredentials",
    "DescribeUserScramCredentials",
    "SaslAuthenticate",
    "SaslHandshake",
    "AlterShareGroupOffsets",
    "ApiVersions",
    "ConsumerGroupDescribe",
    "ConsumerGroupHeartbeat",
    "CreateAcls",
    "CreatePartitions",
    "CreateTopics",
    "DeleteAcls",
    "DeleteGroups",
    "DeleteShareGroupOffsets",
    "DeleteShareGroupState",
    "DeleteTopics",
    "DescribeAcls",
    "DescribeClientQuotas",
    "DescribeCluster",
    "DescribeConfigs",
    "DescribeGroups",
    "DescribeProducers",
    "DescribeShareGroupOffsets",
    "DescribeTopicPartitions",
    "DescribeTransactions",
    "EndTxn",
    "Fetch",
    "FindCoordinator",
    "Heartbeat",
    "IncrementalAlterConfigs",
    "InitProducerId",
    "InitializeShareGroupState",
    "JoinGroup",
    "LeaveGroup",
    "ListConfigResources",
    "ListGroups",
    "ListOffsets",
    "ListPartitionReassignments",
    "ListTransactions",
    "Metadata",
    "OffsetCommit",
    "OffsetDelete",
    "OffsetFetch",
    "Produce",
    "ReadShareGroupState",
    "ReadShareGroupStateSummary",
    "ShareAcknowledge",
    "ShareFetch",
    "ShareGroupDescribe",
    "ShareGroupHeartbeat",
    "StreamsGroupDescribe",
    "StreamsGroupHeartbeat",
    "SyncGroup",
    "TxnOffsetCommit",
    "WriteShareGroupState",
    "WriteTxnMarkers",
}
each_api = pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
each_known_api = pytest.mark.parametrize("api", known_apis().values(), ids=lambda api: api.name)
# Where a broker's answer is not what it has schemas for: old producers must see version 0, and two-phase commit is not stable yet.
ANSWERED = {"Produce": {"min": 0}, "InitProducerId": {"max": 5}}


def test_these_apis_are_served() -> None:
    """No more, no fewer."""
    assert {api.name for api in APIS.values()} == SERVED


@each_api
def test_versions_are_those_of_the_broker(api: Api) -> None:
    """Key, name and range."""
    told = {"key": api.key, "name": api.name, "min": api.min_version, "max": api.max_version}
    assert told | ANSWERED.get(api.name, {}) in facts("api_versions.jsonl")
    assert APIS[api.key] is api


@each_known_api
def test_what_a_broker_serves_is_known(api: Api) -> None:
    """At every version, but for two whose answer is not what the schemas have."""
    known = {"key": api.key, "name": api.name, "min": api.min_version, "max": api.max_version}

    assert known | ANSWERED.get(api.name, {}) in facts("api_versions.jsonl")
    assert (api.request.__name__, api.response.__name__) == (f"{api.name}Request", f"{api.name}Response")


def test_every_schema_of_a_request_is_a_known_api() -> None:
    """And what is served is known as well."""
    assert {f"{api.name}Request" for api in known_apis().values()} == {
        n for n, raw in raw_schemas().items() if raw["type"] == "request"
    }
    assert set(APIS) <= set(known_apis())


@each_known_api
def test_header_versions_follow_from_flexible_versions(api: Api) -> None:
    """2 and 1 where the message is flexible; the answer to ApiVersions always has version 0."""
    for version in api.versions:
        flexible = within(raw_schemas()[api.name + "Request"]["flexibleVersions"], version)
        assert api.request_header_version(version) == (2 if flexible else 1)
        assert api.response_header_version(version) == (1 if flexible and api.name != "ApiVersions" else 0)


def test_an_unknown_version_is_read_as_the_newest() -> None:
    """A newer client's ApiVersions request has a flexible header."""
    assert APIS[18].request_header_version(99) == 2
