"""What ``listeners`` and its siblings say, and what is wrong with other texts."""

from __future__ import annotations

import pytest

from coordinator_server.config import Config, ConfigError
from coordinator_server.config.listener_settings import setting_of
from coordinator_server.config.listeners import ListenerSpec, SecurityProtocol, is_loopback, listener_specs, node_listener
from coordinator_server.config.load import HIDDEN, load, shown_values
from tests.support.configs import config_with

PLAINTEXT, SSL = SecurityProtocol.PLAINTEXT, SecurityProtocol.SSL
TWO = "INSIDE:PLAINTEXT,OUTSIDE:SSL"


def test_the_default_is_for_this_machine_only() -> None:
    [spec] = listener_specs(Config())

    assert spec == ListenerSpec("PLAINTEXT", "127.0.0.1", 9092, PLAINTEXT)
    assert is_loopback(spec.host)


def test_names_have_protocols() -> None:
    config = config_with(
        listeners="inside://127.0.0.1:9092, OUTSIDE://[::]:0,SSL://:9094", listener_security_protocol_map=TWO + ",SSL:SSL"
    )

    assert listener_specs(config) == (
        ListenerSpec("INSIDE", "127.0.0.1", 9092, PLAINTEXT),
        ListenerSpec("OUTSIDE", "::", 0, SSL),
        ListenerSpec("SSL", "", 9094, SSL),
    )
    assert [str(each) for each in listener_specs(config)] == ["INSIDE://127.0.0.1:9092", "OUTSIDE://[::]:0", "SSL://:9094"]


@pytest.mark.parametrize("host", ["", "0.0.0.0", "10.0.0.7", "::", "example"])
def test_other_hosts_are_reached_from_elsewhere(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("text", "advertised"),
    [
        ("", None),
        ("host:9092", ("host", 9092)),
        ("plaintext://host.example:1", ("host.example", 1)),
        ("PLAINTEXT://[::1]:65535", ("::1", 65535)),
    ],
)
def test_an_advertised_address_may_lack_the_name(text: str, advertised: tuple[str, int] | None) -> None:
    """As long as there is one listener."""
    [spec] = listener_specs(config_with(advertised_listeners=text))

    assert spec.advertised == advertised


