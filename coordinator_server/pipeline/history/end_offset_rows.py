"""The table ``end_offsets``: the ends of the partitions that groups consume, from the samples beside the log of a directory that
follows a cluster (``lag/end_offsets.py``). A row is an end that differs from the one before.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa

from coordinator_server.pipeline.history.tables import END_OFFSETS, SCHEMAS
from coordinator_server.pipeline.lag.end_offsets import UNKNOWN, Sample, read_samples


class NewEnds(NamedTuple):
    """The rows that are new since the last run, and the time in ms of the last sample that they are from."""

    rows: pa.Table
    to_ms: int


NO_ENDS: Final = NewEnds(SCHEMAS[END_OFFSETS].empty_table(), 0)


def new_end_offsets(data_dir: Path, since_ms: int) -> NewEnds:
    """Return the rows of complete samples that were taken after a time, which is 0 at first."""
    rows: list[dict[str, Any]] = []
    of_sample: list[dict[str, Any]] = []
    to_ms = since_ms
    last: dict[tuple[str, int], int] = {}
    # Each day begins with all ends, so those as of the time are known.
    for sample in read_samples(data_dir, since_ms):
        if sample.topic is None:
            rows += of_sample
            to_ms, of_sample = max(to_ms, sample.at_ms), []
        else:
            changed = list(_changed(sample, last))
            of_sample += changed if sample.at_ms > since_ms else ()
    return NewEnds(pa.Table.from_pylist(rows, schema=SCHEMAS[END_OFFSETS]), to_ms) if to_ms > since_ms else NO_ENDS


def _changed(sample: Sample, last: dict[tuple[str, int], int]) -> Iterator[dict[str, Any]]:
    assert sample.topic is not None
    for partition, end in enumerate(sample.end_offsets or ()):
        if end != UNKNOWN and last.get((sample.topic, partition)) != end:
            last[sample.topic, partition] = end
            yield {"time": sample.at_ms, "topic": sample.topic, "partition": partition, "end_offset": end}
