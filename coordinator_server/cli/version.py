"""Which build this is."""

from __future__ import annotations

from coordinator_server import __version__
from protocol import wire


def version() -> str:
    """The version, and whether the hot modules run compiled (`make wheel`) or as plain Python."""
    kind = "plain Python" if wire.__file__.endswith(".py") else "compiled"
    return f"coordinator-server {__version__} ({kind})"
