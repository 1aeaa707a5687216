"""Topics, and the validation of their names (Kafka's ``Topic`` class)."""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import Struct

MAX_NAME_LENGTH = 249
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


class Topic(Struct, frozen=True, gc=False):
    """A virtual topic. ``topic_id`` has the 16 bytes of its UUID."""

    name: str
    topic_id: bytes
    partitions: int


class DeletedTopic(NamedTuple):
    """The name and id of a deleted topic."""

    name: str
    topic_id: bytes


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
