"""Provenance headers that name a member."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.machine.provenance import (
    Attribution,
    Provenance,
    Reason,
    because,
    operation_headers,
    read_provenance,
    request_origin,
)
from coordinator_server.offsets.attribution import SpokenFor, speaking_for, spoken_for
from protocol.batch_builder import NO_HEADERS, encode_headers
from protocol.record_batch import read_headers

ORIGIN = request_origin(14, 5, "orders-1", "10.0.0.7", "User:alice")
SHARED = [("op1", b"14/5"), ("by", b"User:alice"), ("client", b"orders-1"), ("host", b"10.0.0.7")]
WHY = because(Reason("member-left", "orders-2", "bye"), Reason("session-timeout"))


def with_reasons(member: Attribution | None) -> Attribution:
    return WHY if member is None else member.followed_by(WHY)


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        (("", None), []),
        (("orders-1-77aa", None), [("member", b"orders-1-77aa")]),
        (("", "i-1"), [("instance", b"i-1")]),
        (("orders-1-77aa", "i-1"), [("member", b"orders-1-77aa"), ("instance", b"i-1")]),
        (("m" * 3000, None), [("member", b"m" * 2047)]),
    ],
)
def test_names_in_bytes(member: tuple[str, str | None], expected: list[tuple[str, bytes | None]]) -> None:
    """What Kafka's tools print of the most frequent record: names and values that stay, in this order."""
    alone = operation_headers(ORIGIN, speaking_for(*member))
    told = operation_headers(ORIGIN, with_reasons(speaking_for(*member)))

    why = [("why", b"member-left"), ("whom", b"orders-2"), ("said", b"bye"), ("why", b"session-timeout")]
    assert alone == encode_headers((*SHARED, *expected))
    assert told == encode_headers((*SHARED, *expected, *why))


@given(st.text(max_size=300), st.none() | st.text(max_size=300))
def test_the_member_comes_back(member_id: str, instance_id: str | None) -> None:
    """Whatever clients call themselves; the reasons are nobody's."""
    encoded = operation_headers(ORIGIN, with_reasons(speaking_for(member_id, instance_id)))
    found = read_provenance(read_headers(encoded, 0, len(encoded))[0])

    assert found is not None
    assert spoken_for(found) == (member_id, instance_id)
    assert [reason.why for reason in found.reasons] == ["member-left", "session-timeout"]


def test_where_nothing_is_said_of_a_member() -> None:
    """A timer, and a log whose headers name a member twice."""
    assert spoken_for(Provenance("timer")) == SpokenFor()
    assert spoken_for(Provenance("8/9", others=(("zone", "a"), ("member", "m"), ("member", "n")))) == SpokenFor("m")


def test_without_an_origin_nothing_is_said() -> None:
    """``log.provenance`` is off."""
    assert operation_headers(None, speaking_for("m", "i")) == NO_HEADERS
