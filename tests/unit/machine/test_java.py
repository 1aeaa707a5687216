"""Java's hash where Kafka's answers depend on it; the expected values were printed by a Java 17 program."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.machine.java import hash_map_order, java_string_hash


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("range", 108_280_125),
        ("roundrobin", -128_548_644),
        ("🐘", 1_772_411),
        ("polygenelubricants", -2_147_483_648),
    ],
)
def test_string_hash(text: str, expected: int) -> None:
    """Strings hash over UTF-16 units, into signed 32 bits."""
    assert java_string_hash(text) == expected


@given(st.text(max_size=80), st.integers(0, 700), st.integers(-2, 2))
def test_texts_of_every_length_hash_as_unit_by_unit(part: str, times: int, more: int) -> None:
    """Surrogate pairs and the borders of chunks included."""
    text = part * (times // (len(part) or 1)) + "x" * (256 + more)

    for each in (part, text, text + "\ud83d"):
        assert java_string_hash(each) == _unit_by_unit(each)


def _unit_by_unit(text: str) -> int:
    value = 0
    raw = text.encode("utf-16-be", "surrogatepass")
    for place in range(0, len(raw), 2):
        value = (31 * value + int.from_bytes(raw[place : place + 2])) % (1 << 32)
    return value - (1 << 32) if value >= 1 << 31 else value


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("range roundrobin sticky cooperative-sticky uniform", "uniform sticky range roundrobin cooperative-sticky"),
        ("roundrobin range", "range roundrobin"),
        ("BB Aa BB", "BB Aa"),
        ("Aa BB", "Aa BB"),
        ("k0 k1 k2 k3 k4 k5 k6 k7 k8 k9 k10 k11 k12 k13 k14", "k0 k1 k2 k3 k4 k5 k11 k6 k10 k7 k13 k8 k12 k9 k14"),
    ],
)
def test_hash_map_order(keys: str, expected: str) -> None:
    """Buckets decide, and there are more of them in a larger map; keys of one bucket stay in the order they came."""
    assert hash_map_order(keys.split()) == expected.split()
