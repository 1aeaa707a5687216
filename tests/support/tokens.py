"""Signed tokens for tests, good and bad, and the sets of keys that vouch for them. The keys are the same in each run."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms


@cache
def private_key(name: str) -> Any:
    """Return a key: one of its own for each name, such as ``RS256`` or ``RS256-other``, which says its type."""
    if name.startswith(("RS", "PS")):
        return rsa.generate_private_key(65537, 1024 if "short" in name else 2048)
    if name.startswith("Ed"):
        return ed25519.Ed25519PrivateKey.generate()
    curve = {"ES256": ec.SECP256R1, "ES384": ec.SECP384R1, "ES512": ec.SECP521R1}[name[:5]]
    return ec.generate_private_key(curve())  # type: ignore[abstract]  # a class of a table


def jwk(name: str, key_id: str | None = None, **more: Any) -> dict[str, Any]:
    """Return the public half of a key, with the name as its id."""
    algorithm = get_default_algorithms()[name.partition("-")[0]]
    entry: dict[str, Any] = algorithm.to_jwk(private_key(name).public_key(), as_dict=True)
    entry.pop("key_ops", None)
    return {**entry, "kid": key_id or name, **more}


def key_set(*names: str) -> bytes:
    """Return the document of keys."""
    return json.dumps({"keys": [jwk(name) for name in names]}).encode()


def encoded(value: object) -> str:
    """Return a part of a token: of bytes, a text, or what JSON can say."""
    data = value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(claims: object, name: str = "RS256", header: Mapping[str, Any] | str | None = None) -> str:
    """Return a token that a key has signed. ``claims`` and ``header`` may be texts: what JSON says twice, for
    instance. A field of the header that is None is left out.
    """
    algorithm = name.partition("-")[0]
    named = {"alg": algorithm, "kid": name, **(header if isinstance(header, Mapping) else {})}
    first = encoded(header if isinstance(header, str) else {name: value for name, value in named.items() if value is not None})
    signed = f"{first}.{encoded(claims)}"
    signature = get_default_algorithms()[algorithm].sign(signed.encode(), private_key(name))
    return f"{signed}.{encoded(signature)}"


def initial_response(text: str, authorization_id: str = "", **extensions: str) -> bytes:
    """Return what a client sends first."""
    name = f"a={authorization_id}" if authorization_id else ""
    more = "".join(f"{key}={value}\x01" for key, value in extensions.items())
    return f"n,{name},\x01auth=Bearer {text}\x01{more}\x01".encode()