def test_each_listener_has_its_advertised_address() -> None:
    config = config_with(
        listeners="INSIDE://:9092,OUTSIDE://:9192",
        listener_security_protocol_map=TWO,
        advertised_listeners="OUTSIDE://example.org:443",
    )

    assert [each.advertised for each in listener_specs(config)] == [None, ("example.org", 443)]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"listeners": ""}, "listeners is empty: one address is required"),
        ({"listeners": "9092"}, "listeners=9092: '9092' is not NAME://HOST:PORT"),
        ({"listeners": "PLAINTEXT://127.0.0.1"}, "is not NAME://HOST:PORT"),
        ({"listeners": "PLAINTEXT://127.0.0.1:65536"}, "is not NAME://HOST:PORT"),
        ({"listeners": "PLAINTEXT://127.0.0.1:-1"}, "is not NAME://HOST:PORT"),
        ({"listeners": "PLAINTEXT://::1:9092"}, "is not NAME://HOST:PORT"),
        ({"listeners": "INSIDE://:9092"}, "listener.security.protocol.map has no protocol for INSIDE, such as INSIDE:SSL"),
        ({"listeners": "SSL://:1,ssl://:2"}, "SSL is named twice"),
        ({"listeners": "SSL://:9092,PLAINTEXT://:9092"}, "SSL and PLAINTEXT need the same port$"),
        ({"listeners": "SSL://:9092,PLAINTEXT://:9093", "loops": "2"}, "need the same port: 2 loops take 2 ports of each"),
        (
            {"listener.security.protocol.map": "A"},
            "listener.security.protocol.map=A: 'A' is not NAME:PROTOCOL with one of PLAINTEXT",
        ),
        ({"listener.security.protocol.map": "A:TLS"}, "'A:TLS' is not NAME:PROTOCOL"),
        ({"advertised.listeners": "host"}, "advertised.listeners=host: 'PLAINTEXT://host' is not NAME://HOST:PORT"),
        (
            {"advertised.listeners": "a:1,b:2"},
            "advertised.listeners=a:1,b:2: an address without a listener's name is for one listener",
        ),
        ({"advertised.listeners": "SSL://a:1"}, "SSL is none of the listeners .PLAINTEXT."),
        ({"advertised.listeners": ":9092"}, "clients cannot connect to an address without a host"),
        ({"advertised.listeners": "0.0.0.0:9092"}, "clients cannot connect to 0.0.0.0"),
        ({"advertised.listeners": "a:65535", "loops": "2"}, "2 loops need ports up to 65536, and 65535 is the last one"),
        (
            {"listener.name.other.ssl.client.auth": "required"},
            "listener.name.other.ssl.client.auth: OTHER is none of the listeners",
        ),
        ({"sasl.jaas.config": "users"}, "sasl.jaas.config is that of one listener and mechanism"),
        ({"listener.name.plaintext.plain.connections.max.reauth.ms": "soon"}, "takes a whole number of milliseconds"),
        (
            {"listener.name.plaintext.num.partitions": "1"},
            "only ssl.*, sasl.enabled.mechanisms, .* can be given for one listener",
        ),
        ({"listener.name.plaintext.ssl.client.atuh": "none"}, "unknown property ssl.client.atuh; did you mean ssl.client.auth"),
        (
            {"listener.name.plaintext.ssl.client.auth": "no"},
            "listener.name.plaintext.ssl.client.auth takes none or requested or required",
        ),
    ],
)
def test_other_texts_are_refused(settings: dict[str, str], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        load(settings)


def test_a_mechanism_of_a_listener_may_have_settings_of_its_own() -> None:
    """Its own, else the listener's, else the server's; names are Kafka's, in any case."""
    config = load(
        {
            "listeners": "SASL_SSL://:1,SASL_PLAINTEXT://:2,PLAINTEXT://:3",
            "connections.max.reauth.ms": "1",
            "listener.name.SASL_SSL.connections.max.reauth.ms": "2",
            "listener.name.sasl_ssl.SCRAM-SHA-256.connections.max.reauth.ms": "3",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": "users",
        }
    )
    name = "connections.max.reauth.ms"

    found = [setting_of(config, "SASL_SSL", name, mechanism) for mechanism in ("SCRAM-SHA-256", "PLAIN", "")]
    assert [*found, setting_of(config, "PLAINTEXT", name, "PLAIN")] == [3, 2, 2, 1]
    assert setting_of(config, "SASL_PLAINTEXT", "sasl.jaas.config", "PLAIN") == "users"
    assert shown_values(config)["listener.name.sasl_plaintext.plain.sasl.jaas.config"] == HIDDEN


def test_a_listener_may_have_settings_of_its_own() -> None:
    config = load({"listeners": "SSL://:1,PLAINTEXT://:2", "listener.name.SSL.ssl.client.auth": "required"})

    assert setting_of(config, "SSL", "ssl.client.auth") == "required"
    assert setting_of(config, "PLAINTEXT", "ssl.client.auth") == "none"


def test_the_listener_for_nodes_may_have_settings_of_its_own() -> None:
    """It is none of those for clients."""
    properties = {
        "listeners": "PLAINTEXT://:1,NODES://a:2",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,NODES:SSL",
        "inter.node.listener.name": "NODES",
        "listener.name.nodes.ssl.keystore.location": "node.pem",
    }
    config = load(properties)

    assert setting_of(config, node_listener(config).name, "ssl.keystore.location") == "node.pem"
    assert [each.name for each in listener_specs(config)] == ["PLAINTEXT"]
