"""Which shards are open, and which the journal has to state."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from coordinator_server.log.write import shard_logs
from coordinator_server.log.write.segments import Limits, Segments
from coordinator_server.log.write.shard_logs import ShardLogs
from tests.support.log import shard
from tests.support.storage import SimulatedDisk

A, B = shard(0), shard(1)


def opened() -> ShardLogs:
    logs = ShardLogs(SimulatedDisk(), "/data", Limits(1 << 20))
    for each in (A, B):
        logs.add(each, Segments([], 0, 0))
    return logs


def test_a_released_shard_is_stated_until_it_is_forgotten() -> None:
    """It takes no batches, and cannot be opened anew."""
    logs = opened()
    [released] = logs.release([A])

    assert (set(logs.by_shard), logs.journaled()) == ({B}, [released, *logs.all()])
    with pytest.raises(ValueError, match="belongs to another loop"):
        logs.add(A, Segments([], 0, 0))
    assert logs.forget([A]) == []
    assert logs.journaled() == logs.all()


def test_a_shard_that_comes_back_is_stated_as_it_is_then() -> None:
    """Not as it was when it was released."""
    logs = opened()
    logs.release([A])
    back = logs.put(A, Segments([5], 70, 6))

    assert back in logs.journaled()
    assert len(logs.journaled()) == 2


@pytest.mark.interpreted
@pytest.mark.parametrize("change", ["release", "keep", "put"])
def test_a_head_that_is_made_meanwhile_states_all_shards(change: str) -> None:
    """The worker makes it in its own thread, between any two steps of the loop: what it leaves out, a kill would lose."""
    logs = opened()
    released = [] if change == "release" else logs.release([A])
    changes: dict[str, Callable[[], object]] = {
        "release": lambda: logs.release([A]),
        "keep": lambda: logs.keep(released),
        "put": lambda: logs.put(A, Segments([], 0, 0)),
    }
    stated: list[set[object]] = []

    def look(frame: FrameType, _event: str, _argument: Any) -> Any:
        if frame.f_code.co_filename != shard_logs.__file__ or frame.f_code.co_name == "journaled":
            return None
        stated.append({log.shard for log in logs.journaled()})
        frame.f_trace_opcodes = True
        return look

    sys.settrace(look)
    try:
        changes[change]()
    finally:
        sys.settrace(None)

    assert len(stated) > 5
    assert {frozenset(each) for each in stated} == {frozenset({A, B})}
