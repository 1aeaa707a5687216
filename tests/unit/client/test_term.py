"""A term tells its end, and cancels what runs in its blocks, without touching anything else."""

from __future__ import annotations

import asyncio

import pytest

from coordinator_server.client import MembershipLost, Term
from tests.support.virtual_time import run_virtual


def now_s() -> float:
    return asyncio.get_running_loop().time()


def term_until(until_s: float) -> Term:
    saved: list[str] = []

    async def save(text: str) -> None:
        saved.append(text)

    return Term(7, "before", lambda: until_s, now_s, save)


def test_a_term_is_over_by_the_clock() -> None:
    """Also if nobody has had the time to end it: its process was frozen."""

    async def play() -> None:
        term = term_until(5)
        assert term.is_current
        assert term.remaining_s == 5
        await term.save("text")
        assert term.saved == "text"
        await asyncio.sleep(5)

        assert term.remaining_s == 0
        assert [term.is_current] == [False]
        with pytest.raises(MembershipLost):
            await term.save("late")

    run_virtual(play())


def test_the_end_cancels_the_bodies() -> None:
    async def play() -> None:
        term = term_until(100)
        steps = []

        async def body() -> None:
            async with term:
                steps.append("begun")
                await asyncio.sleep(50)
                steps.append("not reached")
            steps.append("left")
            await asyncio.sleep(1)
            steps.append("goes on")

        tasks = [asyncio.create_task(body()) for _ in range(2)]
        await asyncio.sleep(10)
        term.end()
        await term.wait_left()
        assert steps == ["begun"] * 2 + ["left"] * 2
        await asyncio.wait(tasks)

        assert steps[-1] == "goes on"
        assert not any(task.cancelled() for task in tasks)

    run_virtual(play())


def test_a_block_of_a_term_that_is_over_ends_at_its_first_wait() -> None:
    async def play() -> None:
        term = term_until(100)
        term.end()
        reached = False
        async with term:
            reached = True
            await asyncio.sleep(50)
            raise AssertionError("the body went on")
        async with term:
            pass
        await asyncio.sleep(1)

        assert reached
        assert now_s() == 1

    run_virtual(play())


def test_a_cancellation_from_elsewhere_goes_on() -> None:
    async def play() -> None:
        term = term_until(100)

        async def body() -> None:
            async with term:
                await asyncio.sleep(50)

        task = asyncio.create_task(body())
        both = asyncio.create_task(body())
        await asyncio.sleep(1)
        task.cancel()
        both.cancel()
        term.end()
        await asyncio.wait({task, both})

        assert task.cancelled()
        assert both.cancelled()

    run_virtual(play())


def test_errors_of_the_body_are_its_own() -> None:
    async def play() -> None:
        with pytest.raises(ValueError, match="mine"):
            async with term_until(100):
                raise ValueError("mine")

    run_virtual(play())


def test_a_body_that_does_not_end_is_waited_for_until_the_term_would_be_over() -> None:
    async def play() -> None:
        term = term_until(10)

        async def stubborn() -> None:
            async with term:
                try:
                    await asyncio.sleep(50)
                finally:
                    await asyncio.sleep(50)

        task = asyncio.create_task(stubborn())
        await asyncio.sleep(1)
        term.end()
        await term.wait_left()
        assert now_s() == 10
        await task

    run_virtual(play())
