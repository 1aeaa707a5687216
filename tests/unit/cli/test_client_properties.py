"""The properties file of a Kafka client as connection settings."""

from __future__ import annotations

import re
import ssl
from pathlib import Path

import pytest

from coordinator_server.cli.client_properties import connection_settings
from coordinator_server.client.errors import InvalidSettings
from coordinator_server.client.settings import ConnectionSettings, OAuthBearer, Sasl
from coordinator_server.client.tokens import ClientCredentials, TokenFile
from coordinator_server.config import ConfigError
from tests.support.certificates import Authority

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"


STORES = Path(__file__).parents[2] / "data/key_stores"
"""Made by keytool, with the password ``store-pass``; the key of ``key.jks`` has a password of its own, ``key-pass``."""


def read(tmp_path: Path, *lines: str, bootstrap: str | None = None) -> ConnectionSettings:
    path = tmp_path / "client.properties"
    path.write_text("\n".join(lines))
    return connection_settings(bootstrap, path, 20)


def test_the_command_line_comes_before_the_file_and_the_file_before_the_default(tmp_path: Path) -> None:
    line = "bootstrap.servers=of-file:1"

    assert [str(each) for each in connection_settings(None, None, 5).addresses] == ["127.0.0.1:9092"]
    assert [str(each) for each in read(tmp_path, line).addresses] == ["of-file:1"]
    assert [str(each) for each in read(tmp_path, line, bootstrap="a:1,b:2").addresses] == ["a:1", "b:2"]


def test_a_request_takes_no_longer_than_the_command_may(tmp_path: Path) -> None:
    assert read(tmp_path).request_timeout_s == 20
    assert read(tmp_path, "request.timeout.ms=5000").request_timeout_s == 5


@pytest.mark.parametrize(
    ("jaas", "name", "password"),
    [
        (f'{PLAIN} username="ann" password="se cret";', "ann", "se cret"),
        (f"{PLAIN} \\\n  username=ann \\\n  password=secret;", "ann", "secret"),
        (f'{PLAIN} username="a\\\\"n" password="x;y=z";', 'a"n', "x;y=z"),
    ],
)
def test_name_and_password_stand_in_the_login_module(tmp_path: Path, jaas: str, name: str, password: str) -> None:
    """As Java's JAAS has it, also over several lines."""
    settings = read(tmp_path, "security.protocol=SASL_PLAINTEXT", "sasl.mechanism=SCRAM-SHA-256", f"sasl.jaas.config={jaas}")

    assert settings.sasl == Sasl(name, password, "SCRAM-SHA-256")
    assert settings.ssl is None


def test_a_password_may_stand_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hidden")
    jaas = f'sasl.jaas.config={PLAIN} username="ann" password="${{env:SECRET}}";'
    settings = read(tmp_path, "security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN", jaas)

    assert settings.sasl == Sasl("ann", "hidden", "PLAIN")


def test_certificates_are_pem_in_files_or_in_the_properties(tmp_path: Path) -> None:
    authority = Authority()
    trusted = authority.write(tmp_path / "trusted.pem")
    identity = authority.issue("me").write(tmp_path / "me.pem")

    named = read(tmp_path, "security.protocol=SSL", f"ssl.truststore.location={trusted}", f"ssl.keystore.location={identity}")
    inline = read(
        tmp_path,
        "security.protocol=SSL",
        "ssl.truststore.certificates=" + authority.pem.replace("\n", "\\n"),
        "ssl.endpoint.identification.algorithm=",
    )

    assert named.ssl is not None
    assert inline.ssl is not None
    assert (named.ssl.check_hostname, inline.ssl.check_hostname) == (True, False)
    assert [named.ssl.cert_store_stats()["x509_ca"], inline.ssl.cert_store_stats()["x509_ca"]] == [1, 1]
    assert named.ssl.verify_mode == inline.ssl.verify_mode == ssl.CERT_REQUIRED


