"""Digests of hard state: sums of hashes, one for each item of it, so that neither order nor history matters.

An item is a key and a value in canonical bytes, Kafka's own encoding at one version; its hash is BLAKE2b of 16 bytes over the key's length (uint32,
big endian), the key and the value, read as a big-endian number. Sums are taken modulo 2^128. Equal state has equal digests in any process and
version of Python; different state has different ones, unless somebody took great pains: a sum of hashes is no signature.
"""

from __future__ import annotations

from hashlib import blake2b
from struct import Struct as Layout
from typing import Final, NamedTuple

FORMAT: Final = 2
"""Which items there are and how they are encoded. Digests of different formats cannot be compared."""

_BYTES: Final = 16
_MASK: Final = (1 << 8 * _BYTES) - 1
_LENGTH: Final = Layout(">I")


class StateDigest(NamedTuple):
    """What a shard's state comes to after the records before ``offset``; if asked for, with its parts by name, where a kind has any."""

    offset: int
    digest: str
    parts: dict[str, str]


def item_digest(key: bytes, value: bytes) -> int:
    """The hash of one item."""
    return int.from_bytes(blake2b(b"%b%b%b" % (_LENGTH.pack(len(key)), key, value), digest_size=_BYTES).digest(), "big")


def digest_text(total: int) -> str:
    """A sum of hashes as 32 hexadecimal digits; no state at all is all zeros."""
    return f"{total & _MASK:032x}"
