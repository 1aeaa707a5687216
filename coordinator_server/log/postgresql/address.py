"""Where a database is, and how a session gets in: a URL, and a password that stands elsewhere.

What the URL does not say, the environment does, as for PostgreSQL's own programs: a service (``?service=NAME``, PGSERVICE) of
~/.pg_service.conf or PGSERVICEFILE, PGHOST, PGSSLMODE, and a password file (``?passfile=``, PGPASSFILE, ~/.pgpass).
"""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit, urlunsplit

from coordinator_server.config.errors import ConfigError
from coordinator_server.config.references import check_no_secret, resolved

SCHEMES: Final = ("postgresql", "postgres")
_LOCAL: Final = re.compile(r"localhost|127\.\d+\.\d+\.\d+|\[?::1\]?|/.*|")
_PASSWORD: Final = "store.password"


class Address(NamedTuple):
    """A database. ``url`` is libpq's, and may name several hosts: the one that takes writes is used.

    ``password`` may be a reference (config/references.py), which each new connection resolves anew. With ``needs_standby``,
    nothing is durable that no standby has.
    """

    url: str
    password: str = ""
    needs_standby: bool = False

    def check(self) -> None:
        """Raise ConfigError if the URL is none, or has a password that others on this machine would see."""
        try:
            parts = urlsplit(self.url)
            has_password = bool(parts.password)
        except ValueError as error:
            raise ConfigError(f"the store is no URL ({error}): postgresql://USER@HOST:PORT/DATABASE is expected") from None
        if parts.scheme not in SCHEMES:
            raise ConfigError(
                f"the store begins with {parts.scheme or 'nothing'}://: postgresql://USER@HOST/DATABASE is expected"
            )
        if has_password or "password" in parse_qs(parts.query):
            raise ConfigError(
                f"the store's URL has a password, which everybody on this machine sees: {_PASSWORD} takes a reference to it"
            )

    @property
    def shown(self) -> str:
        """The URL without its query, but for the service: for messages."""
        parts = urlsplit(self.url)
        [service] = parse_qs(parts.query).get("service", [""])[:1]
        return parts._replace(query=f"service={service}" if service else "").geturl()

    @property
    def urls(self) -> list[str]:
        """The URL of each host: one that does not answer must not take the time of the others."""
        parts = urlsplit(self.url)
        user, at, hosts = parts.netloc.rpartition("@")
        return [urlunsplit(parts._replace(netloc=f"{user}{at}{host}")) for host in hosts.split(",")]

    def arguments(self, url: str = "") -> dict[str, Any]:
        """Return the arguments of ``asyncpg.connect``, for one of ``urls`` or for all.

        Raises ConfigError if the reference cannot be resolved.

        Over a network the server has to show a certificate for its name, unless the URL, the service or PGSSLMODE says something
        else.
        """
        parts = urlsplit(url or self.url)
        # A path without a name would be the name of the database, which a service may have.
        found: dict[str, Any] = {"dsn": urlunsplit(parts._replace(path=parts.path if parts.path != "/" else ""))}
        if self.password:
            found["password"] = resolved(_PASSWORD, self.password)
        query = parse_qs(urlsplit(self.url).query)
        service = _service(query)
        says_how = "sslmode" in query or "sslmode" in service or bool(os.environ.get("PGSSLMODE"))
        if not says_how and not self._is_local(query, service):
            found["ssl"] = "verify-full"
        return found

    def _is_local(self, query: Mapping[str, list[str]], service: Mapping[str, str]) -> bool:
        named = [re.sub(r":\d*$", "", each) for each in urlsplit(self.url).netloc.rpartition("@")[2].split(",") if each]
        hosts = [*query.get("host", []), *named] or [service.get("host") or os.environ.get("PGHOST", "")]
        return all(_LOCAL.fullmatch(each.replace("%2F", "/").replace("%2f", "/")) for host in hosts for each in host.split(","))


def _service(query: Mapping[str, list[str]]) -> Mapping[str, str]:
    """Return what the service of a URL or of PGSERVICE says; nothing if there is none. Raises ConfigError."""
    [name] = query.get("service", [os.environ.get("PGSERVICE", "")])[:1]
    if not name:
        return {}
    path = os.environ.get("PGSERVICEFILE") or Path("~/.pg_service.conf").expanduser()
    file = configparser.ConfigParser(interpolation=None)
    try:
        is_read = bool(file.read(path))
    except configparser.Error as error:
        raise ConfigError(f"the store's service file {path} cannot be read: {type(error).__name__}") from None
    if not is_read or name not in file:
        raise ConfigError(f"the store's service {name} is not in {path}: PGSERVICEFILE names another file")
    return file[name]


def check_password(password: str) -> None:
    """Raise ConfigError if a password on the command line is no reference."""
    check_no_secret(_PASSWORD, password)
