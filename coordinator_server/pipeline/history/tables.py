"""The tables and their columns. docs/history.md says what each column means; a test compares the two.

Every row has the position of its record in the log (``shard``, ``log_offset``) and the time of its append (``time``), but for
END_OFFSETS, which is not from the log. Times are UTC milliseconds. A value that the log does not have is null. The columns of
``WHO`` come from provenance headers; rows of one operation have the same values.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

TIME: Final = pa.timestamp("ms", tz="UTC")

_POSITION: Final = [("shard", pa.int32()), ("log_offset", pa.int64()), ("time", TIME)]
WHO: Final = [
    ("operation", pa.string()),
    ("principal", pa.string()),
    ("client_id", pa.string()),
    ("client_host", pa.string()),
    ("by_member_id", pa.string()),
    ("by_instance_id", pa.string()),
]
BY: Final = pa.struct(WHO[:4])
"""Who caused one of several records that a row is made of."""
REASONS: Final = pa.list_(pa.struct([("why", pa.string()), ("whom", pa.string()), ("said", pa.string())]))
PARTITIONS: Final = pa.list_(
    pa.struct([("topic_id", pa.string()), ("topic", pa.string()), ("partition", pa.int32()), ("epoch", pa.int32())])
)
GROUPS: Final = pa.list_(pa.struct([("group_id", pa.string()), ("offsets", pa.int32()), ("since", TIME), ("until", TIME)]))
BATCHES: Final = pa.list_(
    pa.struct([("first_offset", pa.int64()), ("last_offset", pa.int64()), ("state", pa.string()), ("deliveries", pa.int32())])
)

END_OFFSETS: Final = "end_offsets"
"""The table, and the key of its position among those of the shards: the time of the last sample, in ms."""

SCHEMAS: Final[dict[str, pa.Schema]] = {
    "commits": pa.schema(
        [
            *_POSITION,
            ("group_id", pa.string()),
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("leader_epoch", pa.int32()),
            ("metadata", pa.string()),
            ("commit_time", TIME),
            ("expire_time", TIME),
            ("topic_id", pa.string()),
            ("producer_id", pa.int64()),
            ("reasons", REASONS),
            *WHO,
        ]
    ),
    "generations": pa.schema(
        [
            *_POSITION,
            ("group_id", pa.string()),
            ("group_type", pa.string()),
            ("generation", pa.int32()),
            ("assignment_epoch", pa.int32()),
            ("protocol_type", pa.string()),
            ("protocol", pa.string()),
            ("leader", pa.string()),
            ("members", pa.int32()),
            ("state_time", TIME),
            ("reasons", REASONS),
            *WHO,
        ]
    ),
    "members": pa.schema(
        [
            *_POSITION,
            ("group_id", pa.string()),
            ("generation", pa.int32()),
            ("member_id", pa.string()),
            ("group_instance_id", pa.string()),
            ("client_id", pa.string()),
            ("client_host", pa.string()),
            ("session_timeout_ms", pa.int32()),
            ("rebalance_timeout_ms", pa.int32()),
            ("topics", pa.list_(pa.string())),
            ("topic_regex", pa.string()),
            ("rack_id", pa.string()),
            ("assignor", pa.string()),
        ]
    ),
    "assignments": pa.schema(
        [
            *_POSITION,
            ("group_id", pa.string()),
            ("generation", pa.int32()),
            ("member_id", pa.string()),
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("topic_id", pa.string()),
        ]
    ),
    "reconciliations": pa.schema(
        [
            *_POSITION,
            ("group_id", pa.string()),
            ("member_id", pa.string()),
            ("what", pa.string()),
            ("state", pa.string()),
            ("member_epoch", pa.int32()),
            ("previous_epoch", pa.int32()),
            ("partitions", PARTITIONS),
            ("revoking", PARTITIONS),
            ("reasons", REASONS),
            *WHO,
        ]
    ),
    "deletions": pa.schema(
        [
            *_POSITION,
            ("group_id", pa.string()),
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("reasons", REASONS),
            *WHO,
        ]
    ),
    "markers": pa.schema([*_POSITION, ("producer_id", pa.int64()), ("producer_epoch", pa.int32()), ("outcome", pa.string())]),
    "transactions": pa.schema(
        [
            *_POSITION,
            ("transactional_id", pa.string()),
            ("producer_id", pa.int64()),
            ("producer_epoch", pa.int32()),
            ("marker_epoch", pa.int32()),
            ("timeout_ms", pa.int32()),
            ("began", TIME),
            ("decided", TIME),
            ("outcome", pa.string()),
            ("why", pa.string()),
            ("groups", GROUPS),
            ("partitions", pa.list_(pa.string())),
            ("began_by", BY),
            ("ended_by", BY),
        ]
    ),
    "producers": pa.schema(
        [
            *_POSITION,
            ("transactional_id", pa.string()),
            ("producer_id", pa.int64()),
            ("producer_epoch", pa.int32()),
            ("why", pa.string()),
            ("timeout_ms", pa.int32()),
            *BY,
        ]
    ),
    "transitions": pa.schema(
        [
            *_POSITION,
            ("transactional_id", pa.string()),
            ("state", pa.string()),
            ("producer_id", pa.int64()),
            ("producer_epoch", pa.int32()),
            ("timeout_ms", pa.int32()),
            ("began", TIME),
            ("partitions", pa.list_(pa.string())),
            ("why", pa.string()),
            *BY,
        ]
    ),
    "share_state": pa.schema(
        [
            *_POSITION,
            ("group_id", pa.string()),
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("topic_id", pa.string()),
            ("what", pa.string()),
            ("start_offset", pa.int64()),
            ("in_flight", pa.int64()),
            ("acknowledged", pa.int64()),
            ("archived", pa.int64()),
            ("most_deliveries", pa.int32()),
            ("delivery_complete", pa.int32()),
            ("batches", BATCHES),
            ("state_epoch", pa.int32()),
            ("leader_epoch", pa.int32()),
            ("snapshot_epoch", pa.int32()),
            ("reasons", REASONS),
            *WHO,
        ]
    ),
    END_OFFSETS: pa.schema([("time", TIME), ("topic", pa.string()), ("partition", pa.int32()), ("end_offset", pa.int64())]),
}
