from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.mutation.choosing import Chooser, is_named, likeness, lines_to_look_for, plain_words, words_of
from tests.mutation.coverage_map import CoverageMap, Part, hash_of

CODE = '''\
"""Words."""
LIMIT = 10

@wrapped(
    1
)
def f(a, b=2):
    if (
        a
        and b
    ):
        g(
            a,
            b,
        )
    elif a: return 1
    try:
        g(1)
    except (
        A,
        B
    ):
        g(2)
    return a

class C:
    x = 1

@functools.lru_cache(maxsize=2)
def h():
    return 1
'''


@pytest.mark.parametrize(
    ("line", "lines", "is_in_function"),
    [
        (2, {2}, False),
        (5, set(range(8, 25)), True),
        (7, set(range(8, 25)), True),
        (9, {8, 9, 10, 11}, True),
        (13, {12, 13, 14, 15}, True),
        (18, {18}, True),
        (20, {20}, True),
        (23, {23}, True),
        (24, {24}, True),
        (27, {27}, False),
        (30, {31}, False),
        (31, {31}, False),
    ],
)
def test_a_statement_has_all_its_lines(line: int, lines: set[int], is_in_function: bool) -> None:
    """Coverage counts some of them; of a definition those of its body count, which run after the import."""
    assert lines_to_look_for(CODE, line) == (lines, is_in_function)


@pytest.fixture
def chooser(tmp_path: Path) -> Chooser:
    texts = {
        "coordinator_server/one/limits.py": "LIMIT = 10\n",
        "coordinator_server/one/near.py": "from coordinator_server.one.limits import LIMIT\ndef f():\n    return LIMIT\n",
        "tests/unit/one/test_near.py": "from coordinator_server.one.near import f\n",
        "tests/unit/one/test_table.py": "from coordinator_server.one.limits import LIMIT\nimport coordinator_server.one.near\n",
        "tests/unit/two/test_far.py": "",
        "tests/integration/test_slow.py": "",
        "tests/spark/test_session.py": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    coverage = CoverageMap(tmp_path, tmp_path / "build")
    near = "coordinator_server/one/near.py"
    for name, seconds in (
        ("unit/one/test_near", 0.1),
        ("unit/two/test_far", 0.1),
        ("integration/test_slow", 1.0),
        ("spark/test_session", 9.0),
    ):
        test = f"tests/{name}.py::test"
        coverage.parts[f"tests/{name}.py"] = Part(
            "", {near: hash_of(tmp_path / near)}, {test: seconds}, {near: {test: f"{1 << 3:x}"}}
        )
    table = "tests/unit/one/test_table.py"
    coverage.parts[table] = Part("", {}, {f"{table}::test": 0.1}, {})
    coverage._seconds = {test: seconds for part in coverage.parts.values() for test, seconds in part.tests.items()}
    return Chooser(tmp_path, coverage)


def at(path: str, line: int) -> Any:
    return SimpleNamespace(site=SimpleNamespace(path=path, line=line), package="one", before="LIMIT = 10")


def test_near_and_fast_tests_come_first(chooser: Chooser) -> None:
    """Those of a Spark session do not come at all, outside the code that Spark runs."""
    names = [test.split("/")[-1] for test in chooser.tests(at("coordinator_server/one/near.py", 3))]

    assert names == ["test_near.py::test", "test_far.py::test", "test_slow.py::test"]


def test_names_tell_which_test_is_near() -> None:
    """Where a server runs the code, no import does."""
    words = words_of("protocol/messages/offset_commit.py")

    assert likeness(words, "tests/integration/test_offsets.py::test_commits_of_a_group") == 1 / 3
    assert likeness(words, "tests/unit/test_x.py::test_fields[OffsetCommitRequest]") == 1 / 3
    assert likeness(words, "tests/integration/test_groups.py::test_join") == 1


@pytest.mark.parametrize(
    ("test", "line", "is_its"),
    [
        ("t.py::test_limits[flush.ms]", 'Setting("flush.ms", at_least(0)),', True),
        ("t.py::test_limits[flush.ms]", "log_flush_ms: Positive = 5", True),
        ("t.py::test_limits[flush.ms]", 'Setting("flush.msecs", at_least(0)),', False),
        ("t.py::test_limits[0]", "LIMIT = 0", False),
        ("t.py::test_limits", "limits = 0", False),
    ],
)
def test_a_case_that_the_line_names_is_about_it(test: str, line: str, is_its: bool) -> None:
    """A table has a row for each case."""
    assert is_named(test, plain_words(line)) == is_its


def test_a_constant_has_the_tests_of_who_imports_it(chooser: Chooser) -> None:
    """And of the tests that do, though they run none of its functions."""
    assert len(chooser.tests(at("coordinator_server/one/limits.py", 1))) == 4
    assert "tests/unit/one/test_table.py::test" in chooser.tests(at("coordinator_server/one/near.py", 1))
    assert "tests/unit/one/test_table.py::test" not in chooser.tests(at("coordinator_server/one/near.py", 3))
