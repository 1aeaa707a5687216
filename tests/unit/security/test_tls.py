"""The TLS of a listener: what its settings give, and what is said about wrong ones."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coordinator_server.config import Config, ConfigError
from coordinator_server.config.load import load
from coordinator_server.security.tls import ListenerTls, openssl_cipher
from coordinator_server.security.tls_settings import TlsSettings
from tests.support.certificates import Authority, Identity
from tests.support.configs import config_with

AUTHORITY = Authority()
SERVER = AUTHORITY.issue("server")


@pytest.fixture
def keystore(tmp_path: Path) -> Path:
    return SERVER.write(tmp_path / "server.pem")


def config_of(settings: dict[str, str]) -> Config:
    return load({"listeners": "SSL://:0", **settings})


def tls(settings: dict[str, str]) -> ListenerTls:
    return ListenerTls(TlsSettings.of(config_of(settings), "SSL"))


def shake_hands(server: ssl.SSLContext, client: Identity | None = None, trusted: Authority = AUTHORITY) -> ssl.SSLObject:
    """Return the server's side. Raises SSLError."""
    context = ssl.create_default_context(cadata=trusted.pem)
    if client is not None:
        with in_memory(client) as path:
            context.load_cert_chain(path)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        context.wrap_bio(to_client, to_server, server_hostname="localhost"),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    done = [False, False]
    for _ in range(10):
        for place, side in enumerate(sides):
            try:
                side.do_handshake()
                done[place] = True
            except ssl.SSLWantReadError:
                pass
    assert done == [True, True]
    return sides[1]


@contextmanager
def in_memory(identity: Identity) -> Iterator[str]:
    """Give the path of a file that has no directory."""
    memory = os.memfd_create("client")
    try:
        os.write(memory, (identity.key_pem() + identity.certificate_pem).encode())
        yield f"/proc/self/fd/{memory}"
    finally:
        os.close(memory)


def test_a_client_is_served(keystore: Path) -> None:
    served = tls({"ssl.keystore.location": str(keystore)})

    side = shake_hands(served.context)

    assert side.version() == "TLSv1.3"
    assert served.principal(side) == "User:ANONYMOUS"
    assert served.not_after == SERVER.certificate.not_valid_after_utc


@pytest.mark.parametrize("password", ["", "pass word"])
def test_keys_may_stand_in_properties(password: str) -> None:
    served = tls(
        {
            "ssl.keystore.key": SERVER.key_pem(password),
            "ssl.keystore.certificate.chain": SERVER.certificate_pem,
            "ssl.key.password": password,
        }
    )

    shake_hands(served.context)


@pytest.mark.parametrize("is_in_file", [True, False])
@pytest.mark.parametrize(
    ("rules", "principal"), [("DEFAULT", "User:CN=alice"), (r"RULE:CN=(.*)/$1/U", "User:ALICE"), ("RULE:CN=bob/bob/", None)]
)
def test_a_certificate_names_a_principal(
    keystore: Path, tmp_path: Path, is_in_file: bool, rules: str, principal: str | None
) -> None:
    trusted = (
        {"ssl.truststore.location": str(AUTHORITY.write(tmp_path / "trusted.pem"))}
        if is_in_file
        else {"ssl.truststore.certificates": AUTHORITY.pem}
    )
    settings = {"ssl.keystore.location": str(keystore), "ssl.client.auth": "required", **trusted}
    served = tls({**settings, "ssl.principal.mapping.rules": rules})

    side = shake_hands(served.context, AUTHORITY.issue("alice"))

    if principal is None:
        with pytest.raises(ValueError, match="no rule"):
            served.principal(side)
    else:
        assert served.principal(side) == principal


@pytest.mark.parametrize(("auth", "is_served"), [("requested", True), ("required", False)])
def test_who_shows_no_certificate_is_nobody(keystore: Path, auth: str, is_served: bool) -> None:
    settings = {"ssl.keystore.location": str(keystore), "ssl.client.auth": auth, "ssl.truststore.certificates": AUTHORITY.pem}
    served = tls(settings)

    if is_served:
        assert served.principal(shake_hands(served.context)) == "User:ANONYMOUS"
    else:
        with pytest.raises(ssl.SSLError, match="PEER_DID_NOT_RETURN_A_CERTIFICATE"):
            shake_hands(served.context)


@pytest.mark.parametrize("auth", ["requested", "required"])
def test_a_certificate_of_somebody_else_is_refused(keystore: Path, auth: str) -> None:
    settings = {"ssl.keystore.location": str(keystore), "ssl.client.auth": auth, "ssl.truststore.certificates": AUTHORITY.pem}

    with pytest.raises(ssl.SSLError, match="CERTIFICATE_VERIFY_FAILED"):
        shake_hands(tls(settings).context, Authority("another").issue("alice"))


