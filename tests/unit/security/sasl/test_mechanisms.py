"""The mechanisms of a listener, from its properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from coordinator_server.config import Config, ConfigError
from coordinator_server.config.listener_settings import MECHANISMS
from coordinator_server.config.load import load
from coordinator_server.security.sasl.mechanisms import Mechanism, mechanisms_of

LISTENER = {"listeners": "SASL_PLAINTEXT://:1"}
JAAS = "listener.name.sasl_plaintext.plain.sasl.jaas.config"
NOBODY: Any = None


def keys(_config: Config, listener: str, options: Mapping[str, str]) -> Any:
    return f"tokens of {listener}, {dict(options)}", NOBODY


def found(settings: dict[str, str]) -> dict[str, Mechanism]:
    return mechanisms_of(load(LISTENER | settings), "SASL_PLAINTEXT", NOBODY, b"key", keys)


def test_the_mechanism_of_tokens_is_opened_with_its_options() -> None:
    jaas = "listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config"
    settings = {"sasl.enabled.mechanisms": "OAUTHBEARER", jaas: "m required ssl.truststore.location=x;"}

    opened: Any = found(settings)["OAUTHBEARER"].begin
    assert opened == "tokens of SASL_PLAINTEXT, {'ssl.truststore.location': 'x'}"


def test_every_mechanism_has_properties_of_its_own() -> None:
    every = found({"sasl.enabled.mechanisms": ",".join(MECHANISMS), JAAS: "m required user_alice=x;"})

    assert [name.lower() for name in every] == list(MECHANISMS)


def test_a_listener_has_mechanisms_of_its_own() -> None:
    settings = {
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.sasl.enabled.mechanisms": "scram-sha-512, SCRAM-SHA-256",
        "connections.max.reauth.ms": "5",
        "listener.name.sasl_plaintext.scram-sha-256.connections.max.reauth.ms": "7",
    }

    assert {name: each.max_reauth_ms for name, each in found(settings).items()} == {"SCRAM-SHA-512": 5, "SCRAM-SHA-256": 7}


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({}, "SASL_PLAINTEXT: sasl.enabled.mechanisms is required: one or more of PLAIN"),
        ({"sasl.enabled.mechanisms": "GSSAPI"}, "GSSAPI is not one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER"),
        ({"sasl.enabled.mechanisms": "PLAIN"}, f"{JAAS} is required: it has the users"),
        ({"sasl.enabled.mechanisms": "PLAIN", JAAS: "m required x"}, f"{JAAS} is not MODULE required"),
    ],
)
def test_wrong_properties_are_refused(settings: dict[str, str], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        found(settings)
