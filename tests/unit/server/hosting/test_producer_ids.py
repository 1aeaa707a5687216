"""A loop's producer ids: each is given out once, from blocks that are asked for in time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coordinator_server.catalog.producer_ids import BLOCK
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import Reply
from coordinator_server.server.hosting.producer_ids import LEAST_LEFT, PATIENCE_S, RETRY_MS, ProducerIds
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
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.ids = ProducerIds(7, self._ask, self.clock.now_ms, lambda delay_s, call: self.timers.append((delay_s, call)))

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


@pytest.mark.parametrize("is_given", [True, False])
def test_the_first_producer_can_wait_for_the_block(blocks: Blocks, is_given: bool) -> None:
    """It tries again when the block is there, and when it is refused; and only then."""
    tries: list[str] = []
    blocks.refused()
    waits = [blocks.ids.wait(lambda: tries.append("first")), blocks.ids.wait(lambda: tries.append("second"))]
    before = tries[:]
    if is_given:
        blocks.give()
    else:
        blocks.asked.pop().fail(ErrorCode.NOT_CONTROLLER)

    assert (waits, before, tries) == ([True, True], [], ["first", "second"])
    assert not blocks.ids.wait(lambda: tries.append("never"))


def test_producers_do_not_wait_for_a_block_that_is_late(blocks: Blocks) -> None:
    """Neither those that have waited, nor those that come later, until it is there; one timer is enough for all."""
    tries: list[str] = []
    blocks.refused()
    for name in ("first", "second"):
        blocks.ids.wait(lambda name=name: tries.append(name))  # type: ignore[misc]
    [(delay_s, is_over)] = blocks.timers
    is_over()

    assert (delay_s, tries) == (PATIENCE_S, ["first", "second"])
    assert not blocks.ids.wait(lambda: None)
    blocks.give()
    assert blocks.ids.take() == 0


def test_the_time_for_one_block_is_none_for_the_next(blocks: Blocks) -> None:
    """The first came in time. The second is awaited, however long it is until then."""
    blocks.refused()
    blocks.ids.wait(lambda: None)
    blocks.give()
    for _ in range(BLOCK):
        blocks.ids.take()
    blocks.refused()
    tries: list[str] = []
    assert blocks.ids.wait(lambda: tries.append("again"))
    blocks.timers[0][1]()

    assert (tries, len(blocks.timers)) == ([], 2)


def test_producers_wait_for_as_many_blocks_as_they_need(blocks: Blocks) -> None:
    """There are more of them than ids in a block."""
    taken: list[int] = []

    def try_it() -> None:
        try:
            taken.append(blocks.ids.take())
        except CoordinatorError:
            assert blocks.ids.wait(try_it)

    for _ in range(BLOCK + 1):
        try_it()
    blocks.give()
    after_one = len(taken)
    blocks.give()

    assert (after_one, taken) == (BLOCK, list(range(BLOCK + 1)))


def test_nobody_waits_beside_a_block_that_is_left(blocks: Blocks) -> None:
    """Whatever else refuses them: the next block may be on its way."""
    blocks.refused()
    blocks.give()
    for _ in range(BLOCK - LEAST_LEFT + 1):
        blocks.ids.take()

    assert len(blocks.asked) == 1
    assert not blocks.ids.wait(lambda: None)


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
