from __future__ import annotations

from typing import Any

import parso
import pytest
from cosmic_ray.operators.operator import Example

from tests.mutation.drawing import _Change
from tests.mutation.operators import FAMILIES, DropStatement

CASES = [
    (operator, example) for operators in FAMILIES.values() for operator in operators for example in type(operator).examples()
]


@pytest.mark.parametrize(("operator", "example"), CASES, ids=lambda each: type(each).__name__)
def test_an_operator_does_what_its_examples_say(operator: Any, example: Example) -> None:
    changed = _Change(operator, example.occurrence).walk(parso.parse(example.pre_mutation_code)).get_code()

    assert "".join(changed.split()) == "".join(example.post_mutation_code.split())


@pytest.mark.parametrize(
    "text",
    [
        "x = f()\n",
        "def f():\n    return 1\n",
        "'words'\n",
        "pass\n",
        "import os\n",
        "x: int = 1\n",
        "class A:\n    def __init__(self):\n        self.a = 1\n",
    ],
)
def test_a_statement_that_is_missed_at_once_is_not_dropped(text: str) -> None:
    """Checkers find an unknown name and a function without its result; no tired hand drops them."""
    changed = _Change(DropStatement(), 0).walk(parso.parse(text)).get_code()

    assert changed == text


def test_families_cover_the_mistakes_that_once_survived() -> None:
    """A dropped call, a bound, a guard, a constant that is off by one, an early way out."""
    text = "def f(a):\n    if a >= 1:\n        return\n    sync(a)\n    g(a)\n"
    found = {
        family
        for family, operators in FAMILIES.items()
        for operator in operators
        if _Change(operator, 0).walk(parso.parse(text)).get_code() != text
    }

    assert {"dropped statement", "bound", "forced condition", "negated condition", "constant"} <= found
