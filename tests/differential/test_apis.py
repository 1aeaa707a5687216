"""Scripts can ask for every API that is served, but for those that are named here with what holds their answers instead."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from coordinator_server.server.apis.table import ROWS
from tests.differential import consuming, producing, script_requests, share_states, sharing, streaming
from tests.scenarios import player

TESTS: Final = Path(__file__).parents[1]
ELSEWHERE: Final = {
    "AlterConfigs": "integration/test_configs.py",
    "AlterUserScramCredentials": "differential/test_logins.py",
    "ApiVersions": "unit/protocol/test_api.py",
    "CreateAcls": "differential/acl_cases.py",
    "DeleteAcls": "differential/acl_cases.py",
    "DescribeAcls": "differential/acl_cases.py",
    "DescribeCluster": "integration/test_cluster.py",
    "DescribeTopicPartitions": "integration/test_topics.py",
    "DescribeUserScramCredentials": "differential/test_logins.py",
    "Fetch": "integration/test_internal_topics.py",
    "ListOffsets": "integration/test_internal_topics.py",
    "ListPartitionReassignments": "integration/test_cluster.py",
    "Produce": "integration/test_internal_topics.py",
    "SaslAuthenticate": "differential/test_logins.py",
    "SaslHandshake": "differential/test_logins.py",
}


def test_every_api_is_compared_with_a_broker_or_said_not_to_be() -> None:
    imported = {
        name
        for module in (script_requests, consuming, player, producing, share_states, sharing, streaming)
        for name in vars(module)
    }
    asked = {name.removesuffix("Request") for name in imported if name.endswith("Request")}

    served = {row.request.__name__.removesuffix("Request") for row in ROWS}
    assert ELSEWHERE.keys() <= served <= asked | ELSEWHERE.keys()
    assert asked.isdisjoint(ELSEWHERE)


def test_every_contract_named_elsewhere_exists() -> None:
    assert [api for api, path in ELSEWHERE.items() if api not in (TESTS / path).read_text()] == []
