"""Fast replay of OffsetCommit records from a batch's bytes into the store, without objects per record in between.

A log may have millions of OffsetCommit records, which all must be replayed at a start. *Plain* records are read here. All others
are left to the decoders and ``OffsetStore.replay``, and the result is always the same as theirs.

    record   size varint, attributes, timestamp delta varint, offset delta varint, key size varint, key, value size varint, value,
             headers
    key      0 1, group, topic, partition int32: the bytes before the partition are decoded once and cached
    value    version int16, offset int64, leader epoch int32 (from version 3), metadata, commit timestamp int64, tags (from
             version 4)

The partitions of one commit are consecutive records that differ only in offset delta, partition, offset and leader epoch. Such a
*run* has records of equal size. It is read as columns, and each constant column is compared with the first record. A commit may be
several runs: its first record may have headers, and offset deltas from 64 on take one more byte. What is read waits for what comes
next, so that the store gets a commit as the rows that it was, which take a fifth of the memory of single offsets.
"""

from __future__ import annotations

import functools
from itertools import repeat
from struct import Struct as Layout
from sys import intern
from typing import Final, NamedTuple

from coordinator_server.machine.timeline import TimelineDict
from coordinator_server.offsets.store import OffsetStore
from coordinator_server.offsets.values import NO_TIMESTAMP, CommittedRows, OffsetAndMetadata, TopicPartition, committed_by
from protocol.codec import Decoder, decoders
from protocol.commit_rows import partitions_of, rows_of
from protocol.coordinator_records import OFFSET_COMMIT_TYPE
from protocol.errors import DecodeError
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.plain_commits import MOST_ROWS

_PARTITION: Final = Layout(">i")
_PARTITION_BYTES: Final = 4
# The sizes of a value without metadata: 42 bytes with a topic id (version 4), 24 bytes without (version 4, where sizes and
# counts take one byte, and version 3).
_PLAIN_BYTES: Final = 24
_WITH_ID_BYTES: Final = 42
_WITH_ID: Final = Layout(">hqiBqBBB16s")
_WITH_ID_SAYS: Final = (4, 1, 1, 0, 16)  # version 4, empty metadata, one tag with number 0 and 16 bytes
_PLAIN_4: Final = Layout(">hqiBqB")
_PLAIN_3: Final = Layout(">hqihq")
# The varying bytes of a value in version 3 or 4: offset and leader epoch, after the version.
_VARIES_FROM: Final = 2
_VARIES_TO: Final = 14
_RUN_VERSIONS: Final = (b"\0\3", b"\0\4")
# Maximum bytes before the offset delta: size, attributes, and the longest timestamp delta of a plain record.
_LONGEST_HEAD: Final = 12
_SHORTEST_RUN: Final = 4
# Fewer take no less memory as rows than as single offsets.
_LEAST_ROWS: Final = 8
_FIRST_CHUNK: Final = 8
_LONGEST_CHUNK: Final = 256
_MOST_POSITIONS: Final = 256
_decode_key: Final[Decoder[OffsetCommitKey]] = decoders(OffsetCommitKey)[0]


class _Shape(NamedTuple):
    """The positions of the parts of a plain record in the data."""

    start: int
    delta: int
    key_size: int
    partition: int
    value: int
    stop: int


class _Run(NamedTuple):
    """The columns of records of equal size."""

    heads: tuple[bytes, ...]
    deltas: tuple[bytes, ...]
    keys: tuple[bytes, ...]
    partitions: tuple[int, ...]
    versions: tuple[bytes, ...]
    offsets: tuple[int, ...]
    epochs: tuple[int, ...]
    rests: tuple[bytes, ...]


class _Held(NamedTuple):
    """Records that are read, and not in the store yet: one, or several that differ in partition, offset and leader epoch alone."""

    # Group and topic.
    names: tuple[str, str]
    partitions: list[int]
    offsets: list[int]
    epochs: list[int]
    first: OffsetAndMetadata


