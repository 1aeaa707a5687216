"""Background: functions beside the loop, and what is left of them."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from coordinator_server.server.wire.background import Background
from protocol.errors import Malformed
from tests.support.turns import ManualLoop


class Request:
    """Stands for the bytes of one."""


@pytest.fixture
def loop() -> Iterator[ManualLoop]:
    gc.disable()
    yield ManualLoop()
    gc.enable()


def refused(request: Request) -> None:
    assert request is not None
    raise Malformed("it is too long")


def test_what_it_returns_and_raises_comes_to_the_loop_in_order(loop: ManualLoop) -> None:
    told: list[Any] = []
    background = Background(loop, loop.soon.append, iter(range(100, 200, 10)).__next__)

    def tell(result: Any, took_ns: int) -> None:
        told.append(result)
        assert took_ns == 10

    background.run(lambda: 7, tell)
    background.run(lambda: 1 // 0, tell)
    assert (told, background.calls) == ([], 2)
    loop.work()

    assert (told[0], type(told[1]), background.calls) == (7, ZeroDivisionError, 0)
    assert told[1].__traceback__ is not None


def test_a_request_that_is_refused_is_not_kept(loop: ManualLoop) -> None:
    """Not even until the collector runs."""
    request = Request()
    alive = weakref.ref(request)
    loop.background.run(lambda given=request: refused(given), lambda _error, _took_ns: None)  # type: ignore[misc]
    del request
    loop.work()

    assert alive() is None
