"""Kafka's own dump tool reads our segments and our compacted layers."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coordinator_server.log.layers import open_layer
from coordinator_server.machine.provenance import TIMER_ORIGIN, Reason, Why, operation_headers, request_origin
from coordinator_server.pipeline.compact import Progress, compact, compaction_lock, plans, run_python
from protocol.codec import decode
from protocol.coordinator_records import GROUP_SERDE
from protocol.fields import Message
from protocol.messages.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from protocol.record_batch import NO_HEADERS, BatchBuilder, iter_batches, iter_records
from tests.support.kafka_jars import kafka_jars
from tests.support.segments import coordinator_log, write_segments

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


def dump(*files: Path) -> str:
    """What the tool prints."""
    names = ",".join(map(str, files))
    command = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-cp", f"{kafka_jars()}/*", TOOL, "--offsets-decoder", "--files", names]
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


def expected(files: list[Path]) -> list[tuple[int, int, Any, Any]]:
    """The same from our own codecs."""
    found = []
    for file in files:
        data = file.read_bytes()
        for position, header in iter_batches(data):
            for record in iter_records(data, position, header):
                decoded = GROUP_SERDE.decode(record.key, record.value)
                assert decoded is not None
                key = {"type": str(type(decoded.key).kafka.key), "data": _json(decoded.key)}
                value = None if decoded.value is None else {"version": str(decoded.value_version), "data": _json(decoded.value)}
                found.append((record.offset, record.timestamp, key, value))
    return found


def _json(message: Any) -> Any:
    """A message as Kafka's JSON converters write it, as far as the versions in these files go."""
    if isinstance(message, bytes):
        return base64.b64encode(message).decode()
    if isinstance(message, list):
        return [_json(item) for item in message]
    if not isinstance(message, msgspec.Struct):
        return message
    fields = {name: getattr(message, name) for name in message.__struct_fields__ if name not in OF_OTHER_VERSIONS}
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


def test_provenance_changes_nothing_that_is_read(tmp_path: Path) -> None:
    """A log with every header that there is, and the same log without: the tool lists the same records, and names the headers."""
    why = [Reason(reason, "orders-1-77aa", "words of its client: zażółć") for reason in Why]
    encoded = [
        operation_headers(request_origin(14, 5, "orders-1", "10.0.0.7", "User:alice"), "orders-1-77aa", "orders-i", why),
        operation_headers(request_origin(8, 9, "orders-1", "10.0.0.7"), "orders-1-77aa", None, ()),
        operation_headers(TIMER_ORIGIN, "", None, why[:1]),
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
