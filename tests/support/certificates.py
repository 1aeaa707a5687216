"""Certificates for tests: an authority, and what it vouches for."""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

CURVE = ec.SECP256R1()


def named(common_name: str) -> x509.Name:
    """Return a name with nothing but a common name."""
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


class Identity(NamedTuple):
    """A private key and its certificate."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(Encoding.DER)

    @property
    def certificate_pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    def key_pem(self, password: str = "") -> str:
        """Return the key, encrypted if there is a password."""
        how = BestAvailableEncryption(password.encode()) if password else NoEncryption()
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how).decode()

    def write(self, path: Path, password: str = "") -> Path:
        """Write a key store."""
        path.write_text(self.key_pem(password) + self.certificate_pem)
        return path


class Authority:
    """Who vouches for others."""

    def __init__(self, name: str = "authority") -> None:
        self.name = named(name)
        self.key = ec.generate_private_key(CURVE)

    @cached_property
    def certificate(self) -> x509.Certificate:
        return self._sign(self.name, self.key, days=3650, is_authority=True)

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    def issue(self, subject: x509.Name | str, days: float = 100, host: str = "") -> Identity:
        """Make a key, and a certificate for a server on this machine or for a client; or for a server on another host."""
        key, name = ec.generate_private_key(CURVE), named(subject) if isinstance(subject, str) else subject
        return Identity(key, self._sign(name, key, days, is_authority=False, host=host))

    def write(self, path: Path) -> Path:
        """Write a trust store."""
        path.write_text(self.pem)
        return path

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, days: float, *, is_authority: bool, host: str = ""
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        names = [x509.DNSName(host)] if host else [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=400))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
            .sign(self.key, hashes.SHA256())
        )
