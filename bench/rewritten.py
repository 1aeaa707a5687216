"""Writes the log of offsets that were committed over and over, directly: what a server would have written, without waiting for one.

A batch per commit of a group with all its partitions, provenance on its first record. A group's batches differ in their offsets
and times only, so each is made once and then stamped.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
from crc32c import crc32c

from coordinator_server.machine.provenance import operation_headers, request_origin
from coordinator_server.offsets.attribution import speaking_for
from coordinator_server.pipeline.input.columns import Ints, read_columns
from coordinator_server.runtime.partitioner import partition_for
from protocol.batch_builder import BatchBuilder
from tests.support.segments import START_MS, offset_key, offset_value, write_meta

SHARDS: Final = 50
SEGMENT_BYTES: Final = 64 << 20
# Between two commits of a group.
STEP_MS: Final = 5_000
_BASE_OFFSET: Final = struct.Struct(">q")
_CRC: Final = struct.Struct(">I")
_TIMES: Final = struct.Struct(">qq")
_CRC_AT, _CHECKED_FROM, _TIMES_AT = 17, 21, 27


class _Group:
    """A group's commit, to be stamped."""

    def __init__(self, group_id: str, topic: str, offsets: list[int]) -> None:
        headers = operation_headers(request_origin(8, 9, group_id, "10.0.0.7"), speaking_for(f"{group_id}-member", None))
        builder = BatchBuilder(0, START_MS)
        for partition, offset in enumerate(offsets):
            key, value = offset_key(group_id, topic, partition), offset_value(offset)
            builder.append(key, value, headers) if partition == 0 else builder.append(key, value)
        self._bytes = np.frombuffer(bytearray(builder.finish()), np.uint8)
        columns = read_columns(self._bytes, 0, len(offsets))
        # The committed offset stands behind the value's version, the commit time is its end.
        self._offsets_at = (columns.value_end - columns.value_size + 2)[:, None] + np.arange(8)
        self._times_at = (columns.value_end - 8)[:, None] + np.arange(8)
        self._last: Ints = np.array(offsets, np.int64)

    def stamped(self, base_offset: int, now_ms: int, behind: int) -> bytes:
        """The commit of offsets that are ``behind`` the last ones."""
        data = self._bytes
        data[self._offsets_at] = (self._last - behind).astype(">i8").view(np.uint8).reshape(-1, 8)
        data[self._times_at] = np.frombuffer(_BASE_OFFSET.pack(now_ms), np.uint8)
        view = data.data
        _BASE_OFFSET.pack_into(view, 0, base_offset)
        _TIMES.pack_into(view, _TIMES_AT, now_ms, now_ms)
        _CRC.pack_into(view, _CRC_AT, crc32c(view[_CHECKED_FROM:]))
        return data.tobytes()


def write_rewritten(
    data_dir: Path, groups: list[str], topic: str, partitions: int, rewrites: int, last: Callable[[int, int], int]
) -> int:
    """A data directory in which every group has committed ``rewrites`` times,
    in the end the offset ``last(number, partition)``; its bytes.
    """
    data_dir.mkdir(parents=True)
    write_meta(data_dir)
    by_shard: dict[int, list[_Group]] = {shard: [] for shard in range(SHARDS)}
    for number, group_id in enumerate(groups):
        offsets = [last(number, partition) for partition in range(partitions)]
        by_shard[partition_for(group_id, SHARDS)].append(_Group(group_id, topic, offsets))
    return sum(
        _write_shard(data_dir / f"__consumer_offsets-{shard}", found, partitions, rewrites) for shard, found in by_shard.items()
    )


def _write_shard(directory: Path, groups: list[_Group], partitions: int, rewrites: int) -> int:
    directory.mkdir()
    offset = total = size = 0
    file = (directory / f"{0:020d}.log").open("wb")
    for turn in range(rewrites):
        for group in groups:
            if size > SEGMENT_BYTES:
                file.close()
                file, size = (directory / f"{offset:020d}.log").open("wb"), 0
            size += file.write(batch := group.stamped(offset, START_MS + turn * STEP_MS, rewrites - 1 - turn))
            total += len(batch)
            offset += partitions
    file.close()
    if size:
        (directory / f"{offset:020d}.log").touch()
    return total
