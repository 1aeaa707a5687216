"""Several daemons on one shared store, over a few seeds; and each rule of moving shards is needed.

``make simulate`` plays many seeds, and breaks every rule of ``node_rules.py`` (NODE_MUTANTS). Here the first of them is broken.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Callable, Coroutine
from typing import Any, Final

import pytest

from tests.simulation import node_rules
from tests.simulation.__main__ import replay_command
from tests.simulation.broken_rules import must_be_seen
from tests.simulation.node_rules import MUTANTS, Mutant, Patch
from tests.simulation.nodes import run
from tests.simulation.nodes_play import NodesPlay
from tests.support.runtime import ToyRuntime
from tests.support.share_offsets import ShareWorld
from tests.unit.group.migration import test_timers
from tests.unit.group.share import test_group_deletion
from tests.unit.runtime import test_rules_errors
from tests.unit.server.cluster import test_catalog_roles, test_followers, test_late_messages

SEEDS = max(1, int(os.environ.get("SEEDS", "50")) // 50)
NODE_MUTANTS = int(os.environ.get("NODE_MUTANTS", "1"))


def test_clients_of_several_nodes_are_served() -> None:
    """And something happens: shards have later owners, settings are written and read, and shards are loaded from layers."""
    epochs = reads = layers = 0
    for seed in range(1, 1 + SEEDS):
        play = NodesPlay(seed)
        assert not (wrong := play.run()), "\n".join([f"seed {seed}: {replay_command(seed, 'nodes')}", *wrong[:5]])
        epochs += sum(row.epoch for row in play.rows.shards.values())
        reads += play.register.reads
        layers += play.database.loaded_from_layers

    assert (epochs > 20 * SEEDS, reads > 20 * SEEDS, layers > SEEDS) == (True, True, True)


def test_a_play_that_cannot_go_on_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No task of it goes on, complains or is ended during a later play."""
    play = NodesPlay(1)

    def fail() -> None:
        raise AssertionError("it cannot go on")

    monkeypatch.setattr(play, "_begin", fail)
    with pytest.raises(AssertionError, match="it cannot go on"):
        play.run()
    left = [task for machine in play.machines for loop in machine._loops for task in loop.tasks if is_running(task)]

    assert ([machine.process for machine in play.machines], left) == ([None] * len(play.machines), [])


def is_running(task: asyncio.Task[Any]) -> bool:
    return not task.done() and inspect.getcoroutinestate(task.get_coro()) != inspect.CORO_CLOSED  # type: ignore[arg-type]


@pytest.mark.parametrize(("mutate", "words", "first"), MUTANTS[:NODE_MUTANTS], ids=lambda each: getattr(each, "__name__", None))
@pytest.mark.interpreted
def test_a_broken_rule_is_seen(monkeypatch: Patch, mutate: Mutant, words: str, first: int) -> None:
    """By a seed at which it is known to be seen, or soon after."""
    mutate(monkeypatch)
    must_be_seen(run, words, first, most=60)


# Rules that plays hardly ever need.


def _late(test: Callable[[test_late_messages.Cluster], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    async def play() -> None:
        cluster = test_late_messages.Cluster()
        await cluster.start()
        await test(cluster)

    return lambda: asyncio.run(play())


def _toy(test: Callable[[ToyRuntime], None]) -> Callable[[], None]:
    def play() -> None:
        toy = ToyRuntime()
        toy.load()
        test(toy)

    return play


HELD: Final[list[tuple[Mutant, Callable[[], None]]]] = [
    (
        node_rules.an_owner_knows_only_the_epochs_it_has_seen,
        _late(test_late_messages.test_the_memory_of_later_owners_moves_with_the_shard),
    ),
    (node_rules.a_new_controller_expects_nobody, test_followers.test_a_new_controller_waits_for_the_leases_of_the_former),
    (node_rules.a_former_controller_grants_leases, test_followers.test_an_owner_whose_own_lease_is_over_grants_none),
    (node_rules.a_former_controller_grants_leases, test_catalog_roles.test_a_follower_leaves_an_owner_that_is_none_any_more),
    (
        node_rules.a_node_that_was_put_out_keeps_its_leases,
        test_catalog_roles.test_a_node_that_joins_anew_answers_nobody_until_it_is_attached,
    ),
    (
        node_rules.a_group_that_stays_is_still_deleting,
        lambda: test_group_deletion.test_a_group_whose_offsets_are_set_meanwhile_stays(ShareWorld(t=2, u=1), 1),
    ),
    (node_rules.members_must_join_for_what_was_not_written, test_timers.test_nobody_has_to_join_for_a_change_that_is_not_written),
    (node_rules.refusals_do_not_wait, _toy(test_rules_errors.test_nobody_is_refused_for_a_change_that_is_not_written)),
]
"""With the tests that hold them.

An owner that has not seen the later epoch of a sender hears of it from its view only if
the sender's next owner has spoken to another owner between, and the former sender, which does not read the rows all that time, has
learned the receiver's new epoch from a refusal. The leases of a former controller are doubly safe: a follower leaves it as soon as
it reads the rows, and one that does not read them has no lease of its shards either, without which it answers nobody. Of some
thousand seeds one had a classic member whose rebalance was not written, and that was not asked to join before its time was over.
Of some hundred, one has a member that is refused for a leave that is undone later.
"""


@pytest.mark.parametrize(("mutate", "test"), HELD, ids=lambda each: getattr(each, "__name__", None))
@pytest.mark.interpreted
def test_a_rule_that_is_hardly_seen_is_held_by_a_test(monkeypatch: Patch, mutate: Mutant, test: Callable[[], None]) -> None:
    """Which fails without it."""
    test()
    mutate(monkeypatch)

    with pytest.raises(AssertionError):
        test()
