"""Each alert rule fires in the state that it is for, and not in one that looks like it. promtool evaluates the rules."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from coordinator_server.ops.metrics.families import families
from coordinator_server.pipeline.report import Outcome
from coordinator_server.server.guard.audit import REFUSALS
from coordinator_server.server.hosting.history import FAILURES
from coordinator_server.server.wire.incidents import NAMES
from protocol.error_codes import ErrorCode

RULES = Path(__file__).parents[4] / "deploy/prometheus/alerts.yml"
GIB = 1 << 30
DAY_S = 24 * 3600


class Case(NamedTuple):
    """The values of series minute by minute, in promtool's notation:
    of a state in which the alert fires ``at`` a minute, and of a quiet one.
    """

    at: int
    firing: dict[str, str]
    quiet: dict[str, str]


def case(at: int, series: str, firing: str, quiet: str) -> Case:
    return Case(at, {series: firing}, {series: quiet})


def disk(free: str, size: int) -> dict[str, str]:
    return {"coordinator_disk_free_bytes": free, "coordinator_disk_size_bytes": f"{size}x60"}


def compactions(failed: str, done: str) -> dict[str, str]:
    return {'coordinator_compactions_total{outcome="failed"}': failed, 'coordinator_compactions_total{outcome="done"}': done}


def syncs(slow: str) -> dict[str, str]:
    """Syncs of one a second: those of up to 250 ms, and all."""
    name = "coordinator_journal_sync_duration_seconds_bucket"
    series = {f'{name}{{loop="0",le="{bound}"}}': slow for bound in ("0.1", "0.25")}
    return {**series, **{f'{name}{{loop="0",le="{bound}"}}': "0+60x60" for bound in ("0.5", "+Inf")}}


CASES = {
    "CoordinatorDown": case(3, 'up{job="coordinator-server"}', "1 0x9", "1 0 1x9"),
    "CoordinatorNotReady": case(5, "coordinator_ready", "1 0x9", "1 0 1x9"),
    "CoordinatorLoopDown": case(3, 'coordinator_loop_up{loop="1"}', "1 0x9", "1 0 1x9"),
    "CoordinatorLoopRestarts": case(10, 'coordinator_loop_starts_total{loop="1"}', "1 1 2 3 3x9", "1 1 1x9"),
    # The first refusal of a loop's life counts.
    "CoordinatorLogRefuses": case(3, 'coordinator_refused_submits_total{loop="0"}', "0 0 1x9", "0x9"),
    # A disk of 12 MB with 10 free is in order; so is one of a terabyte whose log is compacted now and then.
    "CoordinatorDiskFull": Case(30, disk(f"{GIB // 2}x60", 100 * GIB), disk(f"{10 << 20}x60", 12 << 20)),
    "CoordinatorSlowSync": Case(20, syncs("0+30x60"), syncs("0+60x60")),
    "CoordinatorSlowTurns": case(25, 'coordinator_slow_turns_total{loop="0",api="JoinGroup"}', "0+10x60", "0+1x60"),
    "CoordinatorRebalancesWithoutEnd": case(
        60, 'coordinator_rebalances_total{loop="0",reason="session-timeout"}', "0+20x90", "0x20 100x70"
    ),
    "CoordinatorGroupDoesNotCommit": case(
        20, 'coordinator_group_commit_age_seconds{loop="0",group="billing"}', "3601+60x60", "0+60x60"
    ),
    "CoordinatorRefusesConnections": case(
        15, 'coordinator_incidents_total{loop="0",name="connection-limit-reached"}', "0+3x60", "0x60"
    ),
    "CoordinatorErrors": case(
        5, 'coordinator_request_errors_total{loop="0",api="OffsetCommit",error="UNKNOWN_SERVER_ERROR"}', "0 0 0 1x9", "0x9"
    ),
    "CoordinatorCertificateExpires": case(
        5, 'coordinator_certificate_expiry_timestamp_seconds{loop="0",listener="SSL"}', f"{13 * DAY_S}x9", f"{15 * DAY_S}x9"
    ),
    # One failure, and nothing compacted since; a failure after which a run succeeded.
    "CoordinatorCompactionFails": Case(60, compactions("0 0 1x90", "3x90"), compactions("0 0 1x90", "3x20 4x70")),
    "CoordinatorHistoryNotRemoved": case(
        60, 'coordinator_history_failures_total{loop="0",event="history-not-removed"}', "0+1x90", "0x20 1x70"
    ),
    # A series that begins with 1: the server may have been restarted while the job ran.
    "CoordinatorVerifyDiffers": case(
        5, 'coordinator_job_runs_total{schedule="schedule",job_name="verify",outcome="differs"}', "_ _ 1x9", "_ _ 0x9"
    ),
    "CoordinatorShardsWithoutOwner": case(4, 'coordinator_cluster_unowned_shards{loop="1"}', "0 3x9", "0 3 0x9"),
    "CoordinatorStoreAway": case(4, 'coordinator_store_connected{loop="1"}', "1 0x9", "1 0 1x9"),
    "CoordinatorLeaseOver": case(4, 'coordinator_lease_remaining_seconds{loop="1"}', "8 0x9", "8 0 7x9"),
    # One that came is not missing.
    "CoordinatorNodeMissing": case(30, 'coordinator_cluster_nodes{loop="1"}', "3x10 2x30", "2x10 3x30"),
    "CoordinatorNodesReplaced": case(20, 'coordinator_node_takeovers_total{loop="1",reason="silent"}', "0 1 2 3 4x30", "0 1x40"),
    "CoordinatorStoreInDoubt": case(
        10, 'coordinator_store_statements_in_doubt_total{loop="1",session="writes"}', "0+2x20", "0 1x20"
    ),
    "CoordinatorClockDiffers": case(10, 'coordinator_store_clock_difference_seconds{loop="1"}', "-3x20", "-1 -3 0x20"),
}
# The values of labels that are not texts of clients.
VALUES = {
    "name": set(NAMES),
    "event": {*REFUSALS, *FAILURES},
    "error": {each.name for each in ErrorCode},
    "outcome": {"done", "failed", *Outcome},
}


def rules() -> list[dict[str, str]]:
    [group] = yaml.safe_load(RULES.read_text())["groups"]
    found: list[dict[str, str]] = group["rules"]
    return found


def labels(selector: str) -> dict[str, str]:
    return dict(re.findall(r'(\w+)=~?"([^"]*)"', selector))


def test_every_alert_has_a_case() -> None:
    assert [rule["alert"] for rule in rules()] == list(CASES)


@pytest.mark.parametrize("alert", CASES)
def test_a_case_has_series_that_a_server_has(alert: str) -> None:
    """With all labels, and with values that occur."""
    known = {each.name: each for each in families()}
    for series in [*CASES[alert].firing, *CASES[alert].quiet]:
        name, of = series.partition("{")[0], labels(series)
        if name == "up":
            continue
        family = known[name.removesuffix("_bucket")]
        assert of.keys() - {"le"} == {*family.labels, *(["loop"] if family.is_of_loop else [])}
        assert [(label, value) for label, value in of.items() if value not in VALUES.get(label, {value})] == []


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_a_rule_selects_values_that_occur(rule: dict[str, str]) -> None:
    """A name that no server writes would never fire."""
    for label, value in labels(rule["expr"]).items():
        assert set(value.split("|")) <= VALUES.get(label, set(value.split("|"))), label


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_alerts_fire_in_their_states_and_in_no_others(tmp_path: Path) -> None:
    def tested(alert: str, each: Case, *, fires: bool) -> dict[str, Any]:
        one = {"labels": f'{{alertname="{alert}"}}', "value": 1}
        query = {"expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": f"{each.at}m"}
        series = each.firing if fires else each.quiet
        return {
            "name": alert,
            "interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "promql_expr_test": [{**query, "exp_samples": [one] if fires else []}],
        }

    tests = [tested(alert, each, fires=fires) for alert, each in CASES.items() for fires in (True, False)]
    file = tmp_path / "tests.yml"
    file.write_text(yaml.safe_dump({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": tests}))

    done = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
