"""The tables of the history over a log of consumer groups that a test writes by hand."""

from __future__ import annotations

from pathlib import Path

from coordinator_server.pipeline.history.new_records import new_records
from coordinator_server.pipeline.history.output import open_output
from coordinator_server.pipeline.history.run import run_here, write_history
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD
from coordinator_server.pipeline.progress import Progress
from protocol.coordinator_records import CLUSTER_METADATA_SERDE, CoordinatorRecord
from protocol.messages.cluster_metadata import RemoveTopicRecord, TopicRecord
from protocol.record_batch import Record
from tests.support.consumer_records import ORDERS, Pair
from tests.support.segments import START_MS, Batch, write_meta, write_segments

SHARD = "__consumer_offsets-3"


def write_consumer_log(data: Path, operations: list[list[Pair]], shard: str = SHARD) -> int:
    """Write the operations, a second apart, into a shard, and the catalog; the end offset of the shard."""
    offset, batches = 0, []
    for number, pairs in enumerate(operations):
        records = [Record(offset + index, START_MS + 1000 * number, *each) for index, each in enumerate(pairs)]
        batches.append(Batch(tuple(records)))
        offset += len(pairs)
    # A topic whose name is found although it was deleted, and none for PAYMENTS.
    said = [TopicRecord("orders", ORDERS), RemoveTopicRecord(ORDERS)]
    values = [CLUSTER_METADATA_SERDE.encode_value(CoordinatorRecord(each, None)) for each in said]
    catalog = [Batch((Record(index, START_MS, None, value),)) for index, value in enumerate(values)]
    write_segments(data / CATALOG_SHARD, catalog)
    return write_segments(data / shard, batches)


def history_of(tmp_path: Path, operations: list[list[Pair]]) -> Path:
    """The tables of a log in which each operation is a second after the one before."""
    end = write_consumer_log(tmp_path / "data", operations)
    write_meta(tmp_path / "data")
    with open_output(tmp_path / "out", "AAAAAAAAAAAAAAAAAAAAAQ") as opened:
        found = new_records(tmp_path / "data", {SHARD: end, CATALOG_SHARD: 2}, {})
        write_history(found, opened, run_here, Progress(), 1)
    return tmp_path / "out"
