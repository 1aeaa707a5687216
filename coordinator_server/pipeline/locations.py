"""Directories that a job reads or writes: paths of this machine, or URLs of file systems that pyarrow knows,
such as ``s3://bucket/logs``.

Jobs that only read a log accept the URL of a copy, which they download to a temporary directory. ``history`` can write its tables
to a URL. Jobs that change a log or ask its server need a local directory.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

from coordinator_server.pipeline.errors import CannotRun

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_LOCAL: Final = "file"
_OBJECT_STORES: Final = frozenset({"s3", "gcs", "abfs"})


class Url(NamedTuple):
    """The URL of a directory, in a file system that pyarrow knows. Its query holds options of the file system."""

    text: str

    def child(self, *names: str) -> Url:
        """Return the URL of a file or directory below this one."""
        parts = urlsplit(self.text)
        return Url(urlunsplit(parts._replace(path="/".join((parts.path.rstrip("/"), *names)))))

    def __str__(self) -> str:
        """Return the URL without query and user, which may hold a secret."""
        parts = urlsplit(self.text)
        return urlunsplit(parts._replace(query="", netloc=parts.netloc.rpartition("@")[2]))


Location = Path | Url


def parse_location(text: str) -> Location:
    """Parse a path or a URL. For argparse."""
    if not _URL.match(text):
        return Path(text)
    parts = urlsplit(text)
    return Path(unquote(parts.path)) if parts.scheme == _LOCAL else Url(text)


def local_directory(where: Location, why: str) -> Path:
    """Return the path of a local directory. Raises CannotRun for a URL; ``why`` is the reason that it cannot be one."""
    if isinstance(where, Url):
        raise CannotRun(
            f"{where} is not a directory: {why}; history, verify, replay and groups why|at read a copy of a log from a URL"
        )
    return where


@contextmanager
def local_copy(where: Location) -> Iterator[Path]:
    """Return a directory to read: the path itself, or a temporary copy of what is at the URL. Raises CannotRun, OSError."""
    if not isinstance(where, Url):
        yield where
        return
    file_system, path = open_url(where)
    import pyarrow.fs as pafs

    with tempfile.TemporaryDirectory(prefix="coordinator-server-copy-") as scratch:
        if file_system.get_file_info(f"{path}/meta.properties").type != pafs.FileType.File:
            raise CannotRun(f"{where} is no copy of a data directory (no meta.properties in it): check --data-dir")
        pafs.copy_files(path, scratch, source_filesystem=file_system, destination_filesystem=pafs.LocalFileSystem())
        yield Path(scratch)


def open_url(url: Url) -> tuple[FileSystem, str]:
    """Return the file system of a URL, and the path in it. Raises CannotRun."""
    try:
        import pyarrow as pa
        from pyarrow.fs import FileSystem
    except ImportError as error:
        raise CannotRun(f"URLs need {error.name}: pip install 'coordinator-server[spark]'") from error
    try:
        file_system, path = FileSystem.from_uri(url.text)
    except (pa.ArrowException, OSError) as error:
        raise CannotRun(f"{url}: {str(error).replace(url.text, str(url)).splitlines()[0]}") from error
    return file_system, path.rstrip("/")


def make_parents(file_system: FileSystem, path: str) -> None:
    """Create the directory of a file. Object stores have no directories."""
    if file_system.type_name not in _OBJECT_STORES:
        file_system.create_dir(path.rpartition("/")[0], recursive=True)
