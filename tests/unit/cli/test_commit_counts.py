"""Commits are counted in the batches of the log of groups: requests, not offsets."""

from __future__ import annotations

from coordinator_server.cli.commit_counts import commits_in
from coordinator_server.machine.provenance import operation_headers, request_origin
from protocol.record_batch import Record, read_headers
from tests.support.kafka_partition import COMMIT, Pair, marker, of_transaction, plain
from tests.support.segments import START_MS, Batch, encode, group_key, group_value, offset_key, offset_value

VALUE = offset_value(5)
ENCODED = operation_headers(request_origin(8, 9, "c", "10.0.0.7"), None)
HEADERS = read_headers(ENCODED, 0, len(ENCODED))[0]


def batch(offset: int, *requests: list[Pair]) -> bytes:
    """A batch of the records of some requests."""
    records: list[Record] = []
    for request in requests:
        for number, pair in enumerate(request):
            records.append(Record(offset + len(records), START_MS, *pair, () if number else HEADERS))
    return encode(Batch(tuple(records)))


def test_a_request_is_one_commit() -> None:
    """Of groups that are asked for, by their whole ids; deletions and generations are none."""
    data = batch(
        0,
        [(offset_key("g", "t", 0), VALUE), (offset_key("g", "t", 1), VALUE)],
        [(offset_key("g", "t", 0), VALUE)],
        [(offset_key("g2", "t", 0), VALUE)],
        [(offset_key("h", "t", 0), None)],
        [(group_key("h"), group_value(1, []))],
    )

    counts, read_to = commits_in(data, ["g", "h"], 0, 100)

    assert (counts, read_to) == ({"g": 2}, 6)


def test_commits_are_counted_between_two_offsets() -> None:
    """The answer begins with the batch that has the first one."""
    data = b"".join(batch(2 * each, [(offset_key("g", "t", 0), VALUE)], [(offset_key("g", "t", 0), VALUE)]) for each in range(3))

    assert commits_in(data, ["g"], 1, 4) == ({"g": 3}, 4)
    assert commits_in(b"", ["g"], 1, 4) == ({}, 1)


def test_without_provenance_a_batch_is_one_commit() -> None:
    """As Kafka's brokers write a batch for each. Markers are none."""
    data = plain(0, (offset_key("g", "t", 0), VALUE), (offset_key("g", "t", 1), VALUE))
    data += of_transaction(2, 7, (offset_key("g", "t", 0), VALUE)) + marker(3, 7, COMMIT)

    assert commits_in(data, ["g"], 0, 9) == ({"g": 2}, 4)
