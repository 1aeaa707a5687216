"""The import as a whole: what it takes over, what it refuses, and what a stop in the middle leaves behind."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from coordinator_server.cli import main
from coordinator_server.group.shard import GroupShard
from coordinator_server.kinds import GROUPS, SHARE_STATE
from coordinator_server.log.errors import DamagedLog, LockedLog, LogError
from coordinator_server.log.layers.layer import Layer, newest_valid_layer
from coordinator_server.log.local import LocalLogStore
from coordinator_server.log.meta import IMPORTED, read_meta
from coordinator_server.log.repair.check import check
from coordinator_server.log.storage import LocalStorage
from coordinator_server.machine.timeline import LATEST
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.files.kafka.files import KafkaDir, Partition
from coordinator_server.pipeline.files.kafka.importer import ImportResult, find_broker_log, import_kafka
from coordinator_server.pipeline.files.kafka.topics import catalog_segment, read_metadata
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.replay.shard_states import replay
from coordinator_server.pipeline.states.groups import groups_of
from coordinator_server.pipeline.states.shown_group import Group
from protocol.batch_builder import BatchBuilder
from protocol.coordinator_records import CLUSTER_METADATA_SERDE, SHARE_SERDE, TRANSACTION_SERDE, CoordinatorRecord
from protocol.fields import Message
from protocol.messages.cluster_metadata import (
    ClientQuotaRecord,
    EntityData,
    PartitionRecord,
    ProducerIdsRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UserScramCredentialRecord,
)
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue, StateBatch
from protocol.messages.transaction_records import TransactionLogKey, TransactionLogValue
from protocol.record_batch import iter_batches, iter_records
from tests.support.kafka_log import KafkaLog, kept_log
from tests.support.kafka_partition import ABORT, COMMIT, marker, of_transaction, plain, segment, write_partition
from tests.support.replay import replay_batches
from tests.support.segments import START_MS, group_key, group_value, offset_key, offset_value

FAR = 1_000_000_000
ORDERS, PAYMENTS = b"o" * 16, b"p" * 16


class StopAfter(Progress):
    """Ends the import as a kill would, but for the lock: after so many partitions."""

    def __init__(self, partitions: int) -> None:
        self._left = partitions

    def advance(self, shards: int, records: int) -> None:
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> KafkaLog:
    return kept_log(tmp_path_factory.mktemp("kept"))


def imported(data_dir: Path, *sources: Path, progress: Progress | None = None) -> ImportResult:
    return import_kafka(find_broker_log(sources), data_dir, 1, progress or Progress())


def small(log_dir: Path, partitions: int = 2) -> Path:
    for number in range(partitions):
        offset = (offset_key(f"group-{number}", "orders", 5), offset_value(70))
        write_partition(log_dir, number, (segment(0), [plain(0, offset, (group_key("crew"), group_value(4, ["one", "two"])))]))
    return log_dir


def contents(data_dir: Path) -> dict[str, bytes]:
    """Everything but the topics, which say when they were made."""
    files = (
        path for path in data_dir.rglob("*") if path.is_file() and "__cluster_metadata" not in str(path) and path.name != ".lock"
    )
    return {str(path.relative_to(data_dir)): path.read_bytes() for path in files}


def opened(data_dir: Path, partitions: int) -> LocalLogStore:
    return LocalLogStore.open(data_dir, post=lambda call: call(), node_id=1, partitions={GROUPS.topic: partitions})


def test_an_import_keeps_ids_groups_topics_and_last_records(kept: KafkaLog, tmp_path: Path) -> None:
    """Cluster id, partitions, groups by kind, topics; every key's last record with its bytes, whatever its type."""
    result = imported(tmp_path / "data", kept.log_dir)

    meta = read_meta(LocalStorage(), str(tmp_path / "data"))
    assert (meta.cluster_id, meta.node_id, meta.partition_count(GROUPS.topic)) == ("AAAAAAAAAAAAAAAAAAAAAQ", 1, 5)
    assert result.groups == {"classic": 4, "consumer": 3, "share": 1, "simple": 21, "streams": 1}
    assert (result.topics, result.open_transactions, result.is_new) == (2, 1, True)
    report = check(str(tmp_path / "data"))
    assert (report.damage, report.notes) == ([], [])
    assert main(["verify", "--engine", "python", "--data-dir", str(tmp_path / "data")]) == 0
    types = set()
    for directory in (tmp_path / "data").glob("__consumer_offsets-*"):
        layer = newest_valid_layer(directory)
        assert layer is not None
        layer.verify()
        for data in layer.read():
            types |= {record.key[:2] for record in iter_records(data, 0, next(iter_batches(data))[1]) if record.key}
    assert {int.from_bytes(each) for each in types} >= {1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 17, 19, 22, 23}


