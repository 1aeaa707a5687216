"""The features that ApiVersions tells. A 4.3.1 broker's answers were recorded on 2026-11-22: its metadata.version is 7 to 30."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.server.apis.brokers import API_VERSIONS_API
from protocol.codec import decode, encode
from protocol.messages.api_versions import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

METADATA = SupportedFeatureKey("metadata.version", 7, 30)
TRANSACTION = SupportedFeatureKey("transaction.version", 0, 2)
GROUP = SupportedFeatureKey("group.version", 0, 1)
SHARE = SupportedFeatureKey("share.version", 0, 1)
STREAMS = SupportedFeatureKey("streams.version", 0, 1)


def answer(version: int) -> ApiVersionsResponse:
    """What a client of this version reads."""
    answers: list[ApiVersionsResponse] = []
    reply: Any = CallbackReply(answers.append, lambda error, message: None)
    nobody: Any = None
    API_VERSIONS_API.handle(nobody, RequestContext("c", "h", 18, version), ApiVersionsRequest("tests", "1"), reply)
    return decode(ApiVersionsResponse, version, encode(answers[0], version))


@pytest.mark.parametrize(
    ("version", "supported"), [(0, []), (2, []), (3, [METADATA]), (4, [METADATA, TRANSACTION, GROUP, SHARE, STREAMS])]
)
def test_a_client_is_told_the_features_that_it_understands(version: int, supported: list[SupportedFeatureKey]) -> None:
    """Those that begin at level 0 from version 4 on, as a broker does."""
    assert answer(version).supported_features == supported


@pytest.mark.parametrize("version", [3, 4])
def test_transactions_of_version_2_are_in_use(version: int) -> None:
    """Java clients believe it if the epoch is not negative."""
    found = answer(version)

    assert found.finalized_features == [
        FinalizedFeatureKey("metadata.version", 30, 30),
        FinalizedFeatureKey("transaction.version", 2, 2),
        FinalizedFeatureKey("group.version", 1, 1),
        FinalizedFeatureKey("share.version", 1, 1),
        FinalizedFeatureKey("streams.version", 1, 1),
    ]
    assert found.finalized_features_epoch >= 0
    assert not found.zk_migration_ready
