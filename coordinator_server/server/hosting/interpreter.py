"""The command line of this server's child processes: the same interpreter and the same modules as this process."""

from __future__ import annotations

import sys
from pathlib import Path


def child_command(name: str) -> list[str]:
    """Return the command line of the child with this name (cli/child.py), before its arguments."""
    return [*interpreter(), "-m", "coordinator_server.cli.child", name]


def interpreter() -> list[str]:
    """Return the first words of the command line, before ``-m``.

    Python with ``-m`` searches the current directory first, which may have a checkout of a different version than the
    installed one. ``-P`` prevents that, unless this process itself searches the current directory.
    """
    return [sys.executable] if _searches_current_directory() else [sys.executable, "-P"]


def _searches_current_directory() -> bool:
    try:
        return "" in sys.path or str(Path.cwd()) in sys.path
    except FileNotFoundError:
        # The current directory was removed, and its modules with it.
        return False
