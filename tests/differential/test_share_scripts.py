"""The named scripts of share groups: Kafka says the same, step by step.

They count records, and have servers of their own: a broker's topics have the markers of transactions, where ours have none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.differential.playing import Stage, play
from tests.differential.scripts import SHARES_RESTARTED, Script, named

if TYPE_CHECKING:
    from tests.differential.conftest import Halves, Played

PLAIN = (
    "share_admin",
    "share_assigning",
    "share_batches",
    "share_fencing",
    "share_finding",
    "share_flood",
    "share_joining",
    "share_offsets",
    "share_state",
    "share_topics",
)


@named(*PLAIN)
def test_script(script: Script, stage: Stage, timed: Played) -> None:
    """Both servers answer the same requests, with the same answers."""
    play(script, stage)


@named("share_timing", "share_fetching")
def test_timed_script(script: Script, timed: Played) -> None:
    """The same where time decides."""
    timed.result(script)


@named(*SHARES_RESTARTED)
def test_restart(script: Script, halves: Halves) -> None:
    """The same after both were started again."""
    halves.finish(script)


@named("share_limits", "share_one_update")
def test_limited_script(script: Script, limited: Played) -> None:
    """The same with other limits."""
    limited.result(script)


@named("share_snapshots")
def test_expiring_script(script: Script, expiring: Played) -> None:
    """The same where no update of share state goes between two snapshots."""
    expiring.result(script)
