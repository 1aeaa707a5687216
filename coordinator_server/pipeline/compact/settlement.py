"""Transactions in columns: which records of producers count, by the rules of ``keyed.py``.

Files are added newest first. So when a batch of a producer is reached, the next marker of the producer is known: it is in the same
file or in one that was added before. Without one the transaction is open, and the batch is kept unchanged.

Of a settled log the record with the highest offset of each key counts, whether it was committed or plain. So the engine needs to
know no more than the records that do not count. Tombstones that follow a record of an open transaction are found in a second pass
over the files from the first such record on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from coordinator_server.log.jobs import InputFile
from coordinator_server.pipeline.input.columns import BatchColumns, Columns, Ints, Irregular
from protocol.control_records import ABORT, COMMIT
from protocol.record_batch import CONTROL, NO_PRODUCER_ID, TRANSACTIONAL

Mask = NDArray[np.bool_]
Read = Callable[[InputFile], BatchColumns]

ATTRIBUTES: Final = (0, TRANSACTIONAL, TRANSACTIONAL | CONTROL)
"""The attributes of batches that can be settled."""
_CONTROL_KEY_BYTES: Final = 4

# Outcomes of a batch besides ABORT and COMMIT.
_OPEN: Final = -1
_PLAIN: Final = -2
_NOTHING: Final = -3


class Settlement:
    """The transactions of one shard."""

    def __init__(self, pending_types: frozenset[bytes]) -> None:
        self._pending_types = pending_types
        # The first marker of each producer in the files that were added.
        self._outcomes: dict[int, int] = {}
        # The markers, and the batches of open transactions, of each file.
        self._unchanged: list[BatchColumns] = []
        # Offsets of records in open transactions that count at once.
        self._at_once: list[Ints] = []
        # The keys in open transactions, each with its first offset.
        self._keys: dict[bytes, int] = {}

    @property
    def held(self) -> int:
        """The number of markers and batches that memory holds, and of keys in open transactions."""
        return len(self._keys) + sum(len(part.headers) for part in self._unchanged)

    def add(self, file: BatchColumns, from_offset: int) -> tuple[int, Columns]:
        """Return the number of records of a file from ``from_offset`` on, and those that count. Raises Irregular."""
        headers, records = file.headers, file.records
        is_read = records.offset >= from_offset
        of_producer = is_of_producer(file)
        if (of_producer != (headers["attributes"] != 0)).any() or (of_producer.any() and not self._pending_types):
            raise Irregular("records of a producer outside of transactions")
        if not of_producer.any():
            return int(is_read.sum()), records if is_read.all() else records.take(is_read)
        batch = np.repeat(np.arange(len(headers)), headers["count"])
        outcome = self._outcomes_of(file, batch, from_offset)
        is_pending = self._is_pending(records)
        of_record = outcome[batch]
        self._keep_open(file.records, of_record == _OPEN, is_pending)
        counts = (of_record == _PLAIN) | (of_record == COMMIT) | (((of_record == ABORT) | (of_record == _OPEN)) & ~is_pending)
        return int(is_read.sum()), records.take(counts & is_read)

    def unchanged_batches(self, cutoff_ms: int | None) -> list[BatchColumns]:
        """Return the batches to keep as they are, in offset order: markers, and those of open transactions."""
        if cutoff_ms is None:
            return self._unchanged[::-1]
        return [
            part.take((part.headers["attributes"] == TRANSACTIONAL) | (part.headers["max_timestamp"] >= cutoff_ms))
            for part in reversed(self._unchanged)
        ]

    def with_open(self, kept: Sequence[Columns], inputs: Sequence[InputFile], read: Read) -> list[Columns]:
        """Return the records to write, from those that are kept of each input.

        Records of open transactions are left out. The last tombstone of a key that follows one of them is added.
        """
        if not self._keys:
            return list(kept)
        at_once = np.concatenate([np.empty(0, np.int64), *self._at_once])
        found = list(kept)
        wanted = self._keys
        for index in reversed(range(len(inputs))):
            if not wanted or inputs[index].to_offset <= min(wanted.values()):
                break
            tombstones, seen = _tombstones(read(inputs[index]), inputs[index].from_offset, wanted)
            wanted = {key: first for key, first in wanted.items() if key not in seen}
            found[index] = _merged(found[index], tombstones)
        return [part.take(~np.isin(part.offset, at_once)) for part in found]

    def _outcomes_of(self, file: BatchColumns, batch: Ints, from_offset: int) -> Ints:
        """Return the outcome of each batch, and note the markers of the file."""
        headers = file.headers
        base = headers["base_offset"].astype(np.int64)
        is_read = base + headers["last_delta"] >= from_offset
        of_producer = is_of_producer(file)
        if (of_producer & is_read & (base < from_offset)).any():
            raise Irregular("a batch of a transaction in the middle of which a layer ends")
        is_control = headers["attributes"] == (TRANSACTIONAL | CONTROL)
        outcome = np.where(of_producer, _NOTHING, _PLAIN)
        written = np.flatnonzero(of_producer & ~is_control & is_read & (headers["count"] > 0))
        marking, kinds = _markers(file.records, batch, is_control & is_read)
        outcome[written] = self._next_kinds(headers["producer_id"].astype(np.int64), written, marking, kinds)
        self._unchanged.append(file.take((is_control & is_read) | (outcome == _OPEN)))
        return outcome

    def _next_kinds(self, producer: Ints, written: Ints, marking: Ints, kinds: Ints) -> Ints:
        """Return the kind of the next marker of the producer of each written batch. ``marking`` are the batches of the markers."""
        ids, codes = np.unique(producer, return_inverse=True)
        count = len(producer)
        place = codes[marking] * count + marking
        order = np.argsort(place, kind="stable")
        place, kinds = place[order], kinds[order]
        at = np.searchsorted(place, codes[written] * count + written)
        owner = np.append(place // count, -1)
        found = np.append(kinds, _OPEN)[at]
        for row in np.flatnonzero(owner[at] != codes[written]).tolist():
            found[row] = self._outcomes.get(int(producer[written[row]]), _OPEN)
        first = np.unique(place // count, return_index=True)
        for code, row in zip(*(each.tolist() for each in first), strict=True):
            self._outcomes[int(ids[code])] = int(kinds[row])
        return found

    def _is_pending(self, records: Columns) -> Mask:
        """Return which records wait for their transaction, if they are in one."""
        long_enough = np.flatnonzero((records.key_end - records.key_start >= 2) & (records.value_size >= 0))
        at = records.key_start[long_enough]
        kind = records.data[at].astype(np.int64) << 8 | records.data[at + 1]
        found = np.zeros(len(records), np.bool_)
        found[long_enough] = np.isin(kind, [int.from_bytes(each) for each in self._pending_types])
        return found

    def _keep_open(self, records: Columns, is_open: Mask, is_pending: Mask) -> None:
        if is_open.any():
            self._at_once.append(records.offset[is_open & ~is_pending])
            records = records.take(is_open)
            for key, offset in zip(records.keys().to_pylist(), records.offset.tolist(), strict=True):
                self._keys[key] = min(offset, self._keys.get(key, offset))


def _markers(records: Columns, batch: Ints, is_control: Mask) -> tuple[Ints, Ints]:
    """Return the batch and the kind of each marker. Other control records are no markers."""
    rows = np.flatnonzero(is_control[batch])
    at = records.key_start[rows]
    if (records.key_end[rows] - at < _CONTROL_KEY_BYTES).any() or (records.data[at] & 0x80).any():
        raise Irregular("a control record without a type")
    kind = records.data[at + 2].astype(np.int64) << 8 | records.data[at + 3]
    is_marker = (kind == ABORT) | (kind == COMMIT)
    return batch[rows[is_marker]], kind[is_marker]


def _tombstones(file: BatchColumns, from_offset: int, firsts: dict[bytes, int]) -> tuple[Columns, set[bytes]]:
    """Return the last tombstone of each of the keys that follows the key's first offset, and the keys with any tombstone."""
    records = file.records
    is_control = np.repeat(file.headers["attributes"] == (TRANSACTIONAL | CONTROL), file.headers["count"])
    records = records.take((records.value_size < 0) & ~is_control & (records.offset >= from_offset))
    keys = records.keys()
    is_wanted = pc.is_in(keys, value_set=pa.array(list(firsts), keys.type)).to_numpy(zero_copy_only=False)
    last = {key: row for row, key in zip(np.flatnonzero(is_wanted).tolist(), keys.filter(is_wanted).to_pylist(), strict=True)}
    rows = sorted(row for key, row in last.items() if records.offset[row] > firsts[key])
    return records.take(np.array(rows, np.int64)), set(last)


def _merged(part: Columns, added: Columns) -> Columns:
    """Return the records of both, each once. They are of the same file."""
    if not len(added):
        return part
    names = [name for name in Columns.__slots__ if name != "data"]
    _, rows = np.unique(np.concatenate([part.offset, added.offset]), return_index=True)
    return Columns(part.data, **{name: np.concatenate([getattr(part, name), getattr(added, name)])[rows] for name in names})


def is_of_producer(file: BatchColumns) -> Mask:
    """Return for each batch whether it belongs to a transaction, or ends one."""
    found: Mask = file.headers["producer_id"] != NO_PRODUCER_ID
    return found
