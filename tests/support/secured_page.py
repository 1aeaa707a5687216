"""A server whose page other machines may reach: TLS, and a login by its users, which are alice and operator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from coordinator_server.config.access import STANDARD_AUTHORIZER
from tests.support.certificates import Authority
from tests.support.command_forks import run_command
from tests.support.server import Server

AUTHORITY: Final = Authority()
SECRET: Final = "alice's secret"
_PROPERTIES: Final = {
    "listeners": "PLAINTEXT://127.0.0.1:0,SASL_SSL://127.0.0.1:0",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256",
    "authorizer.class.name": STANDARD_AUTHORIZER,
    "super.users": "User:ANONYMOUS;User:operator",
    "page.listener": "0.0.0.0:0",
}


@contextmanager
def server_with_login(directory: Path, name: str) -> Iterator[Server]:
    """Run it; ``name`` is the name by which browsers may call the page."""
    keystore = AUTHORITY.issue("server").write(directory / "server.pem")
    secret = directory / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    with Server(directory, _PROPERTIES | {"page.allowed.hosts": name, "ssl.keystore.location": keystore}) as server:
        bootstrap = f"127.0.0.1:{server.listeners['PLAINTEXT'][0]}"
        for user in ("alice", "operator"):
            words = ("users", "add", user, "--bootstrap", bootstrap, "--password-file", secret)
            done = run_command(*words, "--mechanism", "SCRAM-SHA-256", "--execute")
            assert done.returncode == 0, done.stderr
        yield server
