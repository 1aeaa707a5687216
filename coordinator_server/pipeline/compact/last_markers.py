"""Reads a layer for its checkpoint, without the markers that a checkpoint leaves out.

A layer may consist of markers for the most part, and its checkpoint has the last one of each producer
(``layer/replayed_records.py``). Which these are is found for a whole file at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from coordinator_server.log.jobs import Layer
from coordinator_server.pipeline.input.columns import HEADER, Bytes, Ints, Irregular, batch_starts, map_file
from coordinator_server.pipeline.layer.replayed_records import KIND, KINDS, MARKER_START
from protocol.record_batch import CONTROL, HEADER_SIZE, LENGTH_END, TRANSACTIONAL, BatchHeader, read_header, verify

_KINDS: Final = [int.from_bytes(each) for each in KINDS]
_START: Final = np.frombuffer(MARKER_START, np.uint8)


def without_old_markers(layer: Layer) -> Iterator[tuple[bytes, BatchHeader]]:
    """Yield the batches of a layer with their headers, but those of markers that a later one of the same producer follows."""
    try:
        files = list(map(_wanted, layer.files()))
    except Irregular:
        yield from layer.read_with_headers()
        return
    for data, starts, ends in files:
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            batch = data[start:end].tobytes()
            header = read_header(batch)
            verify(batch, 0, header)
            yield batch, header


def _wanted(path: Path) -> tuple[Bytes, Ints, Ints]:
    """Return the bytes of a file, and where the wanted batches start and end. Raises Irregular."""
    data = map_file(path)
    starts = batch_starts(data)
    if not len(starts):
        return data, starts, starts
    headers = np.lib.stride_tricks.sliding_window_view(data, HEADER_SIZE)[starts].view(HEADER)[:, 0]
    marking = np.flatnonzero((headers["attributes"] == (TRANSACTIONAL | CONTROL)) & (headers["count"] == 1))
    marking = marking[_is_marker(data, starts[marking])]
    is_wanted = np.ones(len(starts), np.bool_)
    is_wanted[marking] = False
    # Of the reversed batches the first of each producer.
    _, last = np.unique(headers["producer_id"][marking][::-1], return_index=True)
    is_wanted[marking[::-1][last]] = True
    ends = starts + LENGTH_END + headers["length"]
    return data, starts[is_wanted], ends[is_wanted]


def _is_marker(data: Bytes, starts: Ints) -> NDArray[np.bool_]:
    """Return which control batches of one record begin as markers do. What looks different may be a marker, too, and is kept."""
    at = starts + KIND.start
    found = np.ones(len(starts), np.bool_)
    for place, byte in enumerate(_START.tolist(), -len(_START)):
        found &= data[at + place] == byte
    return found & np.isin(data[at].astype(np.int64) << 8 | data[at + 1], _KINDS)
