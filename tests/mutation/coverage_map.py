"""Which tests run which lines, measured once and kept by test file, so that a changed test file is measured again alone.

A part of the map is a JSON file in ``build/mutants/map`` for each test file: its hash, its tests with their seconds, and for each
source the lines that each test ran, as a bit set in hex. The sources are kept beside it as they were, by hash: where a source has
changed since, its lines are found again by their text.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any, Final

from tests.mutation import record

# What a mutant may be killed by. Clients and brokers take longer than a mutant may.
DIRECTORIES: Final = ("unit", "scenarios", "regressions", "property", "integration", "spark")
SIMULATION: Final = ("tests/simulation/test_seeds.py", "tests/simulation/test_effects.py")
# Their durations are those of so many seeds in all.
ENVIRONMENT: Final = {"SEEDS": "75"}

SETTINGS: Final = """\
[run]
source =
    {root}/coordinator_server
    {root}/protocol
omit = {root}/protocol/generated/*
parallel = true
data_file = {directory}/lines
# A process that a test starts takes its name.
context = ${{PYTEST_CURRENT_TEST-}}
patch = _exit, fork
disable_warnings = no-data-collected,module-not-imported,couldnt-parse
"""


@dataclass
class Part:
    """Of one test file: `lines` has, by source and test, the lines as bits."""

    hash: str
    sources: dict[str, str] = field(default_factory=dict)
    tests: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[str, str]] = field(default_factory=dict)


def test_files(root: Path) -> list[str]:
    found = [path for name in DIRECTORIES for path in sorted((root / "tests" / name).rglob("test_*.py"))]
    return [path.relative_to(root).as_posix() for path in found] + [name for name in SIMULATION if (root / name).exists()]


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:20]


class CoverageMap:
    """The parts of a tree at `root`, kept in `directory`."""

    def __init__(self, root: Path, directory: Path) -> None:
        self._root, self._directory = root, directory
        self.parts: dict[str, Part] = {}
        for path in sorted((directory / "map").glob("*.json")):
            name, *values = json.loads(path.read_text())
            if (root / name).exists():
                self.parts[name] = Part(*values)
        self._seconds = {test: seconds for part in self.parts.values() for test, seconds in part.tests.items()}

    def stale(self) -> list[str]:
        """Test files that are new, or have changed since they were measured."""
        return [
            name
            for name in test_files(self._root)
            if name not in self.parts or self.parts[name].hash != hash_of(self._root / name)
        ]

    def seconds(self, test: str) -> float:
        return self._seconds.get(test, 1.0)

    def tests_of(self, path: str, lines: Iterable[int]) -> set[str]:
        """The tests that run one of these lines of the source as it is now."""
        wanted = set(lines)
        found: set[str] = set()
        for part in self.parts.values():
            if path in part.lines:
                then = self._lines_then(path, part.sources[path], frozenset(wanted))
                bits = sum(1 << line for line in then)
                found.update(test for test, each in part.lines[path].items() if int(each, 16) & bits)
        return found

    def tests_of_file(self, path: str) -> set[str]:
        return {test for part in self.parts.values() for test in part.lines.get(path, ())}

    def _lines_then(self, path: str, hash_then: str, lines: frozenset[int]) -> set[int]:
        """The same lines when they were measured; for one that is new, the nearest line above that is not."""
        now = (self._root / path).read_bytes()
        if hashlib.sha256(now).hexdigest()[:20] == hash_then:
            return set(lines)
        then = (self._directory / "sources" / hash_then).read_text().splitlines()
        return {_line_then(line, _blocks(tuple(then), tuple(now.decode().splitlines()))) for line in lines}

    def measure(self, names: list[str], processes: int) -> list[str]:
        """Run these test files and keep what they run; the tests that failed."""
        recording = self._directory / "recording"
        recording.mkdir(parents=True, exist_ok=True)
        for left in recording.iterdir():
            left.unlink()
        settings = recording / "settings"
        settings.write_text(SETTINGS.format(root=self._root, directory=recording))
        environment = os.environ | ENVIRONMENT | {"PYTHONPATH": str(self._root)}
        environment |= {record.DIRECTORY: str(recording), "COVERAGE_PROCESS_START": str(settings)}
        spread = ["-n", str(processes)] if processes > 1 else ["-n", "1"]
        words = ["-p", "tests.mutation.record", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=600", *spread, *names]
        subprocess.run([sys.executable, "-m", "pytest", *words], cwd=self._root, env=environment, check=False)
        return self.take(recording)

    def take(self, recording: Path) -> list[str]:
        """Make parts of what the plugin and coverage have written; the tests that failed."""
        tests, failed = _recorded(recording)
        lines = _lines_by_test(self._root, recording)
        for name, seconds in tests.items():
            part = Part(hash_of(self._root / name), tests=seconds)
            for source, by_test in lines.get(name, {}).items():
                part.lines[source] = {test: f"{bits:x}" for test, bits in by_test.items() if test in seconds}
                part.sources[source] = self._keep_source(source)
            self._write(name, part)
        self._seconds = {test: seconds for part in self.parts.values() for test, seconds in part.tests.items()}
        return failed

    def _keep_source(self, source: str) -> str:
        name = hash_of(self._root / source)
        kept = self._directory / "sources" / name
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes((self._root / source).read_bytes())
        return name

    def _write(self, name: str, part: Part) -> None:
        self.parts[name] = part
        path = self._directory / "map" / (name.replace("/", ".") + ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([name, part.hash, part.sources, part.tests, part.lines]))


def _recorded(recording: Path) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Seconds of the tests by file, and those that failed: some do for being measured,
    and a run of a mutant tries them first without one.
    """
    tests: dict[str, dict[str, float]] = defaultdict(dict)
    failed = []
    for path in recording.glob("tests.*"):
        for line in path.read_text().splitlines():
            nodeid, seconds, is_passed = json.loads(line)[:3]
            tests[nodeid.partition("::")[0]][nodeid] = seconds
            if not is_passed:
                failed.append(nodeid)
    return tests, failed


def _lines_by_test(root: Path, recording: Path) -> dict[str, dict[str, dict[str, int]]]:
    """By test file, source and test: the lines as bits."""
    found: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))
    for path in recording.glob("lines.*"):
        for source, context, bits in _read(path):
            test = _without_phase(context)
            if test and source.startswith(f"{root}/"):
                found[test.partition("::")[0]][source.removeprefix(f"{root}/")][test] |= bits
    return found


def _read(path: Path) -> Iterator[tuple[str, str, int]]:
    """Source, context and lines. Coverage's own reader makes lists of numbers, which takes minutes for a whole run."""
    with closing(sqlite3.connect(path)) as data:
        query = (
            "select file.path, context.context, numbits from line_bits"
            " join file on file.id = file_id join context on context.id = context_id"
        )
        try:
            rows: list[Any] = data.execute(query).fetchall()
        except sqlite3.DatabaseError:  # its process was killed while it wrote
            return
    for source, context, numbits in rows:
        yield source, context, int.from_bytes(numbits, "little")


def _without_phase(context: str) -> str:
    for phase in (" (setup)", " (call)", " (teardown)"):
        context = context.removesuffix(phase)
    return context


@cache
def _blocks(then: tuple[str, ...], now: tuple[str, ...]) -> list[tuple[int, int, int]]:
    return [(block.a, block.b, block.size) for block in SequenceMatcher(None, then, now, autojunk=False).get_matching_blocks()]


def _line_then(line: int, blocks: list[tuple[int, int, int]]) -> int:
    nearest = 1
    for then, now, size in blocks:
        if now < line <= now + size:
            return then + line - now
        if now + size < line:
            nearest = then + size
    return max(nearest, 1)
