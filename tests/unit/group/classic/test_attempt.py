"""What the version of a JoinGroup means."""

from __future__ import annotations

import pytest

from coordinator_server.group.classic.attempt import JoinAttempt
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import RequestContext
from protocol.error_codes import ErrorCode
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from tests.support.group import FakeReply


def attempt(version: int, reply: FakeReply | None = None, reason: str | None = None) -> JoinAttempt:
    request = JoinGroupRequest("g", 10_000, 30_000, reason=reason)
    return JoinAttempt(RequestContext("client", "host", 11, version), request, reply or FakeReply(version))


@pytest.mark.parametrize(("version", "name", "expected"), [(6, None, ""), (6, "x", "x"), (7, "", None), (7, "x", "x")])
def test_no_protocol_is_null_or_empty(version: int, name: str | None, expected: str | None) -> None:
    """KIP-559: null from version 7 on, and never both."""
    reply = FakeReply(version)

    attempt(version, reply).complete(JoinGroupResponse(protocol_name=name))

    assert reply.response.protocol_name == expected


def test_versions() -> None:
    """Each rule has its first version."""
    assert [attempt(version).rebalance_timeout_ms for version in (0, 1)] == [10_000, 30_000]
    assert [attempt(version).requires_member_id for version in (3, 4)] == [False, True]
    assert [attempt(version).can_skip_assignment for version in (8, 9)] == [False, True]


@pytest.mark.parametrize(("reason", "told"), [(None, ""), ("", ""), ("tired", "tired")])
def test_reason(reason: str | None, told: str) -> None:
    """KIP-800: what the client says comes along, if it says anything."""
    assert attempt(9, reason=reason).reason(Why.MEMBER_JOINED, "m") == Reason("member-joined", "m", told)


def test_failure_is_left_to_the_edge() -> None:
    """An error that has nothing to do with the protocol goes through."""
    reply = FakeReply(9)

    attempt(9, reply).fail(ErrorCode.NOT_COORDINATOR)

    assert reply.error is ErrorCode.NOT_COORDINATOR
