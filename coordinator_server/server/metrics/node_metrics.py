"""The numbers of a node of several, and the operation ``cluster`` of ``control.sock``: all nodes, as this one knows them.

{"op": "cluster"}
{"ok": true, "cluster": [{"node_id": 1, "incarnation": 3, "lease_s": 8.2, "lease_length_s": 9.0, "rows_age_s": 0.1,
 "clock_difference_s": 0.0, "epochs": 412, "shards": 151, "unowned": [], "unowned_count": 0,
 "nodes": [{"node_id": 1, "incarnation": 3, "address": "db-1:9192", "is_dead": false, "is_connected": true, "renewals": 77,
            "shards": 51}, …],
 "takeovers": {"silent": 0, "gone": 1},
 "store": {"refuses": null, "statements": {"writes": {"count": 812, "mean_ms": 1.4, "in_doubt": 0}, …},
           "state": {"standbys": "ANY 1 (*)", …}, "error": null}}]}

Of each node the newest process is listed. ``state`` is what the store says of itself (log/store_state.py), asked now; if it cannot
be asked, ``error`` says why. A server whose log is its own answers with an empty list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from coordinator_server.log.errors import LogError
from coordinator_server.log.members import Member, Table
from coordinator_server.log.shards import ShardId
from coordinator_server.server.hosting.node_shards import NodeShards, Sharing

Samples = dict[str, list[list[Any]]]
_MOST_NAMED: Final = 20
"""So many shards without an owner are named."""


def _is_owned(table: Table, shard: ShardId) -> bool:
    return table.is_alive(table.shards[shard].owner)


class NodeMetrics:
    """What a node knows of its cluster."""

    def __init__(self, shards: NodeShards, sharing: Sharing) -> None:
        self._shards = shards
        self._sharing = sharing

    def add(self, samples: Samples) -> None:
        """Add the samples of this node. Those of rows are absent before it has read any."""
        membership, shared = self._shards.membership, self._sharing.shared
        samples["shard_moves"] = [[direction, count] for direction, count in self._shards.counts.items()]
        samples["node_takeovers"] = [[why, count] for why, count in membership.takeovers.items()]
        samples["lease_remaining_seconds"] = [[self._lease_s]]
        samples["store_connected"] = [[int(shared.refusal() is None)]]
        samples["store_clock_difference_seconds"] = [[membership.difference_ms / 1000]]
        samples["store_statement_duration_seconds"] = [
            [session, list(counts.times), counts.seconds] for session, counts in shared.statements.items()
        ]
        samples["store_statements_in_doubt"] = [[session, counts.in_doubt] for session, counts in shared.statements.items()]
        owned = Counter(shard.topic for shard in membership.owned)
        samples["owned_shards"] = [[topic, owned[topic]] for topic in self._shards.topics]
        if (table := membership.rows) is not None:
            samples["cluster_nodes"] = [[len(table.living)]]
            samples["cluster_unowned_shards"] = [[sum(not _is_owned(table, shard) for shard in table.shards)]]
            samples["cluster_epochs"] = [[sum(row.epoch for row in table.shards.values())]]

    def awaited(self) -> str | None:
        """Return what this node waits for before it serves, or None."""
        return self._shards.awaited

    async def answer(self, _request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Describe the cluster."""
        membership, shared = self._shards.membership, self._sharing.shared
        state, error = None, None
        try:
            state = await shared.inspect()
        except LogError as refused:
            error = str(refused)
        table, me, now_ms = membership.rows, membership.me, self._sharing.clocks.boot_ms()
        statements = {
            session: {
                "count": (count := sum(counts.times)),
                "mean_ms": round(1000 * counts.seconds / count, 3) if count else None,
                "in_doubt": counts.in_doubt,
            }
            for session, counts in shared.statements.items()
        }
        return {
            "cluster": [
                {
                    "node_id": self._shards.node_id,
                    "incarnation": None if me is None else me.incarnation,
                    "lease_s": self._lease_s,
                    "lease_length_s": self._sharing.times.lease_ms / 1000,
                    "rows_age_s": None if table is None else (now_ms - membership.read_ms) / 1000,
                    "clock_difference_s": membership.difference_ms / 1000,
                    **_described(table),
                    "takeovers": membership.takeovers,
                    "store": {
                        "refuses": shared.refusal(),
                        "statements": statements,
                        "state": msgspec.to_builtins(state),
                        "error": error,
                    },
                }
            ]
        }

    @property
    def _lease_s(self) -> float:
        return max(self._shards.membership.lease.ends_ms - self._sharing.clocks.boot_ms(), 0) / 1000


def nothing_awaited() -> None:
    """Return None: a server that is not one of several nodes waits for no other."""


async def answer_of_one_server(_request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return that this server is none of several nodes."""
    return {"cluster": []}


def _described(table: Table | None) -> Mapping[str, Any]:
    if table is None:
        return {"epochs": 0, "shards": 0, "unowned": [], "unowned_count": 0, "nodes": []}
    newest: dict[int, Member] = {member.node: member for member in sorted(table.members)}
    owned = Counter(row.owner for row in table.shards.values())
    unowned = [str(shard) for shard in sorted(table.shards) if not _is_owned(table, shard)]
    return {
        "epochs": sum(row.epoch for row in table.shards.values()),
        "shards": len(table.shards),
        "unowned": unowned[:_MOST_NAMED],
        "unowned_count": len(unowned),
        "nodes": [_node(member, table, owned[member]) for member in newest.values()],
    }


def _node(member: Member, table: Table, shards: int) -> Mapping[str, Any]:
    row = table.members[member]
    return {
        "node_id": member.node,
        "incarnation": member.incarnation,
        "address": "{}:{}".format(*row.listeners[0]) if row.listeners else None,
        "is_dead": row.is_dead,
        "is_connected": row.is_connected,
        "renewals": row.renewals,
        "shards": shards,
    }
