from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation import drawing
from tests.packages import sources

TEXT = '''\
"""Docstring 1."""
from typing import TYPE_CHECKING, Annotated, TypeVar

if TYPE_CHECKING:
    X = 1
T_co = TypeVar("T_co", bound=int, covariant=True)

def f(a: Annotated[int, 2], b: int | None = 3) -> Annotated[int, 4]:
    """Docstring."""
    assert a > 5
    log.info("words", number=6)
    c: Annotated[int, 7] = 8
    g(f"{a:9}")
    return 10
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, functions in (
        ("coordinator_server/one/a.py", 40),
        ("coordinator_server/two/b.py", 4),
        ("protocol/generated/c.py", 9),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            "\n".join(
                f"def f{number}(a):\n    g(a)\n    if a >= 1:\n        return 1\n    return a + 1\n"
                for number in range(functions)
            )
        )
    return tmp_path


def test_only_code_that_can_be_wrong_is_changed() -> None:
    """Not annotations, assertions, log lines, formats, docstrings, or what only a type checker reads."""
    constants = {site.line for site in drawing.sites("protocol/x.py", TEXT) if site.family == "constant"}
    made = [drawing.mutant(site, TEXT) for site in drawing.sites("protocol/x.py", TEXT) if site.family == "constant"]

    assert constants == {8, 12, 14}
    assert {each.after.strip() for each in made if each and each.site.line == 12} == {
        "c: Annotated[int, 7] = 9",
        "c: Annotated[int, 7] = 7",
    }


def test_assertions_of_unreachable_code_are_not_mutated() -> None:
    assert list(drawing.sites("protocol/x.py", "def f():\n    raise AssertionError('never')\n    assert_never(1)\n")) == []


def test_an_assurance_is_not_a_mistake() -> None:
    """Without ``strict=True`` only code that is wrong elsewhere would do something else."""
    families = {site.family for site in drawing.sites("protocol/x.py", "def f(a, b):\n    g(zip(a, b, strict=True))\n")}

    assert families == {"dropped statement"}


def test_a_seed_draws_the_same_mutants(root: Path) -> None:
    one = drawing.draw(root, ["one", "two"], 12, 1)

    assert one == drawing.draw(root, ["one", "two"], 12, 1)
    assert one != drawing.draw(root, ["one", "two"], 12, 2)
    assert len(one) == 12


def test_a_small_package_has_its_share(root: Path) -> None:
    drawn = drawing.draw(root, ["one", "two"], 20, 1)

    assert 5 <= sum(each.package == "two" for each in drawn) < 10


def test_generated_code_is_left_alone(root: Path) -> None:
    assert set(sources(root)) == {"one", "two"}


def test_every_mutant_compiles_and_differs(root: Path) -> None:
    text = (root / "coordinator_server/two/b.py").read_text()
    made = [drawing.mutant(site, text) for site in drawing.sites("coordinator_server/two/b.py", text)]

    for each in made:
        if each is not None:
            compile(each.text, "b.py", "exec")
            assert each.before != each.after
    assert sum(each is not None for each in made) > 20


def test_a_mutant_keeps_its_name_when_lines_shift() -> None:
    text = "def f(a):\n    return a >= 1\n"
    moved = "import os\n\n\n" + text
    one = next(made for site in drawing.sites("protocol/x.py", text) if (made := drawing.mutant(site, text)))
    other = next(made for site in drawing.sites("protocol/x.py", moved) if (made := drawing.mutant(site, moved)))

    assert one.key() == other.key()
    assert one.site.line != other.site.line
