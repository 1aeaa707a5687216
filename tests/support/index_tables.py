"""What the tables of an index have, and what the whole log says of the same things, found in other ways."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st
from msgspec import structs

from coordinator_server.kinds import GROUPS, SHARE_STATE, TRANSACTIONS, topic_of
from coordinator_server.log.opening import job_shards
from coordinator_server.observe.end_offsets import EndOffsetsWriter
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.index.database import open_to_read
from coordinator_server.pipeline.index.feed import DIRECTORY, Updated, update_shard
from coordinator_server.pipeline.index.tables.activity import activity, totals
from coordinator_server.pipeline.index.tables.group_writes import hanging
from coordinator_server.pipeline.index.tables.lags import indexed_group_lags, lags_now
from coordinator_server.pipeline.index.tables.memberships import GroupMembership, GroupNow, group_now, groups_now, memberships
from coordinator_server.pipeline.index.tables.share_partitions import share_minutes, share_partitions
from coordinator_server.pipeline.index.tables.transactions import transactional_ids, transactions
from coordinator_server.pipeline.input.files import batches_before, records_of
from coordinator_server.pipeline.input.topic_names import NO_NAMES, TopicNames
from coordinator_server.pipeline.lag.end_offsets import EndOffsets, read_samples
from coordinator_server.pipeline.lag.lags import group_lags, lags
from coordinator_server.pipeline.replay import transaction_timeline
from coordinator_server.pipeline.replay.group_ledger import group_records
from coordinator_server.pipeline.replay.memberships import Memberships
from coordinator_server.pipeline.replay.share_timeline import Chosen, ShareLog
from coordinator_server.pipeline.replay.transactions import Transactions
from coordinator_server.pipeline.states.share_steps import ShareSteps, counts_of
from coordinator_server.pipeline.transactions.transitions import transitions_of
from protocol.batch_builder import BatchBuilder
from protocol.coordinator_records import SHARE_SERDE, TRANSACTION_SERDE, CoordinatorRecord
from protocol.fields import uuid_text
from protocol.messages.group_records import GroupMetadataValue
from protocol.messages.transaction_records import PartitionsSchema, TransactionLogKey, TransactionLogValue
from protocol.record_batch import BatchHeader
from protocol.share_partition_names import SharePartitionKey
from tests.support.index import CLUSTER, index_writer, make_directory
from tests.support.random_log import PRODUCERS, SPAN_MS
from tests.support.segments import START_MS

MINUTE_MS: Final = 60_000
GROUP_IDS: Final = ("g", "h", "nobody")

_moved = st.lists(st.sampled_from((GROUPS.topic, "orders")), unique=True)
_values = st.builds(
    lambda producer, epoch, status, topics, start: TransactionLogValue(
        producer_id=producer,
        producer_epoch=epoch,
        transaction_status=status,
        transaction_partitions=[PartitionsSchema(topic, [0]) for topic in topics],
        transaction_start_timestamp_ms=START_MS + start,
    ),
    st.sampled_from(PRODUCERS),
    st.integers(0, 2),
    st.integers(0, 5),
    _moved,
    st.integers(0, 3),
)
_records = st.tuples(st.sampled_from(("one", "two")), st.none() | _values, st.integers(0, SPAN_MS))


def transaction_logs(most: int = 20) -> st.SearchStrategy[list[bytes]]:
    """The batches of a log of transactional ids in any order of states: a cleaner may have left them so."""
    return st.lists(_records, max_size=most).map(
        lambda records: [_batch(offset, *record) for offset, record in enumerate(records)]
    )


def _batch(offset: int, transactional_id: str, value: TransactionLogValue | None, at: int) -> bytes:
    record = CoordinatorRecord(TransactionLogKey(transactional_id), value, 1)
    builder = BatchBuilder(offset, START_MS + at)
    builder.append(TRANSACTION_SERDE.encode_key(record), TRANSACTION_SERDE.encode_value(record))
    return builder.finish()


def make_whole_directory(tmp_path: Path) -> Path:
    """A directory with one shard of each topic that an index has."""
    data = make_directory(tmp_path)
    with (data / "meta.properties").open("a") as properties:
        for kind in (TRANSACTIONS, SHARE_STATE):
            properties.write(f"{kind.partitions}=1\n")
    return data


def sample(data: Path, second: int, ends: list[int]) -> None:
    EndOffsetsWriter(data).write(START_MS + second, {"t": ends})


def update_all(data: Path, ends: dict[str, int], chunk_bytes: int, left: int = -1) -> None:
    with index_writer(data, chunk_bytes, left) as writer:
        for shard in job_shards(data):
            if shard.name in ends:
                update_shard(writer, shard, ends[shard.name], Updated())
        writer.flush()
        writer.take_samples(data)


def of_index(data: Path) -> dict[str, Any]:
    """Everything that the tables have."""
    with closing(open_to_read(data / DIRECTORY, CLUSTER)) as database:
        share = share_partitions(database)
        return {
            "memberships": sorted(memberships(database), key=str),
            "activity": {each: [minute[:3] for minute in activity(database, each)] for each in GROUP_IDS},
            "totals": [(name, *found) for name, found in totals(database)],
            "groups": list(groups_now(database)),
            "hanging": sorted(map(structs.astuple, hanging(database))),
            "ids": transactional_ids(database),
            "transactions": sorted(((each.transactional_id, each.transaction) for each in transactions(database)), key=str),
            "share": share,
            "minutes": {each[:3]: share_minutes(database, SharePartitionKey(*each[:3])) for each in share},
            "lags": sorted(lags_now(database), key=lambda each: (each.group, each.topic, each.partition)),
            "group lags": indexed_group_lags(database),
        }


def of_log(data: Path, ends: dict[str, int]) -> dict[str, Any]:
    """The same from the whole log."""
    samples = EndOffsets(read_samples(data))
    of_positions = sorted(lags(data, ends, samples), key=lambda each: (each.group, each.topic, each.partition))
    share, minutes = _share(data, ends)
    return {
        "memberships": sorted(_memberships(data, ends), key=str),
        "activity": {each: _activity(data, ends, each) for each in GROUP_IDS},
        "totals": list(_totals(data, ends)),
        "groups": list(_groups_now(data, ends)),
        "hanging": _hanging(data, ends),
        "ids": _ids(data, ends),
        "transactions": sorted(_transactions(data, ends), key=str),
        "share": share,
        "minutes": minutes,
        "lags": of_positions,
        "group lags": list(group_lags(of_positions)) if samples.last_ms >= 0 else [],
    }


def _batches(data: Path, ends: dict[str, int], topic: str) -> Iterator[tuple[bytes, int, BatchHeader]]:
    for shard in job_shards(data):
        if topic_of(shard.name) == topic:
            yield from batches_before(shard.whole(ends[shard.name])[1], ends[shard.name])


def _memberships(data: Path, ends: dict[str, int]) -> Iterator[GroupMembership]:
    for group_id in GROUP_IDS:
        followed = Memberships()
        found = []
        for batch in _batches(data, ends, GROUPS.topic):
            records = [(record.timestamp, key, value) for record, key, value, _ in group_records(group_id, *batch)]
            if records:
                found += followed.add(((key, value) for _, key, value in records), batch[2].base_offset, _last(batch, group_id))
        for each in (*found, *followed.open()):
            yield GroupMembership(group_id, each.client_id, each.client_host, each.since_ms, each.until_ms, each.most)


def _last(batch: tuple[bytes, int, BatchHeader], group_id: str) -> int:
    """The time of the last record of a group in a batch."""
    return [record.timestamp for record in records_of(*batch) if _group(record.key) == group_id][-1]


def _activity(data: Path, ends: dict[str, int], group_id: str) -> list[tuple[int, int, int]]:
    commits: Counter[int] = Counter()
    others: Counter[int] = Counter()
    for batch in _batches(data, ends, GROUPS.topic):
        for record in () if batch[2].is_control else records_of(*batch):
            if _group(record.key) == group_id:
                is_commit = record.key is not None and record.key[1] < 2 and record.value is not None
                (commits if is_commit else others)[record.timestamp // MINUTE_MS * MINUTE_MS] += 1
    return [(at_ms, commits[at_ms], others[at_ms]) for at_ms in sorted(commits.keys() | others.keys())]


def _totals(data: Path, ends: dict[str, int]) -> Iterator[tuple[str, int, int]]:
    """Committed offsets, and generations with members or epochs."""
    for group_id in GROUP_IDS:
        minutes = _activity(data, ends, group_id)
        records = [each for batch in _batches(data, ends, GROUPS.topic) for each in group_records(group_id, *batch)]
        named = [(type(key).__name__, value) for _, key, value, _ in records if value is not None]
        epochs = sum(
            name in {"ConsumerGroupMetadataKey", "ShareGroupMetadataKey", "StreamsGroupMetadataKey"} for name, _ in named
        )
        generations = sum(isinstance(value, GroupMetadataValue) and bool(value.members) for _, value in named)
        if minutes:
            yield group_id, sum(minute[1] for minute in minutes), epochs + generations


def _groups_now(data: Path, ends: dict[str, int]) -> Iterator[GroupNow]:
    """From the records of each group alone."""
    for group_id in GROUP_IDS:
        followed = Memberships()
        for batch in _batches(data, ends, GROUPS.topic):
            followed.add(((key, value) for _, key, value, _ in group_records(group_id, *batch)), 0, 0)
        group = followed.state.group
        if group is not None:
            yield group_now(group_id, followed.state, NO_NAMES)


def _group(key: bytes | None) -> str | None:
    known: Collection[int] = range(30)
    if key is None or int.from_bytes(key[:2]) not in known:
        return None
    return key[4 : 4 + int.from_bytes(key[2:4])].decode()


def _hanging(data: Path, ends: dict[str, int]) -> list[tuple[Any, ...]]:
    """As the timeline finds them; their groups have any record in the transaction, also one that Kafka writes in none."""
    found = []
    for each in transaction_timeline.hanging(data, ends):
        groups: set[str] = set()
        for batch in _batches(data, ends, GROUPS.topic):
            if batch[2].producer_id == each.producer_id and batch[2].base_offset >= each.first_offset:
                groups |= {name for record in records_of(*batch) if (name := _group(record.key)) is not None}
        found.append((*(getattr(each, name) for name in each.__struct_fields__[:-1]), sorted(groups)))
    return sorted(found)


def _ids(data: Path, ends: dict[str, int]) -> list[tuple[Any, ...]]:
    return [
        (
            each.transactional_id,
            each.state,
            each.producer_id,
            each.producer_epoch,
            each.timeout_ms,
            each.update_ms,
            [] if each.start_ms == -1 else each.partitions,
        )
        for each in transaction_timeline.known_at(data, ends)
    ]


def _transactions(data: Path, ends: dict[str, int]) -> Iterator[tuple[str, Any]]:
    followed: dict[str, Transactions] = {}
    for batch in _batches(data, ends, TRANSACTIONS.topic):
        for each in transitions_of(*batch):
            of_id = followed.setdefault(each.transactional_id, Transactions())
            yield from ((each.transactional_id, ended) for ended in of_id.add(each))
    yield from ((name, each.open) for name, each in followed.items() if each.open is not None)


def _share(data: Path, ends: dict[str, int]) -> tuple[list[Any], dict[Any, Any]]:
    log = ShareLog(data, ends, TopicNames(data, 0))
    minutes: dict[tuple[Any, ...], dict[int, Any]] = {}
    steps = ShareSteps()
    for batch in _batches(data, ends, SHARE_STATE.topic):
        for record in records_of(*batch):
            decoded = SHARE_SERDE.decode(record.key, record.value)
            step = None if decoded is None else steps.add(record.offset, decoded)
            if step is not None:
                counts = None if step.after is None else (step.after.start_offset, *counts_of(step.after))
                minutes.setdefault(tuple(step.key), {})[record.timestamp // MINUTE_MS * MINUTE_MS] = counts
    found = []
    for group_id in sorted({key[0] for key in minutes}):
        try:
            at = log.partitions_at(Chosen(group_id))
        except PipelineError:
            continue
        found += [(group_id, each) for each in at]
    return found, minutes


def comparable_share(index: list[Any], minutes: dict[Any, Any], log: list[Any], of_log: dict[Any, Any]) -> tuple[Any, Any]:
    """Both in one form."""
    of_index = {
        (each.group_id, uuid_text(each.topic_id), each.partition): (
            each.changed_ms,
            *each.standing[:4],
            each.delivery_complete,
            each.state_epoch,
            each.leader_epoch,
            each.snapshot_epoch,
            [tuple(one) for one in each.unsettled],
        )
        for each in index
    }
    expected = {
        (group_id, each.topic_id, each.partition): (
            each.changed_ms,
            each.start_offset,
            each.in_flight,
            each.acknowledged,
            each.archived,
            each.delivery_complete,
            each.state_epoch,
            each.leader_epoch,
            each.snapshot_epoch,
            [tuple(getattr(one, name) for name in one.__struct_fields__) for one in each.unsettled],
        )
        for group_id, each in log
    }
    shown = {key: [(at_ms, standing and standing[:5]) for at_ms, standing in rows] for key, rows in minutes.items()}
    wanted = {key: sorted(of_log[key].items()) for key in shown}
    return (of_index, shown), (expected, wanted)
