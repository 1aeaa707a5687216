"""Kafka's own dump tool reads our segments and our compacted layers."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coordinator_server.catalog.shard import TOPICS_DECLARED
from coordinator_server.group.why import Why
from coordinator_server.log.layers.layer import open_layer
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.provenance import (
    SERVER_ORIGIN,
    TIMER_ORIGIN,
    Attribution,
    Reason,
    because,
    operation_headers,
    request_origin,
)
from coordinator_server.machine.shard import CoordinatorResult, Producer, TransactionResult
from coordinator_server.offsets.attribution import speaking_for
from coordinator_server.pipeline.compact.run import compact, compaction_lock, plans, run_python
from coordinator_server.pipeline.progress import Progress
from protocol.batch_builder import NO_HEADERS, BatchBuilder
from protocol.codec import decode
from protocol.coordinator_records import CLUSTER_METADATA_SERDE, GROUP_SERDE, SHARE_SERDE, CoordinatorRecord, KeyedSerde
from protocol.fields import Message, uuid_text
from protocol.messages.cluster_metadata import PartitionRecord, TopicRecord
from protocol.messages.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.record_batch import iter_batches, iter_records
from tests.support.kafka_jars import JVM, kafka_jars
from tests.support.kind_logs import TOPIC_ID, share_log
from tests.support.runtime import TOPIC, ToyRuntime, ToyShard
from tests.support.segments import START_MS, coordinator_log, write_segments

SHARD = "__consumer_offsets-7"
TOOL = "org.apache.kafka.tools.DumpLogSegments"
RECORD = re.compile(r"^\| offset: (?P<offset>\d+) CreateTime: (?P<time>\d+) .*? key: (?P<key>\{.*\}\}) payload: (?P<value>.*)$")
DELETED = "<DELETE>"
# Fields of other versions than those in these files: offsets and groups v3, subscriptions and assignments v0.
OF_OTHER_VERSIONS = ("expire_timestamp", "topic_id", "owned_partitions", "generation_id", "rack_id")
# Bytes that the tool looks into.
EMBEDDED: dict[str, type[Message]] = {"subscription": ConsumerProtocolSubscription, "assignment": ConsumerProtocolAssignment}


@pytest.fixture(scope="module")
def shard_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Segments and the layer made of them."""
    data_dir = tmp_path_factory.mktemp("data")
    write_segments(data_dir / SHARD, coordinator_log(11, 60), 3)
    with compaction_lock(data_dir):
        compact(plans(data_dir, {}), None, run_python, Progress())
    return data_dir / SHARD


