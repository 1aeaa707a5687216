"""The view of a node that shares a store with others: the rows of the store, and what the node has taken since they were read.

Rows are older than what the node knows of itself. A shard that it has taken is its own, whatever they say; one that they give to
it, and that it does not have, is nobody's: it is being taken, or given away.
"""

from __future__ import annotations

from collections.abc import Mapping

from coordinator_server.log.members import Member, MemberRow, ShardRow, Table
from coordinator_server.log.shards import ShardId
from coordinator_server.server.cluster.view import NO_NODE, Endpoint, Owner, View, ViewNode

BEFORE_ALL_ROWS = -1
"""The version of the view that a node has before it has read the rows."""


def view_before_joining(here: ViewNode, partitions: Mapping[str, int]) -> View:
    """Return the view of a node that has not read the rows: no shard has an owner."""
    shards = [ShardId(topic, partition) for topic, count in partitions.items() for partition in range(count)]
    return View(BEFORE_ALL_ROWS, (here,), dict.fromkeys(shards, Owner(NO_NODE, 0)))


def view_of_table(table: Table, here: ViewNode, owned: Mapping[ShardId, int]) -> View:
    """Return the view of a node: ``here`` is itself, and ``owned`` are the epochs at which it owns shards."""
    # In ascending order: of two processes of a node, the later one.
    nodes = {member.node: _node(member, table.members[member]) for member in table.living} | {here.id: here}
    owners = {shard: _owner(table, here.id, row, owned.get(shard, -1)) for shard, row in table.shards.items()}
    return View(table.version, tuple(nodes[each] for each in sorted(nodes)), owners)


def _node(member: Member, row: MemberRow) -> ViewNode:
    for_nodes, *listeners = (Endpoint(*each) for each in row.listeners)
    return ViewNode(member.node, tuple(listeners), member.node, member.incarnation, for_nodes)


def _owner(table: Table, here: int, row: ShardRow, epoch: int) -> Owner:
    if epoch >= row.epoch:
        return Owner(here, epoch)
    is_others = row.owner is not None and row.owner.node != here and table.is_alive(row.owner)
    return Owner(row.owner.node if row.owner is not None and is_others else NO_NODE, row.epoch)
