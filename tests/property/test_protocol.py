"""Whatever the value, our bytes are the oracle's; whatever the bytes, a value or our error.

PROTOCOL_EXAMPLES=400 draws more of them (``make torture``).
"""

from __future__ import annotations

import math
import os
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.codec import decode, decoder, encode
from protocol.errors import DecodeError
from protocol.skipper import struct_skipper
from protocol.wire import DECODE_ERRORS
from tests.support.oracle import schema, versions_of
from tests.support.protocol_values import MESSAGES, as_struct, each_message, random_value

EXAMPLES = int(os.environ.get("PROTOCOL_EXAMPLES", "15"))
unknown_tags = st.dictionaries(st.integers(80, 2**31 - 1), st.binary(max_size=3), max_size=2)


@each_message
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 2**64 - 1), tags=unknown_tags)
def test_any_value_round_trips_as_the_oracle_writes_it(name: str, seed: int, tags: dict[int, bytes]) -> None:
    """encode(value) is the oracle's; decode of it, with unknown tags too, is the value."""
    for version in versions_of(name):
        value = random_value(schema(name, version), Random(seed))
        message = as_struct(name, version, value)
        expected = schema(name, version).encode(value)

        assert encode(message, version) == expected, version
        assert decode(MESSAGES[name], version, expected) == message, version
        tagged = schema(name, version).encode(value, unknown_tags=tags)
        assert decode(MESSAGES[name], version, tagged) == message, version
        assert (_skipped(name, version, expected), _skipped(name, version, tagged)) == (len(expected), len(tagged)), version


@each_message
@settings(max_examples=EXAMPLES)
@given(data=st.binary(max_size=300))
def test_any_bytes_are_a_value_or_our_error(name: str, data: bytes) -> None:
    """No other exception leaves a decoder, and none reads behind the end."""
    for version in versions_of(name):
        _read(name, version, data)


@each_message
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 2**64 - 1))
def test_damaged_messages_are_a_value_or_our_error(name: str, seed: int) -> None:
    """Bytes near a valid message reach deeper than random ones."""
    for version in versions_of(name):
        random = Random(seed)
        value = random_value(schema(name, version), random)
        damaged = bytearray(schema(name, version).encode(value, unknown_tags={99: b"ab"}))
        for _ in range(random.randint(1, 3) if damaged else 0):
            damaged[random.randrange(len(damaged))] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))

        _read(name, version, bytes(damaged))


@pytest.mark.parametrize("version", range(2))
def test_a_float_that_is_not_a_number_is_a_value(version: int) -> None:
    """Damaged bytes may be one. It is the only value that does not equal itself."""
    name = "AlterClientQuotasRequest"
    operation = {"Key": "k", "Value": math.nan, "Remove": False}

    _read(name, version, schema(name, version).encode({"Entries": [{"Entity": [], "Ops": [operation]}]}))


def _read(name: str, version: int, data: bytes) -> None:
    """Read bytes with the decoder, and skip them: the skipper refuses what the decoder refuses."""
    skipped = _skipped(name, version, data)
    try:
        message, end = decoder(MESSAGES[name], version)(data, 0)
    except DecodeError as refused:
        error = refused
    else:
        assert skipped == end <= len(data)
        again = decode(MESSAGES[name], version, encode(message, version))
        # Not the values: a float64 may be NaN, which does not equal itself.
        assert repr(again) == repr(message)
        return
    assert skipped is None
    assert (error.message, error.version) == (name, version)
    assert error.path
    assert error.position is not None
    assert 0 <= error.position <= len(data)


def _skipped(name: str, version: int, data: bytes) -> int | None:
    """The end that the skipper finds, or None if it refuses the bytes."""
    try:
        return struct_skipper(MESSAGES[name], version, version in MESSAGES[name].kafka.flexible)(data, 0)
    except DECODE_ERRORS:
        return None
