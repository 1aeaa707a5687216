"""The operations of ``control.sock`` that each kind of shard adds: by internal topic, then by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from coordinator_server.kinds import CATALOG, GROUPS, TRANSACTIONS
from coordinator_server.server.control.catalog_operations import OPERATIONS as CATALOG_OPERATIONS
from coordinator_server.server.control.group_operations import answer_expiring, answer_groups, answer_holdups, answer_restore
from coordinator_server.server.control.transaction_operations import answer_abort
from coordinator_server.server.hosting.node import Node

NodeOperation = Callable[[Node, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""An operation of ``control.sock``. Raises Refusal."""

KIND_OPERATIONS: Final[dict[str, Mapping[str, NodeOperation]]] = {
    CATALOG.topic: CATALOG_OPERATIONS,
    GROUPS.topic: {"restore": answer_restore, "expiring": answer_expiring, "groups": answer_groups, "holdups": answer_holdups},
    TRANSACTIONS.topic: {"abort-transaction": answer_abort},
}
