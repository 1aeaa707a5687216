"""TLS of a listener: Kafka's ``ssl.*`` properties as an ``ssl.SSLContext``, which can be read again while the server runs.

Keys and certificates are PEM, in files or in the properties themselves. As in Kafka, the file of a key store has the private key
and then the chain of certificates, and that of a trust store the certificates of those who vouch for clients.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

from cryptography import x509

from coordinator_server.config import Config, ConfigError
from coordinator_server.machine.provenance import ANONYMOUS
from coordinator_server.security.certificate_names import subject_name
from coordinator_server.security.principal_mapping import PrincipalMapping
from coordinator_server.security.tls_reason import tls_reason
from coordinator_server.security.tls_settings import TlsSettings

_VERSIONS: Final = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_CLIENT_AUTH: Final = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}
_USER: Final = "User:"


class ListenerTls:
    """The TLS of a listener. Raises ConfigError if the settings are wrong or a file cannot be used.

    With ``is_for_nodes`` both sides show certificates: ``connecting`` is the TLS of connections to the same listener of others.
    """

    connecting: ssl.SSLContext

    def __init__(self, settings: TlsSettings, *, is_for_nodes: bool = False) -> None:
        self._listener = settings.listener
        self._is_for_nodes = is_for_nodes
        self.use(settings)

    def reload(self, config: Config) -> None:
        """Read properties and files again, for connections from now on. Raises ConfigError; the old ones stay in use then."""
        self.use(TlsSettings.of(config, self._listener))

    def use(self, settings: TlsSettings) -> None:
        """Use other settings and files, for connections from now on. Raises ConfigError; the old ones stay in use then."""
        mapping = PrincipalMapping(settings.principal_mapping_rules)
        if self._is_for_nodes:
            settings = settings._replace(client_auth="required")
            connecting = _context(settings, ssl.PROTOCOL_TLS_CLIENT)
        self.context, self.not_after = _context(settings, ssl.PROTOCOL_TLS_SERVER), _not_after(settings)
        self._mapping = mapping
        if self._is_for_nodes:
            self.connecting = connecting

    def kept(self) -> ssl.SSLContext:
        """Return a context for a server that asks for one once: each connection has the certificate that was read last."""
        found = self.context

        def newest(connection: ssl.SSLObject | ssl.SSLSocket, _name: str, _context: ssl.SSLContext) -> None:
            connection.context = self.context

        found.sni_callback = newest
        return found

    def principal(self, tls: ssl.SSLObject | ssl.SSLSocket) -> str:
        """Return the principal of a connection, which is anonymous without a certificate.

        Raises ValueError, as NoPrincipal is one.
        """
        certificate = tls.getpeercert(binary_form=True)
        return ANONYMOUS if certificate is None else _USER + self._mapping.principal(subject_name(certificate))


def _context(settings: TlsSettings, side: int) -> ssl.SSLContext:
    context = ssl.SSLContext(side)
    context.minimum_version, context.maximum_version = _versions(settings)
    context.verify_mode = _CLIENT_AUTH[settings.client_auth]
    if settings.cipher_suites:
        _select(context, settings)
    with _keystore_file(settings) as path, _refused(settings, "key store"):
        context.load_cert_chain(path, password=lambda: _password(settings))
    trusted = _trusted(settings)
    if trusted:
        with _refused(settings, "trust store"):
            context.load_verify_locations(cadata=trusted)
    elif context.verify_mode is not ssl.CERT_NONE:
        raise _problem(settings, "ssl.truststore.location", f"is required with ssl.client.auth={settings.client_auth}")
    return context


def _versions(settings: TlsSettings) -> tuple[ssl.TLSVersion, ssl.TLSVersion]:
    names = [name.strip() for name in settings.enabled_protocols.split(",") if name.strip()]
    unknown = [name for name in names if name not in _VERSIONS]
    if unknown or not names:
        served = " and ".join(_VERSIONS)
        raise _problem(settings, "ssl.enabled.protocols", f"takes {served}, one or both, not {settings.enabled_protocols!r}")
    versions = [_VERSIONS[name] for name in names]
    return min(versions), max(versions)


def _select(context: ssl.SSLContext, settings: TlsSettings) -> None:
    """Allow only the cipher suites that are named. Those of TLS 1.3 are always allowed."""
    names = [name.strip() for name in settings.cipher_suites.split(",") if name.strip()]
    for name in names:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).set_ciphers(openssl_cipher(name))
        except ssl.SSLError:
            raise _problem(settings, "ssl.cipher.suites", f"{name!r} is not a suite of TLS 1.2 that OpenSSL has") from None
    context.set_ciphers(":".join(map(openssl_cipher, names)))


def openssl_cipher(name: str) -> str:
    """Return OpenSSL's name of a cipher suite of TLS 1.2, which is given by its standard name or by OpenSSL's."""
    exchange, with_, cipher = name.removeprefix("TLS_").partition("_WITH_")
    if not with_:
        return name
    cipher = cipher.replace("AES_", "AES").replace("_CBC_SHA", "_SHA").replace("POLY1305_SHA256", "POLY1305")
    return "-".join([*(exchange.split("_") if exchange != "RSA" else ()), *cipher.split("_")])


def _not_after(settings: TlsSettings) -> datetime:
    """Return when the server's certificate expires, in UTC."""
    with _keystore_file(settings) as path, _refused(settings, "key store"):
        [certificate, *_] = x509.load_pem_x509_certificates(Path(path).read_bytes())
    return certificate.not_valid_after_utc


