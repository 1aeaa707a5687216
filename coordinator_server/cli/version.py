"""The version and the build."""

from __future__ import annotations

from coordinator_server import __version__
from protocol import wire


def version() -> str:
    """Return the version, and whether the hot modules are compiled (`make wheel`) or plain Python."""
    return f"coordinator-server {__version__} ({build()})"


def build() -> str:
    """Return whether the hot modules are compiled."""
    return "plain Python" if wire.__file__.endswith(".py") else "compiled"
