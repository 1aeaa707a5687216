"""A listener with OAUTHBEARER of a running server: keys that come, go, are away, slow and huge, and tokens that end."""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator_server.cli import main
from coordinator_server.client import ClientCredentials, ConnectionSettings, Environment, OAuthBearer
from coordinator_server.client.connection import open_connection
from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from protocol.messages.metadata import MetadataRequest, MetadataResponse
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from tests.support.certificates import Authority
from tests.support.client import Client, Closed
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.simple_requests import must_commit
from tests.support.token_issuer import TokenIssuer
from tests.support.tokens import initial_response

AUTHORITY = Authority()
OAUTH = "listener.name.sasl_ssl.oauthbearer"
MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"


class Guarded(Server):
    """Two loops with a listener of tokens, whose keys an issuer has on HTTPS."""

    def __init__(self, directory: Path, issuer: TokenIssuer) -> None:
        trusted = AUTHORITY.write(directory / "authority.pem")
        overrides = {
            "listeners": "PLAINTEXT://127.0.0.1:0,SASL_SSL://127.0.0.1:0",
            "ssl.keystore.location": AUTHORITY.issue("localhost").write(directory / "server.pem"),
            "sasl.enabled.mechanisms": "OAUTHBEARER",
            "sasl.oauthbearer.jwks.endpoint.url": issuer.url("keys"),
            "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": 200,
            f"{OAUTH}.sasl.jaas.config": f"${{file:{directory}/secrets:jaas}}",
            "sasl.oauthbearer.expected.audience": f"${{file:{directory}/secrets:audience}}",
            "connection.failed.authentication.delay.ms": 0,
            "topics": "orders:1",
        }
        self.trusted, self.secrets = trusted, directory / "secrets"
        self.write_secrets(audience="")
        super().__init__(directory, overrides, 2)

    def write_secrets(self, audience: str) -> None:
        """Write the properties that SIGHUP reads again."""
        jaas = f'{MODULE} required ssl.truststore.location="{self.trusted}";'
        self.secrets.write_text(f"jaas={jaas}\naudience={audience}\n")

    def client(self, loop: int = 0) -> Client:
        tls = ssl.create_default_context(cadata=AUTHORITY.pem)
        return Client.over_tls(("127.0.0.1", self.listeners["SASL_SSL"][loop]), tls)

    def known(self, text: str, loop: int = 0) -> str:
        """What becomes of a client with a token: known, refused or closed."""
        with self.client(loop) as client:
            try:
                answer = log_in(client, text)
            except (Closed, ConnectionError):
                return "closed"
            return "refused" if answer.auth_bytes else "known"

    def until_known(self, issuer: TokenIssuer) -> set[str]:
        """What becomes of clients of both loops that come again until they are known."""
        found: set[str] = set()
        for loop in (0, 1):

            def is_known(loop: int = loop) -> bool:
                what = self.known(issuer.token(), loop)
                found.add(what)
                return what == "known"

            eventually(is_known)
        return found


def log_in(client: Client, text: str) -> SaslAuthenticateResponse:
    assert client.ask(SaslHandshakeRequest("OAUTHBEARER"), 1, SaslHandshakeResponse).error_code == ErrorCode.NONE
    return client.ask(SaslAuthenticateRequest(initial_response(text)), 2, SaslAuthenticateResponse)


def is_served(client: Client) -> bool:
    try:
        return client.ask(DescribeClusterRequest(), 1, DescribeClusterResponse).error_code == ErrorCode.NONE
    except (Closed, ConnectionError):
        return False


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TokenIssuer]:
    with TokenIssuer(AUTHORITY.issue("localhost"), tmp_path_factory.mktemp("issuer")) as started:
        yield started


