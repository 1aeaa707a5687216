"""The layouts of records that commits share."""

from __future__ import annotations

import pytest

from coordinator_server.offsets.commit_topic import _KEPT_NAMES, layout_of
from protocol.fields import ZERO_UUID


@pytest.mark.parametrize(("more", "is_kept"), [(0, True), (1, False)])
def test_layouts_of_long_names_are_not_kept(more: int, is_kept: bool) -> None:
    """Clients choose them, and the cache counts layouts and not bytes."""
    group_id, name = "g" * (_KEPT_NAMES - 10 + more), "t" * 10

    first, second = layout_of(group_id, name, ZERO_UUID), layout_of(group_id, name, ZERO_UUID)

    assert (first is second) == is_kept
