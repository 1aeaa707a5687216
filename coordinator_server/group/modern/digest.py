"""The digest items of a group: one for each of its records."""

from __future__ import annotations

from typing import Any

from coordinator_server.group.common.record_digest import item_name, record_digest
from coordinator_server.group.modern.group import ModernGroup
from protocol.fields import Message


def digest_items(group: ModernGroup[Any, Any], committed_offset: int) -> dict[str, int]:
    """Return the hash of each record of the group by name."""
    return {item_name(type(key), _rest(key)): record_digest(key, value) for key, value in group.records_at(committed_offset)}


def _rest(key: Message) -> str:
    """Return the part of a key after the group id: a member id or a regular expression."""
    return "".join([getattr(key, name) for name in key.__struct_fields__[1:]])
