"""The settings of a listener's TLS. They are read without the library for certificates, which takes a fifth of a server's start."""

from __future__ import annotations

from typing import NamedTuple

from coordinator_server.config import Config
from coordinator_server.config.listener_settings import setting_of


class TlsSettings(NamedTuple):
    """The properties of a listener, each with its own value or that of all listeners."""

    listener: str
    keystore_type: str
    keystore_location: str
    keystore_key: str
    keystore_certificate_chain: str
    key_password: str
    truststore_type: str
    truststore_location: str
    truststore_certificates: str
    client_auth: str
    enabled_protocols: str
    cipher_suites: str
    principal_mapping_rules: str

    @classmethod
    def of(cls, config: Config, listener: str) -> TlsSettings:
        """Return the settings of a listener. Raises ConfigError."""
        names = [name for name in cls._fields if name != "listener"]
        return cls(listener, *(str(setting_of(config, listener, f"ssl.{name.replace('_', '.')}")) for name in names))
