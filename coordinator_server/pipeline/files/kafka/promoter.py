"""Makes a server's directory of one that follows a cluster: what ``import`` does from a stopped broker's files, in place.

Steps, and what a kill after each leaves behind:

1. the log is locked and sealed                                       the directory as it was
2. a layer per shard, which replaces all of it                        the same, with layers: ``observe`` can go on, and so can this
3. a record that producer ids begin above all that were seen          the same
4. ``meta.properties`` says no more that it follows a cluster         a server's directory

The segments stay: they are the history.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from coordinator_server.kinds import CATALOG, GROUPS, SHARE_STATE, TRANSACTIONS
from coordinator_server.log.errors import LogError
from coordinator_server.log.jobs import JobShard
from coordinator_server.log.meta import write_meta
from coordinator_server.log.opening import job_shards
from coordinator_server.log.shards import Append, ShardId, shard_named
from coordinator_server.log.storage import LOCAL
from coordinator_server.log.store import LogStore
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.files.kafka.files import KafkaBatch, Partition
from coordinator_server.pipeline.files.kafka.importer import BrokerLog, ImportResult, write_shards, write_share_state
from coordinator_server.pipeline.files.kafka.shard import KafkaShard, write_layer
from coordinator_server.pipeline.files.kafka.topics import TopicsOfOffsets
from coordinator_server.pipeline.files.kafka.transactions import first_own_producer_id
from coordinator_server.pipeline.input.data_dir import RunUntil, offline_store
from coordinator_server.pipeline.input.files import read_batches
from coordinator_server.pipeline.progress import Progress
from protocol.batch_builder import BatchBuilder
from protocol.coordinator_records import CLUSTER_METADATA_SERDE, CoordinatorRecord
from protocol.messages.cluster_metadata import ProducerIdsRecord

CATALOG_SHARD = ShardId(CATALOG.topic, 0)


class ObservedPartition(Partition):
    """A shard of an observed directory, as the import reads the partition of a broker."""

    def __init__(self, data_dir: Path, shard: JobShard, end: int) -> None:
        self.directory = data_dir / shard.name
        self.log_start = 0
        self.torn_bytes = 0
        self.files = []
        self._shard = shard
        self._end = end

    def batches(self) -> Iterator[KafkaBatch]:
        """Return every batch in offset order. Raises DamagedLog."""
        for file in self._shard.whole(self._end)[1]:
            for data, position, header in read_batches(file):
                yield KafkaBatch(Path(file.path), data, position, header)

    def next_offset(self) -> int:
        """Return the offset of the next record."""
        return self._end


def promote(data_dir: Path, progress: Progress) -> ImportResult:
    """Make a server's directory of one that follows a cluster. Raises CannotRun, NotReady while it is followed, LogError."""
    with offline_store(data_dir, "promote") as (store, run_until):
        if not store.meta.is_observed:
            raise CannotRun(f"{data_dir} does not follow a cluster: it is a server's directory already")
        ends = _sealed(store, run_until)
        result = ImportResult(
            data_dir=str(data_dir),
            cluster_id=store.meta.cluster_id,
            partitions=store.meta.partition_count(GROUPS.topic),
            transaction_partitions=store.meta.partitions.get(TRANSACTIONS.topic, 0),
            share_state_partitions=store.meta.partitions.get(SHARE_STATE.topic, 0),
        )
        log = _broker_log(data_dir, store.meta.cluster_id, ends)

        def write(partition: Partition, shard: KafkaShard) -> None:
            write_layer(shard, partition.directory)

        write_share_state(log, result, write)
        write_shards(log, result, TopicsOfOffsets(), progress, write, is_keeping_open=False)
        result.next_producer_id = first_own_producer_id(result.next_producer_id)
        _append_producer_ids(store, run_until, result.next_producer_id)
        write_meta(LOCAL, str(data_dir), replace(store.meta, is_observed=False))
    return result


def _sealed(store: LogStore, run_until: RunUntil) -> Mapping[ShardId, int]:
    """Seal all shards, so that a layer ends where a segment begins. Raises LogError."""
    answers: list[Mapping[ShardId, int] | LogError] = []
    store.seal(answers.append)
    run_until(lambda: bool(answers))
    if isinstance(answers[0], LogError):
        raise answers[0]
    return answers[0]


def _broker_log(data_dir: Path, cluster_id: str, ends: Mapping[ShardId, int]) -> BrokerLog:
    found: dict[str, list[Partition]] = {}
    for shard in job_shards(data_dir):
        name = shard_named(shard.name)
        found.setdefault(name.topic, []).append(ObservedPartition(data_dir, shard, ends.get(name, 0)))
    of = found.get
    return BrokerLog(cluster_id, of(GROUPS.topic, []), None, of(TRANSACTIONS.topic, []), of(SHARE_STATE.topic, []))


def _append_producer_ids(store: LogStore, run_until: RunUntil, first: int) -> None:
    """Let producer ids begin at ``first``. Raises LogError."""
    end = store.end_offset(CATALOG_SHARD)
    builder = BatchBuilder(end, max(time.time_ns() // 1_000_000, store.end_time(CATALOG_SHARD)))
    record = CoordinatorRecord(ProducerIdsRecord(store.meta.node_id, next_producer_id=first), None)
    builder.append(None, CLUSTER_METADATA_SERDE.encode_value(record))
    outcomes: list[Mapping[ShardId, LogError]] = []
    store.submit([Append(CATALOG_SHARD, 0, end, builder.finish())], lambda failures: outcomes.append(failures or {}))
    run_until(lambda: bool(outcomes))
    for failure in outcomes[0].values():
        raise failure
