"""Logs of share partitions as a share coordinator writes them, batch by batch, with provenance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from coordinator_server.kinds import CATALOG, SHARE_STATE
from coordinator_server.log.layers.attempt import publish
from coordinator_server.machine.provenance import Origin, operation_headers, request_origin
from coordinator_server.pipeline.compact.engine import PythonEngine, compact_shard
from protocol.batch_builder import NO_HEADERS, BatchBuilder
from protocol.coordinator_records import CLUSTER_METADATA_SERDE, SHARE_SERDE, CoordinatorRecord
from protocol.fields import Message
from protocol.messages.cluster_metadata import TopicRecord
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue, StateBatch
from tests.support.inputs import plan_shard
from tests.support.segments import START_MS, write_meta

SECOND: Final = 1000
JOBS: Final = b"jobs-topic-id-16"
SHARD: Final = f"{SHARE_STATE.topic}-3"
GROUPS_SIDE: Final = request_origin(83, 0, "coordinator", "10.0.0.1")
BROKER: Final = request_origin(85, 1, "broker-1", "10.0.0.2")

Batches = Sequence[tuple[int, int, int, int]]
"""First offset, last offset, delivery state, delivery count."""


class ShareLog:
    """One shard's log. Each record is appended so many seconds after the beginning."""

    def __init__(self) -> None:
        self._data = b""
        self._from = self.offset = 0

    def snapshot(
        self, second: int, start: int, batches: Batches = (), *, epochs: tuple[int, int, int] = (0, 1, 0), name: str = "workers"
    ) -> None:
        """``epochs`` are those of the snapshot, the state and the leader."""
        snapshot_epoch, state_epoch, leader_epoch = epochs
        at_ms = START_MS + second * SECOND
        value = ShareSnapshotValue(snapshot_epoch, state_epoch, leader_epoch, start, 0, at_ms, at_ms, _batches(batches))
        self._add(second, CoordinatorRecord(ShareSnapshotKey(name, JOBS, 0), value), GROUPS_SIDE)

    def update(self, second: int, start: int, batches: Batches = (), leader_epoch: int = 0, name: str = "workers") -> None:
        value = ShareUpdateValue(0, leader_epoch, start, 2, _batches(batches))
        self._add(second, CoordinatorRecord(ShareUpdateKey(name, JOBS, 0), value), BROKER)

    def delete(self, second: int, name: str = "workers") -> None:
        self._add(second, CoordinatorRecord(ShareSnapshotKey(name, JOBS, 0), None), None)

    def write(self, shard: Path) -> None:
        """Write what is new as a sealed segment. An empty active one follows."""
        shard.mkdir(exist_ok=True, parents=True)
        if self._data:
            (shard / f"{self._from:020d}.log").write_bytes(self._data)
            (shard / f"{self.offset:020d}.log").touch()
        self._data, self._from = b"", self.offset

    def _add(self, second: int, record: CoordinatorRecord, origin: Origin | None) -> None:
        builder = BatchBuilder(self.offset, START_MS + second * SECOND)
        headers = NO_HEADERS if origin is None else operation_headers(origin, None)
        builder.append(SHARE_SERDE.encode_key(record), SHARE_SERDE.encode_value(record), headers)
        self.offset = builder.next_offset
        self._data += builder.finish()


def write_properties(data_dir: Path) -> None:
    """Make a directory a data directory with a log of share partitions, and a topic ``jobs``."""
    write_meta(data_dir)
    with (data_dir / "meta.properties").open("a") as properties:
        properties.write("share.coordinator.state.topic.num.partitions=50\n")
    write_topic(data_dir, TopicRecord("jobs", JOBS))


def write_topic(data_dir: Path, record: Message) -> None:
    shard = data_dir / f"{CATALOG.topic}-0"
    shard.mkdir()
    builder = BatchBuilder(0, START_MS)
    named = CoordinatorRecord(record, None)
    builder.append(CLUSTER_METADATA_SERDE.encode_key(named), CLUSTER_METADATA_SERDE.encode_value(named))
    (shard / f"{0:020d}.log").write_bytes(builder.finish())
    (shard / f"{builder.next_offset:020d}.log").touch()


def compact(shard_dir: Path) -> None:
    """Add a layer of all that is sealed."""
    plan = plan_shard(shard_dir)
    assert plan is not None
    publish(Path(compact_shard(plan, None, PythonEngine()).attempt), shard_dir, plan.to_offset)


def _batches(batches: Batches) -> list[StateBatch]:
    return [StateBatch(first, last, state, count) for first, last, state, count in batches]
