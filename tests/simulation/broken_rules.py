"""Whether a play notices that a rule of the server is broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator_server.group.modern.context import ModernContext
from coordinator_server.group.modern.leave import remove_members
from coordinator_server.machine.shard import CoordinatorResult

MOST_SEEDS = 200


def a_group_begins_anew_when_a_member_leaves(patch: pytest.MonkeyPatch) -> None:
    """Break the rule that epochs rise, in a group of one of the newer protocols."""

    def removed(context: ModernContext[Any], *rest: Any) -> CoordinatorResult[Any]:
        row = context.records
        context.records = row._replace(epoch_value=lambda _epoch, metadata_hash: row.epoch_value(1, metadata_hash))
        try:
            return remove_members(context, *rest)
        finally:
            context.records = row

    for name in ("consumer", "share"):
        patch.setattr(f"coordinator_server.group.{name}.leave.remove_members", removed)


def must_be_seen(run: Callable[[int], list[str]], words: str, first: int = 0, most: int = MOST_SEEDS) -> None:
    """Fail unless one of so many seeds, from the first one on, has a fault with these words."""
    for seed in range(first, first + most):
        if any(words in fault for fault in run(seed)):
            return
    pytest.fail(f"nobody noticed: {words}")
