"""Java's key stores as keytool writes them: JKS, and PKCS #12, which is its default. What a store is, its content says.

JKS is as in ``sun.security.provider.JavaKeyStore`` and ``KeyProtector``: entries with certificates, of which those with a key
have it encrypted, and at the end a digest of all with the password. PKCS #12 is RFC 7292.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_der_private_key, pkcs12

_JKS: Final = bytes.fromhex("FEEDFEED")
_JCEKS: Final = bytes.fromhex("CECECECE")
_SEQUENCE: Final = 0x30
_KEY, _CERTIFICATE = 1, 2
_DIGEST_BYTES: Final = 20
_WHITENER: Final = b"Mighty Aphrodite"


class BadStore(ValueError):
    """The file cannot be used. The message says why, after its name."""


class KeyStore(NamedTuple):
    """The content of a store, in PEM. ``key`` is that of the first entry with one, or empty; ``chain`` has its certificates.

    ``trusted`` are the certificates of all other entries, and the first of ``chain``.
    """

    key: str
    chain: str
    trusted: str


def is_key_store(data: bytes) -> bool:
    """Return whether a file is a store: PEM is text."""
    return data[:4] in (_JKS, _JCEKS) or data[:1] == bytes([_SEQUENCE])


def read_key_store(data: bytes, password: str, key_password: str = "") -> KeyStore:
    """Read a store. Without ``key_password`` a key has the password of the store. Raises BadStore."""
    if data[:4] == _JCEKS:
        raise BadStore("is a JCEKS store: 'keytool -importkeystore -deststoretype PKCS12' converts it")
    try:
        return _read_jks(data, password, key_password or password) if data[:4] == _JKS else _read_pkcs12(data, password)
    except BadStore:
        raise
    except (ValueError, IndexError, UnicodeError) as bad:
        raise BadStore(f"is neither JKS nor PKCS #12, or damaged: {bad}") from None


def _read_pkcs12(data: bytes, password: str) -> KeyStore:
    try:
        store = pkcs12.load_pkcs12(data, password.encode() or None)
    except ValueError as bad:
        raise BadStore(f"cannot be opened: the password is wrong, or it is no PKCS #12 ({bad})") from None
    others = [each.certificate for each in store.additional_certs]
    if store.key is None or store.cert is None:
        return KeyStore("", "", _pem(others))
    key = store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    own = store.cert.certificate
    return KeyStore(key, _pem([own, *others]), _pem([own, *others]))


def _read_jks(data: bytes, password: str, key_password: str) -> KeyStore:
    content, digest = data[:-_DIGEST_BYTES], data[-_DIGEST_BYTES:]
    # As in Java, a store of certificates can be read without its password.
    if password and not hmac.compare_digest(hashlib.sha1(_utf16(password) + _WHITENER + content).digest(), digest):
        raise BadStore("cannot be opened: the password is wrong, or it is damaged")
    key, chain, trusted = b"", list[x509.Certificate](), list[x509.Certificate]()
    for protected, certificates in _entries(_Reader(content, len(_JKS))):
        if protected is None:
            trusted += certificates
            continue
        trusted += certificates[:1]
        if not key:
            key, chain = _key_of(protected, _utf16(key_password)), list(certificates)
    if not key:
        return KeyStore("", "", _pem(trusted))
    pem = load_der_private_key(key, None).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return KeyStore(pem, _pem(chain), _pem(trusted))


def _entries(reader: _Reader) -> Iterator[tuple[bytes | None, Sequence[x509.Certificate]]]:
    """Yield the protected key of each entry, or None, and its certificates."""
    version = reader.number(4)
    for _ in range(reader.number(4)):
        tag = reader.number(4)
        reader.take(reader.number(2))  # the alias
        reader.take(8)  # when it was made
        if tag not in (_KEY, _CERTIFICATE):
            raise ValueError(f"an entry of type {tag}")
        protected = reader.take(reader.number(4)) if tag == _KEY else None
        count = reader.number(4) if tag == _KEY else 1
        certificates = []
        for _ in range(count):
            if version > 1:
                reader.take(reader.number(2))  # "X.509"
            certificates.append(x509.load_der_x509_certificate(reader.take(reader.number(4))))
        yield protected, certificates


def _key_of(protected: bytes, password: bytes) -> bytes:
    """Return the PKCS #8 bytes of a protected key. It is an EncryptedPrivateKeyInfo with Java's own algorithm."""
    inner = _Reader(_element(_Reader(protected, 0)), 0)
    _element(inner)  # the algorithm
    secret = _element(inner)
    salt, hidden, check = secret[:_DIGEST_BYTES], secret[_DIGEST_BYTES:-_DIGEST_BYTES], secret[-_DIGEST_BYTES:]
    stream, block = b"", salt
    while len(stream) < len(hidden):
        block = hashlib.sha1(password + block).digest()
        stream += block
    key = bytes(one ^ other for one, other in zip(hidden, stream, strict=False))
    if not hmac.compare_digest(hashlib.sha1(password + key).digest(), check):
        raise BadStore("has a key that the password does not open (ssl.key.password)")
    return key


def _element(reader: _Reader) -> bytes:
    """Return the content of the next element of DER."""
    reader.take(1)
    size = reader.number(1)
    return reader.take(reader.number(size & 0x7F) if size & 0x80 else size)


def _utf16(password: str) -> bytes:
    return password.encode("utf-16-be")


def _pem(certificates: Sequence[x509.Certificate]) -> str:
    return "".join(each.public_bytes(Encoding.PEM).decode() for each in certificates)


class _Reader:
    """Takes big-endian numbers and bytes from a position on. Raises ValueError at the end."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data = data
        self._position = position

    def take(self, size: int) -> bytes:
        end = self._position + size
        if end > len(self._data):
            raise ValueError("it ends too early")
        taken, self._position = self._data[self._position : end], end
        return taken

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")
