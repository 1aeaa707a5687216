"""Listeners of a running server: with TLS and without, certificates of clients, and files that change."""

from __future__ import annotations

import contextlib
import signal
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator_server.cli import main
from protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse
from tests.support.certificates import Authority, Identity
from tests.support.client import Client, Closed
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.simple_requests import must_commit

AUTHORITY = Authority()
LISTENERS = {
    "listeners": "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0,MUTUAL://127.0.0.1:0",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SSL:SSL,MUTUAL:SSL",
    "listener.name.mutual.ssl.client.auth": "required",
    "ssl.principal.mapping.rules": "RULE:CN=([a-z]*)/$1/,RULE:CN=root/root/",
    "topics": "orders:1",
}


class Secure(Server):
    """A server with three listeners, whose files are in ``keys``."""

    def __init__(self, directory: Path, loops: int = 1) -> None:
        self.keys = directory / "keys"
        self.keys.mkdir()
        AUTHORITY.issue("server").write(self.keystore)
        trusted = AUTHORITY.write(self.keys / "trusted.pem")
        files = {"ssl.keystore.location": self.keystore, "ssl.truststore.location": trusted}
        super().__init__(directory, {**LISTENERS, **files}, loops)

    @property
    def keystore(self) -> Path:
        return self.keys / "server.pem"

    def client(self, listener: str = "SSL", identity: Identity | None = None, loop: int = 0) -> Client:
        address = ("127.0.0.1", self.listeners[listener][loop])
        return Client(address) if listener == "PLAINTEXT" else Client.over_tls(address, trusting(identity, self.keys))


def trusting(identity: Identity | None = None, directory: Path = Path()) -> ssl.SSLContext:
    """Return a client's context."""
    context = ssl.create_default_context(cadata=AUTHORITY.pem)
    if identity is not None:
        context.load_cert_chain(identity.write(directory / "client.pem"))
    return context


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    with Secure(tmp_path_factory.mktemp("tls")) as started:
        yield started


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    """Two loops."""
    with Secure(tmp_path_factory.mktemp("loops"), 2) as started:
        yield started


def lines(server: Server, event: str) -> list[str]:
    return [line for line in server.log().splitlines() if event in line]


@pytest.mark.parametrize("listener", ["PLAINTEXT", "SSL", "MUTUAL"])
def test_each_listener_serves_the_same_groups(server: Secure, listener: str) -> None:
    with server.client(listener, AUTHORITY.issue("alice")) as client:
        must_commit(client, f"group-{listener}", "orders", {0: 5})


