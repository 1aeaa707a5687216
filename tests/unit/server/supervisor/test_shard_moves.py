"""Moves of shards as the supervisor takes their steps: in their order, and given up where one fails."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coordinator_server.log.owners import read_owners
from coordinator_server.log.shards import ShardEnd, ShardId
from coordinator_server.server.cluster.view import View
from coordinator_server.server.hosting.moves import LOADED, RELEASE, TAKE, USE_VIEW
from coordinator_server.server.local_operation import Refusal
from coordinator_server.server.supervisor.loop_process import Unanswered
from coordinator_server.server.supervisor.shard_moves import ShardMoves
from tests.support.views import loops_view

SHARD = ShardId("__consumer_offsets", 0)
END = ShardEnd(SHARD, 0, 100, 7)


class Loop:
    """Plays a loop's process: it does what it is asked, unless it refuses that step."""

    def __init__(self, loop: int, steps: list[tuple[int, str]]) -> None:
        self.loop = loop
        self.is_up = True
        self.ended = asyncio.Event()
        self.refuses: str | None = None
        self.dies_of: str | None = None
        self.is_silent_at: str | None = None
        self.was_killed = False
        self.view: View | None = None
        self._steps = steps

    async def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        step = str(request["op"])
        self._steps.append((self.loop, step))
        if step == self.dies_of:
            self.is_up = False
            raise Refusal(f"loop {self.loop} ended before it answered", is_temporary=True)
        if step == self.is_silent_at:
            raise Unanswered(f"loop {self.loop} did not answer")
        if step == self.refuses:
            return {"ok": False, "error": "the disk is full"}
        if step == USE_VIEW:
            self.view = msgspec.msgpack.decode(request["view"], type=View)
        return {"ok": True, "ends": [END]}

    def kill(self) -> None:
        self.was_killed = True


