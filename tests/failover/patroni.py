"""Three PostgreSQL servers on the loopback whose primary Patroni chooses. Its members vote by Raft, so nothing else has to run.

Patroni is in an environment of its own, .venv/patroni, where the first run installs it. Commits wait for a standby
(``synchronous_mode``), and only a standby that commits wait for is promoted.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from coordinator_server.cli.parent import die_with_parent
from tests.support.eventually import eventually
from tests.support.ports import free_port
from tests.support.postgresql import programs
from tests.support.server import ROOT

MEMBERS: Final = 3
DATABASE: Final = "coordinator"
PATIENCE_S: Final = 120.0
# Patroni's smallest ttl: a member that is gone is replaced when its last renewal is so old, and after a vote.
TTL_S, LOOP_WAIT_S, RETRY_S = 20, 4, 8
ENVIRONMENT: Final = ROOT / ".venv" / "patroni"
_PYTHON: Final = ENVIRONMENT / "bin" / "python"
_USER: Final = "coordinator"
_PARAMETERS: Final = {
    "max_connections": 60,
    "shared_buffers": "16MB",
    "wal_keep_size": "256MB",
    "wal_receiver_timeout": "2s",
    "wal_retrieve_retry_interval": "100ms",
    "hot_standby": "on",
}


class Missing(Exception):
    """Patroni cannot be installed, or cannot be run. The message is one line."""


def install(environment: Path, python: str) -> None:
    """Make a virtual environment that has what requirements/failover.lock says. Raises Missing."""
    pip: list[str | Path] = [sys.executable, "-m", "pip", "-q", "--python", environment / "bin" / "python", "install"]
    locked = [*pip, "--no-build-isolation", "--use-pep517", "--require-hashes", "-r"]
    steps: list[list[str | Path]] = [[python, "-m", "venv", "--clear", "--without-pip", environment]]
    steps += [[*locked, ROOT / "requirements" / f"{lock}.lock"] for lock in ("build", "failover")]
    for step in steps:
        try:
            done = subprocess.run(step, check=False, capture_output=True, text=True)
        except OSError as error:
            raise Missing(f"Patroni cannot be installed into {environment}: {error}") from None
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
            raise Missing(f"Patroni cannot be installed into {environment}: {said[-1].removeprefix('ERROR: ')}")


class Member(NamedTuple):
    """A Patroni and its PostgreSQL."""

    name: str
    directory: Path
    port: int
    api_port: int
    raft_port: int

    def api(self, path: str) -> tuple[int, Any]:
        """Ask its Patroni. Return the status, and what it says; (0, None) if there is no answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.api_port}/{path}", timeout=2) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, None
        except (OSError, ValueError):
            return 0, None


