"""An operation of ``control.sock``: what the rooms of a server offer to local tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Operation = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Takes the request and returns the answer, both as JSON objects. Raises Refusal."""


class Refusal(Exception):
    """The error that an operation cannot run now. The message says why and what to do.

    ``is_temporary``: the same request succeeds later without further action.
    """

    def __init__(self, message: str, *, is_temporary: bool = False) -> None:
        super().__init__(message)
        self.is_temporary = is_temporary
