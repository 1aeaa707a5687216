"""Listeners with SASL of a running server: users of the catalog and of the properties, strangers, and users who are removed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from coordinator_server.cli import main
from coordinator_server.client.sasl import exchange
from coordinator_server.client.settings import Sasl
from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse
from protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from tests.support.certificates import Authority
from tests.support.client import Client, Closed
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.simple_requests import must_commit

AUTHORITY = Authority()
SECRET = "bob's secret"
# Added before the first start.
FIRST = "the first one"
MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
STRANGERS = 500
ROTATIONS = 8
ROTATED_EVERY_S = 0.15
IDLE_S = 2


class Guarded(Server):
    """Two loops with a listener for each of SASL_PLAINTEXT and SASL_SSL, and one for administrators of this machine."""

    def __init__(self, directory: Path) -> None:
        keystore = AUTHORITY.issue("server").write(directory / "server.pem")
        overrides = {
            "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0,SASL_SSL://127.0.0.1:0",
            "ssl.keystore.location": keystore,
            "sasl.enabled.mechanisms": ",".join(["PLAIN", *MECHANISMS]),
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": f"${{file:{directory}/secrets:jaas}}",
            "listener.name.sasl_ssl.sasl.enabled.mechanisms": ",".join(MECHANISMS),
            "sasl.login.timeout.ms": 1000 * IDLE_S,
            "topics": "orders:1",
        }
        self.secrets = directory / "secrets"
        self.name_users(bob=SECRET)
        super().__init__(directory, overrides, 2)

    def name_users(self, **users: str) -> None:
        """Write the users of PLAIN."""
        options = " ".join(f'user_{name}="{password}"' for name, password in users.items())
        self.secrets.write_text(f"jaas=org.apache.kafka.common.security.plain.PlainLoginModule required {options};\n")

    def client(self, listener: str = "SASL_PLAINTEXT", loop: int = 0) -> Client:
        address = ("127.0.0.1", self.listeners[listener][loop])
        if listener != "SASL_SSL":
            return Client(address)
        return Client.over_tls(address, ssl.create_default_context(cadata=AUTHORITY.pem))

    def alter(self, *changes: ScramCredentialUpsertion | ScramCredentialDeletion, loop: int = 0) -> list[int]:
        deletions = [each for each in changes if isinstance(each, ScramCredentialDeletion)]
        upsertions = [each for each in changes if isinstance(each, ScramCredentialUpsertion)]
        request = AlterUserScramCredentialsRequest(deletions, upsertions)
        with self.client("PLAINTEXT", loop) as client:
            answer = client.ask(request, 0, AlterUserScramCredentialsResponse)
        return [each.error_code for each in answer.results]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    directory = tmp_path_factory.mktemp("sasl")
    guarded = Guarded(directory)
    words = ["--password-env", "PASSWORD", "--data-dir", str(guarded.data_dir)]
    preview = run_command("users", "add", FIRST, *words)
    assert "would be made with node.id=1" in preview.stderr
    assert not guarded.data_dir.exists()
    made = run_command("users", "add", FIRST, *words, "--execute", environment={"PASSWORD": SECRET})
    assert "was made with node.id=1" in made.stderr
    with guarded as started:
        yield started


def credential(user: str, password: str, mechanism: str = MECHANISMS[1]) -> ScramCredentialUpsertion:
    salt, number = os.urandom(16), MECHANISMS.index(mechanism) + 1
    salted = hashlib.pbkdf2_hmac(mechanism.removeprefix("SCRAM-").replace("-", ""), password.encode(), salt, 4096)
    return ScramCredentialUpsertion(user, number, 4096, salt, salted)


def log_in(client: Client, user: str, password: str, mechanism: str = MECHANISMS[1]) -> SaslAuthenticateResponse:
    """Return the last answer."""
    assert client.ask(SaslHandshakeRequest(mechanism), 1, SaslHandshakeResponse).error_code == ErrorCode.NONE
    conversation = exchange(Sasl(user, password, mechanism))
    token = next(conversation)
    while True:
        answer = client.ask(SaslAuthenticateRequest(token), 2, SaslAuthenticateResponse)
        if answer.error_code:
            return answer
        try:
            token = conversation.send(answer.auth_bytes)
        except StopIteration:
            return answer


def group_of(loop: int, name: str = "group") -> str:
    """A group that a loop has."""
    return next(each for each in (f"{name}-{number}" for number in count()) if partition_for(each, 50) % 2 == loop)


def is_served(client: Client) -> bool:
    try:
        return client.ask(DescribeClusterRequest(), 1, DescribeClusterResponse).error_code == ErrorCode.NONE
    except (Closed, ConnectionError):
        return False


@pytest.mark.parametrize(
    ("listener", "mechanism"), [("SASL_PLAINTEXT", "SCRAM-SHA-256"), ("SASL_PLAINTEXT", "PLAIN"), ("SASL_SSL", "SCRAM-SHA-512")]
)
def test_users_are_served_on_every_loop(server: Guarded, listener: str, mechanism: str) -> None:
    """As soon as the change is answered; what they write has their names."""
    user, password = ("bob", SECRET) if mechanism == "PLAIN" else (f"alice-{mechanism}", "a password")
    if mechanism != "PLAIN":
        assert server.alter(credential(user, password, mechanism), loop=1) == [ErrorCode.NONE]

    for loop in (0, 1):
        with server.client(listener, loop) as client:
            assert log_in(client, user, password, mechanism).error_code == ErrorCode.NONE
            assert is_served(client)
            must_commit(client, group_of(loop, user), "orders", {0: 1})
    written = [path.read_bytes().decode("latin-1") for path in server.data_dir.rglob("*") if path.is_file()]
    assert any(f"User:{user}" in each for each in written)


def test_the_first_user_is_made_before_the_first_start(server: Guarded) -> None:
    for loop in (0, 1):
        with server.client(loop=loop) as client:
            assert log_in(client, FIRST, SECRET).error_code == ErrorCode.NONE
            assert is_served(client)


def test_commands_log_in_at_every_loop(server: Guarded, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the properties of a Kafka client. A wrong password is an error at once, and says so."""
    file, secret = tmp_path / "client.properties", tmp_path / "secret"
    file.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n"
        f'  username="bob" password="${{directory:{tmp_path}:secret}}";\n'
    )
    words = [
        "health",
        "--bootstrap",
        f"127.0.0.1:{server.listeners['SASL_PLAINTEXT'][0]}",
        "--command-config",
        str(file),
        "-o",
        "jsonl",
    ]
    secret.write_text(SECRET)

    code, out = main(words), capsys.readouterr().out
    secret.write_text("a guess")
    wrong, err = main(words), capsys.readouterr().err

    assert (code, out.count('"state":"serving"')) == (0, 2)
    assert (wrong, "refused 'bob'" in err) == (1, True)


