"""The records of one group in a batch, as a batch of their own."""

from __future__ import annotations

import pytest

from coordinator_server.machine.provenance import attributed
from coordinator_server.pipeline.index.split import group_of, split
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.fields import Message
from protocol.record_batch import Record, iter_records, read_header, verify
from tests.support.imported import imported_key
from tests.support.kafka_partition import of_transaction, plain
from tests.support.random_log import packed
from tests.support.segments import START_MS, Batch, encode, offset_key, offset_value

ZSTD = 4
WHO = (("op1", b"8/9"), ("client", b"orders-1"))


def parts(batch: bytes) -> dict[str, bytes]:
    return dict(split(batch, 0, read_header(batch)))


def records(batch: bytes) -> list[Record]:
    header = read_header(batch)
    verify(batch, 0, header)
    return list(iter_records(batch, 0, header))


@pytest.mark.parametrize("key_type", [pair[0] for pair in GROUP_SERDE.types.values()])
def test_every_key_says_its_group(key_type: type[Message]) -> None:
    assert group_of(GROUP_SERDE.encode_key(CoordinatorRecord(imported_key(key_type, "zażółć", "m"), None))) == "zażółć"


def test_what_nobody_knows_is_of_no_group() -> None:
    assert [group_of(key) for key in (None, b"", b"\0\x63\0\1g")] == [None, None, None]


def test_a_batch_of_one_group_stays_as_it_is() -> None:
    batch = plain(3, (offset_key("g", "t", 0), offset_value(1)), (offset_key("g", "t", 1), None))

    assert parts(batch) == {"g": batch}


@pytest.mark.parametrize("codec", [0, ZSTD])
def test_records_keep_their_offsets_their_times_and_their_producer(codec: int) -> None:
    """A compressed batch has parts that are not."""
    pairs = [(offset_key("gh"[number % 2], "t", number), offset_value(number)) for number in range(5)]
    batch = of_transaction(40, 7, *pairs)

    found = parts(packed(batch, codec))
    whole = records(batch)
    assert {group_id: records(part) for group_id, part in found.items()} == {"g": whole[::2], "h": whole[1::2]}
    for part in found.values():
        header = read_header(part)
        assert (header.base_offset, header.next_offset, header.producer_id) == (40, 45, 7)
        assert header.is_transactional


def test_an_operation_over_several_groups_is_that_of_each() -> None:
    """Only its first record says who made it."""
    rows = [("g", WHO), ("h", ()), ("h", ()), ("g", ()), ("g", (("op1", b"timer"),)), ("h", ())]
    made = [Record(at, START_MS, offset_key(group, "t", at), None, who) for at, (group, who) in enumerate(rows)]
    batch = encode(Batch(tuple(made)))

    def said(found: bytes) -> dict[int, object]:
        return {record.offset: by for record, by in attributed(records(found))}

    whole = said(batch)
    assert {**said(parts(batch)["g"]), **said(parts(batch)["h"])} == whole
    assert None not in whole.values()
