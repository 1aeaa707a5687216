"""The properties of a Kafka client, as ``--command-config`` of Kafka's tools takes them: how to reach the servers.

Certificates and keys are PEM, or in Java's key stores. Secrets may be elsewhere, as in the server's properties: ``${env:NAME}``,
``${file:PATH:KEY}``, ``${directory:PATH:FILE}``. Properties of clients that are about other things have no effect.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final

from coordinator_server.cli.output import note
from coordinator_server.client.settings import ConnectionSettings, Sasl
from coordinator_server.config import ConfigError
from coordinator_server.config.java_properties import MalformedProperties, parse_properties
from coordinator_server.config.references import resolved
from coordinator_server.security.sasl.jaas import BadJaas, parse_jaas

if TYPE_CHECKING:
    from coordinator_server.security.key_stores import KeyStore

DEFAULTS: Final[Mapping[str, str]] = {
    "bootstrap.servers": "127.0.0.1:9092",
    "client.id": "coordinator-server-cli",
    "request.timeout.ms": "30000",
    "security.protocol": "PLAINTEXT",
    "ssl.truststore.type": "",
    "ssl.truststore.location": "",
    "ssl.truststore.password": "",
    "ssl.truststore.certificates": "",
    "ssl.keystore.type": "",
    "ssl.keystore.location": "",
    "ssl.keystore.password": "",
    "ssl.keystore.key": "",
    "ssl.keystore.certificate.chain": "",
    "ssl.key.password": "",
    "ssl.endpoint.identification.algorithm": "https",
    "sasl.mechanism": "GSSAPI",
    "sasl.jaas.config": "",
}
"""The properties that have an effect, with Kafka's defaults, except those of the first two.

What kind of store a file is, its content says.
"""

_STORES: Final = ("PEM", "JKS", "PKCS12")
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
        ssl=_tls(properties) if has_tls else None,
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


def _tls(properties: Mapping[str, str]) -> ssl.SSLContext:
    for name in ("ssl.truststore.type", "ssl.keystore.type"):
        if properties[name].upper() not in ("", *_STORES):
            what = f"{name}={properties[name]} cannot be read, only {', '.join(_STORES)}"
            raise ConfigError(f"{what}: 'keytool -importkeystore -deststoretype PKCS12' converts it")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = properties["ssl.endpoint.identification.algorithm"].lower() == "https"
    trusted, inline = properties["ssl.truststore.location"], properties["ssl.truststore.certificates"]
    with _refused("ssl.truststore", trusted):
        if trusted and (store := _java_store(properties, "ssl.truststore")) is not None:
            if not store.trusted:
                raise ConfigError(f"ssl.truststore.location={trusted} has no certificates")
            context.load_verify_locations(cadata=store.trusted)
        elif trusted or inline:
            context.load_verify_locations(trusted or None, cadata=inline or None)
        else:
            context.load_default_certs()
    with _keystore(properties) as keystore:
        if keystore:
            with _refused("ssl.keystore", keystore):
                # Without a password OpenSSL would ask on the terminal for that of an encrypted key.
                context.load_cert_chain(keystore, password=lambda: properties["ssl.key.password"])
    return context


@contextmanager
def _keystore(properties: Mapping[str, str]) -> Iterator[str]:
    """Give the path of a file with key and certificates; empty if there are none."""
    key, chain, path = (properties[f"ssl.keystore.{part}"] for part in ("key", "certificate.chain", "location"))
    if not key and path:
        with _refused("ssl.keystore", path):
            store = _java_store(properties, "ssl.keystore")
        if store is not None:
            key, chain = store.key, store.chain
            if not key:
                raise ConfigError(f"ssl.keystore.location={path} has no key")
    if not key:
        yield path
        return
    memory = os.memfd_create("ssl.keystore")
    try:
        os.write(memory, f"{key}\n{chain}\n".encode(errors="replace"))
        yield f"/proc/self/fd/{memory}"
    finally:
        os.close(memory)


def _java_store(properties: Mapping[str, str], name: str) -> KeyStore | None:
    """Return the content of one of Java's stores, or None for PEM. Raises ConfigError and OSError."""
    # What reads stores takes longer to import than the rest.
    from coordinator_server.security.key_stores import BadStore, is_key_store, read_key_store

    path = properties[f"{name}.location"]
    data = Path(path).read_bytes()
    if not is_key_store(data):
        return None
    try:
        return read_key_store(data, properties[f"{name}.password"], properties["ssl.key.password"])
    except BadStore as bad:
        raise ConfigError(f"{name}.location={path} {bad}") from None


@contextmanager
def _refused(name: str, path: str) -> Iterator[None]:
    try:
        yield
    except ConfigError:
        raise
    except ssl.SSLError as error:
        reason = (error.reason or str(error)).lower().replace("_", " ")
        raise ConfigError(f"{name}.location={path} cannot be used: {reason}") from None
    except OSError as error:
        raise ConfigError(f"{name}.location={path} cannot be read: {error.strerror or error}") from None
    except (TypeError, ValueError):
        raise ConfigError(f"{name} is not PEM") from None


def _sasl(properties: Mapping[str, str]) -> Sasl:
    """Return the name and password of a login module: ``…LoginModule required username="a" password="b";``. Raises ConfigError."""
    text = properties["sasl.jaas.config"]
    try:
        options = parse_jaas(text).options if text else {}
    except BadJaas as bad:
        raise ConfigError(f"sasl.jaas.config {bad}") from None
    if not {"username", "password"} <= options.keys():
        raise ConfigError('sasl.jaas.config has no username="…" and password="…"')
    return Sasl(options["username"], options["password"], properties["sasl.mechanism"])
