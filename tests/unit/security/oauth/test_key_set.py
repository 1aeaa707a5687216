"""Which keys of a document vouch for tokens, and which documents are no set of keys."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coordinator_server.security.oauth.key_set import MAX_BYTES, MAX_KEYS, BadKeySet, read_key_set
from tests.support.tokens import encoded, jwk, key_set, private_key


def document(*entries: dict[str, Any]) -> bytes:
    return json.dumps({"keys": entries}).encode()


def test_a_key_is_found_by_its_id_and_its_algorithm() -> None:
    keys = read_key_set(key_set("RS256", "ES256", "ES384", "EdDSA"))

    for algorithm, key_id in (("RS256", "RS256"), ("PS512", "RS256"), ("ES384", "ES384"), ("EdDSA", "EdDSA"), ("ES256", None)):
        key = keys.find(algorithm, key_id)
        assert key is not None
        assert key.id == (key_id or "ES256")
    for algorithm, other in (("ES256", "RS256"), ("RS256", "ES256"), ("ES512", None), ("HS256", "RS256"), ("RS256", "x")):
        assert keys.find(algorithm, other) is None


@pytest.mark.parametrize(
    "entry",
    [
        {"kty": "oct", "k": encoded(b"secret"), "kid": "x"},
        jwk("ES256", use="enc"),
        jwk("ES256", key_ops=["sign"]),
        jwk("ES256", key_ops="verify"),
        jwk("ES256", alg="RS256"),
        jwk("ES256", alg=7),
        {**jwk("ES256"), "kid": 7},
        {**jwk("ES256"), "crv": "P-384"},
        {**jwk("ES256"), "crv": "secp256k1"},
        {**jwk("ES256"), "crv": ["P-256"]},
        {**jwk("ES256"), "x": encoded(b"x" * 32)},
        {**jwk("ES256"), "x": 7},
        {"kty": "EC", "crv": "P-256"},
        jwk("RS256-short"),
        {"kty": "RSA", "n": encoded(b"\xff" * 2048), "e": "AQAB"},
        {"kty": "RSA", "n": "", "e": ""},
        {"kty": ["RSA"]},
        {},
    ],
)
def test_a_key_that_cannot_verify_is_skipped(entry: dict[str, Any]) -> None:
    """The others stay: issuers publish keys for other uses, too."""
    keys = read_key_set(document(entry, jwk("EdDSA")))

    assert (len(keys), keys.skipped) == (1, 1)
    assert keys.find("ES256", None) is None


def test_only_the_public_half_of_a_key_is_read() -> None:
    number = private_key("ES256").private_numbers().private_value
    keys = read_key_set(document({**jwk("ES256"), "d": encoded(number.to_bytes(32))}))

    key = keys.find("ES256", "ES256")
    assert key is not None
    assert not hasattr(key.public, "sign")


def test_a_set_may_be_empty() -> None:
    """Then nobody is vouched for."""
    assert len(read_key_set(b'{"keys":[]}')) == 0


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is not JSON"),
        (b"\xff", "is not UTF-8"),
        (b"<html>", "is not JSON"),
        (b"[]", "is not a JSON object"),
        (b"{}", "has no list of keys"),
        (b'{"keys":{}}', "has no list of keys"),
        (b'{"keys":[7]}', "has no list of keys"),
        (b'{"keys":[],"keys":[]}', "has a name twice"),
        (b"[" * 100_000, "is nested too deeply|is not JSON"),
        (b" " * (MAX_BYTES + 1), f"has more than {MAX_BYTES} bytes"),
        (document(*({},) * (MAX_KEYS + 1)), f"has {MAX_KEYS + 1} keys, and {MAX_KEYS} are allowed"),
    ],
)
def test_other_documents_are_refused(data: bytes, why: str) -> None:
    with pytest.raises(BadKeySet, match=why):
        read_key_set(data)
