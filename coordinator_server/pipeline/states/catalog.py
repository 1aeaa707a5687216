"""The state of the catalog's log, rebuilt by the server's own ``CatalogShard.replay``."""

from __future__ import annotations

from typing import Any, Final

from coordinator_server.catalog.alter_configs import ResourceType
from coordinator_server.catalog.families import FAMILIES
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.config import Config
from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.pipeline.states.changes import LastChanges
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from coordinator_server.pipeline.states.state import NoTime, no_id, topic_id_text
from coordinator_server.runtime.loader import BatchReplay
from protocol.coordinator_records import CLUSTER_METADATA_SERDE


class CatalogState:
    """Topics, the settings of topics and groups, users, ACLs and quotas."""

    noun: Final = "topics"

    def __init__(self) -> None:
        self.shard = CatalogShard(config=Config(), registry=SnapshotRegistry(), timer=NoTime(), new_topic_id=no_id)
        self.replay = BatchReplay(CLUSTER_METADATA_SERDE, self.shard).replay

    def __len__(self) -> int:
        return len(self.shard.all_topics(LATEST))

    def digest(self) -> StateDigest:
        return self.shard.digest(LATEST)

    def label(self, part: str, /) -> str:
        return f"topic {part}"

    def contents(self) -> dict[str, dict[str, Any]]:
        shard = self.shard
        found: dict[str, dict[str, Any]] = {
            self.label(topic.name): {"id": topic_id_text(topic.topic_id), "partitions": topic.partitions}
            for topic in shard.all_topics(LATEST)
        }
        for kind in ResourceType:
            for name in shard.with_settings(LATEST, kind):
                items = found.setdefault(f"{kind.name.lower()} {name}", {})
                items |= {f"setting {each}": value for each, value in shard.settings(LATEST, (kind, name)).items()}
        for family in FAMILIES:
            for owner, item, value in map(family.show, shard.records(LATEST, family)):
                found.setdefault(owner, {})[item] = value
        return found

    def shown(self, changes: LastChanges | None, names: NamesOfTopics, /) -> dict[str, Any]:
        return {"topics": {topic.name: topic.partitions for topic in self.shard.all_topics(LATEST)}}
