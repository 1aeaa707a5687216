"""Loops as nodes: who owns what, and where it is reached."""

from __future__ import annotations

from collections import Counter

import pytest

from coordinator_server.log.shards import ShardId
from coordinator_server.server.cluster.nodes import Endpoint, ListenerPorts, Nodes, loop_of

CATALOG = ShardId("__cluster_metadata", 0)


@pytest.mark.parametrize("loops", [1, 2, 3, 7, 50])
def test_shards_are_spread_evenly(loops: int) -> None:
    """Every shard has one owner, and no loop has two more than another."""
    owners = Counter(loop_of(ShardId("__consumer_offsets", partition), loops) for partition in range(50))

    assert set(owners) == set(range(loops))
    assert max(owners.values()) - min(owners.values()) <= 1


@pytest.mark.parametrize("loops", [1, 2, 3, 7])
def test_each_loop_owns_its_own_and_loop_0_the_catalog(loops: int) -> None:
    """What ``owns`` says is what ``loop_of`` says."""
    for shard in (CATALOG, *(ShardId("__consumer_offsets", partition) for partition in range(10))):
        owners = [loop for loop in range(loops) if Nodes(1, loops, loop).owns(shard)]
        assert owners == [loop_of(shard, loops)]
    assert loop_of(CATALOG, loops) == 0


def test_one_loop_is_where_the_client_found_it() -> None:
    """Whatever address that is: a machine has many."""
    assert Nodes(1).endpoint(0, ("10.0.0.7", 9092)) == Endpoint("10.0.0.7", 9092)


def test_other_loops_are_advertised_on_the_same_host() -> None:
    """The one that the client used, and each loop's own port."""
    nodes = Nodes(1, 3, 1, (ListenerPorts((9092, 41000, 9094)),))

    assert [nodes.endpoint(loop, ("10.0.0.7", 41000)) for loop in range(3)] == [
        ("10.0.0.7", 9092),
        ("10.0.0.7", 41000),
        ("10.0.0.7", 9094),
    ]


def test_advertised_ports_count_up() -> None:
    """From the first loop's, whatever the loops listen on."""
    nodes = Nodes(5, 2, 1, (ListenerPorts((1, 2), Endpoint("outside.example", 19092)),))

    assert [nodes.endpoint(loop, ("10.0.0.7", 2)) for loop in range(2)] == [
        ("outside.example", 19092),
        ("outside.example", 19093),
    ]


def test_clients_of_a_listener_are_told_its_ports() -> None:
    """Whoever came by TLS cannot use the port without, and the other way round."""
    nodes = Nodes(1, 2, 0, (ListenerPorts((9092, 9093)), ListenerPorts((9192, 9193), Endpoint("outside.example", 443))))

    assert [nodes.endpoint(1, ("10.0.0.7", 1), listener) for listener in range(2)] == [
        ("10.0.0.7", 9093),
        ("outside.example", 444),
    ]


def test_every_loop_says_the_same_of_leaders() -> None:
    """Clients ask any of them."""
    leaders = [[Nodes(5, 3, loop).leader_of(partition) for partition in range(4)] for loop in range(3)]

    assert leaders == [[5, 6, 7, 5]] * 3