def test_a_damaged_log_of_a_broker_is_told_with_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log_dir, data_dir = small(tmp_path / "kafka"), tmp_path / "data"
    segment_file = next((log_dir / f"{GROUPS.topic}-0").glob("*.log"))
    damaged = bytearray(segment_file.read_bytes())
    damaged[-3] ^= 1
    segment_file.write_bytes(damaged + damaged)

    assert main(["import", "--from", str(log_dir), "--data-dir", str(data_dir)]) == 1
    said = capsys.readouterr().err
    assert "the broker's log is damaged, and nothing was imported: " in said
    assert f"{segment_file} at byte 0: " in said
    assert said.endswith("; --from takes another replica, if there is one\n")


@pytest.mark.parametrize("partitions", range(6))
def test_a_stop_in_the_middle_leaves_nothing_that_starts(kept: KafkaLog, tmp_path: Path, partitions: int) -> None:
    """And the next import makes of it what the first would have made."""
    whole, halved = tmp_path / "whole", tmp_path / "halved"
    imported(whole, kept.log_dir)
    if partitions < 5:
        with pytest.raises(KeyboardInterrupt):
            imported(halved, kept.log_dir, progress=StopAfter(partitions))
        with pytest.raises(LogError, match=r"import from Kafka.* was not finished"):
            opened(halved, 5)

    assert imported(halved, kept.log_dir).is_new
    assert contents(halved) == contents(whole)
    opened(halved, 5).close()


def test_the_same_import_again_changes_nothing(kept: KafkaLog, tmp_path: Path) -> None:
    """Also after a server has run there."""
    data_dir = tmp_path / "data"
    imported(data_dir, kept.log_dir)
    opened(data_dir, 5).close()
    before = contents(data_dir)

    assert not imported(data_dir, kept.log_dir).is_new
    assert contents(data_dir) == before


def test_a_directory_that_holds_something_is_refused(kept: KafkaLog, tmp_path: Path) -> None:
    """A server's, another import's, anybody's; or one that a server has now."""
    other, served, foreign, damaged = (tmp_path / name for name in ("other", "served", "foreign", "damaged"))
    imported(other, small(tmp_path / "small"))
    opened(served, 5).close()
    foreign.mkdir()
    (foreign / "notes.txt").write_text("mine")
    damaged.mkdir()
    (damaged / "meta.properties").write_bytes(b"version=0\nbegun=\xff")
    for data_dir, why in (
        (other, "another import"),
        (served, "not empty"),
        (foreign, r"not empty \(notes\.txt\)"),
        (damaged, "not empty"),
    ):
        before = contents(data_dir)
        with pytest.raises(CannotRun, match=why):
            imported(data_dir, kept.log_dir)
        assert contents(data_dir) == before
    imported(tmp_path / "kept", kept.log_dir)
    with pytest.raises(CannotRun, match="other files or options"):
        import_kafka(find_broker_log([kept.log_dir]), tmp_path / "kept", 1, Progress(), is_keeping_open=True)
    store = opened(tmp_path / "running", 5)
    with pytest.raises(LockedLog):
        imported(tmp_path / "running", kept.log_dir)
    store.close()


def test_the_number_of_partitions_is_that_of_kafka(kept: KafkaLog, tmp_path: Path) -> None:
    imported(tmp_path / "data", kept.log_dir)

    with pytest.raises(LogError, match=r"offsets\.topic\.num\.partitions=5, not 50"):
        opened(tmp_path / "data", 50)


