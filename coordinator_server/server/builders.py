"""How the shards of each kind are made and run: one row per internal topic, as in ``kinds.py``; a test proves that none is missing."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.config import Config
from coordinator_server.group.shard import GroupShard
from coordinator_server.kinds import CATALOG, GROUPS, SHARE_STATE, TRANSACTIONS
from coordinator_server.machine.shard import Clock
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.runtime.flush import ADAPTIVE
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.runtime.services import BuildShard, ShardServices
from coordinator_server.server.cluster.effects import Asked
from coordinator_server.server.group_operations import answer_expiring, answer_restore
from coordinator_server.server.node import Node


class Materials(NamedTuple):
    """What every state machine may be made of, beside what is its shard's own."""

    config: Config
    clock: Clock
    new_uuid: Callable[[], uuid.UUID]


class RuntimeSettings(NamedTuple):
    """How a runtime writes what its shards record (runtime/flush.py)."""

    append_linger_ms: int = ADAPTIVE
    coalesces: bool = False


NodeOperation = Callable[[Node, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""An operation of ``control.sock``. Raises Refusal."""


class Builder(NamedTuple):
    """A kind that is served. ``operations``: what it adds to ``control.sock``, by name."""

    shard: Callable[[Materials], BuildShard[Any]]
    settings: Callable[[Config], RuntimeSettings] = lambda _config: RuntimeSettings()
    operations: Mapping[str, NodeOperation] = {}
    # Run on every shard of the kind when topics have been deleted.
    topics_deleted: WriteOperation[Any, Sequence[DeletedTopic], None] | None = None
    # The operations that other shards may ask for, in messages (machine/outbox.py).
    asked: Sequence[Asked] = ()


def build_catalog(materials: Materials) -> BuildShard[CatalogShard]:
    """Topics, with random ids."""

    def build(*, partition: int, registry: SnapshotRegistry, services: ShardServices) -> CatalogShard:
        new_uuid = materials.new_uuid
        return CatalogShard(
            config=materials.config, registry=registry, timer=services.timer, new_topic_id=lambda: new_uuid().bytes
        )

    return build


def build_groups(materials: Materials) -> BuildShard[GroupShard]:
    """Groups, with random member ids."""

    def build(*, partition: int, registry: SnapshotRegistry, services: ShardServices) -> GroupShard:
        config, clock, new_uuid = materials
        return GroupShard(config=config, registry=registry, timer=services.timer, clock=clock, new_id=lambda: str(new_uuid()))

    return build


def _group_settings(config: Config) -> RuntimeSettings:
    return RuntimeSettings(config.group_coordinator_append_linger_ms, config.offsets_commit_coalesce)


NOT_SERVED: Final = None
"""The row of a kind without a coordinator: FindCoordinator refuses its key type, and its directories are left as they are."""

BUILDERS: Final[dict[str, Builder | None]] = {
    CATALOG.topic: Builder(build_catalog),
    GROUPS.topic: Builder(
        build_groups,
        _group_settings,
        {"restore": answer_restore, "expiring": answer_expiring},
        WriteOperation("delete-topic-offsets", GroupShard.delete_topics),
    ),
    TRANSACTIONS.topic: NOT_SERVED,
    SHARE_STATE.topic: NOT_SERVED,
}
