"""A partition of Kafka becomes a layer: which record of a key counts, above all where transactions are."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.layers.layer import open_layer
from coordinator_server.pipeline.files.kafka.files import Partition
from coordinator_server.pipeline.files.kafka.shard import KafkaShard, end_decided, read_shard, write_layer
from coordinator_server.pipeline.states.groups import groups_of
from protocol.batch_builder import BatchBuilder
from protocol.record_batch import CONTROL, TRANSACTIONAL, Record, iter_batches, iter_records
from tests.support.kafka_partition import ABORT, COMMIT, marker, of_transaction, plain, segment, with_holes, write_partition
from tests.support.random_log import packed
from tests.support.replay import replay_batches
from tests.support.segments import START_MS, offset_key, offset_value

KEY = offset_key("group", "orders", 0)
OTHER = offset_key("group", "orders", 1)


def read(tmp_path: Path, *batches: bytes) -> KafkaShard:
    return read_shard(Partition(write_partition(tmp_path, 0, (segment(0), batches))))


def marker_without_type(offset: int) -> bytes:
    """A control record whose key is too short."""
    builder = BatchBuilder(offset, START_MS, attributes=CONTROL | TRANSACTIONAL, producer_id=7, producer_epoch=0)
    builder.append(b"\0\0", b"")
    return builder.finish()


def latest(shard: KafkaShard) -> dict[bytes, int]:
    """The offset of the record that counts, by key; tombstones left out."""
    return {key: record.offset for key, record in shard.latest.items() if record.value is not None}


def committed(layer_dir: Path, to_offset: int) -> list[tuple[int, int]]:
    """Partition and offset as a server would answer them."""
    shard = replay_batches(open_layer(layer_dir, to_offset).read())
    return [(found.partition, found.offset) for group in groups_of(shard) for found in group.offsets]


@pytest.mark.parametrize("kind", [COMMIT, ABORT])
def test_a_transaction_counts_when_it_is_committed(tmp_path: Path, kind: int) -> None:
    shard = read(tmp_path, plain(0, (KEY, b"1")), of_transaction(1, 7, (KEY, b"2")), marker(2, 7, kind))

    assert latest(shard) == {KEY: 1 if kind == COMMIT else 0}
    assert (shard.open, shard.next_offset, shard.records_in) == ({}, 3, 2)


def test_a_plain_commit_between_wins(tmp_path: Path) -> None:
    """Offsets say what is newer, not the time of the marker."""
    shard = read(tmp_path, of_transaction(0, 7, (KEY, b"1"), (OTHER, b"1")), plain(2, (KEY, b"2")), marker(3, 7, COMMIT))

    assert latest(shard) == {KEY: 2, OTHER: 1}


def test_a_tombstone_between_wins(tmp_path: Path) -> None:
    """A group that is deleted takes what is pending along."""
    shard = read(tmp_path, of_transaction(0, 7, (KEY, b"1"), (OTHER, b"1")), plain(2, (KEY, None)), marker(3, 7, COMMIT))

    assert latest(shard) == {OTHER: 1}


def test_an_open_transaction_is_kept_and_not_seen(tmp_path: Path) -> None:
    """Between plain records, in the order of the log; a server that loads it has it pending."""
    value = offset_value(5)
    shard = read(
        tmp_path,
        plain(0, (KEY, value)),
        of_transaction(1, 7, (KEY, offset_value(50))),
        plain(2, (OTHER, value)),
        of_transaction(3, 8, (OTHER, offset_value(60))),
        marker(4, 8, ABORT),
    )
    target = tmp_path / "layers" / "__consumer_offsets-0"
    target.mkdir(parents=True)
    write_layer(shard, target)

    assert latest(shard) == {KEY: 0, OTHER: 2}
    batches = list(open_layer(target, 5).read())
    headers = [next(iter_batches(batch))[1] for batch in batches]
    assert [(header.base_offset, header.producer_id, header.leader_epoch) for header in headers] == [
        (0, -1, 0),
        (1, 7, 0),
        (2, -1, 0),
    ]
    assert committed(target, 5) == [(0, 5), (1, 5)]


def test_a_decided_transaction_needs_no_marker(tmp_path: Path) -> None:
    """The broker stopped after its transaction log said so, and before the marker was written here."""
    shard = read(
        tmp_path, of_transaction(0, 7, (KEY, b"1")), of_transaction(1, 8, (OTHER, b"1")), of_transaction(2, 9, (OTHER, b"2"))
    )
    end_decided(shard, {7: True, 8: False, 99: True})

    assert latest(shard) == {KEY: 0}
    assert set(shard.open) == {9}


def test_holes_headers_and_times_stay(tmp_path: Path) -> None:
    """Offsets are Kafka's own; so are the times, also where the broker set them on append."""
    first, second = Record(3, START_MS, KEY, b"1", (("h", b"x"),)), Record(9, START_MS + 5, OTHER, b"2")
    append_time = BatchBuilder(12, START_MS, attributes=0x08)
    append_time.append_record(Record(12, START_MS - 1000, b"\0\1k", b"3"))
    append_time.append_record(Record(13, START_MS + 700, b"\0\1l", b"4"))
    shard = read(tmp_path, with_holes(first, second), append_time.finish())
    target = tmp_path / "layers" / "__consumer_offsets-0"
    target.mkdir(parents=True)
    write_layer(shard, target)

    [data] = open_layer(target, 14).read()
    found = list(iter_records(data, 0, next(iter_batches(data))[1]))
    assert found[:2] == [first, second]
    assert [record.timestamp for record in found[2:]] == [START_MS + 700] * 2


