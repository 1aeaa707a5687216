"""The API table: every declared API has a row, the row is of that API, and its parts agree about its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.server.apis import groups
from coordinator_server.server.apis.commit_shapes import commit_reader
from coordinator_server.server.apis.refusals import error_only
from coordinator_server.server.apis.table import ROWS
from coordinator_server.server.cluster.operations import FORWARDED
from coordinator_server.server.exchange.api_row import ApiRow, ShortWay, serve_row
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.guard.access import OPEN
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from protocol.api import APIS
from protocol.error_codes import ErrorCode
from protocol.fields import Kind
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from protocol.plain_commits import commit_response_encoder

ORDER = {row.request.kafka.key: row.order for row in ROWS}


def name_of(row: ApiRow[Any, Any]) -> str:
    return row.request.__name__.removesuffix("Request")


def test_every_declared_api_has_one_row() -> None:
    """ApiVersions offers what protocol/api.py declares: an API without a row would close the connection of who asks for it."""
    assert sorted(row.request.kafka.key for row in ROWS) == sorted(APIS)


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_a_row_is_of_its_declaration(row: ApiRow[Any, Any]) -> None:
    declared = APIS[row.request.kafka.key]
    served = serve_row(row, lambda context, request, reply: None)

    assert (row.request, row.response) == (declared.request, declared.response)
    assert row.response.kafka.key == row.request.kafka.key
    assert name_of(row) == row.response.__name__.removesuffix("Response") == declared.name
    assert (served.key, served.name, served.min_version, served.max_version) == (
        declared.key,
        declared.name,
        declared.versions[0],
        declared.versions[-1],
    )
    assert len(served.decode) == len(served.encode) == len(served.has_flexible_response_header) == declared.versions[-1] + 1


def test_every_api_row_declares_its_access() -> None:
    """One that says nothing would be open to everybody. These are, and their answers have nothing that one may not see."""
    assert [name_of(row) for row in ROWS if row.access is None] == []
    assert [name_of(row) for row in ROWS if row.access is not None and row.access == OPEN] == [
        "ApiVersions",
        "SaslHandshake",
        "SaslAuthenticate",
    ]


def test_what_waits_for_others_or_is_sent_to_another_loop_is_alone() -> None:
    """JoinGroup and SyncGroup wait for the other members; DeleteGroups,
    the offsets of share groups and transactions are of many shards.

    ShareFetch waits, and the next request of its session may not come in between.

    Changes of the catalog are loop 0's. A login lets nothing else happen beside it.
    """
    waiting, spread, transactions, sessions = {11, 14}, {42, 90, 91, 92}, {22, 24, 25, 26, 27, 28}, {78, 79}
    login = {17, 36}
    forwarded = {row.request.kafka.key for row in FORWARDED.values() if row.request.kafka.kind is Kind.REQUEST}

    assert {key for key, order in ORDER.items() if order is Order.ALONE} == (
        waiting | spread | transactions | sessions | login | forwarded
    )


def test_what_acts_at_once_is_a_write() -> None:
    """OffsetCommit, Heartbeat, LeaveGroup, OffsetDelete, the heartbeats of the newer protocols, and those of share state:
    pipelines of them lose nothing by acting before the first is durable."""
    assert {key for key, order in ORDER.items() if order is Order.WRITE} == {8, 12, 13, 47, 68, 76, 83, 84, 85, 86, 87, 88}


def test_apis_without_access_answer_without_a_node() -> None:
    """Its handler answers without a node: there is no state that its answer could depend on."""
    free = [row for row in ROWS if row.order is Order.FREE]

    assert [name_of(row) for row in free] == ["ApiVersions"]
    answers: list[Any] = []
    reply: Any = CallbackReply(answers.append, lambda error, message: None)
    nobody: Any = None
    for row in free:
        row.handle(nobody, RequestContext("c", "h", row.request.kafka.key, 0), row.request(), reply)
    assert [answer.error_code for answer in answers] == [ErrorCode.NONE]


if TYPE_CHECKING:
    # Rows that must not type-check. `make check` reports an ignored error that is none as unused.

    def joins(node: Node, context: RequestContext, request: HeartbeatRequest, reply: Exchange[JoinGroupResponse]) -> None: ...

    beat, refuse = groups.heartbeat, groups.refuse_heartbeat
    Request, Response, order = HeartbeatRequest, HeartbeatResponse, Order.WRITE

    ApiRow(Request, Response, beat, refuse, order)
    ApiRow(Request, Response, groups.join_group, refuse, order)  # type: ignore[arg-type]  # the handler takes another request
    ApiRow(Request, Response, joins, refuse, order)  # type: ignore[arg-type]  # the handler gives another response
    ApiRow(Request, Response, beat, groups.refuse_join_group, order)  # type: ignore[arg-type]  # the refusal takes another request
    ApiRow(Request, Response, beat, error_only(JoinGroupResponse), order)  # type: ignore[arg-type]  # the refusal makes another response
    ApiRow(JoinGroupRequest, Response, beat, refuse, order)  # type: ignore[arg-type]  # another API's request
    ApiRow(Request, JoinGroupResponse, beat, refuse, order)  # type: ignore[arg-type]  # another API's response
    ApiRow(Request, Response, lambda n, c, r, reply: reply.complete(JoinGroupResponse()), refuse, order)  # type: ignore[arg-type]  # so does this one
    ApiRow(Request, Response, beat, refuse, "write")  # type: ignore[arg-type]  # no order class
    ApiRow(Request, Response, beat, refuse, order, ShortWay(commit_reader, commit_response_encoder))  # type: ignore[arg-type]  # another API's codecs
