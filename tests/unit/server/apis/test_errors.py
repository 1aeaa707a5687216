"""What the client of each API is told when the log, or the life of a shard, says no. After Kafka's
CoordinatorOperationExceptionHelper.

| error | group operations | OffsetFetch | CreateTopics and its siblings |
|---|---|---|---|
| of `machine/errors.py` | as it says | but NOT_COORDINATOR for COORDINATOR_NOT_AVAILABLE | NOT_CONTROLLER, to be asked again |
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import pytest

from coordinator_server.log.errors import Fenced, LogError, OutcomeUnknown, Unavailable
from coordinator_server.machine.errors import OPERATION_ERRORS, operation_error
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.errors import TooLarge, error_for
from coordinator_server.server.apis.offset_fetch_forms import FETCH_ERRORS
from coordinator_server.server.apis.share_state import STATE_ERRORS
from coordinator_server.server.apis.table import ROWS
from coordinator_server.server.apis.topics import CONTROLLER_ERRORS
from protocol.api import APIS
from protocol.codec import encoder
from protocol.error_codes import ErrorCode
from tests.support.api_requests import request_of
from tests.support.batches import in_batches
from tests.support.response_fields import field_values

ROW_OF = {APIS[row.request.kafka.key].name: row for row in ROWS}
# The table of each API that is an operation of a coordinator.
OPERATIONS: Final[dict[str, Any]] = {
    "JoinGroup": OPERATION_ERRORS,
    "SyncGroup": OPERATION_ERRORS,
    "Heartbeat": {**OPERATION_ERRORS, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: ErrorCode.NONE},
    "LeaveGroup": OPERATION_ERRORS,
    "DescribeGroups": OPERATION_ERRORS,
    "ConsumerGroupDescribe": OPERATION_ERRORS,
    "ConsumerGroupHeartbeat": OPERATION_ERRORS,
    "ShareGroupDescribe": OPERATION_ERRORS,
    "ShareGroupHeartbeat": OPERATION_ERRORS,
    "StreamsGroupDescribe": OPERATION_ERRORS,
    "StreamsGroupHeartbeat": OPERATION_ERRORS,
    "ListGroups": OPERATION_ERRORS,
    "DescribeShareGroupOffsets": OPERATION_ERRORS,
    "AlterShareGroupOffsets": OPERATION_ERRORS,
    "DeleteShareGroupOffsets": OPERATION_ERRORS,
    "DeleteGroups": OPERATION_ERRORS,
    "OffsetDelete": OPERATION_ERRORS,
    "OffsetCommit": OPERATION_ERRORS,
    "OffsetFetch": FETCH_ERRORS,
    "InitProducerId": OPERATION_ERRORS,
    "AddPartitionsToTxn": OPERATION_ERRORS,
    "AddOffsetsToTxn": OPERATION_ERRORS,
    "EndTxn": OPERATION_ERRORS,
    "DescribeTransactions": OPERATION_ERRORS,
    "ListTransactions": OPERATION_ERRORS,
    "InitializeShareGroupState": STATE_ERRORS,
    "ReadShareGroupState": STATE_ERRORS,
    "WriteShareGroupState": STATE_ERRORS,
    "DeleteShareGroupState": STATE_ERRORS,
    "ReadShareGroupStateSummary": STATE_ERRORS,
    "CreateTopics": CONTROLLER_ERRORS,
    "DeleteTopics": CONTROLLER_ERRORS,
    "AlterConfigs": CONTROLLER_ERRORS,
    "IncrementalAlterConfigs": CONTROLLER_ERRORS,
    "CreatePartitions": CONTROLLER_ERRORS,
    "AlterUserScramCredentials": CONTROLLER_ERRORS,
    "CreateAcls": CONTROLLER_ERRORS,
    "DeleteAcls": CONTROLLER_ERRORS,
    "AlterClientQuotas": CONTROLLER_ERRORS,
}
# Errors depend on the version, or on the partition; tests of their own say how.
VERSIONED: Final = {"TxnOffsetCommit", "WriteTxnMarkers"}
# They ask the catalog and write nothing of their own; a read fails with nothing that only a log can say.
READERS: Final = {
    "ApiVersions",
    "Metadata",
    "FindCoordinator",
    "DescribeClientQuotas",
    "DescribeCluster",
    "ListOffsets",
    "Fetch",
    "DescribeConfigs",
    "Produce",
    "DescribeProducers",
    "DescribeTopicPartitions",
    "DescribeAcls",
    "ListConfigResources",
    "ListPartitionReassignments",
    "ShareFetch",
    "ShareAcknowledge",
    "SaslHandshake",
    "SaslAuthenticate",
    "DescribeUserScramCredentials",
}

RAW: Final = sorted(
    {error_for(failure) for failure in (Unavailable(""), OutcomeUnknown(""), Fenced(""), LogError(""), TooLarge(""))}
    | {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR}
    | OPERATION_ERRORS.keys()
)


# What a broker of 4.3.1 answers when its log takes no write within offsets.commit.timeout.ms, or has too few replicas in sync:
# CoordinatorOperationExceptionHelper and GroupCoordinatorService.handleOffsetFetchException (groups, share state), and
# TransactionStateManager.appendTransactionToLog. WriteTxnMarkers has the log's own error in each partition: test_producers.py.
OF_A_LATE_LOG: Final = dict.fromkeys(
    (
        *("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit", "OffsetDelete", "DeleteGroups"),
        *("ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat"),
        *("AlterShareGroupOffsets", "DeleteShareGroupOffsets"),
        *("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn"),
        *("InitializeShareGroupState", "WriteShareGroupState", "DeleteShareGroupState", "ReadShareGroupState"),
    ),
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
) | {"OffsetFetch": ErrorCode.NOT_COORDINATOR}


def refusals(api: str, error: ErrorCode, message: str | None) -> Iterator[Any]:
    """The answer of each version, which can be encoded there."""
    row = ROW_OF[api]
    declared = APIS[row.request.kafka.key]
    for version in declared.versions:
        answer = row.refuse(RequestContext("c", "h", declared.key, version), request_of(api, version), error, message)
        encoder(row.response, version)(answer, bytearray())
        yield answer


def test_every_api_that_is_served_has_its_errors_told() -> None:
    assert ROW_OF.keys() == set(OPERATIONS) | READERS | VERSIONED


@pytest.mark.parametrize("failure", [ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_ENOUGH_REPLICAS])
def test_a_log_that_does_not_answer_is_told_as_a_broker_tells_it(failure: ErrorCode) -> None:
    told = {api: {code for each in refusals(api, failure, None) for code in field_values(each) if code} for api in OF_A_LATE_LOG}

    assert told == {api: {error} for api, error in OF_A_LATE_LOG.items()}


@in_batches("api, error", product(OPERATIONS, RAW), tests=4)
def test_an_error_of_the_log_is_told_as_the_api_says_it(api: str, error: ErrorCode) -> None:
    table = OPERATIONS[api]
    for answer in refusals(api, error, None):
        assert {code for code in field_values(answer) if code} <= {table.get(error, error)}
        assert table.get(error, error) in set(field_values(answer))


@pytest.mark.parametrize("api", sorted(ROW_OF))
def test_every_api_can_refuse_a_request(api: str) -> None:
    """As its own bug is answered: the error is there, once for the whole or for each thing that was asked for,
    and nothing else is.
    """
    for answer in refusals(api, ErrorCode.UNKNOWN_SERVER_ERROR, "why"):
        assert {code for code in field_values(answer) if code} == {ErrorCode.UNKNOWN_SERVER_ERROR}


@pytest.mark.parametrize(
    "api",
    [
        "AlterClientQuotas",
        "AlterConfigs",
        "AlterUserScramCredentials",
        "CreatePartitions",
        "CreateTopics",
        "DeleteTopics",
        "DescribeClientQuotas",
        "DescribeCluster",
        "DescribeConfigs",
        "FindCoordinator",
        "IncrementalAlterConfigs",
        "Produce",
        "InitializeShareGroupState",
        "ReadShareGroupState",
        "WriteShareGroupState",
        "DeleteShareGroupState",
        "ReadShareGroupStateSummary",
    ],
)
def test_a_refusal_says_why_where_the_api_has_room_for_it(api: str) -> None:
    for answer in refusals(api, ErrorCode.UNKNOWN_SERVER_ERROR, "why"):
        assert "why" in set(field_values(answer, "error_message"))


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (Unavailable("disk full"), ErrorCode.NOT_COORDINATOR),
        (OutcomeUnknown("no answer in time"), ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (Fenced("epoch 2"), ErrorCode.NOT_COORDINATOR),
        (TooLarge("records"), ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
    ids=["storage", "timeout", "fenced", "too large"],
)
def test_the_client_of_a_coordinator_knows_what_to_do_about_storage(failure: LogError | TooLarge, code: ErrorCode) -> None:
    assert operation_error(error_for(failure)) == code


def test_no_error_of_the_log_itself_reaches_a_client() -> None:
    assert OPERATION_ERRORS.keys().isdisjoint(OPERATION_ERRORS.values())
    assert OPERATION_ERRORS.keys().isdisjoint(FETCH_ERRORS.values())