@pytest.mark.parametrize(
    ("versions", "version"), [("TLSv1.2", "TLSv1.2"), ("TLSv1.3", "TLSv1.3"), ("TLSv1.3, TLSv1.2", "TLSv1.3")]
)
def test_versions_are_those_of_the_settings(keystore: Path, versions: str, version: str) -> None:
    served = tls({"ssl.keystore.location": str(keystore), "ssl.enabled.protocols": versions})

    assert shake_hands(served.context).version() == version


def test_a_suite_may_be_chosen(keystore: Path) -> None:
    suite = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
    settings = {"ssl.keystore.location": str(keystore), "ssl.enabled.protocols": "TLSv1.2", "ssl.cipher.suites": suite}

    cipher = shake_hands(tls(settings).context).cipher()

    assert cipher is not None
    assert cipher[0] == "ECDHE-ECDSA-AES256-GCM-SHA384"


@pytest.mark.parametrize(
    ("standard", "openssl"),
    [
        ("TLS_RSA_WITH_AES_128_CBC_SHA256", "AES128-SHA256"),
        ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"),
        ("TLS_DHE_RSA_WITH_AES_128_GCM_SHA256", "DHE-RSA-AES128-GCM-SHA256"),
        ("ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
    ],
)
def test_suites_have_two_names(standard: str, openssl: str) -> None:
    assert openssl_cipher(standard) == openssl
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).set_ciphers(openssl)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({}, "SSL: ssl.keystore.location is required: a PEM file with the private key and its certificates"),
        ({"ssl.keystore.type": "JKS"}, "SSL: ssl.keystore.type JKS: key stores are PEM here; openssl pkcs12"),
        ({"ssl.keystore.location": "NONE"}, "ssl.keystore.location=.*NONE cannot be read: No such file or directory"),
        ({"ssl.keystore.location": "EMPTY"}, "ssl.keystore.location=.*EMPTY cannot be used: "),
        ({"ssl.keystore.location": "OTHER"}, "cannot be used: key values mismatch"),
        ({"ssl.keystore.location": "LOCKED"}, "SSL: ssl.key.password is required: the private key is encrypted"),
        ({"ssl.keystore.location": "LOCKED", "ssl.key.password": "x"}, r"is ssl.key.password right\?"),
        ({"ssl.keystore.key": "x"}, "ssl.keystore.certificate.chain is required with ssl.keystore.key"),
        ({"ssl.client.auth": "required"}, "ssl.truststore.location is required with ssl.client.auth=required"),
        ({"ssl.truststore.type": "PKCS12"}, "ssl.truststore.type PKCS12: trust stores are PEM here; keytool"),
        ({"ssl.truststore.location": "NONE"}, "ssl.truststore.location=.*NONE cannot be read"),
        ({"ssl.truststore.location": "EMPTY"}, "ssl.truststore.location=.*EMPTY cannot be used|has no certificate"),
        ({"ssl.enabled.protocols": "TLSv1.1"}, "ssl.enabled.protocols takes TLSv1.2 and TLSv1.3, one or both, not 'TLSv1.1'"),
        ({"ssl.enabled.protocols": " , "}, "ssl.enabled.protocols takes TLSv1.2 and TLSv1.3, one or both, not ' , '"),
        ({"ssl.cipher.suites": "TLS_AES_128_GCM_SHA256x"}, "ssl.cipher.suites 'TLS_AES_128_GCM_SHA256x' is not a suite"),
        ({"ssl.principal.mapping.rules": "x"}, "ssl.principal.mapping.rules=x"),
    ],
)
def test_wrong_tls_settings_are_refused_with_the_property(
    keystore: Path, tmp_path: Path, settings: dict[str, str], problem: str
) -> None:
    (tmp_path / "EMPTY").write_text("nothing\n")
    (tmp_path / "OTHER").write_text(AUTHORITY.issue("x").key_pem() + SERVER.certificate_pem)
    SERVER.write(tmp_path / "LOCKED", "secret")
    given = {name: str(tmp_path / value) if name.endswith("location") else value for name, value in settings.items()}
    if settings and not any(name.startswith("ssl.keystore") for name in settings):
        given["ssl.keystore.location"] = str(keystore)

    with pytest.raises(ConfigError, match=problem):
        tls(given)


def test_files_are_read_again(keystore: Path) -> None:
    """Connections from then on have the new certificate; files that are wrong change nothing."""
    given = {"ssl.keystore.location": str(keystore)}
    served = tls(given)
    newer = AUTHORITY.issue("server", days=200)
    newer.write(keystore)

    served.reload(config_of(given))

    assert served.not_after == newer.certificate.not_valid_after_utc
    before = served.context
    keystore.write_text("")
    with pytest.raises(ConfigError):
        served.reload(config_of(given))
    assert served.context is before


def test_settings_are_those_of_the_listener(keystore: Path) -> None:
    config = load(
        {"listeners": "SSL://:0", "ssl.keystore.location": "/all.pem", "listener.name.ssl.ssl.keystore.location": "/own.pem"}
    )

    assert TlsSettings.of(config, "SSL").keystore_location == "/own.pem"
    assert TlsSettings.of(config_with(ssl_keystore_location="/all.pem"), "SSL").keystore_location == "/all.pem"
