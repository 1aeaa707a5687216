"""The view ``lag`` from rows of ``commits`` that count, of ``deletions`` of offsets, and of ``end_offsets``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from coordinator_server.pipeline.history.tables import TIME

LAG_SCHEMA: Final = pa.schema(
    [
        ("group_id", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("time", TIME),
        ("offset", pa.int64()),
        ("end_offset", pa.int64()),
        ("lag", pa.int64()),
    ]
)
_NOTHING: Final = {"log_offset": -1, "offset": None, "end_offset": None}
"""What a row lacks. At one time a sample comes before a commit."""


Ends = Mapping[tuple[str, int], Sequence[dict[str, Any]]]
"""The rows of ``end_offsets`` by topic and partition."""


def by_partition(ends: pa.Table) -> Ends:
    """Return the rows of ``end_offsets`` for ``lag_of``."""
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in ends.to_pylist():
        found.setdefault((row["topic"], row["partition"]), []).append(_NOTHING | row)
    return found


def lag_of(commits: pa.Table, deletions: pa.Table, ends: Ends) -> pa.Table:
    """Return a row for each change of an offset or of an end, as long as both are known."""
    positions: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in pa.concat_tables([commits, deletions], promote_options="default").to_pylist():
        positions.setdefault((row["group_id"], row["topic"], row["partition"]), []).append(_NOTHING | row)
    rows = [
        {"group_id": group_id, "topic": topic, "partition": partition} | row
        for (group_id, topic, partition), changes in positions.items()
        for row in _rows([*changes, *ends.get((topic, partition), ())])
    ]
    return pa.Table.from_pylist(rows, schema=LAG_SCHEMA)


def _rows(events: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    offset = end_offset = None
    for event in sorted(events, key=lambda each: (each["time"], each["log_offset"])):
        if event["end_offset"] is None:
            offset = event["offset"]
        else:
            end_offset = event["end_offset"]
        if offset is not None and end_offset is not None:
            yield {"time": event["time"], "offset": offset, "end_offset": end_offset, "lag": max(0, end_offset - offset)}
