"""A set of public keys (JWKS, RFC 7517): which key vouches for a token, by the token's header.

A key that cannot verify a signature here is skipped: other types, other uses, and RSA keys that are too short or too long. Of a
private key only the public half is read. Kafka's rules are those of jose4j's ``VerificationJwkSelector``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from jwt.exceptions import InvalidKeyError

from coordinator_server.security.oauth.strict_json import object_of

MAX_BYTES: Final = 1 << 20
MAX_KEYS: Final = 500
_RSA_BITS: Final = (2048, 8192)
_ALGORITHMS: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    ("RSA", ""): frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}),
    ("EC", "P-256"): frozenset({"ES256"}),
    ("EC", "P-384"): frozenset({"ES384"}),
    ("EC", "P-521"): frozenset({"ES512"}),
    ("OKP", "Ed25519"): frozenset({"EdDSA"}),
}
ALGORITHMS: Final = frozenset().union(*_ALGORITHMS.values())
"""All with which a token may be signed: none of them has a secret in place of a public key."""
_PUBLIC: Final[Sequence[str]] = ("kty", "crv", "n", "e", "x", "y")


class BadKeySet(ValueError):
    """The text is no set of keys. The message says why, after its name."""


class Key(NamedTuple):
    """A public key, and the algorithms that it may be used with. ``id`` is empty if it has none."""

    id: str
    algorithms: frozenset[str]
    public: Any


class KeySet:
    """The keys of a set, and how many of it are ``skipped``."""

    def __init__(self, keys: Sequence[Key], skipped: int = 0) -> None:
        self._keys = tuple(keys)
        self.skipped = skipped

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, algorithm: str, key_id: str | None) -> Key | None:
        """Return the first key that a token's header allows, or None. A token without the id of a key may have any."""
        for key in self._keys:
            if algorithm in key.algorithms and key_id in (None, key.id):
                return key
        return None


def read_key_set(data: bytes) -> KeySet:
    """Return the keys of a document. One without keys is valid: then no token is accepted. Raises BadKeySet."""
    if len(data) > MAX_BYTES:
        raise BadKeySet(f"has more than {MAX_BYTES} bytes")
    try:
        found = object_of(data)
    except ValueError as bad:
        raise BadKeySet(str(bad)) from None
    entries = found.get("keys")
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise BadKeySet('has no list of keys: {"keys": [{"kty": …}, …]}')
    if len(entries) > MAX_KEYS:
        raise BadKeySet(f"has {len(entries)} keys, and {MAX_KEYS} are allowed")
    keys = [key for each in entries if (key := _key(each)) is not None]
    return KeySet(keys, len(entries) - len(keys))


def _key(entry: dict[str, Any]) -> Key | None:
    """Return a key, or None if it cannot verify signatures here."""
    algorithms = _algorithms(entry)
    operations = entry.get("key_ops", ["verify"])
    key_id = entry.get("kid", "")
    if entry.get("use", "sig") != "sig" or not isinstance(operations, list) or "verify" not in operations:
        return None
    if not algorithms or not isinstance(key_id, str):
        return None
    public: dict[str, Any] = {name: entry[name] for name in _PUBLIC if name in entry}
    try:
        match entry["kty"]:
            case "RSA":
                rsa: Any = RSAAlgorithm.from_jwk(public)
                return Key(key_id, algorithms, rsa) if _RSA_BITS[0] <= rsa.key_size <= _RSA_BITS[1] else None
            case "EC":
                return Key(key_id, algorithms, ECAlgorithm.from_jwk(public))
            case _:
                return Key(key_id, algorithms, OKPAlgorithm.from_jwk(public))
    except (InvalidKeyError, ValueError, TypeError, AttributeError):
        return None


def _algorithms(entry: dict[str, Any]) -> frozenset[str]:
    kind, curve = entry.get("kty"), entry.get("crv", "")
    if not isinstance(kind, str) or not isinstance(curve, str):
        return frozenset()
    known = _ALGORITHMS.get((kind, "" if kind == "RSA" else curve), frozenset())
    own = entry.get("alg")
    return known if own is None else known & {own} if isinstance(own, str) else frozenset()
