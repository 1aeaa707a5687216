"""The session of one member."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from coordinator_server.machine.shard import CoordinatorResult


class Session:
    """The timer of a member: the key, and what happens when it expires."""

    __slots__ = ("expire", "key")

    def __init__(self, group_id: str, member_id: str, expire: Callable[[], CoordinatorResult[Any]]) -> None:
        self.key: Hashable = ("share-session", group_id, member_id)
        self.expire = expire
