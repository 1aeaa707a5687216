"""What is said at the start of a node if its database is not what it needs: each line names what to do."""

from __future__ import annotations

import asyncio
import importlib
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from coordinator_server.config.errors import ConfigError
from coordinator_server.log.errors import LogError, OutcomeUnknown, WrongDirectory
from coordinator_server.log.postgresql import session
from coordinator_server.log.postgresql.address import Address
from coordinator_server.log.postgresql.log import open_postgresql_log
from coordinator_server.log.postgresql.schema import FORMAT, OLDEST_FORMAT
from coordinator_server.log.store_state import StoreState
from tests.support.eventually import eventually
from tests.support.postgresql import CLUSTER_ID, COUNTS, PostgresqlServer, Proxy, run


def opened(address: Address, **given: Any) -> tuple[str, set[str], int]:
    """Open the log of a database. Return the cluster, its topics with records, and the number of its shards."""

    async def work() -> tuple[str, set[str], int]:
        log = await open_postgresql_log(address, **{"node_id": 3, "partitions": COUNTS, **given})
        try:
            return log.meta.cluster_id, log.topics(), len(log.sids)
        finally:
            log.close()

    return asyncio.run(work())


def refusal(address: Address, kind: type[Exception] = LogError, **given: Any) -> str:
    with pytest.raises(kind) as refused:
        opened(address, **given)
    return str(refused.value)


def test_the_first_start_makes_the_tables_and_the_next_one_finds_them(postgresql: PostgresqlServer) -> None:
    address = Address(postgresql.url(postgresql.empty_database()))
    cluster_id, topics, shards = opened(address)

    assert (len(cluster_id), topics, shards) == (22, set(), sum(COUNTS.values()))
    assert opened(address) == (cluster_id, set(), shards)


def test_two_nodes_may_start_first(postgresql: PostgresqlServer) -> None:
    """One of them makes the tables."""
    address = Address(postgresql.url(postgresql.empty_database()))

    async def both() -> set[str]:
        logs = await asyncio.gather(*[open_postgresql_log(address, node_id=each, partitions=COUNTS) for each in (1, 2)])
        for log in logs:
            log.close()
        return {log.meta.cluster_id for log in logs}

    assert len(asyncio.run(both())) == 1


def test_a_kind_that_is_newer_than_the_tables_gets_its_shards(postgresql: PostgresqlServer) -> None:
    address = Address(postgresql.url(postgresql.empty_database()))
    fewer = {topic: count for topic, count in COUNTS.items() if topic != "__share_group_state"}
    before = opened(address, partitions=fewer)

    assert opened(address)[2] == before[2] + COUNTS["__share_group_state"]


def test_tables_of_another_configuration_are_refused(postgresql: PostgresqlServer) -> None:
    """The number of partitions is for ever."""
    address = Address(postgresql.url(postgresql.database()))

    assert "offsets.topic.num.partitions=50, not 7" in refusal(
        address, WrongDirectory, partitions={**COUNTS, "__consumer_offsets": 7}
    )


def test_tables_of_another_cluster_are_refused(postgresql: PostgresqlServer) -> None:
    address = Address(postgresql.url(postgresql.database()))

    assert "has the cluster AAAAAAAAAAAAAAAAAAAAAQ" in refusal(address, WrongDirectory, cluster_id="another")


@pytest.mark.parametrize("format", [OLDEST_FORMAT - 1, FORMAT + 1])
def test_tables_of_another_format_are_refused(postgresql: PostgresqlServer, format: int) -> None:
    database = postgresql.database()
    postgresql.sql("UPDATE meta SET format = $1", format, database=database)

    assert f"have format {format}" in refusal(Address(postgresql.url(database)))


def inspected(url: str) -> StoreState:
    """What a node with this URL says of its database."""

    async def ask() -> StoreState:
        log = await open_postgresql_log(Address(url), node_id=1, partitions=COUNTS)
        try:
            return await log.inspect()
        finally:
            log.close()
            await log.settled()

    return asyncio.run(ask())


def test_a_role_that_may_not_make_tables_is_told_what_it_needs(postgresql: PostgresqlServer) -> None:
    postgresql.sql("CREATE ROLE guest LOGIN")
    try:
        url = postgresql.url(postgresql.empty_database()).replace("coordinator@", "guest@")
        assert re.search(r"role guest may not .*GRANT CREATE ON DATABASE", refusal(Address(url)))
        database = postgresql.database()
        postgresql.sql("GRANT USAGE ON SCHEMA coordinator_server TO guest", database=database)
        postgresql.sql("GRANT SELECT ON ALL TABLES IN SCHEMA coordinator_server TO guest", database=database)
        url = postgresql.url(database).replace("coordinator@", "guest@")
        assert "guest lacks INSERT on meta" in refusal(Address(url))
        postgresql.sql("GRANT INSERT, UPDATE ON ALL TABLES IN SCHEMA coordinator_server TO guest", database=database)
        assert (
            "guest lacks DELETE on node, DELETE on layer, DELETE on object, DELETE on era, DELETE on segment: GRANT it"
            in refusal(Address(url))
        )
        postgresql.sql("GRANT DELETE ON node, layer, object, era, segment TO guest", database=database)
        assert opened(Address(url))[0] == CLUSTER_ID
        assert not inspected(url).trims
        postgresql.sql("GRANT TRUNCATE ON ALL TABLES IN SCHEMA coordinator_server TO guest", database=database)
        assert inspected(url).trims
        postgresql.sql("DROP OWNED BY guest", database=database)
    finally:
        postgresql.sql("DROP ROLE guest")


