"""The digest of share partitions.

Each share partition is an item. The key is the key of its snapshot record; the value is the record's value, followed by the two
fencing epochs (int32 each). ``update_count`` is not included, because compaction changes it.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Final

from coordinator_server.machine.digest import item_digest
from coordinator_server.share.share_partition import SharePartition, snapshot_key, snapshot_value
from protocol.coordinator_records import SHARE_SERDE, CoordinatorRecord
from protocol.share_partition_names import SharePartitionKey

_FENCES: Final = Layout(">ii")


def share_partition_digest(key: SharePartitionKey, state: SharePartition) -> int:
    """Return the hash of one share partition."""
    record = CoordinatorRecord(snapshot_key(key), snapshot_value(state))
    fences = _FENCES.pack(state.highest_leader_epoch, state.highest_state_epoch)
    return item_digest(SHARE_SERDE.encode_key(record), (SHARE_SERDE.encode_value(record) or b"") + fences)
