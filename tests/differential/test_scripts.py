"""The named scripts, but for those of share groups: Kafka says the same, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.differential.playing import Stage, play
from tests.differential.scripts import LONG, RESTARTED, Script, named, scripts_of
from tests.differential.servers import POLICIES

if TYPE_CHECKING:
    from tests.differential.conftest import Halves, Played

PLAIN = (
    "add_offsets",
    "add_partitions",
    "configs",
    "consumer_admin",
    "consumer_assignors",
    "consumer_fencing",
    "consumer_joining",
    "consumer_migration",
    "consumer_offsets",
    "consumer_reconciling",
    "consumer_static",
    "consumer_subscriptions",
    "describe_producers",
    "describe_transactions",
    "end_txn",
    "errors",
    "fencing",
    "finding",
    "init_producer_id",
    "list_transactions",
    "listing",
    "offsets",
    "quotas",
    "rebalance",
    "static",
    "streams_joining",
    "streams_fencing",
    "streams_tasks",
    "streams_topology",
    "streams_admin",
    "streams_offsets",
    "topics",
    "transactional_offsets",
    "transactions",
    "txn_offset_commit",
    "versions",
    "write_txn_markers",
)


@named(*PLAIN)
def test_script(script: Script, stage: Stage, timed: Played) -> None:
    """Both servers answer the same requests, with the same answers."""
    play(script, stage)


@pytest.mark.live
@named(*LONG)
def test_a_script_that_uses_up_the_epochs_of_a_producer_id(script: Script, stage: Stage) -> None:
    """The same after as many requests as a producer id has epochs: only where a broker is asked."""
    play(script, stage)


@named("timing", "transaction_timeouts", "consumer_timing", "streams_timing")
def test_timed_script(script: Script, timed: Played) -> None:
    """The same where time decides."""
    timed.result(script)


@named(*RESTARTED)
def test_restart(script: Script, halves: Halves) -> None:
    """The same after both were started again."""
    halves.finish(script)


@named("limits", "consumer_limits", "streams_limits")
def test_limited_script(script: Script, limited: Played) -> None:
    """The same with other limits."""
    limited.result(script)


@named("transactional_id_expiration")
def test_expiring_script(script: Script, expiring: Played) -> None:
    """The same where nobody uses an id for long."""
    expiring.result(script)


@pytest.mark.parametrize(
    ("policy", "script"),
    [pytest.param(name, script, id=script.title) for name in POLICIES for script in scripts_of(f"consumer_policy_{name}")],
)
def test_policy(policy: str, script: Script, stage_of: Callable[[str], Stage]) -> None:
    """The same under the other migration policies."""
    play(script, stage_of(policy))
