"""The builders and settings of each kind of shard: one row per internal topic of ``kinds.py``. A test checks that all have one."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, NamedTuple, NoReturn

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topic_changes import TopicChanges
from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.config import Config
from coordinator_server.group.common.metadata_hash import TopicHashes
from coordinator_server.group.common.regexes import Authorize
from coordinator_server.group.common.settings import SettingsOf, SettingsOfGroups
from coordinator_server.group.common.topics import NO_TOPICS, TopicImage
from coordinator_server.group.group_type import GroupContext
from coordinator_server.group.member_memory import MemberMemory
from coordinator_server.group.pass_times import PassTimes
from coordinator_server.group.shard import GroupShard
from coordinator_server.kinds import CATALOG, GROUPS, SHARE_STATE, TRANSACTIONS
from coordinator_server.machine.shard import Clock, Report, report_nothing
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.runtime.flush import ADAPTIVE
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.runtime.services import BuildShard, ShardServices
from coordinator_server.server.cluster.effects import Asked
from coordinator_server.server.hosting.share_messages import STATES_DELETED, STATES_INITIALIZED, STATES_SUMMARIZED
from coordinator_server.server.hosting.share_shards import ShareShards
from coordinator_server.server.hosting.transaction_messages import GROUPS_ADDED, GROUPS_FOUND, MARKERS
from coordinator_server.share.shard import ShareShard
from coordinator_server.transaction.shard import TransactionLimits, TransactionShard


def _no_producer_ids() -> NoReturn:
    raise AssertionError("this state machine only replays")


class Materials(NamedTuple):
    """The arguments common to the builders of all state machines."""

    config: Config
    clock: Clock
    new_uuid: Callable[[], uuid.UUID]
    report: Report = report_nothing
    # What happens to groups: each case has a ``group_id``.
    tell: Report = report_nothing
    # Raises CoordinatorError while there is none.
    new_producer_id: Callable[[], int] = _no_producer_ids
    topics: TopicImage = NO_TOPICS
    # Where the catalog notes the topics that its records change.
    topic_changes: TopicChanges | None = None
    # The nodes that partitions of topics may be on; None: this node alone.
    node_ids: Callable[[], Sequence[int]] | None = None
    # The settings of groups; without them, no group has settings of its own.
    settings: SettingsOf | None = None
    # The shard that keeps the state of a share partition.
    share_shard: ShareShards = ShareShards(1)
    # Which topics the sender of a request may describe; None: all.
    authorize: Authorize | None = None


class RuntimeSettings(NamedTuple):
    """The write settings of a kind's runtime (runtime/flush.py)."""

    append_linger_ms: int = ADAPTIVE
    coalesces: bool = False


PASS_DELAY_MS: Final = 10
"""The delay between the passes of two shards of share state: the time of a step."""


class Builder(NamedTuple):
    """The row of a kind."""

    shard: Callable[[Materials], BuildShard[Any]]
    settings: Callable[[Config], RuntimeSettings] = lambda _config: RuntimeSettings()
    # Run on every shard of the kind when topics have been deleted.
    topics_deleted: WriteOperation[Any, Sequence[DeletedTopic], None] | None = None
    # A read operation that tells a shard of the kind which topics were created, deleted or extended.
    topics_changed: Callable[[Any, int, Collection[str]], None] | None = None
    # The operations that messages from other shards may run (machine/outbox.py).
    asked: Sequence[Asked] = ()


def build_catalog(materials: Materials) -> BuildShard[CatalogShard]:
    """Return a builder of catalog shards, which give topics random ids."""

    def build(*, partition: int, registry: SnapshotRegistry, services: ShardServices) -> CatalogShard:
        new_uuid = materials.new_uuid
        return CatalogShard(
            config=materials.config,
            registry=registry,
            timer=services.timer,
            new_topic_id=lambda: new_uuid().bytes,
            report=materials.report,
            changes=materials.topic_changes,
            node_ids=materials.node_ids,
        )

    return build


def build_groups(materials: Materials) -> BuildShard[GroupShard]:
    """Return a builder of group shards, which give members random ids."""
    member_memory, pass_times, topic_hashes = MemberMemory(), PassTimes(), TopicHashes(materials.topics)
    settings = materials.settings or SettingsOfGroups(materials.config)

    def build(*, partition: int, registry: SnapshotRegistry, services: ShardServices) -> GroupShard:
        new_uuid = materials.new_uuid
        context = GroupContext(
            config=materials.config,
            timer=services.timer,
            clock=materials.clock,
            new_id=lambda: str(new_uuid()),
            report=materials.report,
            tell=materials.tell,
            member_memory=member_memory,
            pass_times=pass_times,
            topics=materials.topics,
            topic_hashes=topic_hashes,
            settings=settings,
            executor=services.executor,
            outbox=services.outbox,
            share_shard=materials.share_shard,
            authorize=materials.authorize,
        )
        return GroupShard(context, registry)

    return build


def build_transactions(materials: Materials) -> BuildShard[TransactionShard]:
    """Return a builder of transaction shards."""
    config = materials.config
    limits = TransactionLimits(
        max_timeout_ms=config.transactions.transaction_max_timeout_ms,
        expiration_ms=config.transactions.transactional_id_expiration_ms,
        timeout_interval_ms=config.transactions.transaction_abort_timed_out_transaction_cleanup_interval_ms,
        expiration_interval_ms=config.transactions.transaction_remove_expired_transaction_cleanup_interval_ms,
        max_partitions=config.transactions.transaction_max_partitions,
    )

    def build(*, partition: int, registry: SnapshotRegistry, services: ShardServices) -> TransactionShard:
        return TransactionShard(
            limits=limits,
            registry=registry,
            timer=services.timer,
            clock=materials.clock,
            outbox=services.outbox,
            new_producer_id=materials.new_producer_id,
        )

    return build


def build_share_state(materials: Materials) -> BuildShard[ShareShard]:
    """Return a builder of share state shards."""
    config = materials.config

    def build(*, partition: int, registry: SnapshotRegistry, services: ShardServices) -> ShareShard:
        return ShareShard(
            registry=registry,
            timer=services.timer,
            clock=materials.clock,
            topics=materials.topics,
            updates_per_snapshot=config.share_coordinator_snapshot_update_records_per_snapshot,
            cold_after_ms=config.share_coordinator_cold_partition_snapshot_interval_ms,
            delay_ms=partition * PASS_DELAY_MS,
        )

    return build


def _group_settings(config: Config) -> RuntimeSettings:
    return RuntimeSettings(config.log.group_coordinator_append_linger_ms, config.log.offsets_commit_coalesce)


BUILDERS: Final[dict[str, Builder]] = {
    CATALOG.topic: Builder(build_catalog),
    GROUPS.topic: Builder(
        build_groups,
        _group_settings,
        WriteOperation("delete-topic-offsets", GroupShard.delete_topics),
        GroupShard.topics_changed,
        asked=(MARKERS,),
    ),
    TRANSACTIONS.topic: Builder(build_transactions, asked=(GROUPS_ADDED, GROUPS_FOUND)),
    SHARE_STATE.topic: Builder(
        build_share_state,
        lambda config: RuntimeSettings(config.share_coordinator_append_linger_ms),
        topics_deleted=WriteOperation("delete-topic-states", ShareShard.delete_topics),
        asked=(STATES_INITIALIZED, STATES_DELETED, STATES_SUMMARIZED),
    ),
}
