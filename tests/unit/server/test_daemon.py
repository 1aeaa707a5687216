"""Starts that are refused say what to do."""

from __future__ import annotations

import pytest

from coordinator_server.server.daemon import start_refusal
from protocol.error_codes import ErrorCode


@pytest.mark.parametrize(
    ("error", "message", "says"),
    [
        (ErrorCode.KAFKA_STORAGE_ERROR, None, "in the line log-refuses (KAFKA_STORAGE_ERROR): mend that, then start again"),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, None, "NOT_LEADER_OR_FOLLOWER"),
        (ErrorCode.INVALID_PARTITIONS, "too many partitions", "too many partitions"),
    ],
)
def test_topics_that_cannot_be_made_are_a_reason_to_act(error: ErrorCode, message: str | None, says: str) -> None:
    """A full disk, for one: the log's own line has the reason."""
    refusal = str(start_refusal("declare-topics", error, message))

    assert refusal.startswith("declare-topics: the topics could not be made: ")
    assert refusal.endswith(says)
