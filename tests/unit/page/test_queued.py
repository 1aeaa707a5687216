"""Answers that are long to make: what a request waits for, what is made, and what is kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from coordinator_server.page import queued
from coordinator_server.page.queued import FORGOTTEN_S, Queued, TooMany


class Slow:
    """Makes answers, each when it may."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.made: list[str] = []
        self.may = threading.Semaphore(0)
        self.asked: Queued[str, str] = Queued(self.make, lambda: self.now_s)

    def make(self, question: str) -> str:
        assert self.may.acquire(timeout=30)
        self.made.append(question)
        if question == "wrong":
            raise ValueError(question)
        return question.upper()

    def until_there(self, question: str) -> str:
        found = None
        while found is None:
            found = self.asked.get(question)
        return found


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    monkeypatch.setattr(queued, "WAIT_S", 0.01)
    found = Slow()
    yield found
    found.may.release(100)


def test_a_question_is_answered_when_the_answer_is_there(slow: Slow) -> None:
    assert slow.asked.get("a") is None
    assert slow.asked.get("a") is None
    slow.may.release()

    assert slow.until_there("a") == "A"
    assert slow.asked.get("a") == "A"
    assert slow.made == ["a"]


def test_an_error_is_told_once_and_asked_again(slow: Slow) -> None:
    slow.may.release(2)
    for _ in range(2):
        with pytest.raises(ValueError, match="wrong"):
            slow.until_there("wrong")

    assert slow.made == ["wrong", "wrong"]


def test_what_nobody_asks_for_any_longer_is_not_made(slow: Slow) -> None:
    for each in ("first", "left", "last"):
        assert slow.asked.get(each) is None
    slow.now_s += FORGOTTEN_S + 1
    assert slow.asked.get("last") is None
    slow.may.release(3)

    assert slow.until_there("last") == "LAST"
    assert slow.made == ["first", "last"]


def test_only_so_many_may_wait(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queued, "MOST_WAITING", 2)
    for each in ("a", "b", "a"):
        assert slow.asked.get(each) is None
    with pytest.raises(TooMany):
        slow.asked.get("c")
    slow.may.release(2)

    assert slow.until_there("b") == "B"
    assert slow.asked.get("c") is None


def test_the_answers_that_are_kept_have_a_bound(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queued, "_MOST_KEPT", 2)
    slow.may.release(5)
    for each in "abca":
        slow.until_there(each)

    assert slow.made == ["a", "b", "c", "a"]
