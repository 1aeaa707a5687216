"""The files of layers in an object store (``store.objects``), by obstore. The database has the rows that publish them.

    URL/CLUSTER/SID/TERM-TOKEN/NAME    a file of the attempt ``SID:TOKEN@TERM@URL/CLUSTER``

A row of ``layer`` names its attempt, so whoever reads a layer knows where its files are. Files are written once, with
If-None-Match, before that row; the manifest is in the database, too, and the row is written as that of any other layer.

What was not published is removed when its shard is compacted again. The term keeps that from what others make: only files of
this term and of older ones are looked at, and nobody can publish under an older term any more.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

from coordinator_server.config.errors import ConfigError
from coordinator_server.log.errors import LogError, Unavailable

PROPERTY: Final = "store.objects"
_SCHEMES: Final = ("s3", "file")
_QUERY: Final = {"endpoint_override", "scheme", "region"}
_PIECE_BYTES: Final = 1 << 20
_CLIENT: Final[dict[str, Any]] = {"timeout": "30s", "connect_timeout": "5s"}
_RETRIES: Final[dict[str, Any]] = {"max_retries": 3}


class StoredIn(NamedTuple):
    """Where the files of an attempt are: in a folder below a URL, or in the database if ``url`` is empty."""

    url: str
    folder: str = ""


def attempt_in(url: str, attempt: str, term: int) -> str:
    """Return the name of an attempt whose files are below a URL."""
    return f"{attempt}@{term}@{url}" if url else attempt


def stored_in(attempt: str) -> StoredIn:
    """Return where the files of an attempt are."""
    own, _, rest = attempt.partition("@")
    term, _, url = rest.partition("@")
    sid, _, token = own.partition(":")
    return StoredIn(url, f"{sid}/{term}-{token}" if url else "")


def check_url(url: str) -> None:
    """Raise ConfigError unless a URL is one of an object store, without anything secret."""
    try:
        parts = urlsplit(url)
        has_secret = bool(parts.username or parts.password)
    except ValueError as error:
        raise ConfigError(f"{PROPERTY} is no URL ({error}): s3://BUCKET/PREFIX is expected") from None
    if parts.scheme not in _SCHEMES or not (parts.netloc or parts.scheme == "file") or parts.fragment:
        raise ConfigError(f"{PROPERTY}: s3://BUCKET/PREFIX is expected, or file:///DIRECTORY for one that all nodes have mounted")
    query = parse_qs(parts.query, keep_blank_values=True)
    if has_secret or query.keys() - _QUERY:
        raise ConfigError(
            f"{PROPERTY}: the URL takes {', '.join(sorted(_QUERY))}, and nothing else: credentials are those of the environment "
            "(AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the role of the machine)"
        )


def below(url: str, cluster_id: str) -> str:
    """Return the URL below which a cluster has its files: several clusters may have the same ``store.objects``."""
    parts = urlsplit(url)
    return parts._replace(path=f"{parts.path.rstrip('/')}/{cluster_id}").geturl() if url else ""


class Objects:
    """The files below a URL. Raises ConfigError if obstore is missing."""

    def __init__(self, url: str) -> None:
        check_url(url)
        try:
            # Only who reads or writes such files loads the package.
            import obstore
            from obstore.store import from_url
        except ImportError as missing:
            raise ConfigError(f"{PROPERTY}: {missing.name} is missing: pip install 'coordinator-server[s3]'") from None
        parts = urlsplit(url)
        self.shown = parts._replace(query="").geturl()
        self._obstore = obstore
        if parts.scheme == "file":
            self._store: Any = from_url(self.shown, mkdir=True)
            return
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        settings: dict[str, Any] = {"region": query["region"]} if "region" in query else {}
        scheme = query.get("scheme", "https")
        if "endpoint_override" in query:
            settings["endpoint"] = f"{scheme}://{query['endpoint_override']}"
        client = {**_CLIENT, "allow_http": scheme == "http"}
        make: Any = from_url
        self._store = make(self.shown, config=settings, client_options=client, retry_config=_RETRIES)

    def put(self, folder: str, path: Path) -> None:
        """Store a file. One of that name must have the same content: an earlier try of this process. Raises LogError."""
        name = f"{folder}/{path.name}"
        with self._errors("written"):
            try:
                with path.open("rb") as file:
                    self._obstore.put(self._store, name, file, mode="create", use_multipart=False)
            except self._obstore.exceptions.AlreadyExistsError:
                if bytes(self._obstore.get(self._store, name).bytes()) != path.read_bytes():
                    raise LogError(f"{self.shown}/{name} is there, and is another file: who else writes there?") from None

    async def read(self, folder: str, name: str) -> AsyncIterator[bytes]:
        """Yield a file in pieces. Raises FileNotFoundError if there is none, and Unavailable."""
        with self._errors("read"):
            found = await self._obstore.get_async(self._store, f"{folder}/{name}")
            async for piece in found.stream(min_chunk_size=_PIECE_BYTES):
                yield bytes(piece)

    def folders(self, place: object) -> set[str]:
        """Return the folders with files below a place: the number of a shard, say. Raises Unavailable."""
        with self._errors("listed"):
            return {name.rpartition("/")[0] for name in self._names(f"{place}")}

    def remove(self, folders: Iterable[str]) -> None:
        """Remove the files of folders. Raises Unavailable."""
        for folder in folders:
            with self._errors("removed"):
                if names := list(self._names(folder)):
                    self._obstore.delete(self._store, names)

    def check(self, token: str) -> None:
        """Write a file twice, and remove it. Raises LogError if the store cannot be used, as Unanswered if that may change."""
        name = f"check-{token}"
        is_refused = False
        with self._errors("written"):
            self._obstore.put(self._store, name, b"", mode="create", use_multipart=False)
            try:
                self._obstore.put(self._store, name, b"", mode="create", use_multipart=False)
            except self._obstore.exceptions.AlreadyExistsError:
                is_refused = True
        with self._errors("removed") if is_refused else suppress(OSError, self._obstore.exceptions.BaseError):
            self._obstore.delete(self._store, [name])
        if not is_refused:
            raise LogError(
                f"{PROPERTY}: {self.shown} writes a file again in spite of If-None-Match: use a store that refuses that"
            )

    def _names(self, folder: str) -> Iterator[str]:
        for batch in self._obstore.list(self._store, prefix=folder):
            for found in batch:
                yield found["path"]

    @contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        refused = self._obstore.exceptions
        try:
            yield
        except FileNotFoundError as error:
            if what == "read":
                raise
            raise LogError(f"{PROPERTY}: {self.shown} does not exist: make the bucket") from error
        except (PermissionError, refused.PermissionDeniedError, refused.UnauthenticatedError) as error:
            raise LogError(
                f"{self.shown} cannot be {what}: access is denied. The credentials of the environment need GetObject, PutObject, "
                "DeleteObject and ListBucket there"
            ) from error
        except (OSError, refused.BaseError) as error:
            raise Unanswered(f"{self.shown} cannot be {what}: {str(error).partition(chr(10))[0]}") from error


class Unanswered(Unavailable):
    """The object store does not answer, or not as it should: it may do so later."""


def remove_files(attempts: Iterable[str]) -> None:
    """Remove the files of those of some attempts whose files are not in the database. Raises Unavailable."""
    for url, folder in map(stored_in, attempts):
        if url:
            objects(url).remove([folder])


def objects(url: str) -> Objects:
    """Return the files below a URL that the database has, for this process. Raises LogError if they cannot be used here."""
    try:
        return _objects(url, os.getpid())
    except ConfigError as error:
        raise LogError(str(error)) from error


@cache
def _objects(url: str, _pid: int) -> Objects:
    # Threads of the package do not live on in a fork.
    return Objects(url)
