"""The audit log: a line for each refusal and each administrative request, whatever the log level is, and nothing secret in it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from coordinator_server.catalog.alter_configs import ResourceType
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.table import ROWS
from coordinator_server.server.control.control_socket import READING, ControlSocket
from coordinator_server.server.exchange.api_row import ApiRow, serve_row
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.guard.access import ApiAccess
from coordinator_server.server.guard.audit import MOST_EPISODES, REFUSALS_PER_SECOND, RESOURCES_PER_LINE, Audit
from coordinator_server.server.guard.audit_line import LONGEST_TEXT
from coordinator_server.server.guard.audited_apis import NAMED, NOT_AUDITED, audited
from coordinator_server.server.wire.connection import Connection, Limits
from coordinator_server.server.wire.episodes import EPISODE_MS, Episodes
from protocol.acl_codes import Operation
from protocol.api import APIS
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.frames import encode_request
from protocol.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, OpData, RequestEntryData
from protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from protocol.messages.create_acls import AclCreation, CreateAclsRequest
from protocol.messages.create_topics import CreatableTopic, CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from protocol.messages.write_txn_markers import WritableTxnMarker, WritableTxnMarkerTopic, WriteTxnMarkersRequest
from tests.support.api_requests import request_of
from tests.support.clock import ManualClock
from tests.support.turns import ManualLoop
from tests.unit.server.control.test_control_socket import ask

ANN = RequestContext("tool", "192.0.2.7", 19, 7, "User:ann")
CREATED = CreateTopicsResponse(topics=[CreatableTopicResult("orders")])
TWO = CreateTopicsRequest(topics=[CreatableTopic("orders"), CreatableTopic("bad name")])
ROW_OF = {row.request.kafka.key: row for row in ROWS}


def audit_of(clock: ManualClock) -> Audit:
    return Audit(clock.now_ms, Episodes(clock.now_ms))


class Peer:
    """A client of one audited API. ``handle`` is the handler, without a node."""

    def __init__(self, key: int, handle: Any) -> None:
        loop = ManualLoop()
        apis = [serve_row(ROW_OF[key], audited(APIS[key].name, handle, audit_of(ManualClock())))]
        self._loop = loop
        self._key = key
        self.connection, self.transport = loop.connect(Dispatcher(apis, loop.background), Limits(1 << 24, 1000))
        self.connection.principal = "User:ann"

    def ask(self, request: Message) -> dict[str, Any]:
        """Send a request, and return the one line about it."""
        with capture_logs() as lines:
            version = APIS[self._key].versions[-1]
            self.connection.data_received(encode_request(self._key, version, 7, "tool", request))
            self._loop.work()
        [line] = lines
        return dict(line)


def line_of(key: int, handle: Any, request: Message) -> dict[str, Any]:
    return Peer(key, handle).ask(request)


def test_an_administrative_request_says_who_from_where_what_and_the_outcome() -> None:
    line = line_of(19, lambda _context, _request, reply: reply.complete(CREATED), TWO)

    assert line == {
        "event": "administrative-request",
        "log_level": "info",
        "logger": "audit",
        "principal": "User:ann",
        "host": "192.0.2.1",
        "client_id": "tool",
        "api": "CreateTopics",
        "version": 7,
        "resources": ["Topic:orders", "Topic:bad name"],
        "outcome": "done",
    }


def test_a_refused_part_is_counted_and_its_errors_are_named() -> None:
    refused = CreatableTopicResult("bad name", error_code=ErrorCode.INVALID_TOPIC_EXCEPTION)
    response = CreateTopicsResponse(topics=[CreatableTopicResult("orders"), refused, refused])

    line = line_of(19, lambda _context, _request, reply: reply.complete(response), TWO)

    assert (line["outcome"], line["refused"]) == ("INVALID_TOPIC_EXCEPTION", 2)


def test_the_audit_log_marks_validate_only_requests() -> None:
    request = CreateTopicsRequest(topics=[CreatableTopic("orders")], validate_only=True)

    assert line_of(19, lambda _context, _request, reply: reply.complete(CREATED), request)["validate_only"] is True


def _refuse(_context: RequestContext, _request: Message, _reply: object) -> None:
    raise CoordinatorError(ErrorCode.TOPIC_DELETION_DISABLED)


def _fail(_context: RequestContext, _request: Message, reply: Any) -> None:
    reply.fail(ErrorCode.NOT_CONTROLLER)


def _beside(_context: RequestContext, _request: Message, reply: Any) -> None:
    reply.complete_beside(CREATED)


@pytest.mark.parametrize(
    ("handle", "outcome"), [(_refuse, "TOPIC_DELETION_DISABLED"), (_fail, "NOT_CONTROLLER"), (_beside, "done")]
)
def test_each_outcome_of_a_request_has_one_audit_line(handle: Any, outcome: str) -> None:
    peer = Peer(19, handle)

    assert peer.ask(TWO)["outcome"] == outcome
    assert len(peer.transport.writes) == 1


def test_a_request_whose_client_is_gone_has_its_line() -> None:
    """It may have changed something."""

    def hang_up(_context: RequestContext, _request: Message, reply: Any) -> None:
        connection: Connection = reply.connection
        connection.connection_lost(None)
        reply.complete(CREATED)

    assert line_of(19, hang_up, TWO)["outcome"] == "done"


def test_of_settings_the_names_are_said_and_no_value_is() -> None:
    changes = [AlterableConfig("retention.ms", 0, "secret"), AlterableConfig("cleanup.policy", 1, None)]
    request = IncrementalAlterConfigsRequest(resources=[AlterConfigsResource(ResourceType.TOPIC, "orders", changes)])

    line = line_of(44, lambda _context, _request, reply: reply.complete(IncrementalAlterConfigsResponse()), request)

    assert line["resources"] == ["Topic:orders retention.ms set,cleanup.policy unset"]
    assert "secret" not in str(line)


def test_a_line_names_the_first_resources_and_counts_the_others() -> None:
    request = CreateTopicsRequest(topics=[CreatableTopic("x" * 1000) for _ in range(RESOURCES_PER_LINE + 3)])

    line = line_of(19, lambda _context, _request, reply: reply.complete(CREATED), request)

    assert (len(line["resources"]), line["more_resources"]) == (RESOURCES_PER_LINE, 3)
    assert {len(each) for each in line["resources"]} == {LONGEST_TEXT + 1}


def _complete_empty(row: ApiRow[Any, Any]) -> Any:
    return lambda _context, _request, reply: reply.complete(row.response())


@pytest.mark.parametrize("key", [key for key, api in APIS.items() if api.name in NAMED], ids=lambda key: APIS[key].name)
def test_each_administrative_api_names_its_resources(key: int) -> None:
    line = line_of(key, _complete_empty(ROW_OF[key]), request_of(APIS[key].name, APIS[key].versions[-1]))

    assert line["api"] == APIS[key].name
    assert line["resources"]


# Their answers say which operations are allowed.
_READING = ("Describe", "List", "Find")
CHANGING = {Operation.ALTER, Operation.ALTER_CONFIGS, Operation.CREATE, Operation.DELETE, Operation.CLUSTER_ACTION}


def operations_of(row: ApiRow[Any, Any]) -> set[Operation]:
    """The operations that an API may need: those of its row, and those that the functions of its parts name."""
    assert isinstance(row.access, ApiAccess)
    found = {need.operation for need in row.access.needs} | {operation for operation, _ in row.access.in_handler}
    waiting: list[Any] = [row.access.parts]
    seen: set[int] = set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Operation):
            found.add(part)
        elif isinstance(part, tuple):
            waiting += part
        elif isinstance(part, FunctionType):
            found |= {Operation[name] for name in re.findall(r"Operation\.([A-Z_]+)", inspect.getsource(part))}
            waiting += [part.__globals__[name] for name in part.__code__.co_names if name in part.__globals__]
        elif type(part).__module__.startswith("coordinator_server.server"):
            waiting += [each for each in vars(type(part)).values() if isinstance(each, FunctionType)]
    return found


def test_every_api_that_changes_for_administrators_is_audited() -> None:
    """Or is a named exception, and no API is both."""
    changing = {APIS[row.request.kafka.key].name for row in ROWS if operations_of(row) & CHANGING}
    changing = {name for name in changing if not any(word in name for word in _READING)}

    assert changing - NAMED.keys() - NOT_AUDITED == set()
    assert changing >= NOT_AUDITED
    assert NAMED.keys() & NOT_AUDITED == set()


def test_audit_lines_have_the_change_of_users_and_acls() -> None:
    """A user that is set and one that is deleted, and access in Kafka's words."""
    users = AlterUserScramCredentialsRequest(
        [ScramCredentialDeletion("bob", 1)], [ScramCredentialUpsertion("ann", 2, 4096, b"salt", b"secret")]
    )
    acl = AclCreation(2, "orders", 4, "User:ann", "*", 3, 3)
    marker = WriteTxnMarkersRequest([WritableTxnMarker(7, 1, False, [WritableTxnMarkerTopic("__consumer_offsets", [3])])])

    assert NAMED["AlterUserScramCredentials"](users).texts == ["User:bob SCRAM-SHA-256 deleted", "User:ann SCRAM-SHA-512 set"]
    assert NAMED["CreateAcls"](CreateAclsRequest([acl])).texts == [
        "Acl:User:ann host=* operation=READ permission=ALLOW type=TOPIC pattern=PREFIXED orders"
    ]
    quotas = [OpData("request_percentage", 50.0), OpData("producer_byte_rate", remove=True)]
    entry = RequestEntryData([EntityData("user", None)], quotas)
    assert NAMED["AlterClientQuotas"](AlterClientQuotasRequest([entry])).texts == [
        "ClientQuota:user=<default> request_percentage=50.0,producer_byte_rate removed"
    ]
    assert NAMED["WriteTxnMarkers"](marker).texts == ["Producer:7 epoch=1 abort __consumer_offsets"]


