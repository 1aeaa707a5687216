"""The table of metrics: Prometheus' rules for names, and the documents that are made of it."""

from __future__ import annotations

import re
from pathlib import Path

from coordinator_server.ops.metrics.families import Family, Kind, families
from coordinator_server.ops.metrics.page import page

ROOT = Path(__file__).parents[4]


def test_names_follow_the_rules_of_prometheus() -> None:
    """Base units; a name once; every metric is explained."""
    names = [each.name for each in families()]

    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"coordinator_[a-z]+(_[a-z]+)*", name)] == []
    assert [name for name in names if re.search(r"_(ms|millis|minutes|kb|mb|percent)(_|$)", name)] == []
    assert [each.name for each in families() if not re.fullmatch(r"[A-Z].*\.", each.help)] == []


def test_no_label_is_one_that_prometheus_adds() -> None:
    """It would be renamed: ``job`` to ``exported_job``."""
    assert [each.name for each in families() if {"job", "instance", "le"} & set(each.labels)] == []


def test_histograms_have_ascending_bounds() -> None:
    for each in families():
        assert (each.kind is Kind.HISTOGRAM) == bool(each.bounds)
        assert list(each.bounds) == sorted(set(each.bounds))


def test_a_counter_says_so_in_its_name() -> None:
    assert Family("x", Kind.COUNTER, "X.").name == "coordinator_x_total"
    assert Family("x", Kind.GAUGE, "X.").name == "coordinator_x"


def test_the_page_is_the_one_of_the_table() -> None:
    """``make generate`` writes it."""
    assert "".join(page()) == (ROOT / "docs/metrics.md").read_text()
