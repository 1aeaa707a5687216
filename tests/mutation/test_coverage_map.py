from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.mutation.coverage_map import CoverageMap, hash_of

SOURCE = "a = 1\ndef f():\n    return 1\n"
PATH = "protocol/x.py"
TEST = "tests/unit/test_x.py"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "protocol").mkdir()
    (tmp_path / "tests/unit").mkdir(parents=True)
    (tmp_path / PATH).write_text(SOURCE)
    (tmp_path / TEST).write_text("def test_f(): pass\n")
    kept = tmp_path / "build/sources"
    kept.mkdir(parents=True)
    (kept / hash_of(tmp_path / PATH)).write_text(SOURCE)
    (tmp_path / "build/map").mkdir()
    lines = {PATH: {f"{TEST}::test_f": f"{1 << 3:x}"}}
    part = [TEST, hash_of(tmp_path / TEST), {PATH: hash_of(tmp_path / PATH)}, {f"{TEST}::test_f": 0.5}, lines]
    (tmp_path / "build/map/x.json").write_text(json.dumps(part))
    return tmp_path


def coverage_map(root: Path) -> CoverageMap:
    return CoverageMap(root, root / "build")


def test_a_line_has_the_tests_that_run_it(root: Path) -> None:
    found = coverage_map(root)

    assert found.tests_of(PATH, [3]) == {f"{TEST}::test_f"}
    assert found.tests_of(PATH, [2]) == set()
    assert found.seconds(f"{TEST}::test_f") == 0.5


def test_a_line_is_found_where_it_has_moved(root: Path) -> None:
    """And a new line has the tests of the line above it."""
    (root / PATH).write_text("import os\n\n" + SOURCE + "    g()\n")

    assert coverage_map(root).tests_of(PATH, [5]) == {f"{TEST}::test_f"}
    assert coverage_map(root).tests_of(PATH, [6]) == {f"{TEST}::test_f"}
    assert coverage_map(root).tests_of(PATH, [3]) == set()


def test_a_test_file_that_changed_is_stale(root: Path) -> None:
    assert coverage_map(root).stale() == []

    (root / TEST).write_text("def test_g(): pass\n")
    assert coverage_map(root).stale() == [TEST]


def test_a_test_file_that_is_gone_is_forgotten(root: Path) -> None:
    (root / TEST).unlink()

    assert coverage_map(root).tests_of(PATH, [3]) == set()
