"""A database over the network: its certificate, and a password that stands elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from coordinator_server.log.errors import LogError
from coordinator_server.log.postgresql.address import Address
from coordinator_server.log.postgresql.log import open_postgresql_log
from tests.support.certificates import Authority
from tests.support.ports import free_port
from tests.support.postgresql import COUNTS, PostgresqlServer

PASSWORD = "${env:DATABASE_PASSWORD}"


class Guarded(NamedTuple):
    """A server that demands TLS, and a password or the certificate of the role ``certified``. Its own is for localhost."""

    url: str
    trusted: Path
    others: Path
    certificate: Path
    key: Path


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
    server.sql("CREATE ROLE certified LOGIN IN ROLE coordinator")
    access = server.add_file(
        "access.conf",
        "local all all trust\nhostssl all certified 127.0.0.1/32 cert\nhostssl all all 127.0.0.1/32 scram-sha-256\n",
    )
    authorities = server.add_file("authorities.pem", authority.pem)
    settings = {"ssl_key_file": key, "ssl_cert_file": certificate, "ssl_ca_file": authorities, "hba_file": access, "ssl": "on"}
    for name, value in settings.items():
        server.sql(f"ALTER SYSTEM SET {name} = '{value}'")
    server.stop()
    server.start()
    trusted, others = authority.write(directory / "authority.pem"), other.write(directory / "another.pem")
    client = authority.issue("certified")
    own_certificate, own_key = directory / "certified.pem", directory / "certified.key"
    own_certificate.write_text(client.certificate_pem)
    own_key.write_text(client.key_pem())
    own_key.chmod(0o600)
    yield Guarded(f"postgresql://coordinator@HOST:{port}/{database}", trusted, others, own_certificate, own_key)
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


@pytest.mark.parametrize("by", ["file", "directory", "passfile", "variable", "service"])
def test_a_password_may_stand_in_many_places(guarded: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    """All of them are read at each connection, and none is on a command line."""
    url = guarded.url.replace("HOST", "localhost")
    query = f"sslmode=verify-full&sslrootcert={guarded.trusted}"
    file = tmp_path / "secret"
    if by == "file":
        file.write_text("store.password = correct\n")
        password = f"${{file:{file}:store.password}}"
    elif by == "directory":
        file.write_text("correct\n")
        password = f"${{directory:{tmp_path}:secret}}"
    else:
        password = ""
        parts = urlsplit(url)
        content = {
            "passfile": "*:*:*:coordinator:correct\n",
            "variable": "*:*:*:coordinator:correct\n",
            "service": f"[log]\nhost=localhost\nport={parts.port}\nuser=coordinator\ndbname={parts.path[1:]}\npassword=correct\n",
        }[by]
        file.write_text(content)
        file.chmod(0o600)
        if by == "passfile":
            query += f"&passfile={file}"
        else:
            monkeypatch.setenv("PGPASSFILE" if by == "variable" else "PGSERVICEFILE", str(file))
        if by == "service":
            # Without sslmode: the service names a host, whose certificate has to be right.
            url, query = "postgresql:///", f"service=log&sslrootcert={guarded.trusted}"

    assert opened(f"{url}?{query}", password)


def test_a_certificate_in_place_of_a_password(guarded: Guarded) -> None:
    """With another role, whose certificate names it."""
    url = guarded.url.replace("HOST", "localhost").replace("coordinator@", "certified@")
    files = f"sslrootcert={guarded.trusted}&sslcert={guarded.certificate}&sslkey={guarded.key}"

    assert opened(f"{url}?sslmode=verify-full&{files}", "")
    with pytest.raises(LogError, match="certificate"):
        opened(f"{url}?sslmode=verify-full&sslrootcert={guarded.trusted}", "")


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
