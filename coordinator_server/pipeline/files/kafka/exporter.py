"""Exports shards to a stopped Kafka broker: they replace the partitions of the same topics in its directory.

The topics are those whose rule is ``is_exported``: ``__consumer_offsets`` always, the others if there is a log of them.

The export has what a start of this server would read: the newest layer, then the segments after it, with the records that are still
in the journal. Batches are copied unchanged. A segment ends before it gets too large, or an offset too far from the first for
Kafka's indexes. Indexes, producer snapshots and epoch files are not written. The broker rebuilds them after an unclean stop, so
the mark of a clean stop is removed first. The new files of a partition are complete before the old ones are removed; after an
interruption, run the export again. The broker's lock is held meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from coordinator_server.kinds import Kind
from coordinator_server.log.file_names import segment_name
from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import LOCAL, Storage, replace_file, sync_dir
from coordinator_server.log.store import LogStore
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.files.kafka.files import CLEAN_SHUTDOWN, KafkaDir, Partition, broker_lock
from coordinator_server.pipeline.input.data_dir import offline_store
from coordinator_server.pipeline.layer.batches import MAX_OFFSET_DELTA
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.rules import RULES
from protocol.record_batch import iter_records, read_header

SEGMENT_BYTES: Final = 100 * 1024 * 1024
# The file that tells a broker the topic of the directory.
IDENTITY: Final = "partition.metadata"
_ATTEMPT: Final = ".exported"


class ExportResult(Struct, kw_only=True):
    """What was exported to a Kafka broker."""

    to: str
    partitions: int
    batches: int = 0
    records: int = 0
    bytes: int = 0


def export_kafka(data_dir: Path, log_dir: Path, progress: Progress) -> ExportResult:
    """Replace the partitions of a stopped broker.

    Raises CannotRun if they do not match, LockedLog if server or broker is running.
    """
    broker = KafkaDir(log_dir)
    with offline_store(data_dir, "export") as (store, _):
        partitions: list[Partition] = []
        for kind in _exported(store):
            found = broker.partitions(kind.topic)
            _check(kind, found, store.meta.partition_count(kind.topic), log_dir)
            partitions += found
        with broker_lock(log_dir):
            targets = {ShardId(partition.topic, partition.number): str(partition.directory) for partition in partitions}
            result = replace_partitions(LOCAL, store, targets, str(log_dir), progress)
    return result


def replace_partitions(
    storage: Storage, store: LogStore, targets: Mapping[ShardId, str], log_dir: str, progress: Progress
) -> ExportResult:
    """Write each shard to the directory that the locked broker has for it."""
    result = ExportResult(to=log_dir, partitions=len(targets))
    storage.remove(f"{log_dir}/{CLEAN_SHUTDOWN}")
    sync_dir(storage, log_dir)
    progress.start(len(targets))
    try:
        for done, (shard, directory) in enumerate(targets.items(), 1):
            _replace(storage, directory, _segments(store.read(shard, 0), store.end_offset(shard), result))
            progress.advance(done, result.records)
    finally:
        progress.stop()
    return result


def _exported(store: LogStore) -> list[Kind]:
    """Return the kinds that have a log, and those that always exist."""
    used = store.topics()
    return [rule.kind for rule in RULES.values() if rule.is_exported and (rule.kind.is_permanent or rule.kind.topic in used)]


def _check(kind: Kind, partitions: list[Partition], count: int, log_dir: Path) -> None:
    numbers = [partition.number for partition in partitions]
    if numbers != list(range(count)):
        found = f"{len(numbers)} partitions" if numbers else "no partition"
        raise CannotRun(
            f"{log_dir} has {found} of {kind.topic}, and {count} are to go there: have the broker make the topic first, "
            f"with {kind.partitions}={count} and all partitions on it"
        )
    strange = [partition.directory for partition in partitions if not (partition.directory / IDENTITY).exists()]
    if strange:
        raise CannotRun(f"{strange[0]} has no {IDENTITY}: it is not the directory of a broker's partition")


def _replace(storage: Storage, directory: str, segments: Iterable[tuple[int, bytes]]) -> None:
    old = [name for name in storage.list(directory) if name != IDENTITY]
    names = []
    for base, data in segments:
        names.append(segment_name(base))
        replace_file(storage, f"{directory}/{names[-1]}{_ATTEMPT}", data)
    attempts = {f"{name}{_ATTEMPT}" for name in names}
    for name in old:
        if name not in attempts and not storage.is_dir(f"{directory}/{name}"):
            storage.remove(f"{directory}/{name}")
    for name in names:
        storage.rename(f"{directory}/{name}{_ATTEMPT}", f"{directory}/{name}")
    sync_dir(storage, directory)


def _segments(batches: Iterable[bytes], end_offset: int, result: ExportResult) -> Iterator[tuple[int, bytes]]:
    """Return base offset and bytes of each segment.

    If the last batch ends before ``end_offset``, an empty segment is named for that.
    """
    segment: list[bytes] = []
    base = size = next_offset = 0
    for batch in batches:
        header = read_header(batch)
        if segment and (size + len(batch) > SEGMENT_BYTES or header.last_offset - base > MAX_OFFSET_DELTA):
            yield base, b"".join(segment)
            segment = []
        if not segment:
            base, size = header.base_offset, 0
        segment.append(batch)
        size += len(batch)
        next_offset = header.next_offset
        result.batches += 1
        result.records += sum(1 for _ in iter_records(batch, 0, header))
        result.bytes += len(batch)
    if segment:
        yield base, b"".join(segment)
    if next_offset < end_offset:
        yield end_offset, b""
