"""The view ``waits`` from rows of ``reconciliations``: the members of consumer groups that waited, and for whom."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from coordinator_server.pipeline.history.tables import TIME
from coordinator_server.pipeline.states.member_steps import MemberStep, Owned, StepKind, Wait, Waits
from protocol.fields import uuid_text

WAITS_SCHEMA: Final = pa.schema(
    [
        ("shard", pa.int32()),
        ("log_offset", pa.int64()),
        ("since", TIME),
        ("until", TIME),
        ("group_id", pa.string()),
        ("member_id", pa.string()),
        ("member_epoch", pa.int32()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("topic_id", pa.string()),
        ("holder", pa.string()),
    ]
)
_MS: Final = 1000
_PADDING: Final = "=="


def of_reconciliations(table: pa.Table) -> pa.Table:
    """Return the waits that follow from the rows of some shards."""
    groups: dict[tuple[int, str], Waits] = {}
    names: dict[bytes, str] = {}
    for row in table.sort_by([("shard", "ascending"), ("log_offset", "ascending")]).to_pylist():
        waits = groups.setdefault((row["shard"], row["group_id"]), Waits())
        waits.add(_step(row, names), row["log_offset"], _ms(row["time"]))
    rows = [row for (shard, group_id), waits in groups.items() for row in _rows(shard, group_id, waits, names)]
    return pa.Table.from_pylist(rows, schema=WAITS_SCHEMA)


def _rows(shard: int, group_id: str, waits: Waits, names: dict[bytes, str]) -> Iterator[dict[str, Any]]:
    for each in waits.found:
        yield {"shard": shard, "group_id": group_id} | _row(each, names)


def _row(wait: Wait, names: dict[bytes, str]) -> dict[str, Any]:
    topic_id, partition = wait.partition
    return {
        "log_offset": wait.since_offset,
        "since": wait.since_ms,
        "until": wait.until_ms,
        "member_id": wait.member_id,
        "member_epoch": wait.member_epoch,
        "topic": names.get(topic_id),
        "partition": partition,
        "topic_id": uuid_text(topic_id),
        "holder": wait.holder,
    }


def _step(row: dict[str, Any], names: dict[bytes, str]) -> MemberStep:
    # A task has no id.
    kinds = ([each for each in row[name] if each["topic_id"] is not None] for name in ("partitions", "revoking"))
    partitions, revoking = (tuple(_owned(each, names) for each in kind) for kind in kinds)
    of_member = (row["group_id"], row["member_id"], row["state"], row["member_epoch"], row["previous_epoch"])
    return MemberStep(StepKind(row["what"]), *of_member, partitions, revoking)


def _owned(each: dict[str, Any], names: dict[bytes, str]) -> Owned:
    topic_id = urlsafe_b64decode(each["topic_id"] + _PADDING)
    if each["topic"] is not None:
        names[topic_id] = each["topic"]
    return Owned(topic_id, each["partition"], each["epoch"])


def _ms(time: datetime) -> int:
    return round(time.timestamp() * _MS)
