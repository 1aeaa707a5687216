from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.client import ClientError, ConnectionSettings, GroupSettings, InvalidSettings, Sasl
from coordinator_server.client.settings import Address, parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("host:1234", Address("host", 1234)),
        ("host", Address("host", 9092)),
        ("[::1]:1234", Address("::1", 1234)),
        ("[::1]", Address("::1", 9092)),
        ("10.0.0.1:1", Address("10.0.0.1", 1)),
    ],
)
def test_addresses(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert parse_address(str(address)) == address


@pytest.mark.parametrize("text", ["host:port", "host:0", "host:65536", ":", "host:", "", " , "])
def test_texts_that_are_no_bootstrap_address(text: str) -> None:
    with pytest.raises(InvalidSettings):
        ConnectionSettings(text)


def test_bootstrap_servers_are_a_text_or_a_list() -> None:
    addresses = (Address("a", 1), Address("b", 2))

    assert ConnectionSettings("a:1, b:2").addresses == ConnectionSettings(["a:1", "b:2"]).addresses == addresses


@pytest.mark.parametrize(
    "values",
    [{"session_timeout_s": 0}, {"heartbeat_interval_s": 45}, {"max_poll_interval_s": -1}, {"rebalance_timeout_s": 0}],
)
def test_settings_refuse_impossible_timeouts(values: dict[str, Any]) -> None:
    with pytest.raises(InvalidSettings):
        GroupSettings("g", **values)


def test_a_rebalance_takes_as_long_as_an_owner_may_be_silent() -> None:
    assert GroupSettings("g", max_poll_interval_s=7).rebalance_s == 7
    assert GroupSettings("g", max_poll_interval_s=7, rebalance_timeout_s=3).rebalance_s == 3


def test_times_are_those_of_kafkas_consumers() -> None:
    """``session.timeout.ms``, ``heartbeat.interval.ms``, ``max.poll.interval.ms``; ``request.timeout.ms``,
    ``default.api.timeout.ms``.
    """
    group, connection = GroupSettings("g"), ConnectionSettings("h")

    assert (group.session_timeout_s, group.heartbeat_interval_s, group.max_poll_interval_s) == (45, 3, 300)
    assert (connection.request_timeout_s, connection.api_timeout_s) == (30, 60)


def test_passwords_are_not_printed() -> None:
    assert "secret" not in repr(ConnectionSettings(sasl=Sasl("user", "secret")))


def test_mechanisms_that_are_not_known_are_refused() -> None:
    with pytest.raises(InvalidSettings, match="GSSAPI"):
        Sasl("user", "secret", "GSSAPI")


def test_errors_are_one_tree() -> None:
    from coordinator_server import client

    errors = [each for each in vars(client).values() if isinstance(each, type) and issubclass(each, BaseException)]

    assert len(errors) > 10
    assert all(issubclass(each, ClientError) for each in errors)