class Site:
    """Three loops, of which loop 0 owns the shard."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.steps: list[tuple[int, str]] = []
        self.loops = [Loop(loop, self.steps) for loop in range(3)]
        processes: Any = dict(enumerate(self.loops))
        self.moves = ShardMoves(directory, loops_view(3), {"__consumer_offsets": 50, "__cluster_metadata": 1}, processes)

    async def move(self, to: Any = 1, shard: str = str(SHARD)) -> Mapping[str, Any]:
        return await self.moves.operations["move-shard"]({"op": "move-shard", "shard": shard, "loop": to})

    def owner(self) -> tuple[int, int]:
        """The loop and the epoch of the shard, in all views that loops use and that are written down."""
        owner = self.moves.view.owner_of(SHARD)
        written = read_owners(self.directory)
        assert written is not None
        assert written.owners[str(SHARD)] == (self.moves.view.loop_of(SHARD), owner.epoch)
        assert {each.view.version for each in self.loops if each.view is not None} == {written.version}
        return written.owners[str(SHARD)]


@pytest.fixture
async def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


async def test_the_next_owner_acts_when_all_others_know_it(site: Site) -> None:
    """And when its ownership is durable."""
    answer = await site.move()

    assert site.steps == [(0, RELEASE), (1, TAKE), (0, USE_VIEW), (2, USE_VIEW), (1, USE_VIEW), (1, LOADED)]
    assert (answer["from"], answer["to"], answer["epoch"]) == (0, 1, 2)
    assert site.owner() == (1, 2)


async def test_no_operation_on_all_shards_runs_during_a_move(site: Site) -> None:
    """It would miss the shard: so would a backup. A loop may be started while the move waits."""
    async with site.moves.places.shared():
        move = asyncio.get_running_loop().create_task(site.move())
        for _ in range(9):
            await asyncio.sleep(0)
        assert (site.steps, site.moves.lock.locked()) == ([], False)
    await move

    assert site.owner() == (1, 2)


async def test_a_shard_that_is_there_does_not_move(site: Site) -> None:
    """Nobody is asked for anything."""
    answer = await site.move(to=0)

    assert (answer["from"], answer["to"], site.steps) == (0, 0, [])


async def test_an_owner_that_cannot_release_goes_on(site: Site) -> None:
    """It has loaded the shard again by itself."""
    site.loops[0].refuses = RELEASE
    with pytest.raises(Refusal, match="the disk is full"):
        await site.move()

    assert (site.steps, site.moves.view.version, read_owners(site.directory)) == ([(0, RELEASE)], 1, None)


@pytest.mark.parametrize("fate", ["refuses", "dies_of"])
async def test_what_the_next_owner_cannot_take_is_given_back(site: Site, fate: str) -> None:
    """In an epoch that the next owner never had."""
    setattr(site.loops[1], fate, TAKE)
    with pytest.raises(Refusal):
        await site.move()

    told = [(1, USE_VIEW)] if fate == "refuses" else []
    assert site.steps == [(0, RELEASE), (1, TAKE), *told, (0, TAKE), *told, (2, USE_VIEW), (0, USE_VIEW)]
    assert site.owner() == (0, 3)


async def test_owners_that_cannot_be_written_give_the_shard_back(site: Site) -> None:
    """The former owner goes on, after the next one has closed the shard, and so does the server; its next start has the owners
    that are written down.
    """
    (site.directory / "owners.json.new").mkdir()
    with pytest.raises(Refusal, match=r"owners\.json"):
        await site.move()

    assert site.moves.view.owner_of(SHARD) == (1, 3)
    assert site.steps[1:4] == [(1, TAKE), (1, USE_VIEW), (0, TAKE)]
    assert read_owners(site.directory) is None


async def test_an_owner_that_cannot_take_it_back_is_started_anew(site: Site) -> None:
    """Its next process recovers the shard: in the view it owns it still."""
    site.loops[0].refuses = site.loops[1].refuses = TAKE
    with pytest.raises(Refusal):
        await site.move()

    assert site.loops[0].was_killed
    assert site.owner() == (0, 3)


async def test_what_a_dead_owner_cannot_get_back_is_not_left_at_the_next_one(site: Site) -> None:
    """Both would change the shard's files: the dead one's next process recovers it."""
    (site.directory / "journal/loop-0").mkdir(parents=True)
    (site.directory / "owners.json.new").mkdir()
    site.loops[0].is_up = False
    site.loops[0].ended.set()
    with pytest.raises(Refusal, match=r"owners\.json"):
        await site.move()

    assert site.steps[:2] == [(1, TAKE), (1, USE_VIEW)]
    assert site.loops[1].view is not None
    assert site.loops[1].view.owner_of(SHARD) == site.moves.view.owner_of(SHARD) == (1, 3)


@pytest.mark.parametrize(("loop", "step"), [(0, RELEASE), (1, TAKE), (2, USE_VIEW), (1, USE_VIEW)])
async def test_a_loop_that_does_not_answer_a_step_is_killed(site: Site, loop: int, step: str) -> None:
    """It might do it later, when another loop has the shard. One that loads for long is not killed."""
    site.loops[loop].is_silent_at = step
    site.loops[1].refuses = LOADED
    with pytest.raises(Refusal):
        await site.move()

    assert [each.was_killed for each in site.loops] == [each.loop == loop for each in site.loops]


async def test_the_shard_of_a_dead_owner_is_read_from_its_journal(site: Site) -> None:
    """It has no frames here; the next owner takes the shard."""
    (site.directory / "journal/loop-0").mkdir(parents=True)
    site.loops[0].is_up = False
    site.loops[0].ended.set()
    await site.move()

    assert site.steps == [(1, TAKE), (2, USE_VIEW), (1, USE_VIEW), (1, LOADED)]
    assert site.owner() == (1, 2)


@pytest.mark.parametrize("loop", [0, 1, 2])
async def test_no_shard_moves_while_a_loop_is_started(site: Site, loop: int) -> None:
    """It would not get the view. The same request succeeds later."""
    site.loops[loop].is_up = False
    with pytest.raises(Refusal, match="being started") as refused:
        await site.move()

    assert (refused.value.is_temporary, site.steps) == (True, [])


@pytest.mark.parametrize(
    ("to", "shard", "why"),
    [
        (3, str(SHARD), "there is no loop 3"),
        ("1", str(SHARD), "there is no loop 1"),
        (1, "__consumer_offsets-50", "there is no shard"),
        (1, "nonsense", "there is no shard"),
    ],
)
async def test_a_request_that_makes_no_sense_is_refused(site: Site, to: Any, shard: str, why: str) -> None:
    with pytest.raises(Refusal, match=why):
        await site.move(to, shard)

    assert site.steps == []
