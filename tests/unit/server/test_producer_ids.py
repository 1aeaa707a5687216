"""A loop's producer ids: each is given out once, from blocks that are asked for in time."""

from __future__ import annotations

import pytest

from coordinator_server.catalog.producer_ids import BLOCK
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import Reply
from coordinator_server.server.producer_ids import LEAST_LEFT, RETRY_MS, ProducerIds
from protocol.error_codes import ErrorCode
from protocol.messages.cluster_metadata import ProducerIdsRecord
from tests.support.clock import ManualClock


class Blocks:
    """A catalog that answers when the test says so."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.asked: list[Reply[ProducerIdsRecord]] = []
        self.nodes: list[int] = []
        self.is_quick = False
        self._given = 0
        self.ids = ProducerIds(7, self._ask, self.clock.now_ms)

    def _ask(self, request: ProducerIdsRecord, reply: Reply[ProducerIdsRecord]) -> None:
        self.nodes.append(request.broker_id)
        self.asked.append(reply)
        if self.is_quick:
            self.give()

    def give(self) -> None:
        self._given += 1
        self.asked.pop().complete(ProducerIdsRecord(7, -1, self._given * BLOCK))

    def refused(self) -> ErrorCode:
        with pytest.raises(CoordinatorError) as refused:
            self.ids.take()
        return refused.value.error


@pytest.fixture
def blocks() -> Blocks:
    return Blocks()


def test_the_first_producer_asks_for_a_block_and_has_to_ask_again(blocks: Blocks) -> None:
    """So do the others, until it is there; it is asked for once."""
    errors = [blocks.refused(), blocks.refused()]
    asked = blocks.nodes[:]
    blocks.give()

    assert (errors, asked) == ([ErrorCode.COORDINATOR_LOAD_IN_PROGRESS] * 2, [7])
    assert [blocks.ids.take() for _ in range(3)] == [0, 1, 2]


def test_nobody_waits_for_a_catalog_that_answers_at_once(blocks: Blocks) -> None:
    blocks.is_quick = True

    assert [blocks.ids.take() for _ in range(3 * BLOCK)] == list(range(3 * BLOCK))
    assert len(blocks.nodes) == 4, "the fourth block is ready"


def test_the_next_block_is_asked_for_before_the_last_one_is_used_up(blocks: Blocks) -> None:
    blocks.refused()
    blocks.give()
    for _ in range(BLOCK - LEAST_LEFT):
        blocks.ids.take()
    before = len(blocks.nodes)
    blocks.ids.take()
    after = len(blocks.nodes)
    blocks.give()

    assert (before, after) == (1, 2)
    assert [blocks.ids.take() for _ in range(LEAST_LEFT)] == list(range(BLOCK - LEAST_LEFT + 1, BLOCK + 1))
    assert len(blocks.nodes) == 2


def test_a_refused_block_is_asked_for_again_after_a_while(blocks: Blocks) -> None:
    """Not by each producer that waits for it."""
    blocks.refused()
    blocks.asked.pop().fail(ErrorCode.NOT_CONTROLLER)
    blocks.refused()
    blocks.clock.advance(RETRY_MS - 1)
    blocks.refused()
    before = len(blocks.nodes)
    blocks.clock.advance(1)
    blocks.refused()

    assert (before, len(blocks.nodes)) == (1, 2)
