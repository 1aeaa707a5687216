"""How another process of this server is started: under this interpreter, and with the modules that this process has."""

from __future__ import annotations

import sys
from pathlib import Path


def interpreter() -> list[str]:
    """The first words of its command line, up to ``-m``.

    That looks for modules in the current directory first, where there may be a checkout of another version than the one that is installed, and
    that runs: the child does so only if this process does.
    """
    return [sys.executable] if _searches_current_directory() else [sys.executable, "-P"]


def _searches_current_directory() -> bool:
    try:
        return "" in sys.path or str(Path.cwd()) in sys.path
    except FileNotFoundError:
        # It is gone, and so are modules in it.
        return False