def test_a_standby_that_is_asked_for_and_not_there(postgresql: PostgresqlServer) -> None:
    address = Address(postgresql.url(postgresql.database()), needs_standby=True)

    assert "set synchronous_standby_names" in refusal(address)


@pytest.mark.parametrize("name", ["fsync", "full_page_writes"])
def test_a_database_that_does_not_sync(postgresql: PostgresqlServer, name: str) -> None:
    address = Address(postgresql.url(postgresql.database()))
    with of_server(postgresql, name, "off"):
        assert f"{name}=off, and loses what it acknowledges: set {name}=on" in refusal(address)
    assert opened(address)


@contextmanager
def of_server(server: PostgresqlServer, name: str, value: str) -> Iterator[None]:
    """Change a setting of the whole server for a while."""
    [[before]] = server.sql(f"SHOW {name}")
    try:
        server.sql(f"ALTER SYSTEM SET {name} = '{value}'")
        server.sql("SELECT pg_reload_conf()")
        eventually(lambda: server.sql(f"SHOW {name}")[0][0] == value)
        yield
    finally:
        server.sql(f"ALTER SYSTEM RESET {name}")
        server.sql("SELECT pg_reload_conf()")
        eventually(lambda: server.sql(f"SHOW {name}")[0][0] == before)


def test_a_clock_that_is_far_from_the_databases(postgresql: PostgresqlServer, monkeypatch: pytest.MonkeyPatch) -> None:
    address = Address(postgresql.url(postgresql.database()))
    real = time.time
    monkeypatch.setattr("coordinator_server.log.postgresql.checks.time.time", lambda: real() + 11)

    assert re.search("clock is 11 s behind this machine's: set the clocks", refusal(address))


def test_a_pooler_is_refused(postgresql: PostgresqlServer) -> None:
    """It tells its clients another number of their backend than the backend says."""

    class Pooler(Proxy):
        def received(self, data: bytes) -> bytes:
            at = data.find(b"K\x00\x00\x00\x0c")
            return data if at < 0 else data[: at + 5] + b"\x00\x00\x00\x07" + data[at + 9 :]

    pooler = Pooler(postgresql.socket_path)

    assert "a pooler is between" in refusal(Address(pooler.url(postgresql.database())))
    pooler.close()


def test_a_database_that_is_not_there(postgresql: PostgresqlServer) -> None:
    """The line has no password."""
    assert 'no connection to postgresql://coordinator@/nowhere: database "nowhere" does not exist' in refusal(
        Address(postgresql.url("nowhere"))
    )


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("mysql://one/two", "postgresql://USER@HOST/DATABASE is expected"),
        ("directory", "begins with nothing"),
        ("postgresql://user:secret@host/db", "a reference to it"),
        ("postgresql://user@host/db?password=secret", "a reference to it"),
        ("postgresql://[::1/db", "is no URL"),
    ],
)
def test_a_store_that_is_no_url_or_has_a_secret(url: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as refused:
        Address(url).check()
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "tls"),
    [
        ("postgresql://user@db.example/log", "verify-full"),
        ("postgresql://user@one.example:5432,two.example:5433/log", "verify-full"),
        ("postgresql://user@127.0.0.1,db.example/log", "verify-full"),
        ("postgresql:///log?host=db.example", "verify-full"),
        ("postgresql://user@db.example/log?sslmode=require", None),
        ("postgresql://user@localhost:5432/log", None),
        ("postgresql://user@[::1]:5432/log", None),
        ("postgresql:///log?host=/run/postgresql", None),
        ("postgresql://user@%2Frun%2Fpostgresql/log", None),
        ("postgresql:///log", None),
    ],
)
def test_a_server_beyond_this_machine_has_to_show_its_certificate(url: str, tls: str | None) -> None:
    """Unless the URL says something else."""
    address = Address(url)
    address.check()

    assert address.arguments().get("ssl") == tls


