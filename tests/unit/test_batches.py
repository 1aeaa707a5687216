"""Cases in batches are as tests of their own, but for their number."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.batches import in_batches

seen: list[object] = []


@in_batches("number, square", [(each, each * each) for each in range(10)], tests=3)
def test_each_case_is_seen(number: int, square: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """With fixtures beside it."""
    assert tmp_path_factory is not None
    assert number * number == square
    seen.append(number)


@in_batches("letter", "abc", tests=2)
@settings(max_examples=2)
@given(number=st.integers())
def test_examples_are_drawn_for_each_case(letter: str, number: int) -> None:
    assert isinstance(number, int)
    if letter not in seen:
        seen.append(letter)


def test_no_case_is_left_out() -> None:
    """In their order."""
    assert seen == [*range(10), *"abc"]


def test_a_failure_names_its_case() -> None:
    @in_batches("name", ["fine", "wrong", "unseen"], tests=1)
    def test(name: str) -> None:
        assert name == "fine"

    with pytest.raises(AssertionError) as failed:
        test([("fine",), ("wrong",), ("unseen",)])  # type: ignore[arg-type]

    assert failed.value.__notes__ == ["case: name='wrong'"]
    assert [mark.kwargs["ids"] for mark in test.pytestmark] == [["fine to unseen"]]  # type: ignore[attr-defined]
