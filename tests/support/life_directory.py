"""A data directory with the log of a life."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Final

from coordinator_server.machine.provenance import Provenance
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.whatif.records import MemberRecord
from protocol.coordinator_records import CLUSTER_METADATA_SERDE, GROUP_SERDE, CoordinatorRecord
from protocol.record_batch import Record
from tests.support.group_lives import GROUP, Lives
from tests.support.segments import Batch, write_meta, write_segments

SHARD: Final = f"__consumer_offsets-{partition_for(GROUP, 50)}"


def write_life(data: Path, lives: Lives) -> int:
    """Write a life and the topics into a new directory; the end offset of the group's shard."""
    data.mkdir(exist_ok=True)
    write_meta(data)
    values = [(at_ms, CLUSTER_METADATA_SERDE.encode_value(CoordinatorRecord(each, None))) for at_ms, each in lives.catalog]
    write_segments(
        data / CATALOG_SHARD, [Batch((Record(number, at_ms, None, value),)) for number, (at_ms, value) in enumerate(values)]
    )
    return write_segments(data / SHARD, list(_batches(lives.records)))


def _batches(records: Iterable[MemberRecord]) -> Iterable[Batch]:
    """The records of each operation, in batches without gaps: what is about offsets is left out."""
    offset = 0
    for _, operation in groupby(records, key=lambda record: (record.at_ms, id(record.provenance))):
        found = []
        for number, record in enumerate(operation):
            again = CoordinatorRecord(record.key, record.value)
            key, value = GROUP_SERDE.encode_key(again), GROUP_SERDE.encode_value(again)
            headers = _headers(record.provenance) if not number and record.provenance is not None else ()
            found.append(Record(offset, record.at_ms, key, value, headers))
            offset += 1
        yield Batch(tuple(found))


def _headers(provenance: Provenance) -> tuple[tuple[str, bytes | None], ...]:
    who = [("op1", provenance.operation), ("client", provenance.client_id), ("host", provenance.client_host), *provenance.others]
    for reason in provenance.reasons:
        who += [("why", reason.why), ("whom", reason.whom), ("said", reason.said)]
    return tuple((name, value.encode()) for name, value in who if value)