def test_a_missing_partition_is_named(kept: KafkaLog, tmp_path: Path) -> None:
    """In the middle, and also the last one, which only the metadata log knows of."""
    for number in (2, 4):
        part = tmp_path / f"without-{number}"
        shutil.copytree(kept.log_dir, part)
        shutil.rmtree(part / f"__consumer_offsets-{number}")
        with pytest.raises(CannotRun, match=f"partitions {number} of __consumer_offsets are not there: add --from"):
            imported(tmp_path / "data", part)
        rest = tmp_path / f"only-{number}"
        shutil.copytree(kept.log_dir / f"__consumer_offsets-{number}", rest / f"__consumer_offsets-{number}")
        assert imported(tmp_path / f"data-{number}", part, rest).partitions == 5
    with pytest.raises(CannotRun, match="no __consumer_offsets-N"):
        imported(tmp_path / "data", tmp_path)
    assert not (tmp_path / "data").exists()


def test_of_replicas_the_furthest_is_read(tmp_path: Path) -> None:
    """The newest leader epoch decides, then the end: a leader that was deposed may have gone on alone."""
    key = offset_key("group", "orders", 0)
    ends = {"behind": [(0, 5)], "ahead": [(0, 5), (1, 6)], "deposed": [(0, 4), (1, 4), (2, 4)]}
    for name, batches in ends.items():
        log = [plain(offset, (key, offset_value(offset)), epoch=epoch) for offset, epoch in batches]
        write_partition(tmp_path / name, 0, (segment(0), log))
    imported(tmp_path / "data", *(tmp_path / name for name in ends))

    [state] = replay(tmp_path / "data", ["__consumer_offsets-0"])
    assert [(found.offset, state.seen_to) for found in state.groups[0].offsets] == [(1, 2)]


def test_topics_are_named_by_offsets_where_there_is_no_metadata(kept: KafkaLog, tmp_path: Path) -> None:
    """With the ids they were committed under; those committed without one get an id that stays the same."""
    bare = tmp_path / "bare"
    shutil.copytree(kept.log_dir, bare, ignore=lambda _, names: [name for name in names if name.startswith("__cluster")])
    imported(tmp_path / "data", bare)
    known = {name: (bytes.fromhex(topic_id), count) for name, (topic_id, count) in kept.answers["topics"].items()}

    topics, *_ = read_metadata(KafkaDir(tmp_path / "data").partitions("__cluster_metadata")[0])
    assert {topic.name: (topic.topic_id, topic.partitions) for topic in topics} == known

    ids = []
    for name in ("one", "two"):
        imported(tmp_path / name, small(tmp_path / "small"))
        [topic] = read_metadata(KafkaDir(tmp_path / name).partitions("__cluster_metadata")[0])[0]
        ids.append(topic.topic_id)
        assert (topic.name, topic.partitions) == ("orders", 6)
    assert ids[0] == ids[1] != bytes(16)