def test_a_failed_login_is_delayed_and_logged(server: Guarded) -> None:
    """A tenth of a second each; others do not wait, and there is a line about each."""
    server.alter(credential("carol", "right"))
    for user, password in (("carol", "wrong"), ("nobody", "right")):
        with server.client() as client:
            began = time.monotonic()
            assert log_in(client, user, password).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
            assert time.monotonic() - began >= 0.1
            assert not is_served(client)

    lines = [line for line in server.log().splitlines() if '"authentication-failed"' in line]
    assert [name for name in ("carol", "nobody") if not any(f'"user": "{name}"' in line for line in lines)] == []


def test_a_removed_user_is_out_when_the_change_is_answered(server: Guarded) -> None:
    """On every loop. A user whose password is changed stays in, and needs the new one next time."""
    server.alter(credential("dave", "first"), credential("erin", "first"))
    with contextlib.ExitStack() as closing:
        clients = [closing.enter_context(server.client(loop=loop)) for loop in (0, 1, 0, 1)]
        for client, user in zip(clients, ("dave", "dave", "erin", "erin"), strict=True):
            assert log_in(client, user, "first").error_code == ErrorCode.NONE
        assert server.alter(ScramCredentialDeletion("dave", 2), credential("erin", "second")) == [0, 0]
        assert [is_served(client) for client in clients] == [False, False, True, True]
    for user, password, error in (("dave", "first", 58), ("erin", "first", 58), ("erin", "second", 0)):
        with server.client() as client:
            assert log_in(client, user, password).error_code == error


def test_passwords_are_rotated_while_many_log_in(server: Guarded) -> None:
    """When a change is answered, the new password counts on every loop and the old one does not. Who is in goes on committing."""
    server.alter(credential("rita", "password-0"))
    # Numbers of changes: begun, and answered.
    begun = answered = 0

    def log_in_often(number: int) -> list[str]:
        wrong = []
        while answered < ROTATIONS:
            before, is_old = answered, number % 3 == 2 and answered > 0
            with server.client(loop=number % 2) as client:
                error = log_in(client, "rita", f"password-{before - is_old}").error_code
            if (error == ErrorCode.NONE) == is_old and (is_old or begun == before):
                wrong.append(f"password {before - is_old} of {before}, {begun}: {error}")
        return wrong

    def commit_often(loop: int) -> int:
        count = 0
        with server.client(loop=loop) as client:
            assert log_in(client, "rita", "password-0").error_code == ErrorCode.NONE
            entered.release()
            while answered < ROTATIONS:
                must_commit(client, group_of(loop, "rita"), "orders", {0: count})
                count += 1
        return count

    entered = threading.Semaphore(0)
    with ThreadPoolExecutor(8) as threads:
        committing = [threads.submit(commit_often, loop) for loop in (0, 1)]
        assert all(entered.acquire(timeout=60) for _ in committing)
        logging_in = [threads.submit(log_in_often, number) for number in range(6)]
        for number in range(1, ROTATIONS + 1):
            begun = number
            assert server.alter(credential("rita", f"password-{number}"), loop=number % 2) == [ErrorCode.NONE]
            answered = number
            time.sleep(ROTATED_EVERY_S)

    assert [each for done in logging_in for each in done.result()] == []
    assert all(each.result() > 1 for each in committing)


