"""Every query of the dashboard of observed clusters, and every alert rule, run by Prometheus over scrapes of a directory."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from coordinator_server.observe.exporter import Exporter
from tests.support.eventually import eventually
from tests.support.observed_metrics import observed_directory, served
from tests.support.prometheus import DEPLOY, Prometheus, targets

RULES: Final = DEPLOY / "prometheus/observed-alerts.yml"
# Minute by minute, in promtool's notation: a series, values for which the alert fires in the twentieth minute, and quiet ones.
CASES: Final = {
    "ObserveDown": ('up{job="coordinator-observe"}', "1 0x30", "1 0 1x30"),
    "ObserveSamplesOld": ("coordinator_observed_sample_age_seconds", "0+60x30", "30x30"),
    "ObservedGroupInTrouble": ('coordinator_observed_group_verdict{group="g",verdict="ERR"}', "0 1x30", "0 1 1 0x30"),
    "ObservedGroupFarBehind": ('kafka_consumergroup_group_max_lag_seconds{group="g"}', "0+360x30", "0+60x30"),
    "ObservedGroupRebalances": ('coordinator_observed_group_rebalances_total{group="g"}', "0+2x30", "0 9x30"),
}

pytestmark = pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is not installed")


def test_every_query_shows_something_and_every_rule_is_evaluated(tmp_path: Path) -> None:
    """With the labels of its legend."""
    exporter = Exporter(observed_directory(tmp_path), 100)
    exporter.round()
    with served(exporter) as address, closing(Prometheus(tmp_path, address)) as prometheus:
        left = list(targets("observed"))
        eventually(lambda: prometheus.show_all(left), describe=lambda: list(left))
        eventually(lambda: not prometheus.unhealthy_rules())


def test_alerts_fire_in_their_states_and_in_no_others(tmp_path: Path) -> None:
    [group] = yaml.safe_load(RULES.read_text())["groups"]
    assert [rule["alert"] for rule in group["rules"]] == list(CASES)
    assert all({"summary", "action"} <= rule["annotations"].keys() for rule in group["rules"])

    def tested(alert: str, *, fires: bool) -> dict[str, Any]:
        series, firing, quiet = CASES[alert]
        one = {"labels": f'{{alertname="{alert}"}}', "value": 1}
        query = {"expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": "25m"}
        values = [{"series": series, "values": firing if fires else quiet}]
        tests = [{**query, "exp_samples": [one] if fires else []}]
        return {"name": alert, "interval": "1m", "input_series": values, "promql_expr_test": tests}

    file = tmp_path / "tests.yml"
    tests = [tested(alert, fires=fires) for alert in CASES for fires in (True, False)]
    file.write_text(yaml.safe_dump({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": tests}))

    done = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