class Patroni:
    """The members. One of them leads, and the others follow it."""

    def __init__(self) -> None:
        self._programs = programs()
        self._as_user: dict[str, Any] = {}
        if os.geteuid() == 0:
            # PostgreSQL refuses root.
            self._as_user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        self._check()
        memory = Path("/dev/shm")
        self._root = Path(tempfile.mkdtemp(prefix="patroni-", dir=memory if os.access(memory, os.W_OK) else None))
        self.members = [
            Member(name, self._root / name, free_port(), free_port(), free_port())
            for name in (f"member{number}" for number in range(1, MEMBERS + 1))
        ]
        self._processes: dict[Member, subprocess.Popen[bytes]] = {}
        for member in self.members:
            member.directory.mkdir()
            (member.directory / "patroni.json").write_text(json.dumps(self._configuration(member)))
            if self._as_user:
                shutil.chown(member.directory, "nobody", "nogroup")
        self._root.chmod(0o755)

    @property
    def url(self) -> str:
        """All members, as nodes have them."""
        hosts = ",".join(f"127.0.0.1:{member.port}" for member in self.members)
        return f"postgresql://{_USER}@{hosts}/{DATABASE}?target_session_attrs=read-write"

    @property
    def urls(self) -> list[str]:
        """Each member."""
        return [f"postgresql://{_USER}@127.0.0.1:{member.port}/{DATABASE}" for member in self.members]

    @property
    def leader(self) -> Member | None:
        """The member whose Patroni says that it leads and takes writes."""
        return next((member for member in self.members if member.api("primary")[0] == 200), None)

    def start(self) -> None:
        """Start all, and wait until there is a primary with a standby that commits wait for."""
        for member in self.members:
            self.start_member(member)
        eventually(lambda: self.leader, PATIENCE_S, describe=self.described)
        self.settle()

    def start_member(self, member: Member) -> None:
        """Start the Patroni of a member, which starts its PostgreSQL, unless it runs."""
        if member in self._processes:
            return
        self._processes[member] = subprocess.Popen(
            [_PYTHON, "-m", "patroni", member.directory / "patroni.json"],
            cwd=member.directory,
            stdout=(member.directory / "log").open("ab"),
            stderr=subprocess.STDOUT,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - it only calls the kernel
            **self._as_user,
        )

    def settle(self) -> None:
        """Return when all members follow the leader, and commits wait for one of them."""
        eventually(self._is_settled, PATIENCE_S, describe=self.described)

    def kill(self, member: Member) -> None:
        """Let a member be gone: its Patroni and its PostgreSQL get SIGKILL."""
        self.kill_patroni(member)
        self.kill_postgresql(member)

    def kill_patroni(self, member: Member) -> None:
        """Let nobody look after the PostgreSQL of a member, which lives on: as a primary, beside the next one."""
        process = self._processes.pop(member, None)
        if process is not None:
            process.kill()
            process.wait()

    def kill_postgresql(self, member: Member) -> None:
        """Let the PostgreSQL of a member be gone. Its Patroni notices."""
        with suppress(FileNotFoundError, ProcessLookupError, IndexError):
            pid = int((member.directory / "data" / "postmaster.pid").read_text().splitlines()[0])
            os.kill(pid, signal.SIGKILL)

    def hand_over(self, member: Member) -> None:
        """Ask Patroni for another leader, as an administrator does before maintenance."""
        asked = urllib.request.Request(
            f"http://127.0.0.1:{member.api_port}/switchover",
            data=json.dumps({"leader": member.name}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(asked, timeout=PATIENCE_S) as answer:
            answer.read()

    def described(self) -> str:
        """What the members say of themselves."""
        return "\n".join(
            f"{member.name}: {member.api('patroni')}\n{''.join((member.directory / 'log').read_text().splitlines(True)[-5:])}"
            for member in self.members
        )

    def close(self) -> None:
        """End everything, and remove it."""
        for member in list(self._processes):
            self.kill(member)
        shutil.rmtree(self._root, ignore_errors=True)

    def _is_settled(self) -> bool:
        leader = self.leader
        if leader is None:
            return False
        _, cluster = leader.api("cluster")
        roles = sorted((each["role"], each["state"]) for each in (cluster or {}).get("members", ()))
        standbys = [("replica", "streaming")] * (MEMBERS - 2) + [("sync_standby", "streaming")]
        return roles == sorted([("leader", "running"), *standbys])

    def _check(self) -> None:
        if self._refusal() is not None:
            # PostgreSQL's user has to read the interpreter.
            install(ENVIRONMENT, "/usr/bin/python3" if self._as_user else sys.executable)
        refusal = self._refusal()
        if refusal is not None:
            raise Missing(f"Patroni is in {ENVIRONMENT}, and {self._as_user.get('user', 'this user')} cannot run it: {refusal}")

    def _refusal(self) -> str | None:
        """Return why Patroni cannot be run; None if it can."""
        asked: list[str | Path] = [_PYTHON, "-c", "import patroni, psycopg, pysyncobj"]
        try:
            found = subprocess.run(asked, check=False, cwd="/", capture_output=True, text=True, **self._as_user)
        except OSError as error:
            return str(error)
        return found.stderr.strip().splitlines()[-1] if found.returncode else None

    def _configuration(self, member: Member) -> Mapping[str, Any]:
        def at(port: int) -> str:
            return f"127.0.0.1:{port}"

        return {
            "scope": "coordinator",
            "name": member.name,
            "restapi": {"listen": at(member.api_port), "connect_address": at(member.api_port)},
            "raft": {
                "data_dir": str(member.directory / "raft"),
                "self_addr": at(member.raft_port),
                "partner_addrs": [at(each.raft_port) for each in self.members if each is not member],
            },
            "bootstrap": {
                "dcs": {
                    "ttl": TTL_S,
                    "loop_wait": LOOP_WAIT_S,
                    "retry_timeout": RETRY_S,
                    "synchronous_mode": True,
                    "postgresql": {"use_pg_rewind": True, "parameters": _PARAMETERS},
                },
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums", "no-sync"],
            },
            "postgresql": {
                "listen": at(member.port),
                "connect_address": at(member.port),
                "data_dir": str(member.directory / "data"),
                "bin_dir": str(self._programs),
                "pgpass": str(member.directory / "pgpass"),
                "authentication": {
                    role: {"username": _USER, "password": _USER} for role in ("superuser", "replication", "rewind")
                },
                "pg_hba": [
                    "local all all trust",
                    "host all all 127.0.0.1/32 trust",
                    "host replication all 127.0.0.1/32 trust",
                ],
                "parameters": {"unix_socket_directories": str(member.directory), "dynamic_shared_memory_type": "mmap"},
                # A former primary whose end nobody has is made anew where pg_rewind cannot help.
                "remove_data_directory_on_diverged_timelines": True,
                "remove_data_directory_on_rewind_failure": True,
            },
        }
