"""The partition of an internal topic that owns a key (Kafka's ``GroupCoordinatorService.partitionFor``)."""

from __future__ import annotations

from sys import getsizeof
from typing import Final

from coordinator_server.machine.java import java_string_hash

CACHE_BYTES: Final = 16 << 20
LONGEST_CACHED: Final = 256
"""Length of the longest key that is cached. Longer ones take less time to hash than to receive."""
# About the memory of an entry without its key: the entry of the dict, and the hash.
_ENTRY_BYTES: Final = 128


class KeyHashes(dict[str, int]):
    """The absolute values of the hashes of keys, computed when they are first used. Emptied when it exceeds ``max_bytes``."""

    __slots__ = ("_bytes", "_max_bytes")

    def __init__(self, max_bytes: int) -> None:
        super().__init__()
        self._bytes = 0
        self._max_bytes = max_bytes

    def __missing__(self, key: str) -> int:
        value = java_string_hash(key)
        # As in Kafka, the absolute value of the smallest int is 0.
        value = 0 if value == -(1 << 31) else abs(value)
        if len(key) <= LONGEST_CACHED:
            self._bytes += getsizeof(key) + _ENTRY_BYTES
            if self._bytes > self._max_bytes:
                self.clear()
                self._bytes = getsizeof(key) + _ENTRY_BYTES
            self[key] = value
        return value


_HASHES: Final = KeyHashes(CACHE_BYTES)


def partition_for(key: str, partitions: int) -> int:
    """Return the partition that owns ``key``."""
    return _HASHES[key] % partitions