@pytest.mark.parametrize(
    ("variables", "service", "tls"),
    [
        ({"PGHOST": "db.example"}, "", "verify-full"),
        ({"PGHOST": "db.example", "PGSSLMODE": "require"}, "", None),
        ({"PGHOST": "/run/postgresql"}, "", None),
        ({"PGSERVICE": "log"}, "host=db.example", "verify-full"),
        ({"PGSERVICE": "log"}, "host=db.example\nsslmode=verify-ca", None),
        ({"PGSERVICE": "log"}, "dbname=log", None),
    ],
)
def test_a_server_that_the_environment_names_has_to_show_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], service: str, tls: str | None
) -> None:
    """A URL without a host is that of this machine only if nothing else names one."""
    file = tmp_path / "services"
    file.write_text(f"[log]\n{service}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(file))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert Address("postgresql:///log").arguments().get("ssl") == tls


def test_a_service_that_is_nowhere_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be a database of this machine otherwise. What is in the file may be secret."""
    file = tmp_path / "services"
    address = Address("postgresql:///?service=log")
    monkeypatch.setenv("PGSERVICEFILE", str(file))
    with pytest.raises(ConfigError, match=f"service log is not in {file}"):
        address.arguments()
    file.write_text("password=secret")
    with pytest.raises(ConfigError, match="cannot be read") as refused:
        address.arguments()
    assert "secret" not in str(refused.value)


def test_a_password_is_read_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """At each connection: it may change."""
    address = Address("postgresql:///log", "${env:STORE_PASSWORD}")
    with pytest.raises(ConfigError, match="is no variable"):
        address.arguments()
    for password in ("one", "two"):
        monkeypatch.setenv("STORE_PASSWORD", password)
        assert address.arguments()["password"] == password


def test_a_session_has_its_settings_whatever_the_defaults_are(postgresql: PostgresqlServer) -> None:
    database = postgresql.database()
    for setting in (
        "synchronous_commit = off",
        "default_transaction_isolation = serializable",
        "statement_timeout = 1",
        "idle_session_timeout = 60000",
        "default_transaction_read_only = on",
        "client_min_messages = error",
    ):
        postgresql.sql(f"ALTER DATABASE {database} SET {setting}")

    async def settings() -> list[str]:
        log = await open_postgresql_log(Address(postgresql.url(database)), node_id=1, partitions=COUNTS)
        session = log.session("test")
        names = ["synchronous_commit", "transaction_isolation", "statement_timeout", "idle_session_timeout"]
        names += ["client_min_messages", "client_connection_check_interval"]
        found = [(await session.read(f"SELECT current_setting('{name}')"))[0][0] for name in names]
        session.close()
        log.close()
        return found

    assert asyncio.run(settings()) == ["on", "read committed", "0", "0", "warning", "1s"]


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those who have a store in PostgreSQL need it."""
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    monkeypatch.delitem(sys.modules, session.__name__)

    with pytest.raises(LogError, match=re.escape("pip install 'coordinator-server[postgresql]'")):
        importlib.import_module(session.__name__)


def test_a_host_that_has_answered_no_statement_is_asked_last(postgresql: PostgresqlServer) -> None:
    """A primary that was replaced and does not know it takes connections, and waits for a standby for ever."""
    places = [Proxy(postgresql.socket_path) for _ in range(2)]
    hosts = ",".join(f"127.0.0.1:{place.port}" for place in places)
    address = Address(f"postgresql://coordinator@{hosts}/{postgresql.database()}?sslmode=disable")

    async def ask() -> list[list[int]]:
        asking, used = session.Session(address, "asks", answer_s=0.1), []
        for _ in range(2):
            await asking.read("SELECT 1")
            used.append([place.connections for place in places])
            for place in places:
                place.hold()
            with pytest.raises(OutcomeUnknown):
                await asking.read("SELECT 1")
        asking.close()
        return used

    assert run(ask()) == [[1, 0], [1, 1]]
    for place in places:
        place.close()


def test_a_host_that_does_not_answer_takes_no_time_of_the_next_one(
    postgresql: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that is gone refuses no connection: each host has a time of its own."""
    proxy = Proxy(postgresql.socket_path)
    database = postgresql.database()
    connect, asked = asyncpg.connect, list[str]()

    async def connect_unless_silent(**given: Any) -> Any:
        asked.append(f"{urlsplit(given['dsn']).netloc} {given['timeout']}")
        if "silent" in given["dsn"]:
            raise TimeoutError
        return await connect(**given)

    monkeypatch.setattr(asyncpg, "connect", connect_unless_silent)
    hosts = f"silent.example,127.0.0.1:1,127.0.0.1:{proxy.port}"
    url = f"postgresql://coordinator@{hosts}/{database}?sslmode=disable"
    assert opened(Address(url))[0] == CLUSTER_ID
    assert asked[:3] == [f"coordinator@{host} {session.CONNECT_S}" for host in hosts.split(",")]
    proxy.is_away = True
    why = refusal(Address(url))
    proxy.close()

    assert f"no connection to postgresql://coordinator@silent.example/{database}: no answer; no connection to " in why
