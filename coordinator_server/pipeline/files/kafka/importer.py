"""Imports the groups, transactional ids and share partitions of a stopped Kafka broker into a new data directory.

Steps, and what a kill after each leaves behind:

1. read ``meta.properties`` and lock the directory                 nothing
2. ``meta.properties`` says that an import has begun               a directory that no server starts on; the next import starts over
3. a layer per partition, a segment with the topics                the same
4. ``kafka-import.json`` says what was read, file by file          the same
5. ``meta.properties`` gets its final content, by one rename       a whole data directory

Repeating the same import changes nothing, even after a server has run on the directory: the file of step 4 is compared.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from coordinator_server.kinds import CATALOG, GROUPS, SHARE_STATE, TRANSACTIONS
from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.file_names import LOCK, segment_path
from coordinator_server.log.jobs import FileEntry
from coordinator_server.log.layers.layer import file_entry
from coordinator_server.log.meta import IMPORTED, NAME, begin_meta, begun_in, write_meta
from coordinator_server.log.storage import LOCAL, Storage, make_dir_durably, read_file, remove_tree, replace_file, sync_dir
from coordinator_server.log.store import Meta
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.files.kafka.files import KafkaDir, Partition
from coordinator_server.pipeline.files.kafka.folded import read_folded
from coordinator_server.pipeline.files.kafka.shard import KafkaShard, end_decided, read_shard, write_layer
from coordinator_server.pipeline.files.kafka.topics import TopicsOfOffsets, catalog_segment, read_metadata
from coordinator_server.pipeline.files.kafka.transactions import (
    abort_ongoing,
    first_own_producer_id,
    highest_producer_id,
    outcomes_of,
    transactions_in,
)
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.rules import RULES, Folded
from protocol.coordinator_records import GROUP_SERDE
from protocol.errors import DecodeError
from protocol.fields import ZERO_UUID, uuid_text
from protocol.messages.group_records import GroupMetadataKey, LegacyOffsetCommitKey, OffsetCommitKey, OffsetCommitValue

BEGUN: Final = "import from Kafka"
FORMAT: Final = 1
# Files that an unused data directory may have: of locks and file systems.
_NOTHING: Final = frozenset({LOCK, "lost+found", f"{NAME}.new"})


class ImportRecord(Struct, frozen=True):
    """What was imported, in enough detail to recognise the same import again."""

    cluster_id: str
    partitions: int
    node_id: int
    is_keeping_open: bool
    files: tuple[FileEntry, ...]
    format: int = FORMAT


class ImportResult(Struct, kw_only=True):
    """The result of an import. ``notes`` are lines for the operator."""

    data_dir: str
    cluster_id: str
    partitions: int
    # Of the transactional ids; 0 if there is no log of them.
    transaction_partitions: int = 0
    is_new: bool = True
    records_read: int = 0
    records_kept: int = 0
    groups: dict[str, int] = {}
    offsets: int = 0
    topics: int = 0
    # Credentials of users, ACLs and client quotas.
    security_records: int = 0
    transactional_ids: int = 0
    # Partitions of the log of share partitions; 0 if there is none.
    share_state_partitions: int = 0
    share_partitions: int = 0
    open_transactions: int = 0
    # The first producer id that the server gives out. Far above the broker's, so that no two producers have the same.
    next_producer_id: int = 0
    notes: list[str] = []


class BrokerLog(Struct):
    """The log to import, from the directories of one or more brokers."""

    cluster_id: str
    partitions: list[Partition]
    metadata: Partition | None
    transactions: list[Partition]
    share_state: list[Partition] = []


def find_broker_log(directories: Sequence[Path]) -> BrokerLog:
    """Find the log in the directories of brokers. Raises CannotRun if partitions are missing, LockedLog if a broker is running."""
    found = [KafkaDir(path) for path in directories]
    clusters = {directory.cluster_id for directory in found if directory.cluster_id}
    if len(clusters) > 1:
        raise CannotRun(f"these are directories of different clusters: {', '.join(sorted(clusters))}")
    offsets = _of_all(found, GROUPS.topic)
    if not offsets:
        raise CannotRun(f"no {GROUPS.topic}-N in {', '.join(map(str, directories))}: --from takes the broker's log.dirs")
    metadata = _of_all(found, CATALOG.topic).get(0)
    transactions = list(_of_all(found, TRANSACTIONS.topic).values())
    cluster_id = next(iter(clusters), "") or _made_up_id(offsets.values())
    share_state = list(_of_all(found, SHARE_STATE.topic).values())
    return BrokerLog(cluster_id, list(offsets.values()), metadata, transactions, share_state)


def import_kafka(
    log: BrokerLog,
    data_dir: Path,
    node_id: int,
    progress: Progress,
    *,
    is_keeping_open: bool = False,
    storage: Storage = LOCAL,
) -> ImportResult:
    """Import into an empty data directory. Raises CannotRun if it is not empty, unless it has the same import.

    With ``is_keeping_open``, open transactions stay pending; otherwise they are left out.
    """
    metadata = None if log.metadata is None else read_metadata(log.metadata)
    internal = {} if metadata is None else metadata.internal
    counts = {GROUPS.topic: _partition_count(log.partitions, GROUPS.topic, internal)}
    for kind, partitions in ((TRANSACTIONS, log.transactions), (SHARE_STATE, log.share_state)):
        if partitions:
            counts[kind.topic] = _partition_count(partitions, kind.topic, internal)
    count = counts[GROUPS.topic]
    record = ImportRecord(log.cluster_id, count, node_id, is_keeping_open, _entries(log))
    result = ImportResult(data_dir=str(data_dir), cluster_id=log.cluster_id, partitions=count)
    result.transaction_partitions = counts.get(TRANSACTIONS.topic, 0)
    result.share_state_partitions = counts.get(SHARE_STATE.topic, 0)
    make_dir_durably(storage, str(data_dir))

    def write(partition: Partition, shard: KafkaShard) -> None:
        directory = data_dir / f"{partition.topic}-{partition.number}"
        storage.make_dir(str(directory))
        write_layer(shard, directory, storage)

    lock = storage.lock(f"{data_dir}/{LOCK}", "import")
    try:
        if not _is_to_do(storage, data_dir, record):
            # The process that ended it may have been killed before the final name was durable.
            sync_dir(storage, str(data_dir))
            result.is_new = False
            return result
        begin_meta(storage, str(data_dir), BEGUN)
        named = TopicsOfOffsets()
        write_share_state(log, result, write)
        write_shards(log, result, named, progress, write, is_keeping_open=is_keeping_open)
        topics = named.topics(log.cluster_id) if metadata is None else metadata.topics
        given = 0 if metadata is None else metadata.next_producer_id
        records = [] if metadata is None else metadata.records
        result.topics, result.security_records = len(topics), len(records)
        result.next_producer_id = first_own_producer_id(max(result.next_producer_id, given))
        now_ms = time.time_ns() // 1_000_000
        _write_catalog(storage, data_dir, catalog_segment(topics, node_id, result.next_producer_id, now_ms, records))
        replace_file(storage, f"{data_dir}/{IMPORTED}", msgspec.json.encode(record, order="sorted") + b"\n")
        write_meta(storage, str(data_dir), Meta(log.cluster_id, node_id, counts))
    finally:
        lock.close()
    return result


def _made_up_id(partitions: Iterable[Partition]) -> str:
    """Compute a cluster id for a copy that has none. It depends on the files alone, so that the same import can be recognised."""
    seen = "".join(f"{entry.name}:{entry.size}:{entry.crc32c} " for entry in _file_entries(partitions))
    return uuid_text(hashlib.sha256(seen.encode()).digest()[:16])


def _of_all(directories: Sequence[KafkaDir], topic: str) -> dict[int, Partition]:
    """Return each partition of a topic once.

    Of several replicas the one with the newest leader epoch is chosen, then the longest.
    """
    found: dict[int, Partition] = {}
    for directory in directories:
        for partition in directory.partitions(topic):
            other = found.get(partition.number)
            if other is None or _reach(partition) > _reach(other):
                found[partition.number] = partition
    return dict(sorted(found.items()))


def _reach(partition: Partition) -> tuple[int, int]:
    newest = partition.last_header()
    return (-1, -1) if newest is None else (newest.leader_epoch, newest.next_offset)


def _partition_count(partitions: Sequence[Partition], topic: str, declared: Mapping[str, int]) -> int:
    """Return the number of partitions of a topic. Raises CannotRun if one is missing: what it has would be lost without notice."""
    numbers = {partition.number for partition in partitions}
    count = declared.get(topic, max(numbers) + 1)
    missing = sorted(set(range(count)) - numbers)
    if missing:
        shown = ", ".join(map(str, missing[:5])) + (" …" if len(missing) > 5 else "")
        raise CannotRun(
            f"partitions {shown} of {topic} are not there: add --from with the log.dirs of the brokers that have them"
        )
    if max(numbers) >= count:
        raise CannotRun(f"{topic}-{max(numbers)} exists, but the topic has {count} partitions: is it of this cluster?")
    return count


def _entries(log: BrokerLog) -> tuple[FileEntry, ...]:
    return _file_entries([*log.partitions, *log.transactions, *log.share_state, *([log.metadata] if log.metadata else [])])


def _file_entries(partitions: Iterable[Partition]) -> tuple[FileEntry, ...]:
    files = (path for partition in partitions for path in partition.files)
    return tuple(file_entry(path, f"{path.parent.name}/{path.name}") for path in files)


def _is_to_do(storage: Storage, data_dir: Path, record: ImportRecord) -> bool:
    """Return whether to import: not if the directory has the same import. What an interrupted import has left is removed."""
    begun = begun_in(storage, str(data_dir))
    present = [name for name in storage.list(str(data_dir)) if name not in _NOTHING]
    if begun == BEGUN:
        for name in present:
            if name != NAME:
                remove_tree(storage, f"{data_dir}/{name}")
        return True
    if not present:
        return True
    if begun is not None or IMPORTED not in present:
        raise CannotRun(f"{data_dir} is not empty ({present[0]}): an import needs a directory of its own")
    try:
        done = msgspec.json.decode(read_file(storage, f"{data_dir}/{IMPORTED}"), type=ImportRecord)
    except msgspec.DecodeError as error:
        raise CannotRun(f"{data_dir / IMPORTED} cannot be read ({error}): import into another directory") from error
    if done != record:
        raise CannotRun(
            f"{data_dir} holds another import: its {IMPORTED} names other files or options. Import into another directory"
        )
    return False


def write_shards(
    log: BrokerLog,
    result: ImportResult,
    named: TopicsOfOffsets,
    progress: Progress,
    write: Callable[[Partition, KafkaShard], None],
    *,
    is_keeping_open: bool,
) -> None:
    """Read the partitions of transactional ids, then those of groups, and write each that has ever had a record.

    ``next_producer_id`` of the result is above all producer ids in the logs.
    """
    read = [(partition, read_shard(partition)) for partition in log.transactions]
    transactions = transactions_in(shard for _, shard in read)
    outcomes = outcomes_of(transactions)
    result.next_producer_id = highest_producer_id(transactions) + 1
    result.transactional_ids = len(transactions)
    for partition, shard in read:
        if not is_keeping_open:
            abort_ongoing(shard)
        if shard.next_offset:
            write(partition, shard)
    kinds: dict[str, str] = {}
    progress.start(len(log.partitions))
    try:
        for done, partition in enumerate(log.partitions, 1):
            shard = read_shard(partition)
            result.next_producer_id = max(result.next_producer_id, shard.highest_producer_id + 1)
            end_decided(shard, outcomes)
            _note_open(shard, partition, result, is_kept=is_keeping_open)
            if not is_keeping_open:
                shard.open.clear()
            _count_records(shard, partition, result, named, kinds)
            if shard.next_offset:
                write(partition, shard)
            progress.advance(done, result.records_read)
    finally:
        progress.stop()
    for kind in kinds.values():
        result.groups[kind] = result.groups.get(kind, 0) + 1


def write_share_state(log: BrokerLog, result: ImportResult, write: Callable[[Partition, KafkaShard], None]) -> None:
    """Fold the partitions of share state, and write each that has ever had a record."""
    rule = RULES[SHARE_STATE.topic]
    assert isinstance(rule.compaction, Folded)
    for partition in log.share_state:
        found = read_folded(partition, rule, rule.compaction)
        result.records_read += found.shard.records_in
        result.records_kept += len(found.shard.latest)
        result.share_partitions += found.parts
        if found.unknown:
            what = f"{found.unknown} records of types that this version does not know"
            result.notes.append(f"{partition.directory.name}: {what} are left out")
        if partition.torn_bytes:
            result.notes.append(_torn(partition))
        if found.shard.next_offset:
            write(partition, found.shard)


def _count_records(
    shard: KafkaShard, partition: Partition, result: ImportResult, named: TopicsOfOffsets, kinds: dict[str, str]
) -> None:
    """Decode all records, as a server will, count them, and add notes about unusual ones."""
    name = partition.directory.name
    result.records_read += shard.records_in
    result.records_kept += len(shard.latest)
    unknown: dict[int, int] = {}
    simple: set[str] = set()
    for key, record in shard.latest.items():
        try:
            decoded = GROUP_SERDE.decode(key, record.value)
        except DecodeError as error:
            raise DamagedLog(
                str(partition.directory), 0, f"the record at offset {record.offset} cannot be read: {error}"
            ) from error
        if decoded is None:
            number = int.from_bytes(key[:2], signed=True)
            unknown[number] = unknown.get(number, 0) + 1
        elif decoded.value is not None and isinstance(decoded.key, OffsetCommitKey | LegacyOffsetCommitKey):
            value = decoded.value
            topic_id = value.topic_id if isinstance(value, OffsetCommitValue) else ZERO_UUID
            named.add(decoded.key.topic, decoded.key.partition, topic_id, value.commit_timestamp)  # type: ignore[attr-defined]
            result.offsets += 1
            simple.add(decoded.key.group)
        elif decoded.value is not None:
            kinds[_group_of(decoded.key)] = _kind_of(decoded.key)
    for group_id in simple:
        kinds.setdefault(group_id, "simple")
    for number, times in sorted(unknown.items()):
        result.notes.append(f"{name}: {times} records of type {number}, which this version does not know, are kept as they are")
    if partition.torn_bytes:
        result.notes.append(_torn(partition))
    if shard.without_key:
        result.notes.append(f"{name}: {shard.without_key} records without a key, which no coordinator wrote, are left out")


def _torn(partition: Partition) -> str:
    return (
        f"{partition.directory.name}: {partition.torn_bytes} bytes at the end were torn off by an unclean stop, and are left out"
    )


def _note_open(shard: KafkaShard, partition: Partition, result: ImportResult, *, is_kept: bool) -> None:
    what = "stay pending" if is_kept else "are left out, as if it were aborted"
    for transaction in shard.open.values():
        result.open_transactions += 1
        result.notes.append(
            f"{partition.directory.name}: the transaction of producer {transaction.producer_id} was open: "
            f"its {len(transaction.records)} offsets {what}"
        )


def _group_of(key: object) -> str:
    return key.group if isinstance(key, GroupMetadataKey) else str(getattr(key, "group_id", ""))


def _kind_of(key: object) -> str:
    """Return classic, consumer, share or streams, from the name of the record type."""
    if isinstance(key, GroupMetadataKey):
        return "classic"
    return type(key).__name__.partition("Group")[0].lower()


def _write_catalog(storage: Storage, data_dir: Path, data: bytes) -> None:
    directory = f"{data_dir}/{CATALOG.topic}-0"
    storage.make_dir(directory)
    replace_file(storage, segment_path(directory, 0), data)
