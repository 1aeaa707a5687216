"""Records of the coordinators' logs as values."""

from __future__ import annotations

from msgspec import Struct

from protocol.fields import Message


class CoordinatorRecord(Struct, gc=False):
    """One change of a coordinator's hard state. Without a value it is a tombstone."""

    key: Message
    value: Message | None
    value_version: int = 0
    headers: tuple[tuple[str, bytes | None], ...] = ()
