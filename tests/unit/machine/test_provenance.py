"""Headers in a record and what is read from them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.machine.provenance import (
    SERVER_ORIGIN,
    TIMER_ORIGIN,
    Origin,
    Provenance,
    Reason,
    attributed,
    because,
    operation_headers,
    read_provenance,
    request_origin,
)
from protocol.batch_builder import NO_HEADERS, BatchBuilder
from protocol.record_batch import Headers, Record, iter_batches, iter_records

texts = st.text(max_size=300)
reasons = st.lists(st.builds(Reason, st.sampled_from(["member-left", "timeout"]), texts, st.text(max_size=255)), max_size=4)


def headers_in_a_record(encoded: bytes) -> Headers:
    """What a reader of the log finds."""
    builder = BatchBuilder(7, 0)
    builder.append(b"key", b"value", encoded)
    [(position, header)] = iter_batches(batch := builder.finish())
    [record] = iter_records(batch, position, header)
    assert (record.key, record.value) == (b"key", b"value")
    return record.headers


def read(origin: Origin, *why: Reason) -> Provenance | None:
    return read_provenance(headers_in_a_record(operation_headers(origin, because(*why))))


@given(texts, texts, texts, reasons)
def test_provenance_headers_are_read_as_written(client_id: str, host: str, principal: str, why: list[Reason]) -> None:
    """Whatever clients call themselves."""
    origin = request_origin(8, 9, client_id, host, principal or "User:ANONYMOUS")

    found = read(origin, *why)

    assert found == Provenance("8/9", 8, 9, principal or "User:ANONYMOUS", client_id, host, tuple(why))


def test_reasons_in_bytes() -> None:
    """Each reason's member and words stand behind it; nobody's stand behind none."""
    why = [Reason("member-left", "a", "tired"), Reason("assignments-not-stored"), Reason("session-timeout", "b")]

    assert headers_in_a_record(operation_headers(TIMER_ORIGIN, because(*why))) == (
        ("op1", b"timer"),
        ("why", b"member-left"),
        ("whom", b"a"),
        ("said", b"tired"),
        ("why", b"assignments-not-stored"),
        ("why", b"session-timeout"),
        ("whom", b"b"),
    )


def test_a_known_principal_is_told() -> None:
    """And the unknown one takes no room."""
    known = operation_headers(request_origin(8, 9, "", "", "User:alice"), None)
    unknown = operation_headers(request_origin(8, 9, "", ""), None)

    assert headers_in_a_record(known) == (("op1", b"8/9"), ("by", b"User:alice"))
    assert headers_in_a_record(unknown) == (("op1", b"8/9"),)


def test_what_a_client_says_is_cut() -> None:
    """A reason is for people; nobody fills the log with it."""
    found = read(TIMER_ORIGIN, Reason("member-joined", "m", "x" * 300))

    assert found is not None
    assert found.reasons == (Reason("member-joined", "m", "x" * 255),)


@pytest.mark.parametrize(("given", "kept"), [("m" * 2047, 2047), ("m" * 2048, 2047), ("ż" * 1023, 1023), ("ż" * 1024, 1023)])
def test_a_name_that_is_far_too_long_is_cut(given: str, kept: int) -> None:
    """Sixteen reasons about members with the longest ids there may be must not keep a generation out of the log."""
    origin = request_origin(8, 9, given, "h", given)

    found = read(origin, *[Reason("member-left", given)] * 16)

    assert found is not None
    assert [found.principal, found.client_id, found.reasons[15].whom] == [given[:kept]] * 3


def test_the_server_itself() -> None:
    """No request, no client."""
    assert read(SERVER_ORIGIN) == Provenance("server")


def test_without_an_origin_there_are_no_headers() -> None:
    """``log.provenance`` is off."""
    assert operation_headers(None, because(Reason("member-left"))) == NO_HEADERS


@pytest.mark.parametrize(
    "headers", [(), (("who", b"me"),), (("op2", b"8/9"), ("client", b"c")), (("client", b"c"), ("op1", b"8/9"))]
)
def test_foreign_headers_have_no_provenance(headers: Headers) -> None:
    """A record that does not begin an operation, one of another writer, one of a later format."""
    assert read_provenance(headers) is None


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["op1", "by", "why", "whom", "said", "instance", "other"]),
            st.none() | st.binary(max_size=8) | st.sampled_from([b"8/9", b"9" * 5000 + b"/1", "\u0663/\u0664".encode()]),
        )
    )
)
def test_any_headers_are_read_or_passed_over(headers: Headers) -> None:
    """Nothing that stands in a log makes a reader stumble."""
    found = read_provenance(headers)

    assert (found is not None) == (bool(headers) and headers[0][0] == "op1")


def test_what_a_later_version_adds_is_passed_over() -> None:
    """Other reasons, values that are no text, names without a value. Other names are kept for those who know them."""
    headers = (
        ("op1", b"9999/x"),
        ("new", None),
        ("client", b"\xff"),
        ("whom", b"nobody's"),
        ("why", b"new-reason"),
        ("zone", b"a"),
    )

    found = read_provenance(headers)

    assert found == Provenance("9999/x", client_id="\ufffd", reasons=(Reason("new-reason"),), others=(("new", ""), ("zone", "a")))


def told_records(*rows: tuple[int, int, Headers]) -> list[Record]:
    """Records by offset, time and headers."""
    return [Record(offset, time, b"key", b"value", tuple(headers)) for offset, time, headers in rows]


A, B = ((("op1", b"8/9"), ("client", name)) for name in (b"a", b"b"))


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([(0, 5, A), (1, 5, ()), (2, 5, ()), (3, 5, B), (4, 5, ())], "aaabb"),
        ([(0, 5, ()), (1, 5, A)], "-a"),
        ([(0, 5, A), (2, 5, ())], "a-"),  # compaction took what stood between: perhaps the first record of another operation
        ([(0, 5, A), (1, 6, ())], "a-"),  # another batch
        ([(0, 5, A), (1, 5, (("theirs", b""),)), (2, 5, ())], "a--"),
    ],
)
def test_an_operation_is_known_by_its_first_record(records: list[tuple[int, int, Headers]], expected: str) -> None:
    """What stands right behind it belongs to it; what is not certain is told of nobody."""
    found = [provenance.client_id if provenance else "-" for _, provenance in attributed(told_records(*records))]

    assert "".join(found) == expected
