"""Which names topics may have (Kafka's ``Topic`` class)."""

from __future__ import annotations

import re
from typing import Final

MAX_NAME_LENGTH: Final = 249
_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]+")


def name_problem(name: str) -> str | None:
    """Return why a topic's name is invalid, or None if it is valid."""
    if not name:
        return "a topic's name must not be empty"
    if name in (".", ".."):
        return f"{name!r} cannot be a topic's name"
    if len(name) > MAX_NAME_LENGTH:
        return f"a topic's name has at most {MAX_NAME_LENGTH} characters, this one has {len(name)}"
    if not _LEGAL.fullmatch(name):
        return f"{name!r} has characters other than ASCII letters and digits, '.', '_' and '-'"
    return None
