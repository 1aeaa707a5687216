"""Whether a play notices that a rule of the server is broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator_server.group.modern.context import ModernContext
from coordinator_server.group.modern.group import ModernGroup
from coordinator_server.group.modern.leave import Removal, remove_members

MOST_SEEDS = 200


def a_group_begins_anew_when_a_member_leaves(patch: pytest.MonkeyPatch) -> None:
    """Break the rule that epochs rise, in a group of one of the newer protocols."""

    def removed(context: ModernContext[Any], group: ModernGroup[Any, Any], removal: Removal, response: Any) -> Any:
        *others, epoch = removal.records
        value: Any = epoch.value
        again = context.records.epoch(group.group_id, 1, value.metadata_hash)
        return remove_members(context, group, removal._replace(records=[*others, again]), response)

    for name in ("consumer", "share", "streams"):
        patch.setattr(f"coordinator_server.group.{name}.leave.remove_members", removed)


def must_be_seen(run: Callable[[int], list[str]], words: str, first: int = 0, most: int = MOST_SEEDS) -> None:
    """Fail unless one of so many seeds, from the first one on, has a fault with these words."""
    for seed in range(first, first + most):
        if any(words in fault for fault in run(seed)):
            return
    pytest.fail(f"nobody noticed: {words}")