@pytest.fixture(scope="module")
def server(issuer: TokenIssuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    issuer.is_away = True
    with Guarded(tmp_path_factory.mktemp("tokens"), issuer) as started:
        yield started


@pytest.fixture(autouse=True)
def usual(issuer: TokenIssuer) -> None:
    """The keys and manners of an issuer, whatever an earlier test has made of them."""
    issuer.keys, issuer.signs_with, issuer.document, issuer.delay_s, issuer.is_away = ("ES256",), "ES256", None, 0.0, False


def test_an_issuer_that_was_away_at_the_start_is_asked_until_it_is_there(server: Guarded, issuer: TokenIssuer) -> None:
    """Meanwhile no client is refused."""
    assert server.until_known(issuer) <= {"closed", "known"}
    assert '"keys-not-fetched"' in server.log()


def test_what_a_client_writes_has_the_name_of_its_token(
    server: Guarded, issuer: TokenIssuer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.until_known(issuer)
    with server.client(partition_for("group", 50) % 2) as client:
        log_in(client, issuer.token("alice@example"))
        must_commit(client, "group", "orders", {0: 7})

    assert main(["groups", "why", "group", "--data-dir", str(server.data_dir)]) == 0
    assert "User:alice@example" in capsys.readouterr().out


def test_commands_log_in_with_tokens(
    server: Guarded, issuer: TokenIssuer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the issuer, or of a file. Whoever has no good one learns why."""
    server.until_known(issuer)
    file, token_file = tmp_path / "client.properties", tmp_path / "token"

    def run(*lines: str) -> str:
        common = ["security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER", f"ssl.truststore.location={server.trusted}"]
        file.write_text("\n".join([*common, *lines]))
        bootstrap = f"localhost:{server.listeners['SASL_SSL'][0]}"
        code = main(["topics", "list", "--bootstrap", bootstrap, "--command-config", str(file)])
        out, err = capsys.readouterr()
        return out if code == 0 else err

    def by_secret(secret: str) -> str:
        jaas = f'{MODULE} required clientId="alice" clientSecret="{secret}" ssl.truststore.location="{server.trusted}"'
        return run(f"sasl.oauthbearer.token.endpoint.url={issuer.url('token')}", f"sasl.jaas.config={jaas};")

    of_file = f"sasl.oauthbearer.token.endpoint.url={token_file.as_uri()}"
    assert "orders" in by_secret("her secret")
    assert "status 401" in by_secret("a guess")
    assert "cannot be read: No such file" in run(of_file)
    token_file.write_text(issuer.token())
    assert "orders" in run(of_file)
    issuer.keys, issuer.signs_with = ("ES256", "ES384"), "ES384"
    assert "orders" in by_secret("her secret")
    token_file.write_text(issuer.token(exp=1, iat=0))
    assert 'refused the token: {"status":"invalid_token"}' in run(of_file)


async def test_members_go_on_with_new_tokens(server: Guarded, issuer: TokenIssuer) -> None:
    """In the same connection, beyond the end of the first one."""
    await asyncio.to_thread(server.until_known, issuer)
    issuer.lifetime_s = 2
    tls = ssl.create_default_context(cadata=AUTHORITY.pem)
    credentials = ClientCredentials(issuer.url("token"), "alice", "her secret", tls=tls)
    settings = ConnectionSettings(f"localhost:{server.listeners['SASL_SSL'][0]}", ssl=tls, sasl=OAuthBearer(credentials))
    connection = await open_connection(settings.addresses[0], settings, Environment())
    asked = issuer.asked.count("/token")
    ends = time.monotonic() + 2.5
    while time.monotonic() < ends:
        await connection.request(MetadataRequest(), MetadataResponse, 5)
        await asyncio.sleep(0.1)
    connection.close()
    issuer.lifetime_s = 60

    assert issuer.asked.count("/token") > asked


def test_a_new_key_refuses_nobody(server: Guarded, issuer: TokenIssuer) -> None:
    """Whoever comes before the server has fetched it comes again."""
    issuer.keys, issuer.signs_with = ("ES256", "ES384"), "ES384"
    assert server.until_known(issuer) == {"closed", "known"}


def test_a_removed_key_ends_what_it_vouched_for_at_the_next_login(server: Guarded, issuer: TokenIssuer) -> None:
    """A connection with its token is served until the token ends, and then only with a token of a key that is there."""
    issuer.lifetime_s = 2
    old, slow = issuer.token(), issuer.token()
    with server.client() as client, server.client() as other:
        for each, text in ((client, old), (other, slow)):
            eventually(lambda text=text: server.known(text) == "known")  # type: ignore[misc]
            assert 0 < log_in(each, text).session_lifetime_ms <= 2000
        issuer.keys, issuer.signs_with, issuer.lifetime_s = ("ES384",), "ES384", 60
        os.kill(server.pid, signal.SIGHUP)
        eventually(lambda: server.known(old) == "refused")
        assert is_served(client)
        assert log_in(client, issuer.token()).session_lifetime_ms > 50_000
        assert log_in(other, issuer.token(name="ES256")).auth_bytes == b'{"status":"invalid_token"}'
        time.sleep(2)
        assert is_served(client)
        assert not is_served(other)


@pytest.mark.parametrize("how", ["away", "huge", "nonsense", "slow"])
def test_keys_stay_while_they_cannot_be_fetched(server: Guarded, issuer: TokenIssuer, how: str) -> None:
    server.until_known(issuer)
    issuer.is_away, issuer.delay_s = how == "away", 60.0 * (how == "slow")
    issuer.document = {"huge": b" " * (2 << 20), "nonsense": b"<html>"}.get(how)
    seen = len(issuer.asked)
    os.kill(server.pid, signal.SIGHUP)
    eventually(lambda: len(issuer.asked) > seen)

    began = time.monotonic()
    assert server.known(issuer.token()) == "known"
    assert time.monotonic() - began < 1
    issuer.delay_s = 0.0


def test_sighup_changes_what_is_asked_of_a_token(server: Guarded, issuer: TokenIssuer) -> None:
    """And a rejection is counted, and in the audit log with its reason."""
    server.until_known(issuer)
    assert server.known(issuer.token(aud="kafka")) == "refused"
    assert "the audience is 'kafka'" in server.log()
    server.write_secrets(audience="kafka,other")
    os.kill(server.pid, signal.SIGHUP)

    eventually(lambda: server.known(issuer.token(aud="kafka")) == "known")
    assert server.known(issuer.token()) == "refused"
