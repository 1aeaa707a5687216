"""What the client of each API is told when the log, or the life of a shard, says no. After Kafka's CoordinatorOperationExceptionHelper.

| error | group operations | OffsetFetch | CreateTopics and its siblings |
|---|---|---|---|
| of the table `machine/errors.py` | as it says | but NOT_COORDINATOR for what would be COORDINATOR_NOT_AVAILABLE | NOT_CONTROLLER, to be asked again |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec
import pytest

from coordinator_server.log.errors import Fenced, LogError, OutcomeUnknown, Unavailable
from coordinator_server.machine.errors import OPERATION_ERRORS, operation_error
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.errors import TooLarge, error_for
from coordinator_server.server.apis.offsets import FETCH_ERRORS
from coordinator_server.server.apis.topics import CONTROLLER_ERRORS
from coordinator_server.server.table import HANDLERS
from protocol.api import APIS
from protocol.codec import encoder
from protocol.error_codes import ErrorCode
from protocol.messages.alter_configs import AlterConfigsRequest
from protocol.messages.alter_configs import AlterConfigsResource as ReplacedResource
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from protocol.messages.delete_groups import DeleteGroupsRequest
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.incremental_alter_configs import AlterConfigsResource, IncrementalAlterConfigsRequest
from protocol.messages.join_group import JoinGroupRequest
from protocol.messages.leave_group import LeaveGroupRequest
from protocol.messages.list_groups import ListGroupsRequest
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_delete import OffsetDeleteRequest
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopic
from protocol.messages.sync_group import SyncGroupRequest

# A request of each API that is an operation of a coordinator, and its table.
OPERATIONS: Final[dict[str, tuple[Any, Any]]] = {
    "JoinGroup": (JoinGroupRequest("g"), OPERATION_ERRORS),
    "SyncGroup": (SyncGroupRequest("g"), OPERATION_ERRORS),
    "Heartbeat": (HeartbeatRequest("g"), {**OPERATION_ERRORS, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: ErrorCode.NONE}),
    "LeaveGroup": (LeaveGroupRequest("g"), OPERATION_ERRORS),
    "DescribeGroups": (DescribeGroupsRequest(["g"]), OPERATION_ERRORS),
    "ListGroups": (ListGroupsRequest(), OPERATION_ERRORS),
    "DeleteGroups": (DeleteGroupsRequest(["g"]), OPERATION_ERRORS),
    "OffsetDelete": (OffsetDeleteRequest("g"), OPERATION_ERRORS),
    "OffsetCommit": (
        OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0)])]),
        OPERATION_ERRORS,
    ),
    "OffsetFetch": (
        OffsetFetchRequest("g", [OffsetFetchRequestTopic("t", [0])], [OffsetFetchRequestGroup("g")]),
        FETCH_ERRORS,
    ),
    "CreateTopics": (CreateTopicsRequest(topics=[CreatableTopic("t")]), CONTROLLER_ERRORS),
    "DeleteTopics": (DeleteTopicsRequest([DeleteTopicState("t")], ["t"]), CONTROLLER_ERRORS),
    "AlterConfigs": (AlterConfigsRequest([ReplacedResource(2, "t")]), CONTROLLER_ERRORS),
    "IncrementalAlterConfigs": (IncrementalAlterConfigsRequest([AlterConfigsResource(2, "t")]), CONTROLLER_ERRORS),
    "CreatePartitions": (CreatePartitionsRequest([CreatePartitionsTopic("t", 2)]), CONTROLLER_ERRORS),
}
# They ask the catalog and write nothing of their own; a read fails with nothing that only a log can say.
READERS: Final = {
    "ApiVersions",
    "Metadata",
    "FindCoordinator",
    "DescribeCluster",
    "ListOffsets",
    "Fetch",
    "DescribeConfigs",
    "Produce",
    "DescribeTopicPartitions",
    "ListConfigResources",
}

RAW: Final = sorted(
    {error_for(failure) for failure in (Unavailable(""), OutcomeUnknown(""), Fenced(""), LogError(""), TooLarge(""))}
    | {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR}
    | OPERATION_ERRORS.keys()
)


def told(answer: Any) -> Iterator[int]:
    """Every error code in a response, outermost first."""
    if isinstance(answer, list):
        for each in answer:
            yield from told(each)
    elif isinstance(answer, msgspec.Struct):
        if hasattr(answer, "error_code"):
            yield answer.error_code
        for name in answer.__struct_fields__:
            yield from told(getattr(answer, name))


def test_every_api_that_is_served_has_its_errors_told() -> None:
    assert set(HANDLERS) == set(OPERATIONS) | READERS


@pytest.mark.parametrize("api", OPERATIONS)
@pytest.mark.parametrize("error", RAW, ids=lambda error: str(error.name))
def test_an_error_of_the_log_is_told_as_the_api_says_it(api: str, error: ErrorCode) -> None:
    row = next(each for each in APIS.values() if each.name == api)
    request, table = OPERATIONS[api]
    for version in range(row.min_version, row.max_version + 1):
        answer = HANDLERS[api][1](RequestContext("c", "h", row.key, version), request, error, None)
        encoder(row.response, version)(answer, bytearray())

        assert {code for code in told(answer) if code} <= {table.get(error, error)}
        assert table.get(error, error) in set(told(answer))


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
