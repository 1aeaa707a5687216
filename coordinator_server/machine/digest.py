"""Digests of hard state: the sum of one hash per item, independent of order and history.

An item is a key and a value in canonical bytes: Kafka's own encoding at one fixed version. Its hash is a 16-byte BLAKE2b
over the key's length (uint32, big endian), the key and the value, read as a big-endian number. Sums are taken modulo
2^128. Equal states have equal digests in any process and any version of Python. Different states have different digests,
except by deliberate attack: a sum of hashes is not a signature.
"""

from __future__ import annotations

from hashlib import blake2b
from struct import Struct as Layout
from typing import Final, NamedTuple

FORMAT: Final = 2
"""Version of the set of items and their encoding. Digests of different formats cannot be compared."""

_BYTES: Final = 16
_MASK: Final = (1 << 8 * _BYTES) - 1
_LENGTH: Final = Layout(">I")


class StateDigest(NamedTuple):
    """The digest of a shard's state after the records before ``offset``.

    ``parts`` has the digests of named parts of the state, if they were requested and the kind of shard has any.
    """

    offset: int
    digest: str
    parts: dict[str, str]


def item_digest(key: bytes, value: bytes) -> int:
    """Return the hash of one item."""
    return int.from_bytes(blake2b(b"%b%b%b" % (_LENGTH.pack(len(key)), key, value), digest_size=_BYTES).digest(), "big")


def digest_text(total: int) -> str:
    """Return a sum of hashes as 32 hexadecimal digits. Empty state gives all zeros."""
    return f"{total & _MASK:032x}"
