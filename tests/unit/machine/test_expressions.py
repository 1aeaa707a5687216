"""Expressions of clients: RE2's syntax, in linear time and bounded memory."""

from __future__ import annotations

import time

import pytest

from coordinator_server.machine.expressions import MAX_LENGTH, Expression, ExpressionError


@pytest.mark.parametrize(
    ("expression", "text", "is_match"),
    [
        ("", "", True),
        ("", "a", False),
        ("app-.*-[0-9]+", "app-transfers-17", True),
        ("app", "app-1", False),
        ("app", "my-app", False),
        ("a|ab", "ab", True),
        ("(?i)APP", "app", True),
        ("a.c", "a\nc", False),
        ("(?s)a.c", "a\nc", True),
        (r"\bapp\b.*", "app-1", True),
        (r"\pLé\x{df}", "äéß", True),
        ("[[:alpha:]]+", "ab", True),
        (r"\Qa.b\E", "a.b", True),
        (r"\w", "é", False),
        ("a$", "a\n", False),
        ("(?P<name>b)+", "bb", True),
    ],
)
def test_the_whole_text_matches_or_not(expression: str, text: str, is_match: bool) -> None:
    assert Expression(expression).matches(text) is is_match


@pytest.mark.parametrize("wrong", ["(", "[", "*", "a{2,1}", "a(?=b)", "(?<=a)b", "(a)\\1", "a++", "(?>a)"])
def test_what_is_refused(wrong: str) -> None:
    """It says why."""
    with pytest.raises(ExpressionError, match=r".+"):
        Expression(wrong)


@pytest.mark.parametrize("large", ["a" * (MAX_LENGTH + 1), "((a{30}){30}){30}", "((.{10}){30}){30}"])
def test_what_is_too_large_is_refused(large: str) -> None:
    with pytest.raises(ExpressionError):
        Expression(large)


def test_an_expression_may_have_1000_characters() -> None:
    assert Expression("a" * MAX_LENGTH).matches("a" * MAX_LENGTH)


def test_repetitions_of_repetitions_take_linear_time() -> None:
    """``re`` would take longer than anybody waits."""
    began = time.monotonic()

    assert not Expression("(a*)*(a|aa)*b").matches("a" * 32_000)
    assert time.monotonic() - began < 10
