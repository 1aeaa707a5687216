"""Logs of the toy kinds (tests/toy), in every partition. They follow from the partition."""

from __future__ import annotations

import random
from pathlib import Path

from coordinator_server.kinds import GROUPS, Kind
from coordinator_server.log.local import LocalLogStore
from protocol.coordinator_records import CoordinatorRecord
from tests.support.kind_logs import batches_of
from tests.support.segments import append_segments, write_segments
from tests.toy.records import added_record, total_record
from tests.toy.rows import FOLDED, PARTITIONS


def records(kind: Kind, seed: int, count: int = 80) -> list[CoordinatorRecord]:
    """Totals of a few names, one after the other or as sums, now and then deleted."""
    rng, found = random.Random(seed), []
    for number in range(count):
        name = f"name-{rng.randrange(9)}"
        if rng.random() < 0.15:
            found.append(total_record(name, None))
        else:
            found.append(added_record(name, rng.randrange(9)) if kind is FOLDED else total_record(name, number))
    return found


def shards(data_dir: Path, kind: Kind) -> list[Path]:
    return [data_dir / f"{kind.topic}-{number}" for number in range(PARTITIONS)]


def written(data_dir: Path, kind: Kind) -> Path:
    """A data directory with a log in every partition."""
    LocalLogStore.open(data_dir, post=lambda call: call(), node_id=1, partitions={GROUPS.topic: PARTITIONS}).close()
    for number, shard_dir in enumerate(shards(data_dir, kind)):
        write_segments(shard_dir, batches_of(kind.serde, records(kind, number)))
    return data_dir


def write_more(data_dir: Path, kind: Kind) -> None:
    """More segments behind those that are there."""
    for number, shard_dir in enumerate(shards(data_dir, kind)):
        end = int(max(shard_dir.glob("*.log")).stem)
        append_segments(shard_dir, batches_of(kind.serde, records(kind, number + 50), end))
