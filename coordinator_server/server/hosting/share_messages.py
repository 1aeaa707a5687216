"""The messages from share groups to the shards that keep the states of their share partitions
(``group/share/state_effects.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from coordinator_server.group.share.state_effects import (
    DELETE_STATES,
    INITIALIZE_STATES,
    SUMMARIZE_STATES,
    StatesOfGroup,
    StatesToInitialize,
    StateSummary,
)
from coordinator_server.machine.shard import Reply, RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.server.cluster.effects import Asked
from coordinator_server.share.requests import Initialization, Summary
from coordinator_server.share.shard import ShareShard
from protocol.error_codes import ErrorCode
from protocol.share_partition_names import SharePartitionKey, name_of

INITIALIZE_NEW: Final = WriteOperation("initialize-states", ShareShard.initialize_new)
DELETE_ALL: Final = WriteOperation("delete-states", ShareShard.delete_states)
SUMMARIZE: Final = WriteOperation("summarize-states", ShareShard.summarize_states)


def _run(
    operation: WriteOperation[ShareShard, Any, Any], asked_of: Callable[[Any], Sequence[Any]], answer_of: Callable[[Any], Any]
) -> Callable[..., None]:
    """Return a function that runs a message as ``operation``."""

    def run(
        runtime: CoordinatorRuntime[Any], partition: int, context: RequestContext, request: Any, reply: Reply[Any], /
    ) -> None:
        done = CallbackReply(lambda answers: reply.complete([answer_of(each) for each in answers]), reply.fail)
        runtime.write(partition, operation, context, asked_of(request), done)

    return run


def _initializations(request: StatesToInitialize) -> list[Initialization]:
    return [
        Initialization(
            name_of(SharePartitionKey(request.group_id, each.topic_id, each.partition)), each.state_epoch, each.start_offset
        )
        for each in request.partitions
    ]


def _names(request: StatesOfGroup) -> list[bytes]:
    return [name_of(SharePartitionKey(request.group_id, topic_id, partition)) for topic_id, partition in request.partitions]


def _summary(outcome: Summary | ErrorCode) -> StateSummary:
    return StateSummary(0, *outcome) if isinstance(outcome, Summary) else StateSummary(outcome)


STATES_INITIALIZED: Final = Asked(INITIALIZE_STATES, _run(INITIALIZE_NEW, _initializations, int))
STATES_DELETED: Final = Asked(DELETE_STATES, _run(DELETE_ALL, _names, int))
STATES_SUMMARIZED: Final = Asked(SUMMARIZE_STATES, _run(SUMMARIZE, _names, _summary))
