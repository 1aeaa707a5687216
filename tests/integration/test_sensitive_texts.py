"""No surface of a running server shows a sensitive property: not while it is right, and not when it is changed for the worse."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import pytest

from protocol.error_codes import ErrorCode
from protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from tests.support.certificates import Authority
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.ports import free_port
from tests.support.server import Server

MARKER = "S3CR3T"
AUTHORITY = Authority()
IDENTITY = AUTHORITY.issue("server")
JAAS = "listener.name.sasl_plaintext.plain.sasl.jaas.config"
OPERATIONS = ("status", "loops", "shards", "groups", "metrics", "digest", "users", "expiring", "config", "reports", "no such")
"""What is asked of control.sock: what it knows, and what it does not."""
BROKEN = {
    JAAS: [
        f'Module required user_a="{MARKER}" user_b="${{env:NOBODY_HAS_THIS}}";',
        f'Module required user_a="{MARKER}',
        f"{MARKER}",
        f'Module required user_a="{MARKER}" user_a="again {MARKER}" {MARKER};',
    ],
    "ssl.key.password": [f"{MARKER}", f"{MARKER}${{directory:/etc:.}}"],
    "listener.name.ssl.ssl.key.password": [f"{MARKER}${{env:NOBODY_HAS_THIS}}", f"{MARKER}"],
    "ssl.keystore.key": [f"-----BEGIN PRIVATE KEY-----\n{MARKER}\n", f"{MARKER}${{file:/nowhere:key}}"],
    "ssl.keystore.certificate.chain": [f"-----BEGIN CERTIFICATE-----\n{MARKER}\n-----END CERTIFICATE-----\n"],
    "ssl.truststore.certificates": [f"-----BEGIN CERTIFICATE-----\n{MARKER}\n-----END CERTIFICATE-----\n"],
}


class Marked(Server):
    """A server whose sensitive properties are in its file, each with the marker or with what must be as little known."""

    def __init__(self, directory: Path) -> None:
        listeners = "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0"
        super().__init__(directory, {"listeners": listeners})
        self.file = directory / "server.properties"
        self.metrics = free_port()
        self.key = IDENTITY.key_pem("the pass " + MARKER)
        self.write({})
        self.words = ["--config", str(self.file)]

    def write(self, changes: dict[str, str]) -> None:
        """Write the file with some properties changed."""
        properties = {
            "metrics.listener": f"127.0.0.1:{self.metrics}",
            "sasl.enabled.mechanisms": "PLAIN",
            "ssl.keystore.key": self.key,
            "ssl.keystore.certificate.chain": IDENTITY.certificate_pem,
            "ssl.key.password": "the pass " + MARKER,
            "ssl.truststore.certificates": AUTHORITY.pem,
            JAAS: f'Module required user_a="{MARKER}";',
        } | changes
        lines = [f"{name}={value}".replace("\\", "\\\\").replace("\n", "\\n") for name, value in properties.items()]
        self.file.write_text("\n".join(lines))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Marked]:
    with Marked(tmp_path_factory.mktemp("server")) as server:
        yield server


def refusals(server: Server) -> int:
    return sum(json.loads(line)["event"].endswith("-not-reloaded") for line in server.log().splitlines())


def is_refused(server: Server, before: int) -> bool:
    return refusals(server) > before


def secrets_of(server: Marked) -> list[str]:
    """The texts that may be nowhere: the marker, and lines of the key."""
    return [MARKER, *server.key.splitlines()[1:-1][:2]]


def seen(server: Marked) -> dict[str, str]:
    """What a person can see of a server from outside, by place."""
    texts = {"log": server.log()}
    for op in OPERATIONS:
        texts[f"control.sock {op}"] = json.dumps(server.control(op=op))
    for path in ("/metrics", "/livez", "/readyz"):
        with urlopen(f"http://127.0.0.1:{server.metrics}{path}") as answer:
            texts[path] = answer.read().decode()
    with Client(server.address) as client:
        everything = DescribeConfigsRequest([DescribeConfigsResource(4, "1", None)], include_synonyms=True)
        texts["DescribeConfigs"] = str(client.ask(everything, 4, DescribeConfigsResponse))
    for pid in server.loop_pids():
        texts[f"command line of {pid}"] = Path(f"/proc/{pid}/cmdline").read_text()
    for words in (("config", "--config", str(server.file)), ("doctor", "--data-dir", str(server.data_dir))):
        done = run_command(*words)
        texts[words[0]] = done.stdout + done.stderr
    backup = server.file.parent / f"backup-{refusals(server)}"
    done = run_command("backup", "--data-dir", server.data_dir, "--to", backup)
    texts["backup"] = done.stdout + done.stderr
    for file in [each for each in backup.rglob("*") if each.is_file()]:
        texts[str(file.relative_to(backup))] = file.read_bytes().decode(errors="replace")
    return texts


def refused_start(server: Marked) -> dict[str, str]:
    """What a server says that does not start with the properties of the file, by place."""
    done = run_command("serve", "--config", server.file, "--data-dir", server.file.parent / "other")
    assert done.returncode, done.stderr
    return {"serve, stdout": done.stdout, "serve, stderr": done.stderr}


def use_passwords(server: Marked) -> list[str]:
    """Set a password, and log in with wrong ones. Return what may be nowhere."""
    words = ("users", "add", "ann", "--password-env", "PASSWORD", "--data-dir", str(server.data_dir))
    done = [run_command(*words, *more, environment={"PASSWORD": f"ann's {MARKER}"}) for more in ((), ("--execute",))]
    assert [each.returncode for each in done] == [0, 0]
    for password in (f"ann's {MARKER}", f"\N{SNOWMAN}{MARKER}", ""):
        with Client((server.host, server.listeners["SASL_PLAINTEXT"][0])) as client:
            assert client.ask(SaslHandshakeRequest("PLAIN"), 1, SaslHandshakeResponse).error_code == 0
            token = f"\0a\0{password}\0{MARKER}" if not password else f"\0a\0{password}"
            answer = client.ask(SaslAuthenticateRequest(token.encode()), 2, SaslAuthenticateResponse)
            assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
            assert MARKER not in str(answer)
    return [each.stdout + each.stderr for each in done]


def test_no_surface_shows_a_sensitive_property(server: Marked) -> None:
    """Each is changed for the worse in each way; the server names the property and goes on with the old value."""
    places: set[str] = set()
    assert MARKER not in "".join(use_passwords(server))
    for name, values in BROKEN.items():
        for value in values:
            before = refusals(server)
            server.write({name: value})
            server.send_signal(signal.SIGHUP)
            eventually(partial(is_refused, server, before))
            for place, text in refused_start(server).items():
                places.add(place)
                assert not any(secret in text for secret in secrets_of(server)), (name, value, place)
        shown = seen(server)
        places.update(shown)
        for place, text in shown.items():
            assert not any(secret in text for secret in secrets_of(server)), (name, place)
    assert "authentication-failed" in server.log()
    assert "User:ann" in server.log()
    assert len(places) > 25