def test_a_denied_request_has_a_line_at_every_log_level() -> None:
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    try:
        with capture_logs() as lines:
            audit_of(ManualClock()).denied(ANN, "Create", ["Cluster:kafka-cluster"])
            structlog.get_logger().error("lost")
    finally:
        structlog.configure(**before)

    assert [(line["event"], line["principal"], line["operation"], line["resources"]) for line in lines] == [
        ("request-denied", "User:ann", "Create", ["Cluster:kafka-cluster"])
    ]


def test_a_flood_of_refusals_is_counted() -> None:
    """Of many different ones, some in each second have a line. One that had none begins no episode."""
    clock = ManualClock()
    audit = audit_of(clock)

    def fail(user: str) -> None:
        audit.authentication_failed("192.0.2.7", listener="SASL", mechanism="PLAIN", user=user, why="wrong password")

    with capture_logs() as lines:
        for number in range(REFUSALS_PER_SECOND + 7):
            fail(str(number).ljust(1000, "u"))
        clock.advance(1000)
        fail(str(REFUSALS_PER_SECOND).ljust(1000, "u"))

    assert len(lines) == REFUSALS_PER_SECOND + 1
    assert len(lines[0]["user"]) == LONGEST_TEXT + 1
    assert [line.get("left_out_before") for line in lines[-2:]] == [None, 7]
    assert audit.counts == {"authentication-failed": REFUSALS_PER_SECOND + 8}


