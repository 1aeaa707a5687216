"""The errors that prevent a server from starting."""

from __future__ import annotations

from typing import ClassVar


class StartError(Exception):
    """The error that the server cannot start. The message says what to do."""

    exit_code: ClassVar = 1


class WrongProperties(StartError):
    """The error that properties contradict the data directory: to start again changes nothing."""

    exit_code: ClassVar = 2
