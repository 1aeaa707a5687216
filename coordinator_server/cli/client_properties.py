"""The properties of a Kafka client, as ``--command-config`` of Kafka's tools takes them: how to reach the servers.

Certificates and keys are PEM, or in Java's key stores. Secrets may be elsewhere, as in the server's properties: ``${env:NAME}``,
``${file:PATH:KEY}``, ``${directory:PATH:FILE}``. Properties of clients that are about other things have no effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from coordinator_server.cli.client_tokens import OAUTH_DEFAULTS, OAUTHBEARER, oauth_bearer
from coordinator_server.cli.output import note
from coordinator_server.client.settings import ConnectionSettings, OAuthBearer, Sasl
from coordinator_server.config import ConfigError
from coordinator_server.config.java_properties import MalformedProperties, parse_properties
from coordinator_server.config.references import resolved
from coordinator_server.security.client_tls import TLS_DEFAULTS, client_context
from coordinator_server.security.sasl.jaas import BadJaas, parse_jaas

DEFAULTS: Final[Mapping[str, str]] = {
    "bootstrap.servers": "127.0.0.1:9092",
    "client.id": "coordinator-server-cli",
    "request.timeout.ms": "30000",
    "security.protocol": "PLAINTEXT",
    **TLS_DEFAULTS,
    "sasl.mechanism": "GSSAPI",
    "sasl.jaas.config": "",
    **OAUTH_DEFAULTS,
}
"""The properties that have an effect, with Kafka's defaults, except those of the first two."""

_PROTOCOLS: Final = {"PLAINTEXT": (False, False), "SSL": (True, False), "SASL_PLAINTEXT": (False, True), "SASL_SSL": (True, True)}


class NoListener(ConfigError):
    """None of the server's listeners has the protocol of the client's properties."""


def connection_settings(
    bootstrap: str | None, path: Path | None, timeout_s: float, own: Mapping[str, str] | None = None
) -> ConnectionSettings:
    """Return the settings that the command line and a properties file describe. Raises ConfigError and InvalidSettings.

    ``own`` has addresses of a server by security protocol, for when neither of them names one. Raises NoListener if none fits.
    """
    given = read_properties(path) if path is not None else {}
    properties = {**DEFAULTS} | given | ({"bootstrap.servers": bootstrap} if bootstrap else {})
    protocol = properties["security.protocol"].upper()
    if protocol not in _PROTOCOLS:
        raise ConfigError(f"security.protocol takes {', '.join(_PROTOCOLS)}, not {properties['security.protocol']!r}")
    if own is not None and bootstrap is None and "bootstrap.servers" not in given:
        if protocol not in own:
            raise NoListener(f"the server has no listener with the protocol {protocol}")
        properties["bootstrap.servers"] = own[protocol]
    has_tls, has_sasl = _PROTOCOLS[protocol]
    return ConnectionSettings(
        properties["bootstrap.servers"],
        client_id=properties["client.id"],
        request_timeout_s=min(_milliseconds(properties, "request.timeout.ms") / 1000, timeout_s),
        connect_timeout_s=min(10, timeout_s),
        api_timeout_s=timeout_s,
        ssl=client_context(properties) if has_tls else None,
        sasl=_sasl(properties) if has_sasl else None,
    )


def read_properties(path: Path) -> dict[str, str]:
    """Read a file of Java's properties, with references resolved. Raises ConfigError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    properties = {}
    try:
        for number, name, value in parse_properties(text):
            _warn_if_misspelt(name, f"{path}:{number}")
            properties[name] = resolved(name, value)
    except MalformedProperties as bad:
        raise ConfigError(f"{path}:{bad.number}: {bad}") from None
    return properties


def _warn_if_misspelt(name: str, where: str) -> None:
    nearest = get_close_matches(name, DEFAULTS, 1, 0.9)
    if nearest and name not in DEFAULTS:
        note(f"{where}: {name} has no effect: did you mean {nearest[0]}?")


def _milliseconds(properties: Mapping[str, str], name: str) -> int:
    text = properties[name]
    if not text.isdecimal() or int(text) == 0:
        raise ConfigError(f"{name} takes a number of milliseconds, not {text!r}")
    return int(text)


def _sasl(properties: Mapping[str, str]) -> Sasl | OAuthBearer:
    """Return the name and password of a login module, ``…LoginModule required username="a" password="b";``, or what has tokens.

    Raises ConfigError and InvalidSettings.
    """
    text = properties["sasl.jaas.config"]
    try:
        options = parse_jaas(text).options if text else {}
    except BadJaas as bad:
        raise ConfigError(f"sasl.jaas.config {bad}") from None
    if properties["sasl.mechanism"] == OAUTHBEARER:
        return oauth_bearer(properties, options)
    if not {"username", "password"} <= options.keys():
        raise ConfigError('sasl.jaas.config has no username="…" and password="…"')
    return Sasl(options["username"], options["password"], properties["sasl.mechanism"])