def test_users_of_the_properties_are_read_again(server: Guarded) -> None:
    """On SIGHUP: who is not named any more is out, others stay in; wrong properties change nothing."""
    server.name_users(bob=SECRET, kim="first", lea="first")
    os.kill(server.pid, signal.SIGHUP)
    eventually(lambda: _can_log_in(server, "lea", "first"))
    with server.client() as kim, server.client(loop=1) as lea:
        for client, user in ((kim, "kim"), (lea, "lea")):
            assert log_in(client, user, "first", "PLAIN").error_code == ErrorCode.NONE
        server.name_users(bob=SECRET, lea="second")
        os.kill(server.pid, signal.SIGHUP)
        eventually(lambda: _can_log_in(server, "lea", "second"))
        assert eventually(lambda: not is_served(kim))
        assert is_served(lea)
    server.secrets.write_text("jaas=nothing that could be read\n")
    os.kill(server.pid, signal.SIGHUP)
    eventually(lambda: "not-reloaded" in server.log())
    assert _can_log_in(server, "lea", "second")
    server.name_users(bob=SECRET)


def _can_log_in(server: Guarded, user: str, password: str) -> bool:
    answers = []
    for loop in (0, 1):
        with server.client(loop=loop) as client:
            answers.append(log_in(client, user, password, "PLAIN").error_code)
    return answers == [ErrorCode.NONE] * 2


def test_users_outlive_a_restart_and_secrets_are_shown_to_nobody(server: Guarded) -> None:
    """Neither in the log of the server, nor in its properties; the password itself is not on the disk."""
    server.alter(credential("frank", "franks-password"))
    with server.client("PLAINTEXT") as client:
        request = DescribeConfigsRequest([DescribeConfigsResource(4, "1", None)])
        properties = client.ask(request, 4, DescribeConfigsResponse).results[0].configs
    values = {each.name: each.value for each in properties}
    server.stop()
    server.start()

    with server.client("PLAINTEXT") as client:
        described = client.ask(DescribeUserScramCredentialsRequest(), 0, DescribeUserScramCredentialsResponse)
    with server.client() as client:
        assert log_in(client, "frank", "franks-password").error_code == ErrorCode.NONE
    assert "frank" in [each.user for each in described.results]
    assert values["listener.name.sasl_plaintext.plain.sasl.jaas.config"] is None
    written = b"".join(path.read_bytes() for path in server.data_dir.rglob("*") if path.is_file())
    assert SECRET not in server.log() + str(values)
    assert SECRET.encode() not in written and b"franks-password" not in written  # noqa: PT018 - one claim


def test_users_are_made_where_the_server_runs_and_where_it_does_not(server: Guarded, tmp_path: Path) -> None:
    """Over control.sock, in the log of a stopped server, and over Kafka's protocol; passwords are in a file or the environment."""
    password = tmp_path / "password"
    password.write_text("their password\n")
    directory = ["--data-dir", str(server.data_dir)]
    bootstrap = ["--bootstrap", f"127.0.0.1:{server.listeners['PLAINTEXT'][1]}"]

    def users(*words: str) -> str:
        done = run_command("users", *words, environment={"PASSWORD": "their password"})
        return done.stdout if done.returncode == 0 else f"{done.returncode} {done.stderr or done.stdout}"

    assert "would be added" in users("add", "heidi", *directory)
    assert "heidi" not in users("list", *directory)
    assert "added" in users("add", "heidi", "--password-file", str(password), "--execute", *directory)
    assert "added" in users("add", "ivan", "--password-env", "PASSWORD", "--execute", *bootstrap)
    server.stop()
    words = ["--mechanism", "SCRAM-SHA-256", "--iterations", "4096", "--password-env", "PASSWORD", "--execute"]
    assert "added" in users("add", "ivan", *words, *directory)
    assert "changed" in users("add", "heidi", "--password-env", "PASSWORD", "--execute", *directory)
    listed = users("list", "-o", "csv", *directory)
    assert listed.startswith("user,mechanism,iterations\n")
    assert {"heidi,SCRAM-SHA-512,8192", "ivan,SCRAM-SHA-256,4096", "ivan,SCRAM-SHA-512,8192"} <= set(listed.splitlines())
    server.start()

    assert users("list", "-o", "csv", *directory) == listed
    for user, mechanism in (("heidi", "SCRAM-SHA-512"), ("ivan", "SCRAM-SHA-256"), ("ivan", "SCRAM-SHA-512")):
        with server.client(loop=1) as client:
            assert log_in(client, user, "their password", mechanism).error_code == ErrorCode.NONE
    assert users("delete", "ivan", "--execute", *directory).count("deleted") == 2
    assert users("delete", "ivan", "--execute", *directory).startswith("1 ")
    server.stop()
    assert "deleted" in users("delete", "heidi", "--mechanism", "SCRAM-SHA-512", "--execute", *directory)
    server.start()
    with server.client() as client:
        assert log_in(client, "heidi", "their password").error_code == ErrorCode.SASL_AUTHENTICATION_FAILED


