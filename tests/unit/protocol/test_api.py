"""The table of APIs is what a Kafka 4.3.1 broker serves of them."""

from __future__ import annotations

import pytest

from protocol.api import APIS, Api
from tests.support.oracle import facts, raw_schemas, within

SERVED = {
    "ApiVersions",
    "CreateTopics",
    "DescribeGroups",
    "Fetch",
    "FindCoordinator",
    "Heartbeat",
    "JoinGroup",
    "LeaveGroup",
    "ListGroups",
    "ListOffsets",
    "Metadata",
    "OffsetCommit",
    "OffsetFetch",
    "SyncGroup",
}
each_api = pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)


def test_these_apis_are_served() -> None:
    """No more, no fewer."""
    assert {api.name for api in APIS.values()} == SERVED


@each_api
def test_versions_are_those_of_the_broker(api: Api) -> None:
    """Key, name and range."""
    assert {"key": api.key, "name": api.name, "min": api.min_version, "max": api.max_version} in facts("api_versions.jsonl")
    assert APIS[api.key] is api


@each_api
def test_header_versions_follow_from_flexible_versions(api: Api) -> None:
    """2 and 1 where the message is flexible; the answer to ApiVersions always has version 0."""
    for version in api.versions:
        flexible = within(raw_schemas()[api.name + "Request"]["flexibleVersions"], version)
        assert api.request_header_version(version) == (2 if flexible else 1)
        assert api.response_header_version(version) == (1 if flexible and api.name != "ApiVersions" else 0)


def test_an_unknown_version_is_read_as_the_newest() -> None:
    """A newer client's ApiVersions request has a flexible header."""
    assert APIS[18].request_header_version(99) == 2
