"""Writes shard directories as a server would leave them: segments of many batches, the last one empty and active.

Keys and values are encoded here by hand after Kafka's schemas (OffsetCommit v1/v3, GroupMetadata v3, ConsumerProtocol v0), apart
from the project's own codecs, so that they can be told wrong by them. Everything follows from a seed.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from protocol.batch_builder import BatchBuilder
from protocol.record_batch import Record

START_MS = 1_764_000_000_000
PROVENANCE = (("op1", b"8/9"), ("client", b"orders-1"), ("host", b"10.0.0.7"), ("member", b"orders-1-77aa"))


class Batch(NamedTuple):
    """Records that were appended together."""

    records: tuple[Record, ...]
    leader_epoch: int = 0


def text(value: str | None) -> bytes:
    """Kafka's STRING: int16 length, UTF-8."""
    return struct.pack(">h", -1) if value is None else struct.pack(">h", len(value.encode())) + value.encode()


def blob(value: bytes) -> bytes:
    """Kafka's BYTES."""
    return struct.pack(">i", len(value)) + value


def offset_key(group: str, topic: str, partition: int) -> bytes:
    return struct.pack(">h", 1) + text(group) + text(topic) + struct.pack(">i", partition)


def offset_value(offset: int, metadata: str = "", commit_ms: int = START_MS) -> bytes:
    return struct.pack(">hqi", 3, offset, -1) + text(metadata) + struct.pack(">q", commit_ms)


def group_key(group: str) -> bytes:
    return struct.pack(">h", 2) + text(group)


def group_value(generation: int, members: Sequence[str], topic: str = "orders", changed_ms: int = START_MS) -> bytes:
    """A stable consumer group in which member i owns partition i of the topic; empty without members."""
    head = text("consumer") + struct.pack(">i", generation)
    head += text("range" if members else None) + text(members[0] if members else None) + struct.pack(">q", changed_ms)
    body = b""
    for number, member in enumerate(members):
        subscription = struct.pack(">hi", 0, 1) + text(topic) + blob(b"")
        assignment = struct.pack(">hi", 0, 1) + text(topic) + struct.pack(">ii", 1, number) + blob(b"")
        body += text(member) + text(None) + text(member.rpartition("-")[0]) + text("/127.0.0.1")
        body += struct.pack(">ii", 60_000, 10_000) + blob(subscription) + blob(assignment)
    return struct.pack(">h", 3) + head + struct.pack(">i", len(members)) + body


def encode(batch: Batch) -> bytes:
    """One RecordBatch."""
    first = batch.records[0]
    builder = BatchBuilder(first.offset, first.timestamp, batch.leader_epoch)
    for record in batch.records:
        builder.append_record(record)
    return builder.finish()


def coordinator_log(seed: int, batches: int, groups: int = 12, first_offset: int = 0) -> Iterator[Batch]:
    """A history of groups: members come and go, offsets are committed over and over, some groups and offsets are deleted."""
    rng = random.Random(seed)
    offset, now, epoch = first_offset, START_MS + 1000 * first_offset, first_offset // 3000
    for number in range(batches):
        now += rng.randrange(0, 700)
        epoch += rng.random() < 0.02
        records: list[Record] = []
        for key, value in _operation(rng, f"group-{rng.randrange(groups)}", number, now):
            headers = PROVENANCE[: rng.randrange(5)] if not records else ()
            records.append(Record(offset, now + rng.randrange(-3, 4), key, value, headers))
            offset += 1
        yield Batch(tuple(records), epoch)


def _operation(rng: random.Random, group: str, number: int, now: int) -> list[tuple[bytes, bytes | None]]:
    kind = rng.random()
    if kind < 0.15:
        members = [f"client-{i}-{rng.randrange(10**6):06d}" for i in range(rng.randrange(0, 6))]
        return [(group_key(group), group_value(number, members, changed_ms=now))]
    if kind < 0.2:
        return [(group_key(group), None)]
    count = rng.choice((1, 1, 1, 6, 60, 250))
    topic = rng.choice(("orders", "payments", "zażółć-topic"))
    if kind < 0.3:
        return [(offset_key(group, topic, partition), None) for partition in range(count)]
    metadata = rng.choice(("", "", "checkpoint", "x" * 300))
    return [
        (offset_key(group, topic, partition), offset_value(number * 10 + partition, metadata, now)) for partition in range(count)
    ]


def write_segments(shard_dir: Path, batches: Iterable[Batch], segments: int = 4, *, sealed: bool = True, base: int = 0) -> int:
    """Spread batches over segment files; the end offset. Sealed: an empty active segment follows."""
    shard_dir.mkdir(parents=True, exist_ok=True)
    whole = list(batches)
    end = base
    size = max(1, -(-len(whole) // segments))
    for start in range(0, len(whole), size):
        part = whole[start : start + size]
        (shard_dir / f"{part[0].records[0].offset:020d}.log").write_bytes(b"".join(map(encode, part)))
        end = part[-1].records[-1].offset + 1
    if sealed:
        (shard_dir / f"{end:020d}.log").touch()
    return end


def append_segments(shard_dir: Path, batches: Iterable[Batch], segments: int = 2) -> int:
    """More segments behind those that are there; the empty active one gives way."""
    last = max(shard_dir.glob("*.log"))
    if not last.stat().st_size:
        last.unlink()
    return write_segments(shard_dir, batches, segments, base=int(last.stem))


def write_meta(data_dir: Path) -> None:
    """What makes a directory a data directory."""
    facts = {"version": 1, "cluster.id": "AAAAAAAAAAAAAAAAAAAAAQ", "node.id": 1, "offsets.topic.num.partitions": 50}
    (data_dir / "meta.properties").write_text("".join(f"{name}={value}\n" for name, value in facts.items()))
