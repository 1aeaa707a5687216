"""A layer's checkpoint: the state that its records make, key by key, so that a start need not replay them.

It is three files beside the layer's records. The layer's manifest names them and their checksums:

    groups.data    a block of bytes per key, one after another; the state machine defines their content (offsets/resting_block.py)
    groups.index   an entry per block, sorted by hash (CRC-32C of the key) and key, so that a block is found by bisection
    rest.log       record batches that every start replays: the layer's records that are in no block, the batches of open
                   transactions, and the last marker of each producer (pipeline/layer/replayed_records.py)

    groups.index, little-endian: magic "CSGI", version uint32, count uint32; then columns of ``count`` values each:
    hash uint32, end of the key in the keys uint32, position of the block uint64, its size uint32, its CRC-32C uint32, rows uint32,
    bounds 2 x int64; then the keys in UTF-8, one after another

The state machine defines what the bounds mean, too; they are known without reading the block.

Index and rest are read and checked when the checkpoint is opened, a block when it is asked for. A
damaged block is DamagedLog; its state is also in the layer's records. So a server that was loaded
from a checkpoint holds the layer, and retention leaves it.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from struct import Struct as Layout
from typing import Final

from crc32c import crc32c

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import Block
from coordinator_server.log.layers.layer import Layer
from coordinator_server.log.storage import File, Lock, read_file
from coordinator_server.log.store import BlockSummary
from protocol.errors import DecodeError
from protocol.record_batch import iter_batches

DATA: Final = "groups.data"
INDEX: Final = "groups.index"
REST: Final = "rest.log"
NAMES: Final = (DATA, INDEX, REST)
MAGIC: Final = b"CSGI"
VERSION: Final = 1
_HEAD: Final = Layout("<4sII")
_COLUMNS: Final = "IIQIIIqq"
_WRITE_BYTES: Final = 1 << 20


class Checkpoint:
    """The open checkpoint of a layer."""

    __slots__ = ("_columns", "_data", "_hold", "_keys", "layer")

    def __init__(self, layer: Layer, hold: Lock | None = None) -> None:
        """Open it.

        DamagedLog if the index or the rest differs from the manifest, or the data file has another
        size. ``hold`` keeps the layer.
        """
        self.layer = layer
        self._hold = hold
        self._data: File | None = None
        for name in (INDEX, REST):
            layer.verify_file(name)
        path = layer.path / INDEX
        raw = read_file(layer.storage, str(path))
        if len(raw) < _HEAD.size or _HEAD.unpack_from(raw)[:2] != (MAGIC, VERSION):
            raise DamagedLog(str(path), 0, "not the index of a checkpoint of this version")
        count, pos = _HEAD.unpack_from(raw)[2], _HEAD.size
        self._columns: list[array[int]] = []
        for code in _COLUMNS:
            column = array(code)
            column.frombytes(raw[pos : pos + column.itemsize * count])
            pos += column.itemsize * count
            if sys.byteorder == "big":
                column.byteswap()
            self._columns.append(column)
        self._keys = raw[pos:]
        try:
            self._data = layer.storage.open_read_only(str(layer.path / DATA))
            size = self._data.size()
        except OSError as error:
            raise DamagedLog(str(layer.path / DATA), 0, f"cannot be opened: {error.strerror}") from error
        stated = layer.entry(DATA).size
        if size != stated:
            raise DamagedLog(
                str(layer.path / DATA), min(size, stated), f"the layer's manifest states {stated} bytes, found {size}"
            )

    def close(self) -> None:
        """Close the data file, and let retention remove the layer. A second call does nothing."""
        if self._data is not None:
            self._data.close()
            self._data = None
        if self._hold is not None:
            self._hold.close()
            self._hold = None

    def __del__(self) -> None:
        self.close()

    @property
    def to_offset(self) -> int:
        """The first offset after the checkpoint."""
        return self.layer.to_offset

    def __len__(self) -> int:
        return len(self._columns[0])

    def __contains__(self, key: str) -> bool:
        return self._find(key) >= 0

    def keys(self) -> Iterator[str]:
        """Yield every key, in the order of the index."""
        start = 0
        for end in self._columns[1]:
            yield self._keys[start:end].decode()
            start = end

    def summary(self, key: str) -> BlockSummary:
        """Return what the index states of a key that it has."""
        row = self._find(key)
        rows, first, second = self._columns[5:]
        return BlockSummary(rows[row], (first[row], second[row]))

    def block(self, key: str) -> bytes:
        """Return the block of a key that the index has. DamagedLog if it differs from what the index states."""
        row = self._find(key)
        position, size, crc = (column[row] for column in self._columns[2:5])
        path = str(self.layer.path / DATA)
        assert self._data is not None, "the checkpoint is open"
        try:
            data = self._data.pread(size, position)
        except OSError as error:
            raise DamagedLog(path, position, f"the block of {key!r} cannot be read: {error.strerror}") from error
        if len(data) != size or crc32c(data) != crc:
            raise DamagedLog(path, position, f"the block of {key!r} does not have the checksum that the index states")
        return data

    def verify(self) -> None:
        """Read every block.

        DamagedLog for the first that differs from what the index states, or if the file has more than blocks.
        """
        for key in self.keys():
            self.block(key)
        self.layer.verify_file(DATA)

    def other_batches(self) -> Iterator[bytes]:
        """Yield the batches to replay besides the blocks. The markers come first, the others in offset order."""
        data = read_file(self.layer.storage, str(self.layer.path / REST))
        position = 0
        try:
            for position, header in iter_batches(data):
                yield data[position : position + header.size]
        except DecodeError as error:
            raise DamagedLog(str(self.layer.path / REST), position, str(error)) from error

    def all_batches(self) -> Iterator[bytes]:
        """Yield the layer's batches, which the blocks were made from. DamagedLog, before the first one, if any differs."""
        self.layer.verify()
        return self.layer.read()

    def _find(self, key: str) -> int:
        raw = key.encode()
        wanted = crc32c(raw)
        hashes, ends = self._columns[:2]
        row = bisect_left(hashes, wanted)
        while row < len(hashes) and hashes[row] == wanted:
            if self._keys[ends[row - 1] if row else 0 : ends[row]] == raw:
                return row
            row += 1
        return -1


AddFile = Callable[[str, Iterable[bytes]], None]


def write_checkpoint(add_file: AddFile, blocks: Iterable[Block], rest: Iterable[bytes]) -> None:
    """Add the three files to a layer that is being written. ``blocks`` come in the order of ``in_order``, and are not held."""
    columns = [array(code) for code in _COLUMNS]
    keys: list[bytes] = []
    add_file(DATA, _indexed(blocks, columns, keys))
    for column in columns:
        if sys.byteorder == "big":
            column.byteswap()
    head = _HEAD.pack(MAGIC, VERSION, len(keys))
    add_file(INDEX, [head, *(column.tobytes() for column in columns), *keys])
    add_file(REST, rest)


def _indexed(blocks: Iterable[Block], columns: Sequence[array[int]], keys: list[bytes]) -> Iterator[bytes]:
    """Yield the bytes of the blocks, and append what the index states of each to ``columns`` and ``keys``."""
    position = end = 0
    for block in blocks:
        keys.append(block.key.encode())
        end += len(keys[-1])
        size = len(block.data)
        said = (block.rows, *block.bounds)
        for column, value in zip(columns, (crc32c(keys[-1]), end, position, size, crc32c(block.data), *said), strict=True):
            column.append(value)
        position += size
        yield block.data
