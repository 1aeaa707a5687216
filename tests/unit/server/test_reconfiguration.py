"""What a loop does with properties that SIGHUP has changed."""

from __future__ import annotations

from typing import Any, cast

from structlog.testing import capture_logs

from coordinator_server.config import Config
from coordinator_server.config.load import load
from coordinator_server.log.store import History
from coordinator_server.server.errors import StartError
from coordinator_server.server.reconfiguration import Reconfiguration
from coordinator_server.server.wire.admission import Admission, Limits
from coordinator_server.server.wire.episodes import Episodes
from coordinator_server.server.wire.incidents import Incidents
from tests.support.clock import ManualClock


class Sasl:
    """The listeners with SASL, which note what they are told."""

    def __init__(self, told: list[object]) -> None:
        self._told = told

    def reload(self, config: Config) -> None:
        self._told.append("sasl")


class Parts:
    """Parts of a loop that note what they are told."""

    def __init__(self) -> None:
        self.config = Config()
        self.told: list[object] = []
        self.failure: StartError | None = None

    def limits(self) -> Limits:
        if self.failure is not None:
            raise self.failure
        return Limits(self.config.live.max_connections)

    def apply(self, changed: Config) -> None:
        Reconfiguration(
            self.config, cast(Any, self), cast(Any, self), cast(Any, self), self.limits, cast(Any, Sasl(self.told))
        ).apply(changed)

    # Certificates, listener and retention.

    def reload(self, config: Config) -> None:
        self.told.append("certificates")

    def limit(self, limits: Limits) -> None:
        self.told.append(limits)

    def keep(self, history: History) -> None:
        self.told.append(history)

    def close_idle(self, idle_ms: int) -> None:
        self.told.append(f"idle {idle_ms}")


def test_a_reload_notifies_the_parts_that_keep_values() -> None:
    parts = Parts()
    changed = load(
        {
            "log.history.retention.ms": "5",
            "log.history.retention.bytes": "6",
            "log.local.retention.ms": "3",
            "log.local.retention.bytes": "4",
            "max.connections": "7",
            "connections.max.idle.ms": "8",
        }
    )

    parts.apply(changed)

    assert parts.config == changed
    assert parts.told == ["certificates", "sasl", History(5, 6, 3, 4), "idle 8", Limits(7)]


def test_limits_are_found_anew_only_if_one_has_changed() -> None:
    """Names of hosts are looked up for them, and certificates are rotated more often."""
    parts = Parts()

    parts.apply(load({"num.partitions": "3"}))

    assert parts.told == ["certificates", "sasl", History(Config().live.log_history_retention_ms, -1), "idle 600000"]


def test_limits_that_cannot_be_used_leave_the_old_ones() -> None:
    parts = Parts()
    parts.failure = StartError("no such host")

    with capture_logs() as lines:
        parts.apply(load({"max.connections.per.ip.overrides": "nowhere.invalid:5"}))

    assert [(line["event"], line["why"]) for line in lines] == [("limits-not-reloaded", "no such host")]
    assert parts.told[:1] == ["certificates"]


def test_other_limits_count_for_connections_from_then_on() -> None:
    """Those that are open stay."""
    clock = ManualClock()
    admission = Admission(Limits(2), Incidents(Episodes(clock.now_ms)), clock.now_ms)
    assert [admission.admit("a") for _ in range(3)] == [True, True, False]

    admission.limit(Limits(3))

    assert [admission.admit("a") for _ in range(2)] == [True, False]
    assert admission.connections == 3
