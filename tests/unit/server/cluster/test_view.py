"""The view: who owns what, and where it is reached."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import coordinator_server
from coordinator_server.config import Config
from coordinator_server.config.listeners import listener_specs
from coordinator_server.config.load import load
from coordinator_server.log.opening import MovedShards
from coordinator_server.log.shards import ShardId
from coordinator_server.server.cluster.nodes import Nodes
from coordinator_server.server.cluster.view import (
    CATALOG_SHARD,
    NO_NODE,
    Endpoint,
    Owner,
    View,
    ViewNode,
    moved_shards,
    view_of_loops,
)
from tests.support.views import loops_nodes, loops_view

OFFSETS = "__consumer_offsets"


@pytest.mark.parametrize("loops", [1, 2, 3, 7, 50])
def test_shards_are_spread_evenly(loops: int) -> None:
    """Every shard has one owner, and no loop has two more than another."""
    view = loops_view(loops)
    owners = Counter(view.loop_of(ShardId(OFFSETS, partition)) for partition in range(50))

    assert set(owners) == set(range(loops))
    assert max(owners.values()) - min(owners.values()) <= 1


@pytest.mark.parametrize("loops", [1, 2, 3, 7])
def test_each_loop_owns_its_own_and_loop_0_the_catalog(loops: int) -> None:
    """Whoever owns the catalog is the controller."""
    for shard in (CATALOG_SHARD, *(ShardId(OFFSETS, partition) for partition in range(10))):
        owners = [loop for loop in range(loops) if loops_nodes(loops, loop).owns(shard)]
        assert owners == [loops_view(loops).loop_of(shard)]
    assert (loops_view(loops).controller, loops_view(loops, 5).controller_id) == (0, 5)


def test_ids_and_ports_need_not_be_contiguous() -> None:
    """Nodes of a cluster have the ids and addresses that they were given."""
    nodes = (ViewNode(3, (Endpoint("a", 9092),)), ViewNode(17, (Endpoint("b", 443),)), ViewNode(40, (Endpoint("c", 9092),)))
    seen = Nodes(17, View(1, nodes))

    assert [seen.view.owner_of(ShardId(OFFSETS, each)).node for each in range(4)] == [3, 17, 40, 3]
    assert [seen.endpoint(each, ("here", 1)) for each in seen.view.node_ids] == [("a", 9092), ("b", 443), ("c", 9092)]
    assert seen.owns(ShardId(OFFSETS, 1))
    with pytest.raises(KeyError):
        seen.endpoint(4, ("here", 1))


def test_a_shard_that_moved_has_another_owner_and_a_later_leader_epoch() -> None:
    """The others stay where they were."""
    moved, orphan = ShardId(OFFSETS, 2), ShardId(OFFSETS, 3)
    view = msgspec.structs.replace(
        loops_view(2), owners={moved: Owner(2, 5), orphan: Owner(NO_NODE, 2), CATALOG_SHARD: Owner(2, 3)}
    )

    assert [view.owner_of(ShardId(OFFSETS, each)) for each in range(4)] == [(1, 1), (2, 1), (2, 5), (NO_NODE, 2)]
    assert view.leaders(OFFSETS, range(1, 4)) == [(2, 0), (2, 4), (NO_NODE, 1)]
    assert view.leaders("orders", range(3)) == [(1, 0), (2, 0), (1, 0)]
    assert [view.owner_of(ShardId(OFFSETS, each)).leader_epoch for each in (1, 2)] == [0, 4]
    assert (view.controller, view.controller_id) == (1, 2)


def test_epochs_go_on_from_one_number_of_loops_to_the_next() -> None:
    """Clients ignore an older leader epoch: they would ask a former owner for ever. As many loops have the same owners."""
    shard, moved = ShardId(OFFSETS, 1), MovedShards(4, 2, {f"{OFFSETS}-1": (0, 3)})
    specs, epochs = listener_specs(Config()), [3]
    for loops in (2, 3, 4, 4, 1, 2, 2):
        view = view_of_loops(1, specs, [range(9092, 9092 + loops)], moved)
        is_same, moved = loops == moved.loops, moved_shards(view)
        epochs.append(view.owner_of(shard).epoch)
        assert epochs[-1] == epochs[-2] + (not is_same)
        assert view.loop_of(shard) == (0 if len(epochs) == 2 else 1 % loops)
        assert (moved.loops, moved.owners) == (loops, {str(shard): (view.loop_of(shard), epochs[-1])})


def test_a_view_is_replaced_by_newer_ones_only() -> None:
    """Views may come by two ways, and the older one late."""
    nodes, older = loops_nodes(2), loops_view(2)
    newer = msgspec.structs.replace(older, version=2, owners={ShardId(OFFSETS, 1): Owner(1, 2)})

    assert [nodes.replace(each) for each in (newer, older, newer)] == [True, False, False]
    assert nodes.owns(ShardId(OFFSETS, 1))


def test_a_view_is_sent_to_other_processes() -> None:
    """All of it."""
    view = msgspec.structs.replace(loops_view(2), owners={ShardId(OFFSETS, 1): Owner(1, 2)})

    assert msgspec.msgpack.decode(msgspec.msgpack.encode(view), type=View) == view


def test_one_loop_is_where_the_client_found_it() -> None:
    """Whatever address that is: a machine has many."""
    [node] = View(1, (ViewNode(1),)).nodes
    assert Nodes(1, View(1, (node,))).endpoint(1, ("10.0.0.7", 9092)) == Endpoint("10.0.0.7", 9092)


def test_other_loops_are_advertised_on_the_same_host() -> None:
    """The one that the client used, and each loop's own port."""
    nodes = Nodes(2, view_of_loops(1, listener_specs(load({})), [(9092, 41000, 9094)]))

    assert [nodes.endpoint(each, ("10.0.0.7", 41000)) for each in nodes.view.node_ids] == [
        ("10.0.0.7", 9092),
        ("10.0.0.7", 41000),
        ("10.0.0.7", 9094),
    ]


