"""The dashboard and the alert rules in deploy/: they ask for metrics and labels that exist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from coordinator_server.ops.metrics.families import Kind, families

DEPLOY = Path(__file__).parents[4] / "deploy"
RULES = DEPLOY / "prometheus/alerts.yml"
# What Prometheus adds to every sample.
OF_PROMETHEUS = {"instance", "job"}


def known() -> dict[str, set[str]]:
    """The labels of every name that a query may have."""
    found: dict[str, set[str]] = {}
    for each in families():
        labels = {*each.labels, *(["loop"] if each.is_of_loop else []), *OF_PROMETHEUS}
        if each.kind is Kind.HISTOGRAM:
            found |= {f"{each.name}_bucket": labels | {"le"}, f"{each.name}_sum": labels, f"{each.name}_count": labels}
        else:
            found[each.name] = labels
    return found


def rules() -> list[dict[str, str]]:
    [group] = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for rule in group["rules"] if "alert" in rule]


def panels() -> list[dict[str, object]]:
    return [each for each in json.loads((DEPLOY / "grafana/dashboard.json").read_text())["panels"] if each["type"] != "row"]


def queries() -> Iterator[tuple[str, str]]:
    """Every query, with what it is shown as: the labels of a legend or a text."""
    for rule in rules():
        yield rule["expr"], json.dumps(rule["annotations"])
    for panel in panels():
        for target in panel["targets"]:  # type: ignore[attr-defined]
            yield target["expr"], target["legendFormat"]


@pytest.mark.parametrize(("query", "shown"), list(queries()))
def test_a_query_of_a_dashboard_names_metrics_and_labels_that_exist(query: str, shown: str) -> None:
    """Names, the labels that select and group, and those of legends and texts."""
    names = set(re.findall(r"coordinator_\w+", query))
    labels = set.union(*(known()[name] for name in names)) if names else OF_PROMETHEUS
    grouped = {label for part in re.findall(r"by \(([^)]*)\)", query) for label in re.split(r",\s*", part)} - {"le"}
    matched = {label for part in re.findall(r"on \(([^)]*)\)", query) for label in re.split(r",\s*", part)}
    shows = set(re.findall(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}", shown))

    for name, part in re.findall(r"(\w+)\{([^}]*)\}", query):
        assert set(re.findall(r"(\w+)(?:=~|!~|!=|=)", part)) <= known().get(name, OF_PROMETHEUS)
    assert grouped | matched <= labels
    assert shows <= (grouped or labels)
    assert query.count("(") == query.count(")")


def test_every_alert_says_what_to_do() -> None:
    names = [rule["alert"] for rule in rules()]

    assert len(set(names)) == len(names)
    assert [rule["alert"] for rule in rules() if not {"summary", "action"} <= set(rule["annotations"])] == []


def test_panels_do_not_overlap() -> None:
    places = [(panel["gridPos"]["y"], panel["gridPos"]["x"]) for panel in panels()]  # type: ignore[index]

    assert len(set(places)) == len(places)
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in panels())  # type: ignore[index]


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_prometheus_reads_the_rules() -> None:
    subprocess.run(["promtool", "check", "config", str(DEPLOY / "prometheus/prometheus.yml")], check=True, cwd=DEPLOY)
