"""Varints of whole columns, as bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from coordinator_server.pipeline.input.columns import Bytes, Ints

Words = NDArray[np.uint64]


def varints(value: Ints) -> pa.Array:
    """Return the zig-zag varint of each value."""
    bits = zigzag_bits(value)
    edges = np.zeros(len(bits) + 1, np.int64)
    np.cumsum(varint_sizes(bits), out=edges[1:])
    out = np.zeros(edges[-1], np.uint8)
    put_varints(out, edges[:-1], bits)
    return pa.Array.from_buffers(pa.large_binary(), len(bits), [None, pa.py_buffer(edges), pa.py_buffer(out)])


def zigzag_bits(value: Ints) -> Words:
    """Encode as zig-zag."""
    return ((value << 1) ^ (value >> 63)).astype(np.uint64)


def varint_sizes(bits: Words) -> Ints:
    """Return the size of each varint."""
    size = np.ones(len(bits), np.int64)
    for shift in range(7, 64, 7):
        longer = bits >= np.uint64(1 << shift)
        if not longer.any():
            break
        size += longer
    return size


def put_varints(out: Bytes, at: Ints, bits: Words) -> None:
    """Write varints at the given positions."""
    while len(bits):
        more = bits >= 0x80
        out[at] = (bits & np.uint64(0x7F)).astype(np.uint8) | (more.astype(np.uint8) << 7)
        at, bits = at[more] + 1, bits[more] >> np.uint64(7)


def edges_of(array: pa.Array) -> Ints:
    """Return the offsets buffer of a large binary that was just computed."""
    assert array.offset == 0
    return np.frombuffer(array.buffers()[1], np.int64)[: len(array) + 1]