@contextmanager
def _keystore_file(settings: TlsSettings) -> Iterator[str]:
    """Give the path of a file with the key and the chain. PEM in the properties is put into a file in memory for that time."""
    if settings.keystore_type.upper() != "PEM":
        how = "openssl pkcs12 -in FILE -nodes -out server.pem makes one"
        raise _problem(settings, "ssl.keystore.type", f"{settings.keystore_type}: key stores are PEM here; {how}")
    if settings.keystore_key:
        if not settings.keystore_certificate_chain:
            raise _problem(settings, "ssl.keystore.certificate.chain", "is required with ssl.keystore.key")
        memory = os.memfd_create("ssl.keystore")
        try:
            os.write(memory, f"{settings.keystore_key}\n{settings.keystore_certificate_chain}\n".encode(errors="replace"))
            yield f"/proc/self/fd/{memory}"
        finally:
            os.close(memory)
    elif settings.keystore_location:
        yield settings.keystore_location
    else:
        raise _problem(settings, "ssl.keystore.location", "is required: a PEM file with the private key and its certificates")


def _trusted(settings: TlsSettings) -> str:
    if settings.truststore_type.upper() != "PEM":
        how = "keytool -list -rfc -keystore FILE prints the certificates"
        raise _problem(settings, "ssl.truststore.type", f"{settings.truststore_type}: trust stores are PEM here; {how}")
    if settings.truststore_certificates or not settings.truststore_location:
        return settings.truststore_certificates
    with _refused(settings, "trust store"):
        return Path(settings.truststore_location).read_text(encoding="ascii")


def _password(settings: TlsSettings) -> str:
    if not settings.key_password:
        raise _problem(settings, "ssl.key.password", "is required: the private key is encrypted")
    return settings.key_password


@contextmanager
def _refused(settings: TlsSettings, what: str) -> Iterator[None]:
    """Turn the errors of files and of OpenSSL into ConfigError."""
    path = settings.keystore_location if what == "key store" else settings.truststore_location
    name = f"ssl.{what.replace(' ', '')}" + (f".location={path}" if path else "")
    try:
        yield
    except ssl.SSLError as refused:
        hint = " (is ssl.key.password right?)" if settings.key_password and what == "key store" else ""
        raise _problem(settings, name, f"cannot be used: {tls_reason(refused)}{hint}") from None
    except OSError as refused:
        raise _problem(settings, name, f"cannot be read: {refused.strerror or refused}") from None
    except ConfigError:
        raise
    except (TypeError, ValueError):
        raise _problem(settings, name, "has no certificate that can be read") from None


def _problem(settings: TlsSettings, name: str, what: str) -> ConfigError:
    return ConfigError(f"{settings.listener}: {name} {what}")
