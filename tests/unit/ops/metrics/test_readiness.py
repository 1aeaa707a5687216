"""When the server lives, and when it is ready."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.ops.metrics.readiness import DEAD_AFTER_S, Liveness, readiness


def loop(number: int = 0, **fields: Any) -> dict[str, Any]:
    return {"loop": number, "stage": "serving", "shards": {"active": 3}, "records_loaded": 9, "refuses": None, **fields}


def test_a_server_is_ready_when_all_loops_serve() -> None:
    assert readiness([loop(0), loop(1)]).is_good
    assert not readiness([]).is_good


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        (
            {"stage": "loading", "shards": {"active": 2, "loading": 3}},
            "loop 1: loading: 2 of 5 shards are there, 9 records were read",
        ),
        ({"refuses": "no room for x"}, "loop 1: the log refuses records: no room for x"),
        ({"awaited": "its part of the shards"}, "loop 1: waits for its part of the shards"),
        ({"stage": "no-answer"}, "loop 1: does not answer"),
        ({"stage": "starting"}, "loop 1: is being started"),
        ({"stage": "prepared"}, "loop 1: is being started"),
        ({"stage": "gone"}, "loop 1: has ended, and is started again"),
    ],
)
def test_one_loop_that_does_not_serve_is_the_reason(fields: dict[str, Any], why: str) -> None:
    verdict = readiness([loop(0), loop(1, **fields)])

    assert (verdict.is_good, verdict.why) == (False, [why])


def test_a_server_lives_while_it_starts_and_as_long_as_it_answers() -> None:
    """A start may recover a long log, and takes the time that it takes."""
    liveness = Liveness()
    assert liveness.verdict(1000.0).is_good

    liveness.answered(1000.0)

    assert liveness.verdict(1000.0 + DEAD_AFTER_S - 1).is_good
    dead = liveness.verdict(1000.0 + DEAD_AFTER_S)
    assert (dead.is_good, dead.why) == (False, ["no answer for 60 s"])