@pytest.mark.parametrize(("listener", "identity"), [("SSL", None), ("MUTUAL", "cli")])
def test_commands_reach_it_with_the_properties_of_a_client(
    server: Secure, listener: str, identity: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a command that does not trust the server says so."""
    lines = ["security.protocol=SSL", f"ssl.truststore.location={server.keys / 'trusted.pem'}"]
    if identity is not None:
        lines.append(f"ssl.keystore.location={AUTHORITY.issue(identity).write(tmp_path / 'cli.pem')}")
    trusting_file, other_file = tmp_path / "client.properties", tmp_path / "other.properties"
    trusting_file.write_text("\n".join(lines))
    other_file.write_text(f"security.protocol=SSL\nssl.truststore.location={Authority().write(tmp_path / 'other.pem')}\n")
    words = ["topics", "list", "--bootstrap", f"127.0.0.1:{server.listeners[listener][0]}", "--command-config"]

    code, out = main([*words, str(trusting_file)]), capsys.readouterr().out
    refused, err = main([*words, str(other_file)]), capsys.readouterr().err

    assert (code, refused) == (0, 1)
    assert "orders" in out
    assert "certificate" in err


@pytest.mark.parametrize(
    ("listener", "has_tls", "asked"),
    [
        ("SSL", False, "does this listener want TLS?"),
        ("PLAINTEXT", True, "does this listener have TLS?"),
        ("MUTUAL", True, "does this listener want a certificate of the client?"),
    ],
)
def test_commands_ask_what_their_properties_lack(
    server: Secure, listener: str, has_tls: bool, asked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "client.properties"
    file.write_text(f"security.protocol=SSL\nssl.truststore.location={server.keys / 'trusted.pem'}\n" if has_tls else "")
    words = ["--bootstrap", f"127.0.0.1:{server.listeners[listener][0]}", "--command-config", str(file)]

    assert main(["topics", "list", *words]) == 1
    assert asked in capsys.readouterr().err


def test_principals_are_in_the_log(server: Secure) -> None:
    """``groups why`` tells who it was."""
    with server.client("MUTUAL", AUTHORITY.issue("alice")) as client:
        must_commit(client, "of-alice", "orders", {0: 5})

    assert any("User:alice" in path.read_bytes().decode("latin-1") for path in server.data_dir.rglob("*") if path.is_file())


def test_clients_are_told_the_ports_of_their_listener(pair: Secure) -> None:
    told = {}
    for listener in pair.listeners:
        with pair.client(listener, AUTHORITY.issue("alice"), loop=1) as client:
            answer = client.ask(DescribeClusterRequest(), 1, DescribeClusterResponse)
        told[listener] = [each.port for each in answer.brokers]

    assert told == pair.listeners
    assert len({port for ports in told.values() for port in ports}) == 6


@pytest.mark.parametrize(
    ("listener", "identity", "reason"),
    [
        ("MUTUAL", None, "peer did not return a certificate"),
        ("MUTUAL", Authority("another").issue("alice"), "certificate verify failed"),
        ("MUTUAL", AUTHORITY.issue("alice", days=-1), "certificate verify failed"),
    ],
)
def test_clients_without_a_good_certificate_are_refused(
    server: Secure, listener: str, identity: Identity | None, reason: str
) -> None:
    """TLS 1.3 tells them with the first answer."""
    with pytest.raises((ssl.SSLError, Closed, ConnectionError)), server.client(listener, identity) as client:
        client.ask(DescribeClusterRequest(), 1, DescribeClusterResponse)

    eventually(lambda: server.control(op="status")["status"][0]["incidents"].get("tls-handshake-failed", 0) > 0)
    with server.client() as other:
        must_commit(other, "bystander", "orders", {0: 1})


def test_a_name_without_a_principal_is_refused(server: Secure) -> None:
    with pytest.raises((Closed, ConnectionError)), server.client("MUTUAL", AUTHORITY.issue("Nobody 1")) as client:
        client.ask(DescribeClusterRequest(), 1, DescribeClusterResponse)


def test_a_client_without_tls_is_closed(server: Secure) -> None:
    """It is not left to wait, and the server says what happened."""
    with Client(("127.0.0.1", server.listeners["SSL"][0])) as client, pytest.raises((Closed, ConnectionError)):
        client.ask(DescribeClusterRequest(), 1, DescribeClusterResponse)

    eventually(lambda: lines(server, "tls-handshake-failed") != [])


def test_a_handshake_that_never_ends_holds_nobody_up(server: Secure) -> None:
    silent = [socket.create_connection(("127.0.0.1", server.listeners["SSL"][0])) for _ in range(50)]
    with contextlib.ExitStack() as closing:
        for each in silent:
            closing.enter_context(each)
        began = time.monotonic()
        with server.client() as client:
            must_commit(client, "beside", "orders", {0: 1})
        assert time.monotonic() - began < 5


def test_files_are_read_again(server: Secure) -> None:
    """Who is connected stays so; new connections get the new certificate; wrong files change nothing."""
    with server.client() as before:
        newer = AUTHORITY.issue("newer", days=20)
        newer.write(server.keystore)
        server.send_signal(signal.SIGHUP)
        eventually(lambda: lines(server, "certificate-reloaded") != [])
        must_commit(before, "connected", "orders", {0: 2})

    assert shown(server.listeners["SSL"][0]) == newer.der
    eventually(lambda: lines(server, "certificate-expires-soon") != [])
    [first, _second] = server.control(op="status")["status"][0]["certificates"]
    assert (first["listener"], first["days_left"]) == ("SSL", 19)

    server.keystore.write_text("nothing")
    server.send_signal(signal.SIGHUP)
    eventually(lambda: lines(server, "certificate-not-reloaded") != [])
    assert shown(server.listeners["SSL"][0]) == newer.der
    newer.write(server.keystore)


def test_all_loops_read_again(pair: Secure) -> None:
    newer = AUTHORITY.issue("newer")
    newer.write(pair.keystore)
    pair.send_signal(signal.SIGHUP)

    eventually(lambda: [shown(port) for port in pair.listeners["SSL"]] == [newer.der] * 2)


def shown(port: int) -> bytes:
    """Return the certificate that a listener shows."""
    with (
        socket.create_connection(("127.0.0.1", port), 30) as plain,
        trusting().wrap_socket(plain, server_hostname="localhost") as secure,
    ):
        certificate = secure.getpeercert(binary_form=True)
    assert certificate is not None
    return certificate


def test_configuration_is_told_but_for_secrets(tmp_path: Path) -> None:
    with Secure(tmp_path) as server:
        server.stop()
        AUTHORITY.issue("server").write(server.keystore, "pass word")
        server.overrides = server.overrides | {"ssl.key.password": "${env:KEY_PASSWORD}"}
        server.environment = {"KEY_PASSWORD": "pass word"}
        server.start()
        with server.client() as client:
            request = DescribeConfigsRequest([DescribeConfigsResource(4, "1", None)], include_synonyms=True)
            [found] = client.ask(request, 4, DescribeConfigsResponse).results

    told = {each.name: each for each in found.configs}
    assert (told["ssl.key.password"].value, told["ssl.key.password"].is_sensitive) == (None, True)
    assert told["listener.name.mutual.ssl.client.auth"].value == "required"
    assert "pass word" not in repr(found)


@pytest.mark.parametrize("loops", [1, 2])
def test_a_start_with_wrong_files_says_so(tmp_path: Path, loops: int) -> None:
    server = Secure(tmp_path, loops)
    server.keystore.write_text("nothing")

    ended = server.run_to_end()

    assert ended.returncode == 2
    assert f"ssl.keystore.location={server.keystore} cannot be used" in ended.stderr
    assert not server.data_dir.exists()


def test_plaintext_beyond_this_machine_is_warned_of(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        assert lines(server, "plaintext-listener") == []
        server.stop()
        server.host = "0.0.0.0"
        server.start()

        assert len(lines(server, "plaintext-listener")) == 1