@pytest.mark.parametrize(("partition", "topics"), [(2**31 - 1, 1), (99_999, 11)])
def test_a_partition_that_cannot_be_is_refused(
    partition: int, topics: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A client may commit for any partition of a topic: two billion of them would fill the disk."""
    pairs = [(offset_key("group", f"orders-{number}", partition), offset_value(1)) for number in range(topics)]
    write_partition(tmp_path / "kafka", 0, (segment(0), [plain(0, *pairs)]))

    assert main(["import", "--from", str(tmp_path / "kafka"), "--data-dir", str(tmp_path / "data")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"names partition {partition} of topic orders-0" in error


def test_metadata_is_the_newest_snapshot_and_what_follows(tmp_path: Path) -> None:
    """A topic in the snapshot, one removed after it, one made after it; a batch that straddles the snapshot counts once."""

    def batch(offset: int, *messages: Message) -> bytes:
        builder = BatchBuilder(offset, 0)
        for message in messages:
            builder.append(None, CLUSTER_METADATA_SERDE.encode_value(CoordinatorRecord(message, None)))
        return builder.finish()

    directory = tmp_path / "__cluster_metadata-0"
    directory.mkdir()
    old, new = TopicRecord("old", b"x" * 16), TopicRecord("orders", ORDERS)
    alice, bob = (UserScramCredentialRecord(name, 1, b"salt", b"stored", b"server", 4096) for name in ("alice", "bob"))
    gone = TopicRecord("gone", PAYMENTS), PartitionRecord(0, PAYMENTS), bob
    snapshot = batch(0, *gone, new, PartitionRecord(0, ORDERS), alice)
    (directory / "00000000000000000004-0000000001.checkpoint").write_bytes(batch(0, old))
    (directory / "00000000000000000012-0000000001.checkpoint").write_bytes(snapshot)
    quota = ClientQuotaRecord([EntityData("user", None)], "request_percentage", 50.0)
    later = [
        batch(11, new, PartitionRecord(1, ORDERS)),
        batch(13, RemoveTopicRecord(PAYMENTS), PartitionRecord(2, ORDERS), RemoveUserScramCredentialRecord("bob", 1), quota),
    ]
    (directory / segment(11)).write_bytes(b"".join(later))

    topics, internal, *_ = read_metadata(Partition(directory))
    assert [(topic.name, topic.topic_id, topic.partitions) for topic in topics] == [("orders", ORDERS, 3)]
    assert internal == {}
    assert read_metadata(Partition(directory)).records == [alice, quota]
    ours = tmp_path / "ours" / "__cluster_metadata-0"
    ours.mkdir(parents=True)
    (ours / segment(0)).write_bytes(catalog_segment(topics, 1, 7, 0, [alice, quota]))
    assert read_metadata(Partition(ours)) == (topics, {}, 7, [alice, quota])


def test_without_topics_the_catalog_has_the_next_producer_id_alone(tmp_path: Path) -> None:
    """No offset names one."""
    write_partition(tmp_path / "kafka", 0, (segment(0), [plain(0, (group_key("crew"), group_value(4, ["one"])))]))

    assert imported(tmp_path / "data", tmp_path / "kafka").topics == 0

    assert read_metadata(Partition(tmp_path / "data" / "__cluster_metadata-0")) == ([], {}, FAR, [])


def of_id(value: TransactionLogValue) -> bytes:
    """A transaction log with one transactional id."""
    record = CoordinatorRecord(TransactionLogKey("t"), value, 1)
    return plain(0, (TRANSACTION_SERDE.encode_key(record), TRANSACTION_SERDE.encode_value(record)))


@pytest.mark.parametrize(
    ("groups", "transactions", "highest"),
    [
        ([of_transaction(0, 4_000, (offset_key("g", "orders", 0), None)), marker(1, 4_000, COMMIT)], b"", 4_000),
        ([marker(0, 5_000, COMMIT), marker(1, 4_000, ABORT)], of_id(TransactionLogValue(producer_id=3)), 5_000),
        ([marker(0, 3, ABORT)], of_id(TransactionLogValue(producer_id=6_000)), 6_000),
        ([marker(0, 3, ABORT)], of_id(TransactionLogValue(producer_id=6, next_producer_id=7_000)), 7_000),
        ([marker(0, 3, ABORT)], of_id(TransactionLogValue(producer_id=6, previous_producer_id=8_000)), 8_000),
        ([marker(0, 2**63 - 2, ABORT)], b"", 2**63 - 2 - FAR),
    ],
)
def test_no_producer_gets_an_id_of_the_brokers(tmp_path: Path, groups: list[bytes], transactions: bytes, highest: int) -> None:
    """The highest id in any log decides, and ours begin far above it: a broker that takes the log back goes on below."""
    write_partition(tmp_path / "kafka", 0, (segment(0), groups))
    write_partition(tmp_path / "kafka", 0, (segment(0), [transactions]), topic="__transaction_state")

    result = imported(tmp_path / "data", tmp_path / "kafka")

    assert result.next_producer_id == highest + 1 + FAR
    assert read_metadata(Partition(tmp_path / "data" / "__cluster_metadata-0")).next_producer_id == result.next_producer_id


def test_a_metadata_log_says_which_ids_were_given_out(tmp_path: Path) -> None:
    """Not all of them are in the logs of groups and transactions."""
    given = CoordinatorRecord(ProducerIdsRecord(2, 9, 12_000), None)
    metadata = plain(0, (b"", CLUSTER_METADATA_SERDE.encode_value(given)))
    write_partition(tmp_path / "kafka", 0, (segment(0), [marker(0, 3, ABORT)]))
    write_partition(tmp_path / "kafka", 0, (segment(0), [metadata]), topic="__cluster_metadata")

    assert imported(tmp_path / "data", tmp_path / "kafka").next_producer_id == 12_000 + FAR


def test_a_transaction_that_was_decided_is_committed(tmp_path: Path) -> None:
    """The transaction log says so; the broker stopped before it wrote the marker."""
    key = offset_key("group", "orders", 0)
    write_partition(tmp_path / "kafka", 0, (segment(0), [of_transaction(0, 7, (key, offset_value(5)))]))
    value = TransactionLogValue(producer_id=7, transaction_status=2)
    record = CoordinatorRecord(TransactionLogKey("t"), value, 1)
    pair = TRANSACTION_SERDE.encode_key(record), TRANSACTION_SERDE.encode_value(record)
    directory = tmp_path / "kafka" / "__transaction_state-0"
    directory.mkdir()
    (directory / segment(0)).write_bytes(plain(0, pair))
    result = imported(tmp_path / "data", tmp_path / "kafka")

    [state] = replay(tmp_path / "data", ["__consumer_offsets-0"])
    assert [found.offset for found in state.groups[0].offsets] == [5]
    assert result.open_transactions == 0


@pytest.mark.parametrize("is_keeping_open", [False, True])
@pytest.mark.parametrize("epoch", [3, 32_766])
def test_transactional_ids_go_on_where_they_were(tmp_path: Path, is_keeping_open: bool, epoch: int) -> None:
    """With the transaction that is open, or, if its offsets are left out, on the way to be aborted; its producer is fenced then."""
    write_partition(tmp_path / "kafka", 0, (segment(0), [marker(0, 3, ABORT)]))
    shared = {"producer_epoch": epoch, "transaction_last_update_timestamp_ms": 9}
    values = {
        "ongoing": TransactionLogValue(producer_id=5, transaction_status=1, transaction_start_timestamp_ms=8, **shared),  # type: ignore[arg-type]
        "decided": TransactionLogValue(producer_id=6, transaction_status=2, **shared),  # type: ignore[arg-type]
        "done": TransactionLogValue(producer_id=7, transaction_status=4, **shared),  # type: ignore[arg-type]
        "gone": None,
    }
    records = [CoordinatorRecord(TransactionLogKey(name), value, 1) for name, value in values.items()]
    pairs = [(TRANSACTION_SERDE.encode_key(each), TRANSACTION_SERDE.encode_value(each)) for each in records]
    write_partition(tmp_path / "kafka", 0, (segment(0), [plain(0, *pairs)]), topic="__transaction_state")

    log = find_broker_log([tmp_path / "kafka"])
    result = import_kafka(log, tmp_path / "data", 1, Progress(), is_keeping_open=is_keeping_open)

    [state] = replay(tmp_path / "data", ["__transaction_state-0"])
    found = {part.rpartition(" ")[2]: (each["state"], each["producer_epoch"]) for part, each in state.contents.items()}
    ended = ("PrepareAbort", epoch + 1 if epoch < 32_766 else epoch)
    ongoing = ("Ongoing", epoch) if is_keeping_open else ended
    assert found == {"ongoing": ongoing, "decided": ("PrepareCommit", epoch), "done": ("CompleteCommit", epoch)}
    assert (result.transactional_ids, result.transaction_partitions) == (3, 1)
    assert read_meta(LocalStorage(), str(tmp_path / "data")).partition_count("__transaction_state") == 1


def test_a_partition_of_transactional_ids_that_is_missing_is_named(tmp_path: Path) -> None:
    write_partition(tmp_path / "kafka", 0, (segment(0), [marker(0, 3, ABORT)]))
    write_partition(tmp_path / "kafka", 1, (segment(0), []), topic="__transaction_state")

    with pytest.raises(CannotRun, match="partitions 0 of __transaction_state are not there"):
        imported(tmp_path / "data", tmp_path / "kafka")


@pytest.mark.parametrize("status", [9, 99])
def test_a_state_of_transactions_that_kafka_does_not_have_is_refused(tmp_path: Path, status: int) -> None:
    write_partition(tmp_path / "kafka", 0, (segment(0), [marker(0, 3, ABORT)]))
    strange = of_id(TransactionLogValue(producer_id=7, transaction_status=status))
    write_partition(tmp_path / "kafka", 0, (segment(0), [strange]), topic="__transaction_state")

    with pytest.raises(LogError, match="__transaction_state: a record cannot be read"):
        imported(tmp_path / "data", tmp_path / "kafka")


@pytest.mark.parametrize("is_keeping_open", [False, True])
def test_an_open_transaction_is_left_out_or_pending(kept: KafkaLog, tmp_path: Path, is_keeping_open: bool) -> None:
    """Never committed; and unstable for readers only where somebody wants to keep it."""
    result = import_kafka(find_broker_log([kept.log_dir]), tmp_path, 1, Progress(), is_keeping_open=is_keeping_open)

    shard = replay_batches(data for path in sorted(tmp_path.glob("__consumer*")) for data in _layer(path).read())
    assert [(found.partition, found.offset) for found in _group(shard, "txn-open").offsets] == [(0, 1), (1, 1)]
    assert set(shard.groups.pending.open_at("txn-open", LATEST)) == ({("orders", 0), ("orders", 2)} if is_keeping_open else set())
    [note] = result.notes
    assert ("stay pending" if is_keeping_open else "as if it were aborted") in note


def _layer(directory: Path) -> Layer:
    layer = newest_valid_layer(directory)
    assert layer is not None
    return layer


def _group(shard: GroupShard, group_id: str) -> Group:
    [group] = [group for group in groups_of(shard) if group.group_id == group_id]
    return group


def test_unknown_records_are_kept(tmp_path: Path) -> None:
    """A type that a later Kafka wrote stays in the log, byte for byte, and the operator hears of it."""
    strange = (b"\x03\xe7a key", b"\0\0a value")
    write_partition(tmp_path / "kafka", 0, (segment(0), [plain(0, strange)]))
    result = imported(tmp_path / "data", tmp_path / "kafka")

    assert result.notes == ["__consumer_offsets-0: 1 records of type 999, which this version does not know, are kept as they are"]
    layer = newest_valid_layer(tmp_path / "data" / "__consumer_offsets-0")
    assert layer is not None
    [data] = layer.read()
    [record] = iter_records(data, 0, next(iter_batches(data))[1])
    assert (record.key, record.value) == strange


def test_an_import_reports_what_it_leaves_out(tmp_path: Path) -> None:
    """Records without a key, and an end that an unclean stop has torn. What is left is imported."""
    keyless = BatchBuilder(1, 0)
    keyless.append(None, b"value")
    commit = offset_key("group", "orders", 0), offset_value(5)
    log = [plain(0, commit), keyless.finish(), plain(2, commit)[:40]]
    write_partition(tmp_path / "kafka", 0, (segment(0), log))

    result = imported(tmp_path / "data", tmp_path / "kafka")

    assert result.notes == [
        "__consumer_offsets-0: 40 bytes at the end were torn off by an unclean stop, and are left out",
        "__consumer_offsets-0: 1 records without a key, which no coordinator wrote, are left out",
    ]
    [state] = replay(tmp_path / "data", ["__consumer_offsets-0"])
    assert [found.offset for found in state.groups[0].offsets] == [5]


def test_directories_of_different_clusters_are_refused(tmp_path: Path) -> None:
    for name in ("one", "other"):
        small(tmp_path / name)
        (tmp_path / name / "meta.properties").write_text(f"version=1\ncluster.id={name}\n")

    with pytest.raises(CannotRun, match="different clusters: one, other"):
        find_broker_log([tmp_path / "one", tmp_path / "other"])


def test_a_partition_that_its_topic_does_not_have_is_refused(kept: KafkaLog, tmp_path: Path) -> None:
    """It is of another cluster, or of a topic that was deleted."""
    shutil.copytree(kept.log_dir, tmp_path / "kafka")
    shutil.copytree(kept.log_dir / "__consumer_offsets-0", tmp_path / "kafka" / "__consumer_offsets-5")

    with pytest.raises(CannotRun, match="__consumer_offsets-5 exists, but the topic has 5 partitions"):
        imported(tmp_path / "data", tmp_path / "kafka")


def test_a_directory_whose_import_record_is_damaged_is_refused(tmp_path: Path) -> None:
    """What it holds is not known."""
    imported(tmp_path / "data", small(tmp_path / "kafka"))
    record = tmp_path / "data" / IMPORTED
    record.write_bytes(record.read_bytes()[:-3])

    with pytest.raises(CannotRun, match=r"cannot be read .*: import into another directory"):
        imported(tmp_path / "data", tmp_path / "kafka")


def test_a_transaction_log_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A transaction that was decided there would be left out."""
    small(tmp_path / "kafka")
    record = CoordinatorRecord(TransactionLogKey("t"), TransactionLogValue(), 1)
    write_partition(
        tmp_path / "kafka",
        0,
        (segment(0), [plain(0, (TRANSACTION_SERDE.encode_key(record), b"\0\1"))]),
        topic="__transaction_state",
    )

    with pytest.raises(LogError, match="__transaction_state: a record cannot be read"):
        imported(tmp_path / "data", tmp_path / "kafka")


def test_an_import_without_groups_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_partition(tmp_path / "kafka", 0, (segment(0), []))

    assert main(["import", "--from", str(tmp_path / "kafka"), "--data-dir", str(tmp_path / "data")]) == 0

    assert "groups: none; 0 offsets, 0 topics" in capsys.readouterr().out


def test_a_record_that_cannot_be_read_is_refused_now(tmp_path: Path) -> None:
    """Rather than at the first start."""
    write_partition(tmp_path / "kafka", 0, (segment(0), [plain(0, (b"\0\1\0", b"\0\1"))]))

    with pytest.raises(DamagedLog, match="the record at offset 0 cannot be read"):
        imported(tmp_path / "data", tmp_path / "kafka")


def test_the_import_command_prints_the_next_command_and_has_exit_codes(
    kept: KafkaLog, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Says what came of it and how to go on; exit codes tell refusals apart."""
    words = ["import", "--from", str(kept.log_dir), "--data-dir", str(tmp_path / "data"), "--node-id", "4"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    counts = "--override offsets.topic.num.partitions=5 --override transaction.state.log.num.partitions=1"
    assert out.splitlines()[-1].endswith(f"{tmp_path / 'data'} {counts} --override node.id=4")
    assert err.count("\n") == 1

    assert main(words) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'data'} already has this import: nothing was changed\n"
    assert main([*words, "--json"]) == 0
    assert '"is_new":false' in capsys.readouterr().out
    assert main(["import", "--from", str(tmp_path / "no"), "--data-dir", str(tmp_path / "x")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    damaged = small(tmp_path / "damaged", 1)
    path = damaged / "__consumer_offsets-0" / segment(0)
    path.write_bytes(path.read_bytes()[:-1] + b"!" + plain(9, (b"\0\1", b"")))
    assert main(["import", "--from", str(damaged), "--data-dir", str(tmp_path / "x")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def with_share_state(log_dir: Path, *records: CoordinatorRecord, number: int = 0, first_offset: int = 0) -> Path:
    """A broker's partition of share state, a record in each batch."""
    pairs = [(SHARE_SERDE.encode_key(record), SHARE_SERDE.encode_value(record)) for record in records]
    batches = [plain(first_offset + at, each) for at, each in enumerate(pairs)]
    write_partition(log_dir, number, (segment(first_offset), batches), topic=SHARE_STATE.topic)
    return log_dir


def share_update(*offsets: int) -> CoordinatorRecord:
    batches = [StateBatch(first, first + 1, 0, 1) for first in offsets]
    return CoordinatorRecord(ShareUpdateKey("workers", ORDERS, 0), ShareUpdateValue(3, 1, -1, -1, batches))


SHARE_SNAPSHOT = CoordinatorRecord(ShareSnapshotKey("workers", ORDERS, 0), ShareSnapshotValue(3, 1, 1, 10))


def test_share_partitions_are_folded(tmp_path: Path) -> None:
    """One snapshot, at the last record's offset with its time, that has all updates and the epoch of its snapshot; a shard of its
    own for each partition, of which the numbers are kept."""
    log_dir = with_share_state(small(tmp_path / "kafka"), SHARE_SNAPSHOT, share_update(10), share_update(20), first_offset=7)
    with_share_state(log_dir, number=1)

    result = imported(tmp_path / "data", log_dir)

    assert (result.share_partitions, result.share_state_partitions, result.notes) == (1, 2, [])
    assert read_meta(LocalStorage(), str(tmp_path / "data")).partition_count(SHARE_STATE.topic) == 2
    layer = newest_valid_layer(tmp_path / "data" / f"{SHARE_STATE.topic}-0")
    assert layer is not None
    layer.verify()
    [batch] = layer.read()
    [record] = iter_records(batch, 0, next(iter_batches(batch))[1])
    decoded = SHARE_SERDE.decode(record.key, record.value)
    assert decoded is not None
    assert (record.offset, record.timestamp, layer.to_offset, decoded.key) == (9, START_MS + 9, 10, SHARE_SNAPSHOT.key)
    assert decoded.value == ShareSnapshotValue(
        3, 1, 1, 10, -1, state_batches=[StateBatch(10, 11, 0, 1), StateBatch(20, 21, 0, 1)]
    )
    assert main(["verify", "--engine", "python", "--data-dir", str(tmp_path / "data")]) == 0
    assert not imported(tmp_path / "data", log_dir).is_new


def test_share_state_before_the_start_of_a_brokers_log_is_left_out(tmp_path: Path) -> None:
    """The broker has removed it. A tombstone is kept, and a fence that a later snapshot is below."""
    tombstone = CoordinatorRecord(SHARE_SNAPSHOT.key, None)
    other = ShareSnapshotKey("others", ORDERS, 0)
    log_dir = with_share_state(
        small(tmp_path / "kafka"),
        tombstone,
        CoordinatorRecord(other, ShareSnapshotValue(0, 5, 9, 1)),
        CoordinatorRecord(other, ShareSnapshotValue(1, 6, 0, 2)),
        SHARE_SNAPSHOT,
        tombstone,
    )
    (log_dir / "log-start-offset-checkpoint").write_text(f"0\n1\n{SHARE_STATE.topic} 0 1\n")

    result = imported(tmp_path / "data", log_dir)

    [state] = replay(tmp_path / "data", [f"{SHARE_STATE.topic}-0"])
    [found] = state.contents.values()
    assert (found["state_epoch"], found["leader_epoch"], found["highest_leader_epoch"], found["start_offset"]) == (6, 0, 9, 2)
    # Two groups of one key each, their offsets, and of share state: a fence, a snapshot, a tombstone.
    assert (result.share_partitions, result.records_kept) == (1, 4 + 3)


def test_damaged_share_state_is_told(tmp_path: Path) -> None:
    """And records of types that a later version writes are counted."""
    later = CoordinatorRecord(SHARE_SNAPSHOT.key, SHARE_SNAPSHOT.value)
    log_dir = with_share_state(small(tmp_path / "kafka"), later)
    write_partition(log_dir, 1, (segment(0), [plain(0, (b"\0\7key", b"value"))]), topic=SHARE_STATE.topic)
    write_partition(log_dir, 2, (segment(0), [plain(0, (b"\0\0", b"value"))]), topic=SHARE_STATE.topic)

    with pytest.raises(DamagedLog, match=rf"{SHARE_STATE.topic}-2"):
        imported(tmp_path / "data", log_dir)

    shutil.rmtree(log_dir / f"{SHARE_STATE.topic}-2")
    assert imported(tmp_path / "again", log_dir).notes == [
        f"{SHARE_STATE.topic}-1: 1 records of types that this version does not know are left out"
    ]