@pytest.mark.parametrize("trust", ["trust.jks", "trust.p12", "key.p12"])
@pytest.mark.parametrize(("key", "own_password"), [("key.jks", "ssl.key.password=key-pass"), ("key.p12", "")])
def test_a_file_with_the_stores_of_java_is_taken_as_it_is(trust: str, key: str, own_password: str, tmp_path: Path) -> None:
    """Whatever the type says: Java reads both formats under either name."""
    settings = read(
        tmp_path,
        "security.protocol=SSL",
        "ssl.truststore.type=JKS",
        f"ssl.truststore.location={STORES / trust}",
        "ssl.truststore.password=store-pass",
        f"ssl.keystore.location={STORES / key}",
        "ssl.keystore.password=store-pass",
        own_password,
    )

    assert settings.ssl is not None
    assert settings.ssl.cert_store_stats()["x509"] == 1


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["security.protocol=TLS"], "security.protocol takes PLAINTEXT, SSL"),
        (["security.protocol=SSL", "ssl.truststore.location=/none.pem"], "ssl.truststore.location=/none.pem cannot be read"),
        (
            ["security.protocol=SSL", "ssl.truststore.type=BCFKS"],
            "ssl.truststore.type=BCFKS cannot be read, only PEM, JKS, PKCS12",
        ),
        (
            ["security.protocol=SSL", f"ssl.truststore.location={STORES}/trust.p12"],
            "trust.p12 cannot be opened: the password is wrong",
        ),
        (
            ["security.protocol=SSL", f"ssl.truststore.location={STORES}/secret.jceks"],
            "secret.jceks is a JCEKS store: 'keytool -importkeystore",
        ),
        (
            ["security.protocol=SSL", f"ssl.keystore.location={STORES}/trust.jks"],
            "ssl.keystore.location=" + f"{STORES}/trust.jks has no key",
        ),
        (["security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN"], 'sasl.jaas.config has no username="…"'),
        (
            ["security.protocol=SASL_PLAINTEXT", "sasl.jaas.config=username=a password=b"],
            "sasl.jaas.config is not MODULE required",
        ),
        (["request.timeout.ms=soon"], "takes a number of milliseconds"),
        (["", r"client.id=\u12"], "client.properties:2: "),
        (["client.id=${env:NOT_THERE}"], r"${env:NOT_THERE} is no variable"),
    ],
)
def test_wrong_client_properties_are_refused(tmp_path: Path, lines: list[str], says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, *lines)

    assert says in str(refused.value)


def test_an_unknown_mechanism_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="GSSAPI"):
        read(tmp_path, "security.protocol=SASL_SSL", f'sasl.jaas.config={PLAIN} username="a" password="b";')


def test_a_name_that_is_nearly_right_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Others are of clients that do more."""
    read(tmp_path, "ssl.trustore.location=x", "max.poll.records=5")

    assert capsys.readouterr().err == (
        f"coordinator-server: {tmp_path}/client.properties:1: ssl.trustore.location has no effect: "
        "did you mean ssl.truststore.location?\n"
    )


OAUTH = ["security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER"]
ENDPOINT = "sasl.oauthbearer.token.endpoint.url=https://login.example/token"


def tokens_of(tmp_path: Path, *lines: str) -> OAuthBearer:
    found = read(tmp_path, *OAUTH, *lines).sasl
    assert isinstance(found, OAuthBearer)
    return found


def test_tokens_come_from_an_endpoint_or_a_file(tmp_path: Path) -> None:
    """A property comes before the option of the login module."""
    jaas = 'sasl.jaas.config=m required clientId="a" clientSecret="b" scope="c" extension_tenant="d";'
    name = "sasl.oauthbearer.client.credentials.client.id=other"

    first, second = tokens_of(tmp_path, ENDPOINT, jaas), tokens_of(tmp_path, ENDPOINT, jaas, name)
    assert first.extensions == {"tenant": "d"}
    for each, client_id in ((first.tokens, "a"), (second.tokens, "other")):
        assert isinstance(each, ClientCredentials)
        assert (each.url, each.client_id, each.client_secret, each.scope) == (ENDPOINT.partition("=")[2], client_id, "b", "c")
    assert tokens_of(tmp_path, "sasl.oauthbearer.token.endpoint.url=file:///my%20token").tokens == TokenFile(Path("/my token"))


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([], "sasl.oauthbearer.token.endpoint.url is required with OAUTHBEARER"),
        (["sasl.oauthbearer.token.endpoint.url=token"], "url=token takes a URL that begins with"),
        ([ENDPOINT], 'or clientId="…" clientSecret="…" in sasl.jaas.config'),
        ([ENDPOINT, "sasl.oauthbearer.assertion.file=x"], "sasl.oauthbearer.assertion.file is not supported"),
        ([ENDPOINT, "sasl.oauthbearer.jwt.retriever.class=Mine"], "jwt.retriever.class=Mine is not supported"),
        (
            [ENDPOINT, 'sasl.jaas.config=m required clientId="a" clientSecret="b" ssl.truststore.location="/no";'],
            "/no cannot be read",
        ),
    ],
)
def test_what_is_wrong_about_tokens_is_said(tmp_path: Path, lines: list[str], says: str) -> None:
    with pytest.raises((ConfigError, InvalidSettings), match=re.escape(says)):
        read(tmp_path, *OAUTH, *lines)
