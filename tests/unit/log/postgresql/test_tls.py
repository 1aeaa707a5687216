"""A database over the network: its certificate, and a password that stands elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from coordinator_server.log.errors import LogError
from coordinator_server.log.postgresql.address import Address
from coordinator_server.log.postgresql.log import open_postgresql_log
from tests.support.certificates import Authority
from tests.support.ports import free_port
from tests.support.postgresql import COUNTS, PostgresqlServer

PASSWORD = "${env:DATABASE_PASSWORD}"


class Guarded(NamedTuple):
    """A server that demands TLS and a password. Its certificate is for localhost."""

    url: str
    trusted: Path
    others: Path


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    directory = tmp_path_factory.mktemp("tls")
    authority, other = Authority(), Authority("another")
    port = free_port()
    server = PostgresqlServer(settings={"listen_addresses": "127.0.0.1", "port": port})
    identity = authority.issue("database", host="localhost")
    server.sql("ALTER ROLE coordinator PASSWORD 'correct'")
    database = server.database()
    key, certificate = server.add_file("key.pem", identity.key_pem()), server.add_file("cert.pem", identity.certificate_pem)
    access = server.add_file("access.conf", "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n")
    for name, value in {"ssl_key_file": key, "ssl_cert_file": certificate, "hba_file": access, "ssl": "on"}.items():
        server.sql(f"ALTER SYSTEM SET {name} = '{value}'")
    server.stop()
    server.start()
    trusted, others = authority.write(directory / "authority.pem"), other.write(directory / "another.pem")
    yield Guarded(f"postgresql://coordinator@HOST:{port}/{database}", trusted, others)
    server.remove()


def opened(url: str, password: str = PASSWORD) -> str:
    async def work() -> str:
        log = await open_postgresql_log(Address(url, password), node_id=1, partitions=COUNTS)
        log.close()
        return log.meta.cluster_id

    return asyncio.run(work())


def test_a_certificate_for_the_name_and_a_password(guarded: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "correct")

    assert opened(f"{guarded.url.replace('HOST', 'localhost')}?sslmode=verify-full&sslrootcert={guarded.trusted}")


def test_a_wrong_password_is_refused_and_not_shown(guarded: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "incorrect")

    with pytest.raises(LogError, match="password authentication failed") as refused:
        opened(f"{guarded.url.replace('HOST', 'localhost')}?sslmode=verify-full&sslrootcert={guarded.trusted}")
    assert "incorrect" not in str(refused.value)


@pytest.mark.parametrize(("host", "authority"), [("localhost", "others"), ("127.0.0.1", "trusted")])
def test_a_certificate_of_another_authority_or_name_is_refused(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch, host: str, authority: str
) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "correct")

    with pytest.raises(LogError, match=r"certificate verify failed|certificate is not valid"):
        opened(f"{guarded.url.replace('HOST', host)}?sslmode=verify-full&sslrootcert={getattr(guarded, authority)}")


def test_a_password_is_not_sent_without_tls(guarded: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server demands it, and its line says so."""
    monkeypatch.setenv("DATABASE_PASSWORD", "correct")

    with pytest.raises(LogError, match=r"no pg_hba\.conf entry"):
        opened(f"{guarded.url.replace('HOST', 'localhost')}?sslmode=disable")
