"""A real PostgreSQL, started by tests: in a directory of its own, on a Unix socket, and with a template of the tables.

PostgresqlServer   one server; ``database`` makes a database with the tables, in a few ms
Proxy              a TCP port in front of it, which loses, holds and cuts what goes through
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar

import asyncpg
import pytest

from coordinator_server.cli.parent import die_with_parent
from coordinator_server.config import Config
from coordinator_server.kinds import partition_counts
from coordinator_server.log.postgresql.schema import open_tables
from coordinator_server.log.postgresql.session import SCHEMA
from tests.support.once import CACHE, only_one

T = TypeVar("T")

COUNTS: Final = partition_counts(Config().log)
CLUSTER_ID: Final = "AAAAAAAAAAAAAAAAAAAAAQ"
_TEMPLATE: Final = "tables"
_USER: Final = "coordinator"
_PORT: Final = 5432
_SETTINGS: Final[Mapping[str, object]] = {
    "listen_addresses": "",
    "port": _PORT,
    "max_connections": 40,
    "shared_buffers": "16MB",
    "autovacuum": "off",
    "log_min_messages": "warning",
    # fsync stays as users have it: what tests commit is in memory (/dev/shm), where a sync costs nothing.
    "wal_level": "replica",
    # In the directory of the server, which is removed also after a kill.
    "dynamic_shared_memory_type": "mmap",
}


class NoPostgresql(pytest.skip.Exception):  # type: ignore[misc, name-defined] # of pytest, without a type
    """PostgreSQL is not installed. Tests are skipped; programs say it."""


def programs() -> Path:
    """Return the directory of PostgreSQL's programs: the newest one's of Debian's packages, or that of the path.

    Raises NoPostgresql.
    """
    found = [each.parent for each in Path("/usr/lib/postgresql").glob("*/bin/postgres")]
    if found:
        return max(found, key=lambda each: int(re.sub(r"\D", "", each.parent.name) or 0))
    on_path = shutil.which("postgres")
    if on_path is None:
        missing = "PostgreSQL is missing: apt-get install postgresql (its programs are enough; no cluster of it is used)"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        raise NoPostgresql(missing)
    return Path(on_path).parent


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a loop of its own, from a thread that has none."""
    return asyncio.run(work)


