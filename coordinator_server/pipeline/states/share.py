"""The state of a shard of ``__share_group_state``, rebuilt by ``ShareShard.replay``."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.pipeline.states.changes import LastChanges
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from coordinator_server.runtime.loader import BatchReplay
from coordinator_server.share.shard import ShareShard
from protocol.coordinator_records import SHARE_SERDE
from protocol.share_partition_names import coordinator_key


class ShareState:
    """Share partitions."""

    noun: Final = "share partitions"

    def __init__(self) -> None:
        self.shard = ShareShard(registry=SnapshotRegistry())
        self.replay = BatchReplay(SHARE_SERDE, self.shard).replay

    def __len__(self) -> int:
        return sum(1 for _ in self.shard.share_partitions(LATEST))

    def digest(self) -> StateDigest:
        return self.shard.digest(LATEST, LATEST, with_parts=True)

    def label(self, part: str, /) -> str:
        return f"share partition {part}"

    def contents(self) -> dict[str, dict[str, Any]]:
        found = {}
        for key, state in sorted(self.shard.share_partitions(LATEST)):
            items: dict[str, Any] = msgspec.to_builtins(state, enc_hook=bytes)
            # Compaction changes the count.
            del items["update_count"]
            found[self.label(coordinator_key(key))] = items
        return found

    def shown(self, changes: LastChanges | None, names: NamesOfTopics, /) -> dict[str, Any]:
        return {"contents": self.contents()}
