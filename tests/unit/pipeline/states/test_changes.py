"""LastChanges: who made the last change of each key, and of which record that is said."""

from __future__ import annotations

from coordinator_server.machine.provenance import operation_headers, request_origin
from coordinator_server.offsets.attribution import speaking_for
from coordinator_server.pipeline.states.changes import Change, LastChanges
from protocol.batch_builder import BatchBuilder
from protocol.record_batch import CONTROL, TRANSACTIONAL
from tests.support.segments import START_MS, group_key, group_value, offset_key, offset_value

HEADERS = operation_headers(request_origin(8, 9, "client", "10.0.0.7", "User:jo"), speaking_for("member", None))
KEY = offset_key("g", "t", 1)


def batch(offset: int, *keys: bytes, headers: bytes = HEADERS, attributes: int = 0) -> bytes:
    builder = BatchBuilder(offset, START_MS, attributes=attributes)
    for key in keys:
        builder.append(key, group_value(1, []) if key == group_key("g") else offset_value(5), headers)
    return builder.finish()


def noted(*batches: bytes, upto: int = 100) -> LastChanges:
    changes = LastChanges()
    assert list(changes.watch(batches, upto)) == list(batches)
    return changes


def test_the_last_record_of_a_key_says_who_made_it() -> None:
    changes = noted(batch(0, KEY), batch(1, KEY), batch(2, group_key("g")))

    expected = Change(1, START_MS, "OffsetCommit v9", "User:jo", "client", "10.0.0.7", "member")
    assert changes.of_offset("g", "t", 1, 1) == expected
    assert str(expected) == "OffsetCommit v9 by User:jo of client at 10.0.0.7 as member"
    assert str(Change(1, START_MS, "OffsetCommit v9", "User:ANONYMOUS", "client")) == "OffsetCommit v9 of client"
    found = changes.of_group("g", 2)
    assert found is not None
    assert found.offset == 2
    assert changes.of_group("other", 2) is changes.of_offset("g", "t", 2, 1) is None


def test_a_record_that_changed_nothing_says_nothing_of_the_one_that_did() -> None:
    """It was in a transaction that was aborted: the state is that of an earlier record."""
    assert noted(batch(0, KEY), batch(1, KEY, attributes=TRANSACTIONAL)).of_offset("g", "t", 1, 0) is None


def test_a_record_without_provenance_has_none() -> None:
    """Nor does it have that of the one before."""
    plain = BatchBuilder(1, START_MS)
    plain.append(KEY, offset_value(6))

    assert noted(batch(0, KEY), plain.finish()).of_offset("g", "t", 1, 1) is None


def test_records_that_are_not_read_are_not_noted() -> None:
    """Those from ``upto`` on, and the ends of transactions."""
    changes = noted(batch(0, KEY), batch(1, KEY, attributes=CONTROL), batch(2, KEY, KEY), upto=2)

    assert changes.of_offset("g", "t", 1, 0) is not None
    assert changes.of_offset("g", "t", 1, 2) is None
