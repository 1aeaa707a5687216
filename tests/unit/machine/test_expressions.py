"""Expressions of clients: RE2's syntax, in linear time and bounded memory."""

from __future__ import annotations

import json
import time

import pytest

from coordinator_server.machine.expressions import MAX_LENGTH, Expression, ExpressionError
from tests.support.expressions import NAMED, TEXTS
from tests.support.golden import STORED_EXPRESSIONS, run_expressions, stored_lines
from tests.support.kafka_jars import kafka_jars


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
def test_regular_expressions_that_are_refused(wrong: str) -> None:
    """It says why."""
    with pytest.raises(ExpressionError, match=r".+"):
        Expression(wrong)


@pytest.mark.parametrize("large", ["a" * (MAX_LENGTH + 1), "((a{30}){30}){30}", "((.{10}){30}){30}"])
def test_a_large_expression_is_refused(large: str) -> None:
    with pytest.raises(ExpressionError):
        Expression(large)


def test_an_expression_may_have_1000_characters() -> None:
    assert Expression("a" * MAX_LENGTH).matches("a" * MAX_LENGTH)


def test_repetitions_of_repetitions_take_linear_time() -> None:
    """``re`` would take longer than anybody waits."""
    began = time.monotonic()

    assert not Expression("(a*)*(a|aa)*b").matches("a" * 32_000)
    assert time.monotonic() - began < 10


# What RE2 takes and RE2/J does not, or the other way round.
DIFFERENT = {
    "(?P<n>a)(?P<n>b)": "a name for two groups",
    "(a{100}){11}": "more than 1,000 repetitions together",
    "((a{10}){10}){11}": "more than 1,000 repetitions together",
    "\\C": "any byte",
    "\\C+": "any byte",
    "\\é": "a letter beyond ASCII that is escaped",
    "{*a.(?i)a\\d.": "a brace that is repeated",
    ".*{|]^{*": "a brace that is repeated",
    "b{{2}(?:+[^b],": "a brace that is repeated",
}


def test_expressions_match_what_they_match_in_kafka_and_are_wrong_for_its_reasons() -> None:
    """But for rare ones."""
    lines = [json.loads(line) for line in stored_lines(STORED_EXPRESSIONS).splitlines()]
    different = set()
    for line in lines:
        found: dict[str, object] = {"expression": line["expression"]}
        try:
            expression = Expression(line["expression"])
        except ExpressionError as wrong:
            found["wrong"] = wrong.description
        else:
            found["matched"] = [text for text in TEXTS if expression.matches(text)]
        if found != line:
            different.add(line["expression"])

    assert different == DIFFERENT.keys()
    assert len(lines) > len(NAMED)


@pytest.mark.interop
def test_the_stored_expressions_are_what_kafka_says() -> None:
    """Made anew by its library, every line is the stored one."""
    assert run_expressions(kafka_jars()) == stored_lines(STORED_EXPRESSIONS), "make golden stores what RE2/J says now"