def test_what_users_refuses(server: Guarded, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before it asks anybody."""
    empty = tmp_path / "empty"
    empty.write_text("\n")
    directory = ["--data-dir", str(server.data_dir)]
    cases = {
        "--password-file or --password-env is required": ["add", "judy", "--execute", *directory],
        "cannot be read": ["add", "judy", "--execute", "--password-file", str(tmp_path / "none"), *directory],
        "has no password": ["add", "judy", "--execute", "--password-file", str(empty), *directory],
        "exclude each other": ["list", "--bootstrap", "127.0.0.1:1", *directory],
        "--bootstrap and --data-dir exclude each other": ["list", "--command-config", str(empty), *directory],
    }
    for problem, words in cases.items():
        assert main(["users", *words]) == 2
        assert problem in capsys.readouterr().err
    assert main(["users", "list", "--data-dir", str(tmp_path)]) == 2
    assert "is no data directory" in capsys.readouterr().err


def test_unauthenticated_connections_delay_no_users(server: Guarded) -> None:
    """Hundreds that send nothing, half a handshake or rubbish: users are served meanwhile, and in the end all are closed."""
    server.alter(credential("grace", "hers"))
    ports = [server.listeners[name][0] for name in ("SASL_PLAINTEXT", "SASL_SSL")]
    beginnings = (b"", b"\0\0\0", b"\0\0\x0f\xff" + bytes(100), b"\x16\x03\x01\x02\0\1", b"\0\0\0\x08\0\x12")
    with contextlib.ExitStack() as closing:
        strangers = []
        for number in range(STRANGERS):
            stranger = closing.enter_context(socket.create_connection(("127.0.0.1", ports[number % 2])))
            stranger.sendall(beginnings[number % len(beginnings)])
            strangers.append(stranger)
        waits = []
        for _ in range(5):
            began = time.monotonic()
            with server.client() as client:
                assert log_in(client, "grace", "hers").error_code == ErrorCode.NONE
                must_commit(client, group_of(0), "orders", {0: 1})
            waits.append(time.monotonic() - began)
        assert min(waits) < 1
        for stranger in strangers[::2]:  # those of TLS have the deadline of its handshake
            stranger.settimeout(10 * IDLE_S)
            with contextlib.suppress(ConnectionResetError):
                assert stranger.recv(1) == b""
    eventually(lambda: sum(each["connections"] for each in server.control(op="status")["status"]) == 0)


def test_strangers_close_no_request_of_a_client_that_is_known(tmp_path: Path) -> None:
    """Many of them hold a part of a request, and send a byte now and then, while a client's request arrives in two pieces."""
    secrets = tmp_path / "secrets"
    secrets.write_text(f'jaas=org.apache.kafka.common.security.plain.PlainLoginModule required user_bob="{SECRET}";\n')
    overrides = {
        "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": f"${{file:{secrets}:jaas}}",
        "queued.max.request.bytes": 1 << 20,
        "socket.request.max.bytes": 1 << 20,
    }
    with Server(tmp_path, overrides) as server, contextlib.ExitStack() as stack:
        client = stack.enter_context(Client(server.address))
        assert log_in(client, "bob", SECRET, "PLAIN").error_code == ErrorCode.NONE
        topics = [MetadataRequestTopic(name="x" * 200) for _ in range(1000)]
        frame = client.frame(MetadataRequest(topics=topics, allow_auto_topic_creation=False), 4)
        client.send_bytes(frame[: len(frame) // 2])
        strangers = [stack.enter_context(Client(server.address)) for _ in range(40)]
        for stranger in strangers:
            stranger.send_bytes((60_000).to_bytes(4) + bytes([0, 17, 0, 1]) + bytes(40_000))
        for stranger in strangers:
            with contextlib.suppress(ConnectionError):
                stranger.send_bytes(b"x")
        eventually(lambda: "login-shed" in server.log())
        client.send_bytes(frame[len(frame) // 2 :])

        assert isinstance(client.receive(), MetadataResponse)
        assert "request-shed" not in server.log()