class PostgresqlServer:
    """A server, or a standby of ``primary``. PostgreSQL refuses root: then it runs as nobody. ``settings`` are its properties."""

    def __init__(
        self, primary: PostgresqlServer | None = None, settings: Mapping[str, object] = _SETTINGS, *, on_disk: bool = False
    ) -> None:
        self._programs = programs()
        memory = Path("/dev/shm")
        is_in_memory = not on_disk and os.access(memory, os.W_OK)
        self._root = Path(tempfile.mkdtemp(prefix="pg-", dir=memory if is_in_memory else None))
        self._data = self._root / "data"
        self._as_user: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._as_user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
            shutil.chown(self._root, "nobody", "nogroup")
        self._settings = {**_SETTINGS, **settings, "unix_socket_directories": self._root}
        self._numbers = count()
        self._process: subprocess.Popen[bytes] | None = None
        self._has_template = False
        if primary is None:
            self._copy_empty()
        else:
            self._call(
                "pg_basebackup",
                "-D",
                str(self._data),
                "-h",
                str(primary._root),
                "-U",
                _USER,
                "--checkpoint=fast",
                "-R",
                "--no-sync",
            )
            self._settings.setdefault("cluster_name", self._root.name)
        self.start()

    def _copy_empty(self) -> None:
        """Begin with a copy of a directory that initdb has made once: to make one takes ten times as long."""
        facts = self._programs / "initdb", (self._programs / "initdb").stat().st_mtime_ns
        made = CACHE / f"postgresql-{hashlib.sha256(repr(facts).encode()).hexdigest()[:12]}"
        with only_one("postgresql"):
            if not made.exists():
                self._call("initdb", "--no-sync", "-A", "trust", "-U", _USER, "-E", "UTF8", "--locale=C", "-D", str(self._data))
                part = made.with_suffix(".part")
                shutil.rmtree(part, ignore_errors=True)
                subprocess.run(["cp", "-a", self._data, part], check=True)
                part.rename(made)
                return
        subprocess.run(["cp", "-a", made, self._data], check=True)

    @property
    def name(self) -> str:
        """What a primary's synchronous_standby_names may call this standby."""
        return str(self._settings["cluster_name"])

    @property
    def socket_path(self) -> str:
        """The Unix socket."""
        return str(self._root / f".s.PGSQL.{self._settings['port']}")

    def url(self, database: str) -> str:
        """Return the URL of a database, over the Unix socket."""
        return f"postgresql://{_USER}@/{database}?host={self._root}&port={self._settings['port']}"

    def add_file(self, name: str, content: str) -> Path:
        """Write a file that only the server's user reads."""
        path = self._root / name
        path.write_text(content)
        path.chmod(0o600)
        if self._as_user:
            shutil.chown(path, "nobody", "nogroup")
        return path

    def start(self) -> None:
        """Start, and wait until the server answers."""
        options = [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        self._process = subprocess.Popen(
            [self._programs / "postgres", "-D", self._data, *options],
            cwd=self._root,
            stdout=(self._root / "log").open("ab"),
            stderr=subprocess.STDOUT,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - it only calls the kernel
            **self._as_user,
        )
        until = time.monotonic() + 30
        while (
            subprocess.run(
                [self._programs / "pg_isready", "-q", "-h", self._root, "-p", str(self._settings["port"])], check=False
            ).returncode
            != 0
        ):
            assert self._process.poll() is None, (self._root / "log").read_text()
            assert time.monotonic() < until, "PostgreSQL does not answer"
            time.sleep(0.02)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop: disconnect all (SIGINT), or as a crash (SIGQUIT)."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(30)
            self._process = None

    def remove(self) -> None:
        """Stop, and remove everything."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self._root, ignore_errors=True)

    def sql(self, statement: str, *arguments: Any, database: str = "postgres") -> list[Any]:
        """Run one statement as an administrator."""

        async def work() -> list[Any]:
            connection = await asyncpg.connect(self.url(database), server_settings={"search_path": f"{SCHEMA},public"})
            try:
                return list(await connection.fetch(statement, *arguments))
            finally:
                await connection.close()

        return run(work())

    def waiting(self, what: str, database: str) -> list[int]:
        """Return the backends of a database that wait for something."""
        return [
            row[0] for row in self.sql("SELECT pid FROM pg_stat_activity WHERE datname = $1 AND wait_event = $2", database, what)
        ]

    def promote(self) -> None:
        """Make a standby the primary."""
        self.sql("SELECT pg_promote(true, 30)")

    def database(self) -> str:
        """Make a database with the tables. Return its name."""
        if not self._has_template:
            self._has_template = True
            self.sql(f"CREATE DATABASE {_TEMPLATE}")
            run(self._make_tables())
        name = f"log{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}")
        return name

    def empty_database(self) -> str:
        """Make a database with nothing in it. Return its name."""
        name = f"empty{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name}")
        return name

    def dump(self, database: str) -> bytes:
        """Return a database as SQL, without owners and rights."""
        return self._run("pg_dump", "--no-owner", "--no-privileges", *self._reached(database))

    def restore(self, dump: bytes) -> str:
        """Make a database from what ``dump`` has returned. Return its name."""
        name = self.empty_database()
        self._run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", *self._reached(name), given=dump)
        return name

    def _reached(self, database: str) -> list[str]:
        return ["-h", str(self._root), "-p", str(self._settings["port"]), "-U", _USER, "-d", database]

    async def _make_tables(self) -> None:
        connection = await asyncpg.connect(self.url(_TEMPLATE), server_settings={"search_path": SCHEMA})
        try:
            await open_tables(connection, node_id=0, partitions=COUNTS, cluster_id=CLUSTER_ID)
        finally:
            await connection.close()

    def _call(self, program: str, *words: str) -> None:
        self._run(program, *words, **self._as_user)

    def _run(self, program: str, *words: str, given: bytes | None = None, **how: Any) -> bytes:
        found = subprocess.run(
            [self._programs / program, *words], cwd=self._root, input=given, capture_output=True, check=False, **how
        )
        assert found.returncode == 0, found.stderr.decode(errors="replace")
        return found.stdout


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresqlServer]:
    """One server for all tests of a process."""
    server = PostgresqlServer()
    yield server
    server.remove()


class _Link:
    """A connection through the proxy."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self.server = server
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.held_bytes = 0

    def cut(self) -> None:
        self.may_go_on.set()
        _hang_up(self.client)
        _hang_up(self.server)


class Proxy:
    """A port on the loopback that leads to a server's socket. What it does is set before a statement is sent.

    ``loses_answer``    the next answer is not delivered, and its connection is cut
    ``loses_question``  the next statement is not delivered, and its connection is cut
    ``hold``            nothing is delivered to the server over the present connections until ``release``, then all of it
    ``target``          the socket where connections lead to
    ``is_away``         new connections are refused, and those that are open are cut
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.loses_answer = self.loses_question = False
        self.connections = 0
        self._is_away = False
        self._links: list[_Link] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def is_away(self) -> bool:
        return self._is_away

    @is_away.setter
    def is_away(self, is_away: bool) -> None:
        self._is_away = is_away
        if is_away:
            self.cut()

    def url(self, database: str) -> str:
        """Return the URL of a database through the proxy."""
        return f"postgresql://{_USER}@127.0.0.1:{self.port}/{database}"

    def received(self, data: bytes) -> bytes:
        """Return what a client gets of the server's bytes."""
        return data

    def hold(self) -> list[_Link]:
        """Deliver nothing over the present connections."""
        for link in self._links:
            link.may_go_on.clear()
        return list(self._links)

    def release(self, links: list[_Link]) -> None:
        """Deliver what was held, also of clients that have hung up."""
        for link in links:
            link.may_go_on.set()

    def cut(self) -> None:
        """Cut all connections."""
        links, self._links = self._links, []
        for link in links:
            link.cut()

    def close(self) -> None:
        """Cut everything, and listen no more."""
        _hang_up(self._listener)
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            server = socket.socket(socket.AF_UNIX)
            link = _Link(client, server)
            try:
                if self._is_away:
                    raise ConnectionRefusedError
                server.connect(self.target)
            except OSError:
                link.cut()
                continue
            self._links.append(link)
            threading.Thread(target=self._forward, args=(link,), daemon=True).start()
            threading.Thread(target=self._return, args=(link,), daemon=True).start()

    def _forward(self, link: _Link) -> None:
        with suppress(OSError):
            while data := link.client.recv(1 << 16):
                link.held_bytes += 0 if link.may_go_on.is_set() else len(data)
                link.may_go_on.wait()
                if self.loses_question:
                    self.loses_question = False
                    break
                link.server.sendall(data)
        link.cut()

    def _return(self, link: _Link) -> None:
        with suppress(OSError):
            while data := link.server.recv(1 << 16):
                if self.loses_answer:
                    self.loses_answer = False
                    break
                link.client.sendall(self.received(data))
        link.cut()


def _hang_up(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    with suppress(OSError):
        end.close()
