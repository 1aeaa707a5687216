"""Logs that nodes share, named by a path as those in directories are: ``/store:URL``, and ``/store:URL/SHARD`` for a shard.

So whoever has the path of a log need not know which kind of log it is: ``opening.py`` does. Slashes of the URL are quoted. The URL
has no password; a reference to it follows a ``#``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

_BEGIN: Final = "/store:"
_STANDBY: Final = "+"


class StoreName(NamedTuple):
    """A store: its URL, a reference to its password, and whether nothing is durable in it that no standby has."""

    url: str
    password: str = ""
    needs_standby: bool = False

    @property
    def path(self) -> Path:
        """The path that names its log."""
        flag = _STANDBY if self.needs_standby else ""
        return Path(_BEGIN + quote(f"{flag}{self.url}#{self.password}".removesuffix("#"), safe=":@?&=,[]#${}+"))


def is_store(path: Path | str) -> bool:
    """Return whether a path names a log in a store, or something of it."""
    return str(path).startswith(_BEGIN)


def split_path(path: Path | str) -> tuple[StoreName, str]:
    """Return the store that a path names, and what follows: the name of a shard, or of a file."""
    named, _, rest = str(path).removeprefix(_BEGIN).partition("/")
    url, _, password = unquote(named).partition("#")
    return StoreName(url.removeprefix(_STANDBY), password, url.startswith(_STANDBY)), rest
