"""The error that prevents a server from starting."""

from __future__ import annotations


class StartError(Exception):
    """The error that the server cannot start. The message says what to do."""
