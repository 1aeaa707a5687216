"""The thread for slow things."""

from __future__ import annotations

import threading
import weakref
from functools import partial

import pytest

from coordinator_server.worker import ThreadWorker


def test_jobs_run_in_turn_in_one_other_thread() -> None:
    """So they need no lock among themselves."""
    ran: list[tuple[int, int]] = []

    def note(number: int) -> None:
        ran.append((number, threading.get_ident()))

    is_done = threading.Event()
    worker = ThreadWorker(lambda: None)
    for number in range(5):
        worker.run(partial(note, number))
    worker.run(is_done.set)
    assert is_done.wait(10)
    worker.close()

    assert [number for number, _ in ran] == [0, 1, 2, 3, 4]
    assert len({ident for _, ident in ran} - {threading.get_ident()}) == 1


def test_a_delayed_job_lets_others_go_first() -> None:
    """And runs all the same, when there is nothing else to do."""
    ran: list[str] = []
    is_done = threading.Event()
    worker = ThreadWorker(lambda: None)
    worker.run(partial(ran.append, "later"), delay=0.05)
    worker.run(is_done.set, delay=0.1)
    worker.run(lambda: ran.append("now"))
    assert is_done.wait(10)
    worker.close()

    assert ran == ["now", "later"]


def test_what_waits_at_close_is_dropped() -> None:
    """And so is what comes afterwards; close waits for no delay."""
    ran: list[str] = []
    worker = ThreadWorker(lambda: None)
    worker.run(lambda: ran.append("later"), delay=3600)
    worker.close()
    worker.run(lambda: ran.append("too late"))
    worker.close()

    assert ran == []


def test_what_a_job_has_goes_when_it_is_done() -> None:
    """Though no other job comes: a decoded request may be large."""

    class Large:
        def __call__(self) -> None:
            pass

    is_gone = threading.Event()
    large = Large()
    weakref.finalize(large, is_gone.set)
    worker = ThreadWorker(lambda: None)
    worker.run(large)
    del large

    assert is_gone.wait(10)
    worker.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_job_that_raises_is_told() -> None:
    """The owner must not wait for a thread that is gone."""
    is_dead = threading.Event()

    def fail() -> None:
        raise ZeroDivisionError

    worker = ThreadWorker(is_dead.set)
    worker.run(fail)

    assert is_dead.wait(10)
    worker.close()
