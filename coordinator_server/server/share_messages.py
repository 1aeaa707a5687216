"""The messages from share groups to the shards that keep the states of their share partitions (``group/share/state_effects.py``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from coordinator_server.group.share.state_effects import (
    DELETE_STATES,
    INITIALIZE_STATES,
    SUMMARIZE_STATES,
    ShareShards,
    StatesOfGroup,
    StatesToInitialize,
    StateSummary,
)
from coordinator_server.machine.shard import Reply, RequestContext
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.server.callback_reply import CallbackReply
from coordinator_server.server.cluster.effects import Asked
from coordinator_server.share.requests import Initialization, Summary
from coordinator_server.share.shard import ShareShard
from coordinator_server.share.share_partition import SharePartitionKey, coordinator_key
from protocol.error_codes import ErrorCode

MOST_CACHED: Final = 1 << 16
"""The number of share partitions whose shards are cached: up to 32 MiB, with the longest group ids that are cached."""
LONGEST_CACHED: Final = 256

INITIALIZE_NEW: Final = WriteOperation("initialize-states", ShareShard.initialize_new)
DELETE_ALL: Final = WriteOperation("delete-states", ShareShard.delete_states)
SUMMARIZE: Final = WriteOperation("summarize-states", ShareShard.summarize_states)


class _ShareShards(dict[tuple[str, bytes, int], int]):
    """The shards of share partitions, computed when they are first used. Emptied when there are too many."""

    def __init__(self, partitions: int) -> None:
        super().__init__()
        self._partitions = partitions

    def __call__(self, group_id: str, topic_id: bytes, partition: int, /) -> int:
        return self[group_id, topic_id, partition]

    def __missing__(self, key: tuple[str, bytes, int]) -> int:
        shard = partition_for(coordinator_key(SharePartitionKey(*key)), self._partitions)
        if len(key[0]) <= LONGEST_CACHED:
            if len(self) >= MOST_CACHED:
                self.clear()
            self[key] = shard
        return shard


def share_shards(partitions: int) -> ShareShards:
    """Return the function that finds the shard of a share partition's state, among this number of shards."""
    return _ShareShards(partitions)


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
        Initialization(SharePartitionKey(request.group_id, each.topic_id, each.partition), each.state_epoch, each.start_offset)
        for each in request.partitions
    ]


def _keys(request: StatesOfGroup) -> list[SharePartitionKey]:
    return [SharePartitionKey(request.group_id, topic_id, partition) for topic_id, partition in request.partitions]


def _summary(outcome: Summary | ErrorCode) -> StateSummary:
    return StateSummary(0, *outcome) if isinstance(outcome, Summary) else StateSummary(outcome)


STATES_INITIALIZED: Final = Asked(INITIALIZE_STATES, _run(INITIALIZE_NEW, _initializations, int))
STATES_DELETED: Final = Asked(DELETE_STATES, _run(DELETE_ALL, _keys, int))
STATES_SUMMARIZED: Final = Asked(SUMMARIZE_STATES, _run(SUMMARIZE, _keys, _summary))