def test_an_empty_log_that_once_was_one(tmp_path: Path) -> None:
    """Everything was cleaned away: the layer says where the log goes on, and holds nothing."""
    directory = write_partition(tmp_path, 0, (segment(40), []))
    shard = read_shard(Partition(directory))
    target = tmp_path / "layers" / "__consumer_offsets-0"
    target.mkdir(parents=True)
    write_layer(shard, target)

    layer = open_layer(target, 40)
    assert (list(layer.read()), layer.manifest.records) == ([], 0)


def test_any_history_of_transactions_comes_to_what_kafka_makes_of_it(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Against the two tables that Kafka's coordinator keeps: what is committed, and what each producer has pending."""
    given = request.config.getoption("--seed")
    seed = random.randrange(2**32) if given is None else given
    rng = random.Random(seed)
    keys = [offset_key("g", "t", number) for number in range(4)]
    batches: list[bytes] = []
    stored: dict[bytes, int] = {}
    pending: dict[int, dict[bytes, int]] = {}
    for offset in range(400):
        key, producer = rng.choice(keys), rng.randrange(3)
        kind = rng.random()
        if kind < 0.35:
            batches.append(plain(offset, (key, b"v")))
            stored[key] = offset
        elif kind < 0.45:
            batches.append(plain(offset, (key, None)))
            stored.pop(key, None)
            for waiting in pending.values():
                waiting.pop(key, None)
        elif kind < 0.75:
            batches.append(of_transaction(offset, producer, (key, b"v")))
            pending.setdefault(producer, {})[key] = offset
        else:
            end = rng.choice((COMMIT, ABORT))
            batches.append(marker(offset, producer, end))
            for each, at in pending.pop(producer, {}).items():
                if end == COMMIT and (each not in stored or at > stored[each]):
                    stored[each] = at
        shard = read(tmp_path, *batches) if offset % 40 == 39 else None
        assert shard is None or latest(shard) == stored, f"--seed {seed}"


@pytest.mark.parametrize("broken", [packed(plain(1, (KEY, b"x" * 2000))[:-40], 1), marker_without_type(1)])
def test_what_cannot_be_read_is_damage_at_its_batch(tmp_path: Path, broken: bytes) -> None:
    """A compressed batch that is too short inside, and the end of a transaction that does not say how it ended."""
    first = plain(0, (KEY, b"1"))

    with pytest.raises(DamagedLog) as refused:
        read(tmp_path, first, broken, plain(9, (KEY, b"2")))

    assert refused.value.position == len(first)
