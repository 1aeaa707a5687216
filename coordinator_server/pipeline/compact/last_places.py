"""The last place of each key, for any number of keys in bounded memory.

    in memory   a dict of keys, up to ``most_bytes``
    full        everything goes to PARTS temporary files, divided by bits of the key's hash, and the dict begins anew
    at the end  without files the dict has the places; with files, each part is done by itself, in the same way with the next bits

So a log of few keys needs no file, however long it is, and one of many keys needs about its keys once on the disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from struct import Struct as Layout
from tempfile import TemporaryFile
from typing import IO, Final

from crc32c import crc32c

MOST_BYTES: Final = 64 << 20
PARTS: Final = 16
_BITS: Final = 4
# With all bits of the hash used, a part cannot be divided again.
_MOST_DEPTH: Final = 32 // _BITS
# What a key takes beside its bytes: two objects, and its place in a dict.
_ENTRY_BYTES: Final = 160
_ENTRY: Final = Layout("<IQ")


class LastPlaces:
    """Collects keys with their places, numbers from 0 on. Temporary files are made in ``directory``, and have no names."""

    def __init__(self, directory: Path | None = None, most_bytes: int = MOST_BYTES, depth: int = 0) -> None:
        self._directory = directory
        self._most_bytes = most_bytes
        self._depth = depth
        self._last: dict[bytes, int] = {}
        self._bytes = 0
        self._files: list[IO[bytes]] = []

    def put(self, key: bytes, place: int) -> None:
        """Add a place of a key. The largest one counts."""
        known = self._last.get(key)
        if known is None:
            self._last[key] = place
            self._bytes += _ENTRY_BYTES + len(key)
            if self._bytes > self._most_bytes and self._depth < _MOST_DEPTH:
                self._write_out()
        elif known < place:
            self._last[key] = place

    def places(self) -> Iterator[int]:
        """Return the last place of each key, in any order. Nothing may be added afterwards."""
        if not self._files:
            yield from self._last.values()
            return
        self._write_out()
        for file in self._files:
            part = LastPlaces(self._directory, self._most_bytes, self._depth + 1)
            with file:
                file.seek(0)
                while entry := file.read(_ENTRY.size):
                    size, place = _ENTRY.unpack(entry)
                    part.put(file.read(size), place)
            yield from part.places()

    def _write_out(self) -> None:
        if not self._files:
            self._files = [TemporaryFile(dir=self._directory) for _ in range(PARTS)]  # noqa: SIM115 - ``places`` closes them
        shift = self._depth * _BITS
        for key, place in self._last.items():
            self._files[crc32c(key) >> shift & PARTS - 1].write(_ENTRY.pack(len(key), place) + key)
        self._last.clear()
        self._bytes = 0
