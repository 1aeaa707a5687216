"""The settings of a group: its own, the server's, and the bounds of both."""

from __future__ import annotations

import pytest

from coordinator_server.config import Config
from coordinator_server.config.load import load
from coordinator_server.group.common.settings import ConsumerSettings, SettingsOfGroups, ShareSettings

SERVER = {"group.consumer.session.timeout.ms": "50000", "group.consumer.heartbeat.interval.ms": "7000"}


def consumer(session_timeout_ms: int, heartbeat_interval_ms: int, assignment_interval_ms: int) -> ConsumerSettings:
    """The settings with what a group cannot set."""
    return ConsumerSettings(session_timeout_ms, heartbeat_interval_ms, assignment_interval_ms, 2**31 - 1, 600_000)


def test_a_group_without_settings_has_the_servers() -> None:
    settings = SettingsOfGroups(load({**SERVER, "group.consumer.assignment.interval.ms": "9"}))

    assert settings("g").consumer == consumer(50_000, 7_000, 9)


def test_by_default_they_are_kafkas() -> None:
    assert SettingsOfGroups(Config())("g").consumer == consumer(45_000, 5_000, 1_000)


def test_a_groups_own_setting_counts_and_the_others_are_the_servers() -> None:
    own = {"g": {"consumer.session.timeout.ms": "55000", "share.session.timeout.ms": "46000"}}
    settings = SettingsOfGroups(load(SERVER), lambda group_id: own.get(group_id, {}))

    assert settings("g").consumer == consumer(55_000, 7_000, 1_000)
    assert settings("h").consumer == consumer(50_000, 7_000, 1_000)


def test_a_changed_group_setting_is_used_at_once() -> None:
    own = {"consumer.assignment.interval.ms": "0"}
    held = [own]
    settings = SettingsOfGroups(Config(), lambda _group_id: held[0])
    before = settings("g")

    assert settings("g") is before
    held[0] = {"consumer.assignment.interval.ms": "15000"}
    assert settings("g").consumer.assignment_interval_ms == 15_000
    held[0] = {}
    assert settings("g").consumer.assignment_interval_ms == 1_000
    held[0] = own
    assert settings("g").consumer.assignment_interval_ms == 0


@pytest.mark.parametrize(("value", "used"), [("1", 45_000), ("44999", 45_000), ("60000", 60_000), ("70000", 60_000)])
def test_a_value_outside_of_the_bounds_counts_as_the_nearest_one(value: str, used: int) -> None:
    """The bounds were different when it was set. It is reported."""
    reports: list[tuple[str, dict[str, object]]] = []

    def report(name: str, **fields: object) -> None:
        reports.append((name, fields))

    settings = SettingsOfGroups(Config(), lambda _group_id: {"consumer.session.timeout.ms": value}, report)

    assert settings("g").consumer.session_timeout_ms == used
    fields = {"group_id": "g", "setting": "consumer.session.timeout.ms", "value": int(value), "used": used}
    assert reports == ([] if int(value) == used else [("group-setting-out-of-bounds", fields)])


def test_a_share_group_has_settings_of_its_own_kind() -> None:
    """From the server's properties and the group's settings for share groups, within their bounds."""
    own = {"share.session.timeout.ms": "46000", "share.assignment.interval.ms": "99999", "consumer.session.timeout.ms": "55000"}
    settings = SettingsOfGroups(
        load({"group.share.heartbeat.interval.ms": "6000"}), lambda group_id: own if group_id == "g" else {}
    )

    assert settings("h").share == ShareSettings(45_000, 6_000, 1_000, 30_000)
    assert settings("g").share == ShareSettings(46_000, 6_000, 15_000, 30_000)
