"""What ends a server before it serves."""

from __future__ import annotations


class StartError(Exception):
    """The server cannot start; the message says what to do."""
