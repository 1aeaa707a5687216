"""Reads the keys and the offsets of commits without their messages: a log has millions of them.

key      type int16 (0 or 1) | group string | topic string | partition int32
value    version int16 | offset int64 | …      in every version (OffsetCommitValue)
"""

from __future__ import annotations

from typing import Final, NamedTuple

_TYPES: Final = frozenset({b"\0\0", b"\0\1"})


class Position(NamedTuple):
    """A partition that a group consumes."""

    group: str
    topic: str
    partition: int


def position_of(key: bytes | None) -> Position | None:
    """Return whose commit a key is; None for any other record."""
    if key is None or key[:2] not in _TYPES:
        return None
    topic_at = 4 + int.from_bytes(key[2:4])
    end = topic_at + 2 + int.from_bytes(key[topic_at : topic_at + 2])
    group, topic = key[4:topic_at].decode(errors="replace"), key[topic_at + 2 : end].decode(errors="replace")
    return Position(group, topic, int.from_bytes(key[end : end + 4]))


def offset_of(value: bytes) -> int:
    """Return the offset that a value commits."""
    return int.from_bytes(value[2:10], signed=True)
