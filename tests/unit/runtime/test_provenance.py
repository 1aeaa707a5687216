"""Which records say who was behind them."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.machine.provenance import Provenance, Reason, because, read_provenance, request_origin
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from protocol.error_codes import ErrorCode
from tests.support.runtime import ToyRuntime, toy_record

CONTEXT = RequestContext("app", "10.0.0.7", 8, 9, origin=request_origin(8, 9, "app", "10.0.0.7"))
LEFT = because(Reason("member-left", "m"))
APP = Provenance("8/9", 8, 9, client_id="app", client_host="10.0.0.7")


@pytest.fixture
def toy() -> ToyRuntime:
    toy = ToyRuntime()
    toy.load()
    return toy


def told(toy: ToyRuntime) -> list[Provenance | None]:
    """The provenance of every durable record."""
    return [read_provenance(record.headers) for record in toy.store.records()]


def put(toy: ToyRuntime, *names: str, context: RequestContext = CONTEXT, **why: Any) -> None:
    toy.write(lambda shard, reply: CoordinatorResult("ok", [toy_record(name, 1) for name in names], **why), context=context)


def test_the_first_record_of_each_operation_tells(toy: ToyRuntime) -> None:
    """Two operations in one batch are told apart by it."""
    put(toy, "a", "b", "c", attribution=because(Reason("joined", "m")))
    put(toy, "d", "e", attribution=LEFT)
    toy.flush()

    reasons = (Reason("joined", "m"),), (Reason("member-left", "m"),)
    first, second = (Provenance("8/9", 8, 9, client_id="app", client_host="10.0.0.7", reasons=each) for each in reasons)
    assert told(toy) == [first, None, None, second, None]


def test_what_a_timer_wrote_says_so(toy: ToyRuntime) -> None:
    """There is no request to tell of."""
    toy.shards[0].timer.schedule("session", 100, lambda: CoordinatorResult(None, [toy_record("a", 1)], attribution=LEFT))
    toy.clock.advance(100)
    toy.timers.run(toy.clock.now_ms())
    toy.flush()

    assert told(toy) == [Provenance("timer", reasons=(Reason("member-left", "m"),))]


def test_a_context_without_origin_writes_no_headers(toy: ToyRuntime) -> None:
    """``log.provenance`` is off."""
    put(toy, "a", context=RequestContext("app", "10.0.0.7", 8, 9), attribution=LEFT)
    toy.flush()

    assert [record.headers for record in toy.store.records()] == [()]


def test_headers_count_as_bytes_of_the_batch() -> None:
    """An operation that fits without them alone is refused whole."""
    toy = ToyRuntime(max_batch_bytes=300)
    toy.load()
    long = because(Reason("left", "m" * 300))
    refused = toy.write(lambda shard, reply: CoordinatorResult("ok", [toy_record("a", 1)], attribution=long), context=CONTEXT)
    put(toy, "b")
    toy.flush()

    assert refused.error is ErrorCode.MESSAGE_TOO_LARGE
    assert toy.store.names() == ["b"]
    assert told(toy) == [APP]


def test_headers_are_no_part_of_the_state(toy: ToyRuntime) -> None:
    """A start reads the same with them."""
    put(toy, "a", "b", attribution=LEFT)
    toy.flush()

    assert dict(toy.load(epoch=2).numbers) == {"a": 1, "b": 1}
