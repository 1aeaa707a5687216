"""Where a database is, and how a session gets in: a URL, and a password that stands elsewhere."""

from __future__ import annotations

import re
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
        """The URL without its query: for messages."""
        return urlunsplit(urlsplit(self.url)._replace(query=""))

    @property
    def urls(self) -> list[str]:
        """The URL of each host: one that does not answer must not take the time of the others."""
        parts = urlsplit(self.url)
        user, at, hosts = parts.netloc.rpartition("@")
        return [urlunsplit(parts._replace(netloc=f"{user}{at}{host}")) for host in hosts.split(",")]

    def arguments(self, url: str = "") -> dict[str, Any]:
        """Return the arguments of ``asyncpg.connect``, for one of ``urls`` or for all.

        Raises ConfigError if the reference cannot be resolved.

        Over a network the server has to show a certificate for its name, unless the URL says something else.
        """
        found: dict[str, Any] = {"dsn": url or self.url}
        if self.password:
            found["password"] = resolved(_PASSWORD, self.password)
        query = parse_qs(urlsplit(self.url).query)
        if "sslmode" not in query and not self._is_local(query):
            found["ssl"] = "verify-full"
        return found

    def _is_local(self, query: dict[str, list[str]]) -> bool:
        hosts = query.get("host", [])
        named = urlsplit(self.url).netloc.rpartition("@")[2].split(",")
        hosts = [*hosts, *([] if hosts and named == [""] else [re.sub(r":\d*$", "", each) for each in named])]
        return all(_LOCAL.fullmatch(each.replace("%2F", "/").replace("%2f", "/")) for host in hosts for each in host.split(","))


def check_password(password: str) -> None:
    """Raise ConfigError if a password on the command line is no reference."""
    check_no_secret(_PASSWORD, password)
