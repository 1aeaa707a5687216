"""The error that prevents a server from starting."""

from __future__ import annotations


class StartError(Exception):
    """The server cannot start; the message says what to do."""
