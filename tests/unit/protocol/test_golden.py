"""Ours against Kafka's own generated classes, by their vectors: the same bytes and the same values, all of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from protocol.codec import decode, encode
from protocol.frames import FrameSplitter
from protocol.json_form import from_json, to_json
from tests.support.batches import in_batches
from tests.support.golden import run, stored_lines, vectors
from tests.support.kafka_jars import kafka_jars
from tests.support.oracle import raw_schemas, versions_of, within
from tests.support.protocol_values import EVERY_VERSION, MESSAGES

FILLS = ("default", "full", "empty", "null", "lowest", "highest")


@in_batches("name", MESSAGES)
def test_same_bytes_and_same_values(name: str) -> None:
    """Kafka's bytes read as the value that Kafka's JSON says, and that value is written as Kafka's bytes."""
    for vector in vectors()[name]:
        version, data = vector["version"], bytes.fromhex(vector["hex"])
        message = decode(MESSAGES[name], version, data)

        assert to_json(message, version) == vector["json"], _where(vector)
        assert from_json(MESSAGES[name], version, vector["json"]) == message, _where(vector)
        if vector["fill"] != "unknown tags":
            assert encode(message, version) == data, _where(vector)


def test_every_version_has_its_vectors() -> None:
    """Each way to fill a value once and many random ones, unknown tags wherever the version is flexible."""
    counts = Counter((name, vector["version"], vector["fill"]) for name in MESSAGES for vector in vectors()[name])

    for name, version in EVERY_VERSION:
        assert [counts[name, version, fill] for fill in FILLS] == [1] * len(FILLS)
        assert counts[name, version, "random"] >= 100
        is_flexible = within(raw_schemas()[name]["flexibleVersions"], version)
        assert counts[name, version, "unknown tags"] == int(is_flexible)
    assert {vector["version"] for vector in vectors()["OffsetCommitRequest"]} == set(versions_of("OffsetCommitRequest"))


@in_batches("name", MESSAGES)
def test_a_stream_of_them_whole_and_byte_by_byte(name: str) -> None:
    """However a stream of frames arrives, the same frames come out of it."""
    frames = [bytes.fromhex(vector["hex"]) for vector in vectors()[name] if vector["fill"] in FILLS]
    stream = b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)
    whole, slowly = FrameSplitter(1 << 20), FrameSplitter(1 << 20)

    assert whole.feed(stream) == frames
    assert [frame for byte in stream for frame in slowly.feed(bytes([byte]))] == frames


@pytest.mark.interop
def test_the_stored_vectors_are_what_kafka_says() -> None:
    """Made anew by Kafka's classes, every line is the stored one."""
    made = run(kafka_jars())

    assert made == stored_lines(), "make golden stores what Kafka's classes say now"


def _where(vector: dict[str, Any]) -> str:
    return f"{vector['message']} v{vector['version']} {vector['fill']}: {vector['hex'][:200]}"