def test_a_client_that_tries_again_has_a_line_a_minute() -> None:
    """It says how many there were. What differs in more than the client id has a line of its own."""
    clock = ManualClock()
    episodes = Episodes(clock.now_ms)
    audit = Audit(clock.now_ms, episodes)
    other = RequestContext("tool-2", "192.0.2.7", 19, 7, "User:ann")

    with capture_logs() as lines:
        for _ in range(EPISODE_MS // 1000):
            audit.denied(ANN, "Create", ["Topic:a"])
            clock.advance(1000)
        audit.denied(other, "Create", ["Topic:a"])
        audit.denied(ANN, "Create", ["Topic:b"])
        episodes.review()
        clock.advance(EPISODE_MS)
        episodes.review()

    assert [(line["resources"], line["client_id"], line.get("more")) for line in lines] == [
        (["Topic:a"], "tool", None),
        (["Topic:b"], "tool", None),
        (["Topic:a"], "tool-2", EPISODE_MS // 1000),
    ]
    assert not episodes
    assert audit.counts == {"request-denied": EPISODE_MS // 1000 + 2}


def test_many_open_episodes_take_no_more_memory() -> None:
    """Then each refusal has a line again, as far as the lines of a second go."""
    clock = ManualClock()
    episodes = Episodes(clock.now_ms)
    audit = Audit(clock.now_ms, episodes)

    with capture_logs() as lines:
        for number in range(MOST_EPISODES + 5):
            clock.advance(10)
            audit.denied(ANN, "Create", [f"Topic:{number}"])
        audit.denied(ANN, "Create", [f"Topic:{MOST_EPISODES + 1}"])

    assert len(episodes) == MOST_EPISODES
    assert len(lines) == MOST_EPISODES + 6


async def test_an_operation_of_the_control_socket_that_changes_something_has_a_line(tmp_path: Path) -> None:
    async def change(request: Any) -> dict[str, Any]:
        return {}

    control = ControlSocket(tmp_path, {"restore": change, "status": change})
    await control.start()
    with capture_logs() as lines:
        await ask(
            tmp_path, b'{"op": "status"}', b'{"op": "restore", "group": {"group_id": "readers"}, "password": "secret"}', b"[]"
        )
        await ask(tmp_path, b'{"op": "sing"}')
    await control.stop()

    assert "status" in READING
    assert [(line["operation"], line.get("group_id"), line["outcome"]) for line in lines] == [
        ("restore", "readers", "done"),
        ("sing", None, "unknown op; there are: restore, status"),
    ]
    assert "secret" not in str(lines)
