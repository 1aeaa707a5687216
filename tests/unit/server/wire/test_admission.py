"""Connections are accepted within Kafka's limits, and within what the system allows."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from coordinator_server.config import ConfigError
from coordinator_server.config.description import UNLIMITED
from coordinator_server.config.load import load
from coordinator_server.server.errors import StartError
from coordinator_server.server.wire.admission import LONGEST_DELAY_MS, Admission, Limits, connection_limits, limits_of_listener
from coordinator_server.server.wire.episodes import Episodes
from coordinator_server.server.wire.incidents import Incidents
from tests.support.clock import ManualClock
from tests.support.configs import config_with


def admission(limits: Limits, clock: ManualClock | None = None) -> Admission:
    clock = clock or ManualClock()
    return Admission(limits, Incidents(Episodes(clock.now_ms)), clock.now_ms)


def test_at_the_limit_connections_are_refused_until_one_ends() -> None:
    accepting = admission(Limits(connections=2))

    with capture_logs() as lines:
        assert [accepting.admit(host) for host in ("a", "b", "c", "d")] == [True, True, False, False]
    accepting.release("a")
    assert accepting.admit("d")
    assert accepting.connections == 2

    [line] = lines
    assert (line["event"], line["limit"], line["peer"]) == ("connection-limit-reached", "max.connections", "c")


def test_an_address_has_a_limit_and_some_have_another() -> None:
    accepting = admission(Limits(per_ip=1, overrides={"192.0.2.2": 2, "192.0.2.3": 0}))

    with capture_logs() as lines:
        hosts = ["192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.2", "192.0.2.2", "192.0.2.3"]
        assert [accepting.admit(host) for host in hosts] == [True, False, True, True, False, False]
    accepting.release("192.0.2.1")
    assert accepting.admit("192.0.2.1")

    assert [line["limit"] for line in lines] == ["max.connections.per.ip"]


def test_addresses_without_connections_are_forgotten() -> None:
    accepting = admission(Limits())
    for n in range(100):
        assert accepting.admit(f"h{n}")
        accepting.release(f"h{n}")

    assert accepting.connections == 0
    assert accepting._by_host == {}


def test_connections_over_the_rate_are_accepted_later() -> None:
    """Ten seconds of connections at once, then as many a second as allowed."""
    clock = ManualClock()
    accepting = admission(Limits(rate=4), clock)
    accepted = 0
    with capture_logs() as lines:
        while not accepting.delay_ms():
            assert accepting.admit("a")
            accepted += 1
        assert (accepted, accepting.delay_ms()) == (40, 250)
        for _ in range(20_000):
            clock.advance(1)
            if not accepting.delay_ms():
                assert accepting.admit("a")
                accepted += 1

    assert accepted == 40 + 20 * 4
    assert [line["event"] for line in lines] == ["connection-rate-reached"]


def test_a_delay_is_a_second_at_most_and_an_idle_server_saves_up_ten_seconds() -> None:
    clock = ManualClock()
    accepting = admission(Limits(rate=1), clock)
    clock.advance(1_000_000)
    accepted = 0
    while not accepting.delay_ms():
        accepted += accepting.admit("a")

    assert (accepted, accepting.delay_ms()) == (10, LONGEST_DELAY_MS)


@pytest.mark.parametrize(
    ("open_files", "shards", "most"),
    [(1024, 51, 1024 - 256 - 204), (64, 51, 32), (1 << 20, 51, 100_000), (UNLIMITED, 10, 100_000), (1024, 1000, 512)],
)
def test_the_log_keeps_descriptors(open_files: int, shards: int, most: int) -> None:
    """But at most half of them: a server that nobody can connect to is of no use."""
    limits = connection_limits(config_with(max_connections=100_000), open_files, shards)

    assert limits.connections == most
    assert (limits.reason == "max.connections") == (most == 100_000)


def test_hosts_of_overrides_become_addresses() -> None:
    config = config_with(max_connections_per_ip_overrides="127.0.0.1:5, [::1]:6,0:0::2:7")

    assert connection_limits(config, 1024, 1).overrides == {"127.0.0.1": 5, "::1": 6, "::2": 7}


def test_a_host_without_an_address_is_named() -> None:
    with pytest.raises(StartError, match=r"max.connections.per.ip.overrides: 'no-such-host.invalid' has no address"):
        connection_limits(config_with(max_connections_per_ip_overrides="no-such-host.invalid:5"), 1024, 1)


def test_a_listener_may_have_limits_of_its_own() -> None:
    """What it has not is the server's. Without any of its own it is not limited apart from the others."""
    properties = {
        "listeners": "INNER://127.0.0.1:9092,OUTER://127.0.0.1:9093",
        "listener.security.protocol.map": "INNER:PLAINTEXT,OUTER:PLAINTEXT",
        "max.connections": "70",
        "listener.name.outer.max.connection.creation.rate": "5",
    }
    config = load(properties)
    outer = limits_of_listener(config, "OUTER")

    assert limits_of_listener(config, "INNER") is None
    assert outer is not None
    assert (outer.connections, outer.rate) == (70, 5)
    clock = ManualClock()
    accepting = admission(outer, clock)
    with capture_logs() as lines:
        while not accepting.delay_ms():
            assert accepting.admit("a")
    assert "listener.name.outer.max.connection.creation.rate=5" in lines[0]["why"]
    with pytest.raises(ConfigError):
        load(properties | {"listener.name.outer.max.connections": "0"})
