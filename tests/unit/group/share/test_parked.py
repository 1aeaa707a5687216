"""Requests that wait for the log and for other shards, with one deadline for all of it (``group/share/parked.py``)."""

from __future__ import annotations

import pytest

from protocol.error_codes import ErrorCode
from tests.support.share_offsets import ShareWorld


@pytest.fixture
def world() -> ShareWorld:
    return ShareWorld(t=2, u=1)


@pytest.mark.parametrize("is_written", [False, True])
def test_nobody_waits_longer_than_the_deadline_for_all_steps(world: ShareWorld, *, is_written: bool) -> None:
    """Whether the log or another shard does not answer. What was begun goes on, and nobody is answered twice."""
    for name in "gh":
        world.alter(name, u={0: 1})
    world.work()
    world.log.is_holding = not is_written
    replies = [world.alter("new", t={0: 5}), world.delete_offsets("u"), world.delete_groups("h")]
    world.log.advance(world.log.config.log.offsets_commit_timeout_ms - 1)
    assert [reply.is_answered for reply in replies] == [False] * 3
    world.log.advance(1)

    assert [reply.error for reply in replies] == [ErrorCode.REQUEST_TIMED_OUT] * 3
    world.log.is_holding = False
    world.log.flush()
    world.work()
    assert [reply.error for reply in replies] == [ErrorCode.REQUEST_TIMED_OUT] * 3
    assert (world.starts("new"), list(world.log.shard.groups.share.by_id)) == ({"t": {0: 5}}, ["g", "new"])


def test_who_was_answered_has_no_deadline_left(world: ShareWorld) -> None:
    asked = set(world.log.timer.keys)
    world.alter(t={0: 5})
    assert set(world.log.timer.keys) > asked
    world.work()

    assert set(world.log.timer.keys) == asked
