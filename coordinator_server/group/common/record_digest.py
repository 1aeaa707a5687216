"""The digest item of one record of a group whose hard state is its records."""

from __future__ import annotations

from typing import Final

from coordinator_server.machine.digest import item_digest
from protocol.codec import encode
from protocol.fields import Message

_KEY_VERSION: Final = 0
_TYPE_BYTES: Final = 2


def record_digest(key: Message, value: Message) -> int:
    """Return the hash of a record: its key with the record type, and its value in the newest version.

    The version in which the record was written does not matter.
    """
    assert key.kafka.key is not None
    return item_digest(key.kafka.key.to_bytes(_TYPE_BYTES) + encode(key, _KEY_VERSION), encode(value, value.kafka.versions.high))


def item_name(key_type: type[Message], rest: str) -> str:
    """Return the name of a record's digest item. ``rest`` is the part of its key after the group id."""
    shown = key_type.__name__.removesuffix("Key")
    return f"{shown} {rest}" if rest else shown
