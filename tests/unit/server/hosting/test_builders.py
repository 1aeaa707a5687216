"""The rows that say how each kind is served."""

from __future__ import annotations

from collections import Counter

import pytest

from coordinator_server.config import Config
from coordinator_server.config.load import load
from coordinator_server.kinds import CATALOG, GROUPS, KINDS, SHARE_STATE, TRANSACTIONS
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.runtime.clock import SystemClock
from coordinator_server.runtime.services import following
from coordinator_server.runtime.timers import ShardTimers, TimerQueue
from coordinator_server.server.environment import Environment
from coordinator_server.server.hosting.builders import BUILDERS, Materials, RuntimeSettings


def test_every_kind_has_a_row() -> None:
    """In the order of the kinds, the catalog first."""
    assert list(BUILDERS) == list(KINDS)


def test_no_two_kinds_share_a_key_type() -> None:
    """FindCoordinator knows a kind by nothing else."""
    key_types = Counter(kind.key_type for kind in KINDS.values() if kind.key_type is not None)

    assert max(key_types.values()) == 1


def test_a_row_builds_an_empty_state_machine() -> None:
    """Which has the digest of nothing."""
    outside, timers = Environment(), ShardTimers(TimerQueue(), SystemClock(), lambda _timer: None)
    for builder in filter(None, BUILDERS.values()):
        build = builder.shard(Materials(Config(), outside.clock, outside.new_uuid))
        shard = build(partition=0, registry=SnapshotRegistry(), services=following(timers))
        found = shard.digest(0, 1, False)

        assert (found.offset, found.digest) == (0, "0" * 32)


def test_groups_linger_and_coalesce_and_share_state_lingers() -> None:
    """The properties that say so are theirs."""
    values = {
        "group.coordinator.append.linger.ms": "5",
        "offsets.commit.coalesce": "true",
        "share.coordinator.append.linger.ms": "6",
    }
    settings = {topic: builder.settings(load(values)) for topic, builder in BUILDERS.items() if builder is not None}

    assert settings.pop(GROUPS.topic) == (5, True)
    assert settings.pop(SHARE_STATE.topic) == (6, False)
    assert settings.keys() == {CATALOG.topic, TRANSACTIONS.topic}
    assert set(settings.values()) == {RuntimeSettings()}


def test_a_state_machine_that_only_replays_has_no_producer_ids() -> None:
    outside = Environment()

    with pytest.raises(AssertionError, match="only replays"):
        Materials(Config(), outside.clock, outside.new_uuid).new_producer_id()
