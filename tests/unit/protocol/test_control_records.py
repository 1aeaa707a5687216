"""Records of control batches, byte for byte as Kafka's ``EndTransactionMarker`` writes them."""

from __future__ import annotations

import pytest

from protocol.control_records import ABORT, COMMIT, control_type, end_transaction_marker
from protocol.errors import DecodeError


def test_a_commit_marker_has_kafkas_bytes() -> None:
    assert end_transaction_marker(True, 7) == (bytes.fromhex("0000 0001"), bytes.fromhex("0000 00000007"))


def test_an_abort_marker_has_kafkas_bytes() -> None:
    assert end_transaction_marker(False, -1) == (bytes.fromhex("0000 0000"), bytes.fromhex("0000 ffffffff"))


@pytest.mark.parametrize(("is_commit", "expected"), [(True, COMMIT), (False, ABORT)])
def test_a_marker_is_known_by_its_key(is_commit: bool, expected: int) -> None:
    assert control_type(end_transaction_marker(is_commit, 0)[0]) == expected


def test_a_type_of_a_later_version_is_told_by_the_same_bytes() -> None:
    assert control_type(bytes.fromhex("0001 0006 ffff")) == 6


@pytest.mark.parametrize("key", [None, b"", b"\0\0\0", bytes.fromhex("ffff 0001")])
def test_a_key_without_a_type_is_refused(key: bytes | None) -> None:
    with pytest.raises(DecodeError, match=r"^ControlRecordTypeSchema: .* at byte 0$"):
        control_type(key)
