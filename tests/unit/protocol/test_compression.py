"""Compressed batches, as Kafka's own classes, kafka-python and aiokafka write them, and those that nobody should believe."""

from __future__ import annotations

import contextlib
import json
import tracemalloc
from pathlib import Path
from struct import pack
from typing import Any

import cramjam
import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder as AiokafkaBuilder
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatchBuilder as KafkaPythonBuilder

from protocol.compression import GZIP, LZ4, SNAPPY, ZSTD, decompress
from protocol.errors import Malformed
from protocol.record_batch import Record, iter_batches, iter_records, read_header

KINDS = {"none": 0, "gzip": GZIP, "snappy": SNAPPY, "lz4": LZ4, "zstd": ZSTD}
ROWS = [json.loads(line) for line in Path("tests/data/kafka/record_batches.jsonl").read_text().splitlines()]
VECTORS = {row["name"]: bytes.fromhex(row["hex"]) for row in ROWS}
NOW = 1_700_000_000_000
MIB = 1 << 20
COMPRESS: dict[int, Any] = {
    GZIP: cramjam.gzip.compress,
    LZ4: cramjam.lz4.compress,
    ZSTD: cramjam.zstd.compress,
    SNAPPY: cramjam.snappy.compress_raw,
}
each_kind = pytest.mark.parametrize("kind", COMPRESS)


def read(data: bytes) -> list[Record]:
    return [record for pos, header in iter_batches(data) for record in iter_records(data, pos, header)]


@pytest.mark.parametrize("name", KINDS)
def test_batches_of_the_java_producer(name: str) -> None:
    """Transactional ones, whose records have headers and times of their own; one in five without a value."""
    data = VECTORS[name]

    header = read_header(data)
    records = read(data)

    assert (header.compression, header.is_transactional, header.is_control, header.count) == (KINDS[name], True, False, 20)
    assert (header.producer_id, header.producer_epoch, header.base_sequence, header.leader_epoch) == (42, 3, 7, 5)
    assert records == [
        Record(
            1000 + index,
            NOW + index,
            f"key-{index}".encode(),
            None if index % 5 == 4 else b"value-" + b"abc" * (index * 10),
            ((f"h{index}", bytes([index])),),
        )
        for index in range(20)
    ]


def test_a_control_batch_of_the_java_broker() -> None:
    """One marker: version 0 and type 1 (commit) in the key, version 0 and the coordinator's epoch in the value."""
    data = VECTORS["control"]

    header = read_header(data)

    assert (header.is_control, header.is_transactional, header.producer_id, header.count) == (True, True, 42, 1)
    (marker,) = read(data)
    assert (marker.offset, marker.key, marker.value) == (77, pack(">hh", 0, 1), pack(">hi", 0, 9))


@pytest.mark.parametrize("magic", [0, 1])
def test_message_sets_are_refused_by_name(magic: int) -> None:
    """Their magic byte is where a batch has its own, so that nothing is misread."""
    data = VECTORS[f"magic{magic}"].ljust(61, b"\0")

    with pytest.raises(Malformed, match=f"magic {magic} is not served, only 2; message sets"):
        read_header(data)


@pytest.mark.parametrize(
    ("builder", "kind"),
    [(KafkaPythonBuilder, 0), (KafkaPythonBuilder, GZIP), *((AiokafkaBuilder, kind) for kind in KINDS.values())],
)
def test_batches_of_the_python_producers(builder: type, kind: int) -> None:
    """kafka-python with the codec that it has without more packages, aiokafka with all of them."""
    theirs = builder(2, kind, 0, -1, -1, -1, 10**6)
    contents = [b"%d" % index * index for index in range(1, 120)]
    for offset, content in enumerate(contents):
        theirs.append(offset, NOW, b"key", content, [])

    data = bytes(theirs.build())

    assert read_header(data).compression == kind
    assert [record.value for record in read(data)] == contents


@each_kind
@given(content=st.binary(max_size=200) | st.integers(0, 300_000).map(lambda size: b"xyz" * size))
def test_content_of_any_size_comes_back(kind: int, content: bytes) -> None:
    """The limit may be exactly the content's size."""
    data = bytes(COMPRESS[kind](content))

    assert decompress(kind, data, max(len(content), 1)) == content


@each_kind
def test_one_byte_more_than_the_limit_is_refused(kind: int) -> None:
    """And the limit itself is not."""
    data = bytes(COMPRESS[kind](b"a" * 5001))

    with pytest.raises(Malformed, match="more than 5000 bytes"):
        decompress(kind, data, 5000)
    assert len(decompress(kind, data, 5001)) == 5001


@each_kind
def test_a_bomb_takes_no_memory(kind: int) -> None:
    """64 MiB of zeros are refused with little more than the limit ever in use."""
    data = bytes(COMPRESS[kind](bytes(64 * MIB)))
    tracemalloc.start()
    try:
        with pytest.raises(Malformed, match="more than"):
            decompress(kind, data, MIB)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak <= MIB + 65536


@each_kind
@given(data=st.binary(max_size=100), cut=st.integers(0, 40), at=st.integers(0, 39), byte=st.integers(0, 255))
def test_damage_is_our_error(kind: int, data: bytes, cut: int, at: int, byte: int) -> None:
    """Bytes that were never compressed, are cut short, or have one of them changed."""
    good = bytearray(COMPRESS[kind](b"some content, some content" * 3))
    good[at % len(good)] = byte
    for damaged in (data, bytes(good), bytes(good[:cut])):
        with contextlib.suppress(Malformed):
            assert len(decompress(kind, damaged, 10_000)) <= 10_000


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [
        (b"\0\0\0", "no length"),
        (pack(">i", -1), "block of -1 bytes"),
        (pack(">i", 0), "block of 0 bytes"),
        (pack(">i", 2**31 - 1) + b"x", "block of 2147483647 bytes in the 1"),
        (pack(">i", 5) + b"\xff\xff\xff\xff\x0f", "more than 1000 bytes"),
        (pack(">i", 2) + b"\x05x", "damaged"),
    ],
)
def test_xerial_blocks_that_cannot_be(blocks: bytes, reason: str) -> None:
    """Every length is checked against what is there, and what it expands to against the limit."""
    with pytest.raises(Malformed, match=reason):
        decompress(SNAPPY, b"\x82SNAPPY\0" + pack(">ii", 1, 1) + blocks, 1000)


def test_the_limit_is_that_of_all_blocks_together() -> None:
    """A bomb of many small blocks is one, too."""
    block = bytes(cramjam.snappy.compress_raw(bytes(400)))
    blocks = (pack(">i", len(block)) + block) * 3

    with pytest.raises(Malformed, match="more than 200 bytes"):
        decompress(SNAPPY, b"\x82SNAPPY\0" + pack(">ii", 1, 1) + blocks, 1000)


@pytest.mark.parametrize("kind", [0, 5, 7])
def test_compressions_that_do_not_exist(kind: int) -> None:
    """Three bits say which; Kafka has used four of their values."""
    with pytest.raises(Malformed, match=f"compression {kind} does not exist"):
        decompress(kind, b"x", 100)
