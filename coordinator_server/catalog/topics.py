"""Topics, as the catalog holds them."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct


class Topic(Struct, frozen=True, gc=False):
    """A virtual topic. ``topic_id`` has the 16 bytes of its UUID."""

    name: str
    topic_id: bytes
    partitions: int


class DeletedTopic(NamedTuple):
    """The name and id of a deleted topic."""

    name: str
    topic_id: bytes