class BulkReplay:
    """The fast replay of plain records into one store. No snapshot may be open."""

    __slots__ = (
        "_count",
        "_group",
        "_held",
        "_ids",
        "_layouts",
        "_length",
        "_names",
        "_offsets",
        "_positions",
        "_shared",
        "_store",
        "_values",
    )

    def __init__(self, store: OffsetStore) -> None:
        self._store = store
        self._count = 0
        # By the bytes of a key before its partition: group and topic.
        self._names: dict[bytes, tuple[str, str]] = {}
        # By the version's bytes.
        self._values: dict[bytes, Decoder[OffsetCommitValue]] = {
            version.to_bytes(2): decode for version, decode in decoders(OffsetCommitValue).items()
        }
        # By the sizes of the parts of a record.
        self._layouts: dict[tuple[int, ...], Layout] = {}
        # The length of the last run, as a guess for the next one.
        self._length = _FIRST_CHUNK
        # By topic and partitions: similar groups commit the same partitions repeatedly.
        self._positions: dict[tuple[str, tuple[int, ...]], list[TopicPartition]] = {}
        self._shared: dict[TopicPartition, TopicPartition] = {}
        self._ids: dict[bytes, bytes] = {}
        # The group of the last record; None if the store may have been changed since.
        self._group: str | None = None
        self._offsets: TimelineDict[TopicPartition, OffsetAndMetadata]
        # The last records, which may be a part of a commit.
        self._held: _Held | None = None

    def replay(self, data: bytes, pos: int, end: int, base_offset: int, last_delta: int) -> tuple[int, int]:
        """Replay plain records; see ``PlainRecords``."""
        self._count = 0
        self._group = None
        behind = pos
        try:
            while behind < end:
                pos = behind
                behind = self._record(data, pos, end, base_offset, last_delta)
                if behind == pos:
                    break
        except IndexError:
            # The record exceeds the data. The regular decoder, which reads it next, reports that.
            behind = pos
        self._let_go()
        return behind, self._count

    def _record(self, data: bytes, start: int, end: int, base_offset: int, last_delta: int) -> int:  # noqa: C901 - read in place
        """Replay one record and the run that starts with it. Return the position after them, or ``start`` if it is not plain.

        Varints of one byte (the common case) are read in place. A zig-zag varint is negative if its last bit is set.
        """
        size, pos = data[start], start + 1
        if size >= 0x80:
            size, pos = _two_bytes(data, start)
        stop = pos + (size >> 1)
        if size & 1 or stop > end:
            return start
        pos += 1
        while data[pos] >= 0x80:
            pos += 1
        delta_at = pos + 1
        delta, key_size_at = data[delta_at], delta_at + 1
        if delta >= 0x80:
            delta, key_size_at = _two_bytes(data, delta_at)
        if delta & 1 or delta >> 1 > last_delta or delta_at - start > _LONGEST_HEAD:
            return start
        size, key_at = data[key_size_at], key_size_at + 1
        if size >= 0x80:
            size, key_at = _two_bytes(data, key_size_at)
        key_end = key_at + (size >> 1)
        partition_at = key_end - _PARTITION_BYTES
        if size & 1 or partition_at < key_at or key_end >= stop:
            return start
        prefix = data[key_at:partition_at]
        names = self._names.get(prefix) or self._decode_names(data[key_at:key_end], prefix)
        size, value_at = data[key_end], key_end + 1
        if size >= 0x80:
            size, value_at = _two_bytes(data, key_end)
        # The value must not be null, and headers, if any, follow it. Headers do not affect the state.
        value_end = value_at + (size >> 1)
        if names is None or size & 1 or value_end >= stop or (value_end + 1 != stop and not data[value_end]):
            return start
        committed = self._decode_value(data, value_at, value_end, base_offset + (delta >> 1))
        if committed is None:
            return start
        self._count += 1
        partition = _PARTITION.unpack_from(data, partition_at)[0]
        # A run is likely if the record three positions ahead has the same key at the expected position.
        size = stop - start
        fourth = stop + (_SHORTEST_RUN - 1) * size
        if fourth + size > end or not data.startswith(data[key_size_at:partition_at], fourth + key_size_at - start):
            return self._hold(_single(names, partition, committed), stop)
        if data[value_at : value_at + _VARIES_FROM] not in _RUN_VERSIONS:
            return self._hold(_single(names, partition, committed), stop)
        shape = _Shape(start, delta_at, key_size_at, partition_at, value_at, stop)
        last = min(last_delta - (delta >> 1), (end - stop) // (stop - start))
        return self._run(data, shape, delta >> 1, last, _single(names, partition, committed))

    def _decode_names(self, key: bytes, prefix: bytes) -> tuple[str, str] | None:
        """Return group and topic of a key, or None if it does not end with the partition."""
        if not key.startswith(OFFSET_COMMIT_TYPE):
            return None
        try:
            message, end = _decode_key(key, len(OFFSET_COMMIT_TYPE))
        except DecodeError:
            return None
        if end != len(key):
            return None
        names = self._names[prefix] = message.group, intern(message.topic)
        return names

    def _decode_value(self, data: bytes, start: int, end: int, record_offset: int) -> OffsetAndMetadata | None:
        if end - start == _WITH_ID_BYTES:
            version, offset, epoch, size, timestamp, tags, tag, tag_size, topic_id = _WITH_ID.unpack_from(data, start)
            if (version, size, tags, tag, tag_size) == _WITH_ID_SAYS:
                topic_id = self._ids.setdefault(topic_id, topic_id)
                return OffsetAndMetadata(offset, epoch, "", timestamp, record_offset, NO_TIMESTAMP, topic_id)
        elif end - start == _PLAIN_BYTES:
            version, offset, epoch, size, timestamp, tags = _PLAIN_4.unpack_from(data, start)
            if version == 4 and size == 1 and tags == 0:
                return OffsetAndMetadata(offset, epoch, "", timestamp, record_offset)
            version, offset, epoch, size, timestamp = _PLAIN_3.unpack_from(data, start)
            if version == 3 and size == 0:
                return OffsetAndMetadata(offset, epoch, "", timestamp, record_offset)
        value = data[start:end]
        decode = self._values.get(value[:_VARIES_FROM])
        if decode is None:
            return None
        try:
            message, _ = decode(value, _VARIES_FROM)
        except DecodeError:
            return None
        return committed_by(record_offset, message)

    def _hold(self, read: _Held, stop: int) -> int:
        """Let records wait for the next ones, together with those that wait already if all may be one commit. Return ``stop``."""
        held = self._held
        if held is not None and _continues(held, read):
            held.partitions.extend(read.partitions)
            held.offsets.extend(read.offsets)
            held.epochs.extend(read.epochs)
        else:
            self._let_go()
            self._held = read
        return stop

    def _let_go(self) -> None:
        """Put the records that wait into the store, as rows if they are those of a commit without metadata."""
        held, self._held = self._held, None
        if held is None:
            return
        (group, topic), partitions, offsets, epochs, first = held
        count = len(partitions)
        if _LEAST_ROWS <= count <= MOST_ROWS and _is_plain(first):
            rows = rows_of(partitions, offsets, epochs)
            committed = CommittedRows(first.record_offset, first.commit_timestamp_ms, first.topic_id, rows)
            self._store.to_change(group).put_rows((topic, partitions_of(rows)), committed)
            # The next single offset comes after the rows.
            self._group = None
            return
        if group != self._group:
            self._group, self._offsets = group, self._store.to_change(group).to_set()
        if count == 1:
            position = topic, partitions[0]
            # All groups share one object per position.
            self._offsets.fill_one(self._shared.setdefault(position, position), first)
            return
        values = map(
            OffsetAndMetadata,
            offsets,
            epochs,
            repeat(first.metadata),
            repeat(first.commit_timestamp_ms),
            range(first.record_offset, first.record_offset + count),
            repeat(first.expire_timestamp_ms),
            repeat(first.topic_id),
        )
        self._offsets.fill(zip(self._positions_of(topic, tuple(partitions)), values, strict=True))

    def _run(self, data: bytes, shape: _Shape, delta: int, most: int, first: _Held) -> int:
        """Replay a record and at most ``most`` following ones that match its shape. Return the position after the last."""
        start, delta_at, key_size_at, partition_at, value_at, stop = shape
        head, key, version, rest = (
            data[start:delta_at],
            data[key_size_at:partition_at],
            data[partition_at + _PARTITION_BYTES : value_at + _VARIES_FROM],
            data[value_at + _VARIES_TO : stop],
        )
        layout = self._layout(len(head), key_size_at - delta_at, len(key), len(version), len(rest))
        from_delta, deltas = _delta_bytes(key_size_at - delta_at)
        _, partitions, offsets, epochs, _ = first
        chunk, pos, delta = self._length, stop, delta + 1
        if delta < from_delta:
            # The varint is longer than necessary: replay the records one by one.
            return self._hold(first, stop)
        with memoryview(data) as view:
            while (count := min(chunk, most, from_delta + len(deltas) - delta)) > 0:
                found = _Run(*zip(*layout.iter_unpack(view[pos : pos + count * layout.size]), strict=True))
                expected = deltas[delta - from_delta : delta - from_delta + count]
                alike = _alike(found, expected, (head, key, version, rest))
                partitions += found.partitions[:alike]
                offsets += found.offsets[:alike]
                epochs += found.epochs[:alike]
                self._count += alike
                pos += alike * layout.size
                if alike < count:
                    break
                delta += count
                most -= count
                chunk = min(4 * chunk, _LONGEST_CHUNK)
        self._length = min(max((pos - stop) // layout.size, _FIRST_CHUNK), _LONGEST_CHUNK)
        return self._hold(first, pos)

    def _layout(self, *sizes: int) -> Layout:
        found = self._layouts.get(sizes)
        if found is None:
            head, delta, key, version, rest = sizes
            found = self._layouts[sizes] = Layout(f">{head}s{delta}s{key}si{version}sqi{rest}s")
        return found

    def _positions_of(self, topic: str, partitions: tuple[int, ...]) -> list[TopicPartition]:
        found = self._positions.get((topic, partitions))
        if found is None:
            if len(self._positions) >= _MOST_POSITIONS:
                self._positions.clear()
            found = self._positions[topic, partitions] = [
                self._shared.setdefault((topic, partition), (topic, partition)) for partition in partitions
            ]
        return found


def _single(names: tuple[str, str], partition: int, committed: OffsetAndMetadata) -> _Held:
    return _Held(names, [partition], [committed.committed_offset], [committed.leader_epoch], committed)


def _is_plain(committed: OffsetAndMetadata) -> bool:
    return not committed.metadata and committed.expire_timestamp_ms == NO_TIMESTAMP


def _continues(held: _Held, read: _Held) -> bool:
    """Return whether records that follow others may be of the same commit, and all of them be stored as its rows."""
    first, second, count = held.first, read.first, len(held.partitions)
    return (
        first.record_offset + count == second.record_offset
        and first.commit_timestamp_ms == second.commit_timestamp_ms
        and held.names == read.names
        and first.topic_id == second.topic_id
        and _is_plain(first)
        and _is_plain(second)
        and count + len(read.partitions) <= MOST_ROWS
    )


@functools.cache
def _delta_bytes(size: int) -> tuple[int, tuple[bytes, ...]]:
    """Return the first offset delta whose varint has ``size`` bytes, and the encodings of all such deltas."""
    if size == 1:
        return 0, tuple(bytes((delta << 1,)) for delta in range(64))
    return 64, tuple(bytes((delta << 1 & 0x7F | 0x80, delta >> 6)) for delta in range(64, 8192))


def _two_bytes(data: bytes, pos: int) -> tuple[int, int]:
    """Return an undecoded two-byte zig-zag varint and the position after it. Return 1, which is negative, for a longer one."""
    high = data[pos + 1]
    return (1, pos) if high >= 0x80 else (data[pos] & 0x7F | high << 7, pos + 2)


def _alike(found: _Run, deltas: tuple[bytes, ...], first: tuple[bytes, bytes, bytes, bytes]) -> int:
    """Return how many records, from the first on, match the first record in all constant columns."""
    head, key, version, rest = first
    count = len(deltas)
    if (
        found.deltas == deltas
        and found.heads.count(head) == count
        and found.keys.count(key) == count
        and found.versions.count(version) == count
        and found.rests.count(rest) == count
    ):
        return count
    rows = zip(found.heads, found.deltas, found.keys, found.versions, found.rests, deltas, strict=True)
    for row, columns in enumerate(rows):
        if columns != (head, columns[5], key, version, rest, columns[5]):
            return row
    return count