def dump(*files: Path, decoder: str = "--offsets-decoder") -> str:
    """What the tool prints."""
    names = ",".join(map(str, files))
    command = ["java", *JVM, "-cp", f"{kafka_jars()}/*", TOOL, decoder, "--files", names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def listed(output: str) -> list[tuple[int, int, Any, Any]]:
    """Offset, timestamp, key and value of every record that the tool lists; a tombstone's value is None."""
    rows = (found.groupdict() for line in output.splitlines() if (found := RECORD.search(line)))
    return [
        (
            int(row["offset"]),
            int(row["time"]),
            json.loads(row["key"]),
            None if row["value"] == DELETED else json.loads(row["value"]),
        )
        for row in rows
    ]


def expected(files: list[Path], serde: KeyedSerde = GROUP_SERDE) -> list[tuple[int, int, Any, Any]]:
    """The same from our own codecs."""
    found = []
    for file in files:
        data = file.read_bytes()
        for position, header in iter_batches(data):
            for record in iter_records(data, position, header):
                decoded = serde.decode(record.key, record.value)
                assert decoded is not None
                key = {"type": str(type(decoded.key).kafka.key), "data": _json(decoded.key)}
                value = None if decoded.value is None else {"version": str(decoded.value_version), "data": _json(decoded.value)}
                found.append((record.offset, record.timestamp, key, value))
    return found


def _json(message: Any) -> Any:
    """A message as Kafka's JSON converters write it, as far as the versions in these files go."""
    if message == TOPIC_ID:
        return uuid_text(message)
    if isinstance(message, bytes):
        return base64.b64encode(message).decode()
    if isinstance(message, list):
        return [_json(item) for item in message]
    if not isinstance(message, msgspec.Struct):
        return message
    found = {name: getattr(message, name) for name in message.__struct_fields__}
    fields = {name: value for name, value in found.items() if name not in OF_OTHER_VERSIONS or value == TOPIC_ID}
    for name in EMBEDDED.keys() & fields:
        fields[name] = decode(EMBEDDED[name], 0, fields[name][2:])
    return {_camel(name): _json(value) for name, value in fields.items()}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def assert_reads(files: list[Path]) -> None:
    output = dump(*files)
    batches = [line for line in output.splitlines() if line.startswith("baseOffset:")]
    assert batches
    assert [line for line in batches if "isvalid: true" not in line] == []
    assert listed(output) == expected(files)


def test_segments_are_read(shard_dir: Path) -> None:
    """Every batch valid, every record with our offset, time, key and value."""
    assert_reads([path for path in sorted(shard_dir.glob("*.log")) if path.stat().st_size])


def test_a_compacted_layer_is_read(shard_dir: Path) -> None:
    """The same for what compaction left, with its gaps in the offsets."""
    [layer] = shard_dir.glob("layer-*")
    files = open_layer(shard_dir, int(layer.name.removeprefix("layer-"))).files()
    offsets = [offset for offset, *_ in expected(files)]

    assert offsets != list(range(offsets[0], offsets[-1] + 1))
    assert_reads(files)


def test_share_state_is_read(tmp_path: Path) -> None:
    """Snapshots, updates and tombstones, and what a fold has made of them: one snapshot for each share partition."""
    shard = "__share_group_state-3"
    write_segments(tmp_path / shard, share_log(3, 60), 2)
    with compaction_lock(tmp_path):
        compact(plans(tmp_path, {}), None, run_python, Progress())
    [layer] = (tmp_path / shard).glob("layer-*")
    segments = [path for path in sorted((tmp_path / shard).glob("*.log")) if path.stat().st_size]
    folded = open_layer(tmp_path / shard, int(layer.name.removeprefix("layer-"))).files()

    for files in (segments, folded):
        output = dump(*files, decoder="--share-group-state-decoder")

        assert "isvalid: true" in output
        assert "isvalid: false" not in output
        assert listed(output) == expected(files, SHARE_SERDE)
    assert {key["type"] for _, _, key, _ in expected(segments, SHARE_SERDE)} == {"0", "1"}
    assert {key["type"] for _, _, key, _ in expected(folded, SHARE_SERDE)} == {"0"}


def test_provenance_changes_nothing_that_is_read(tmp_path: Path) -> None:
    """A log with every header that there is, and the same log without: the tool lists the same records, and names the headers."""
    why = [because(Reason(reason, "orders-1-77aa", "words of its client: zażółć")) for reason in Why]
    member = speaking_for("orders-1-77aa", "orders-i")
    assert member is not None
    all_of_it = reduce(Attribution.followed_by, why, member)
    encoded = [
        operation_headers(request_origin(14, 5, "orders-1", "10.0.0.7", "User:alice"), all_of_it),
        operation_headers(request_origin(8, 9, "orders-1", "10.0.0.7"), speaking_for("orders-1-77aa", None)),
        operation_headers(TIMER_ORIGIN, why[0]),
    ]
    told, untold = tmp_path / "told" / f"{0:020d}.log", tmp_path / "untold" / f"{0:020d}.log"
    for path, is_told in ((told, True), (untold, False)):
        path.parent.mkdir()
        builders = []
        for number, batch in enumerate(coordinator_log(12, 30)):
            builder = BatchBuilder(batch.records[0].offset, batch.records[0].timestamp)
            headers = encoded[number % 3] if is_told else NO_HEADERS
            for record in batch.records:
                builder.append(record.key, record.value, headers)
                headers = NO_HEADERS
            builders.append(builder.finish())
        path.write_bytes(b"".join(builders))

    with_headers, without = dump(told), dump(untold)

    assert listed(with_headers) == listed(without) == expected([told])
    assert len(listed(without)) > 100
    names = "op1,client,host,member"
    assert f"headerKeys: [{names}]" in with_headers
    assert f"headerKeys: [op1,by,client,host,member,instance,{','.join(['why,whom,said'] * len(Why))}]" in with_headers
    assert "headerKeys: [op1,why,whom,said]" in with_headers
    assert_reads([told])


def test_the_metadata_log_is_read_with_its_provenance(tmp_path: Path) -> None:
    """Topics that the server declared itself, headers included: every record is listed as what it is."""
    topic_id = bytes(range(16))
    records = [CoordinatorRecord(TopicRecord("orders", topic_id), None)]
    records += [CoordinatorRecord(PartitionRecord(number, topic_id, [1], [1], leader=1), None) for number in range(2)]
    builder, headers = BatchBuilder(0, START_MS), operation_headers(SERVER_ORIGIN, because(Reason(TOPICS_DECLARED)))
    for record in records:
        builder.append(None, CLUSTER_METADATA_SERDE.encode_value(record), headers)
        headers = NO_HEADERS
    path = tmp_path / "__cluster_metadata-0" / f"{0:020d}.log"
    path.parent.mkdir()
    path.write_bytes(builder.finish())

    output = dump(path, decoder="--cluster-metadata-decoder")

    assert [json.loads(found)["type"] for found in re.findall(r"payload: (\{.*\})$", output, re.MULTILINE)] == [
        "TOPIC_RECORD",
        "PARTITION_RECORD",
        "PARTITION_RECORD",
    ]
    assert output.count("headerKeys: [op1,why]") == 1
    assert "isvalid: false" not in output


def test_transactions_are_read(tmp_path: Path) -> None:
    """Transactional batches and the markers that end them, as the runtime writes them."""
    toy = ToyRuntime(serde=GROUP_SERDE)
    toy.load()
    producer = Producer(4711, 3)

    def commit(partition: int) -> Callable[[ToyShard, Any], CoordinatorResult[Any]]:
        record = CoordinatorRecord(OffsetCommitKey("payments", "orders", partition), OffsetCommitValue(partition * 10), 3)
        return lambda shard, reply: CoordinatorResult("ok", [record])

    toy.write(commit(0))
    toy.write(commit(1), producer=producer)
    toy.write(commit(2), producer=producer)
    toy.end(producer, TransactionResult.COMMIT)
    toy.write(commit(3), producer=producer)
    toy.end(producer, TransactionResult.ABORT)
    toy.flush()
    segment = tmp_path / SHARD / f"{0:020d}.log"
    segment.parent.mkdir()
    segment.write_bytes(b"".join(toy.store.logs[ShardId(TOPIC, 0)]))

    output = dump(segment)
    batches = [line for line in output.splitlines() if line.startswith("baseOffset:")]
    told = [
        tuple(re.findall(r"(?:baseSequence|producerId|producerEpoch|isTransactional|isControl|isvalid): (\S+)", line))
        for line in batches
    ]
    plain, transactional = ("-1", "-1", "-1", "false", "false", "true"), ("0", "4711", "3", "true", "false", "true")
    marker = ("-1", "4711", "3", "true", "true", "true")
    assert told == [plain, transactional, transactional, marker, transactional, marker]
    assert re.findall(r"endTxnMarker: (\w+) coordinatorEpoch: (\d+)", output) == [("COMMIT", "3"), ("ABORT", "3")]
    assert [key["data"]["partition"] for _, _, key, _ in listed(output)] == [0, 1, 2, 3]
