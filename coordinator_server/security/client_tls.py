"""TLS of a client: the ``ssl.*`` properties of Kafka's clients as an ``ssl.SSLContext``.

Certificates and keys are PEM, or in Java's key stores. What kind of store a file is, its content says.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from coordinator_server.config import ConfigError
from coordinator_server.security.tls_reason import tls_reason

if TYPE_CHECKING:
    from coordinator_server.security.key_stores import KeyStore

TLS_DEFAULTS: Final[Mapping[str, str]] = {
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
}
"""The properties that have an effect, with Kafka's defaults."""

_STORES: Final = ("PEM", "JKS", "PKCS12")


def client_context(properties: Mapping[str, str]) -> ssl.SSLContext:
    """Return the TLS that properties describe; those of TLS_DEFAULTS are there. Raises ConfigError."""
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
        raise ConfigError(f"{name}.location={path} cannot be used: {tls_reason(error)}") from None
    except OSError as error:
        raise ConfigError(f"{name}.location={path} cannot be read: {error.strerror or error}") from None
    except (TypeError, ValueError):
        raise ConfigError(f"{name} is not PEM") from None
