"""Stores as keytool has made them (tests/data/key_stores): JKS and PKCS #12, with certificates or a key."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from coordinator_server.security.key_stores import BadStore, is_key_store, read_key_store

STORES = Path(__file__).parents[2] / "data/key_stores"
CERTIFICATE = x509.load_pem_x509_certificate((STORES / "me.pem").read_bytes())


def content(name: str) -> bytes:
    return (STORES / name).read_bytes()


@pytest.mark.parametrize(("name", "password"), [("trust.jks", "store-pass"), ("trust.jks", ""), ("trust.p12", "store-pass")])
def test_certificates_that_are_trusted(name: str, password: str) -> None:
    """As in Java, those of a JKS store are no secret."""
    store = read_key_store(content(name), password)

    assert (store.key, store.chain) == ("", "")
    assert [x509.load_pem_x509_certificate(store.trusted.encode())] == [CERTIFICATE]


@pytest.mark.parametrize(("name", "key_password"), [("key.jks", "key-pass"), ("key.p12", "")])
def test_a_key_belongs_to_the_first_certificate_of_its_chain(name: str, key_password: str) -> None:
    store = read_key_store(content(name), "store-pass", key_password)

    key, certificate = load_pem_private_key(store.key.encode(), None), x509.load_pem_x509_certificate(store.chain.encode())
    shapes = [
        each.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        for each in (key.public_key(), certificate.public_key())
    ]
    assert shapes[0] == shapes[1]
    assert store.trusted == store.chain


@pytest.mark.parametrize(
    ("name", "passwords", "says"),
    [
        ("trust.jks", ("wrong", ""), "the password is wrong"),
        ("trust.p12", ("wrong", ""), "the password is wrong"),
        ("trust.p12", ("", ""), "the password is wrong"),
        ("key.jks", ("store-pass", "wrong"), "ssl.key.password"),
        ("secret.jceks", ("store-pass", ""), "JCEKS"),
    ],
)
def test_what_cannot_be_opened_says_why(name: str, passwords: tuple[str, str], says: str) -> None:
    with pytest.raises(BadStore, match=says):
        read_key_store(content(name), *passwords)


@pytest.mark.parametrize("name", ["key.jks", "trust.jks", "key.p12", "trust.p12"])
def test_a_store_that_is_cut_or_damaged_is_refused(name: str) -> None:
    """At each length, and with each byte changed: nothing but BadStore, with or without a password."""
    data = content(name)
    for end in range(5, len(data) - 1, 7):
        for password in ("store-pass", ""):
            with pytest.raises(BadStore):
                read_key_store(data[:end], password, "key-pass")
    if name.endswith("jks"):
        for place in range(4, len(data)):
            with pytest.raises(BadStore):
                read_key_store(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :], "store-pass", "key-pass")


def test_pem_is_no_store() -> None:
    assert not is_key_store(content("me.pem"))
