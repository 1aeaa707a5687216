"""Reads a set of keys from its place, a URL or a file. It blocks: run it in a thread."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from coordinator_server.http_request import HttpFailed, HttpLimits, request
from coordinator_server.security.oauth.key_set import MAX_BYTES, BadKeySet, KeySet, read_key_set

LIMITS: Final = HttpLimits(connect_s=5, total_s=10, body_bytes=MAX_BYTES)


class KeysNotFetched(Exception):
    """The set cannot be read. The message says why, after its name."""


class Fetched(NamedTuple):
    """The keys, and what tells them from others: of a file also when it was changed."""

    keys: KeySet
    mark: tuple[object, ...]


def path_of(url: str) -> Path | None:
    """Return the path of a file's URL, or None for others."""
    parts = urlsplit(url)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def fetch(url: str, tls: ssl.SSLContext, known: Fetched | None) -> Fetched:
    """Return the present keys, or ``known`` if they are the same. Raises KeysNotFetched."""
    path = path_of(url)
    try:
        if path is not None:
            return _read(path, known)
        body = request(url, LIMITS, tls=tls)
        mark = (body,)
        return known if known is not None and known.mark == mark else Fetched(read_key_set(body), mark)
    except (HttpFailed, BadKeySet) as failed:
        raise KeysNotFetched(str(failed)) from None
    except OSError as refused:
        raise KeysNotFetched(f"cannot be read: {refused.strerror or refused}") from None


def _read(path: Path, known: Fetched | None) -> Fetched:
    if path.exists() and not path.is_file():
        raise KeysNotFetched("is not a file")
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        mark = (status.st_mtime_ns, status.st_size, status.st_ino)
        if known is not None and known.mark == mark:
            return known
        return Fetched(read_key_set(file.read(MAX_BYTES + 1)), mark)