def test_advertised_ports_count_up() -> None:
    """From the first loop's, whatever the loops listen on."""
    specs = listener_specs(load({"advertised.listeners": "PLAINTEXT://outside.example:19092"}), 2)
    nodes = Nodes(6, view_of_loops(5, specs, [(1, 2)]))

    assert [nodes.endpoint(each, ("10.0.0.7", 2)) for each in nodes.view.node_ids] == [
        ("outside.example", 19092),
        ("outside.example", 19093),
    ]


def test_clients_of_a_listener_are_told_its_ports() -> None:
    """Whoever came by TLS cannot use the port without, and the other way round."""
    properties = {
        "listeners": "PLAINTEXT://:9092,SSL://:9192",
        "advertised.listeners": "SSL://outside.example:443",
    }
    nodes = Nodes(1, view_of_loops(1, listener_specs(load(properties), 2), [(9092, 9093), (9192, 9193)]))

    assert [nodes.endpoint(2, ("10.0.0.7", 1), listener) for listener in range(2)] == [
        ("10.0.0.7", 9093),
        ("outside.example", 444),
    ]


def computed(tree: ast.AST) -> Iterator[int]:
    """The lines that compute an owner or a node id: a partition modulo something, or arithmetic with an id."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            operands = (node.left, node.right)
            names = {each.attr for each in operands if isinstance(each, ast.Attribute)}
            names |= {each.id for each in operands if isinstance(each, ast.Name)}
            if isinstance(node.op, ast.Mod) and names & {"partition", "loops", "nodes"}:
                yield node.lineno
            if isinstance(node.op, (ast.Add, ast.Sub)) and names & {"node_id", "first_id", "loop"}:
                yield node.lineno


@pytest.mark.interpreted
def test_only_the_view_computes_owners_and_node_ids() -> None:
    """Whatever else depends on an owner asks the view. Ports are bound one after the other (ports.py), and then are in the view."""
    root = Path(coordinator_server.__file__).parent
    allowed = {"server/cluster/view.py", "server/wire/ports.py"}
    found = {
        f"{path.relative_to(root)}:{line}"
        for room in ("server", "catalog", "ops")
        for path in (root / room).rglob("*.py")
        if str(path.relative_to(root)) not in allowed
        for line in computed(ast.parse(path.read_text()))
    }

    assert list(computed(ast.parse((root / "server/cluster/view.py").read_text())))
    assert found == set()
