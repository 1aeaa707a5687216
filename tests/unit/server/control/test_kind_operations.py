"""The operations that kinds add to control.sock."""

from __future__ import annotations

from collections import Counter

from coordinator_server.kinds import KINDS
from coordinator_server.server.control.kind_operations import KIND_OPERATIONS


def test_every_row_belongs_to_a_kind() -> None:
    assert KIND_OPERATIONS.keys() <= KINDS.keys()


def test_no_two_operations_of_control_sock_have_one_name() -> None:
    names = Counter(name for operations in KIND_OPERATIONS.values() for name in operations)

    assert [name for name, times in names.items() if times > 1 or name in ("shards", "seal", "digest", "loops")] == []
