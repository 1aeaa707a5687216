"""Messages from share groups to the states of their share partitions."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.group.share.state_effects import (
    DELETE_STATES,
    INITIALIZE_STATES,
    SUMMARIZE_STATES,
    StatesOfGroup,
    StateStart,
    StatesToInitialize,
    StateSummary,
)
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.server.hosting.share_messages import STATES_DELETED, STATES_INITIALIZED, STATES_SUMMARIZED
from coordinator_server.server.hosting.share_shards import ShareShards
from coordinator_server.share.state_batches import StateBatch
from protocol.error_codes import ErrorCode
from tests.support.share_shard import CONTEXT, TOPIC_ID, ShareSite

ASKED = {row.effect: row for row in (STATES_INITIALIZED, STATES_DELETED, STATES_SUMMARIZED)}
UNKNOWN, FENCED = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.FENCED_STATE_EPOCH


class Runtime:
    """Runs operations at once."""

    def __init__(self) -> None:
        self.site = ShareSite()
        self.answer: Any = None

    def write(self, partition: int, operation: Any, context: object, request: Any, reply: Any) -> None:
        reply.complete(self.site.take(operation.call(self.site.shard, CONTEXT, request, reply)))

    def ask(self, effect: Any, request: object) -> Any:
        ASKED[effect].run(self, 0, CONTEXT, request, self)  # type: ignore[arg-type]
        return self.answer

    def complete(self, answer: object) -> None:
        self.answer = answer

    def fail(self, error: ErrorCode, message: str | None = None) -> None:
        raise AssertionError(error)


@pytest.fixture
def runtime() -> Runtime:
    return Runtime()


def starts(*partitions: int, state_epoch: int = 1) -> StatesToInitialize:
    return StatesToInitialize("g", [StateStart(TOPIC_ID, partition, state_epoch, -1) for partition in partitions])


def states(*partitions: int) -> StatesOfGroup:
    return StatesOfGroup("g", [(TOPIC_ID, partition) for partition in partitions])


def test_each_share_partition_has_its_own_answer(runtime: Runtime) -> None:
    assert runtime.ask(INITIALIZE_STATES, starts(0, 1, 3)) == [0, 0, UNKNOWN]
    assert runtime.ask(INITIALIZE_STATES, starts(1, state_epoch=0)) == [FENCED]
    assert runtime.ask(SUMMARIZE_STATES, states(0, 2, 3)) == [StateSummary(0, 1), StateSummary(0), StateSummary(UNKNOWN)]
    assert runtime.ask(DELETE_STATES, states(0, 0, 2, 3)) == [0, 0, 0, 0]
    assert runtime.ask(SUMMARIZE_STATES, states(0)) == [StateSummary(0)]
    assert len(runtime.site.log) == 3


def test_a_repeated_message_changes_nothing(runtime: Runtime) -> None:
    """Unless the state is no more as the first one left it: then it begins anew, as in Kafka."""
    runtime.ask(INITIALIZE_STATES, starts(0))
    runtime.ask(INITIALIZE_STATES, starts(0))
    assert len(runtime.site.log) == 1

    runtime.site.write(StateBatch(0, 3, 1, 0), state_epoch=1)
    runtime.ask(INITIALIZE_STATES, starts(0))
    assert runtime.site.state is not None
    assert runtime.site.state.state_batches == ()


def test_states_of_a_topic_that_does_not_exist_can_be_deleted(runtime: Runtime) -> None:
    """The group must get rid of them."""
    runtime.ask(INITIALIZE_STATES, starts(0))
    runtime.site.topics.counts.clear()

    assert runtime.ask(DELETE_STATES, states(0)) == [0]
    assert runtime.site.state is None


def test_while_topics_are_not_known_the_whole_message_is_refused(runtime: Runtime) -> None:
    """It is sent again."""
    runtime.site.topics.is_current = False

    with pytest.raises(CoordinatorError, match="LOAD_IN_PROGRESS"):
        runtime.ask(INITIALIZE_STATES, starts(0, 3))


def test_the_shard_of_a_share_partition_is_kafkas() -> None:
    """As ``ShareCoordinatorService.partitionFor``: FindCoordinator finds the same one. A long group id is not kept."""
    shard_of = ShareShards(50)
    owner = partition_for("g:AAECAwQFBgcICQoLDA0ODw:3", 50)

    assert [shard_of("g", bytes(range(16)), 3) for _ in range(2)] == [owner, owner]
    assert 0 <= shard_of("g" * 300, bytes(16), 0) < 50
