"""Draw mutants of the code from a seed, run the tests that cover each, and print those that no test kills.

A mutant is one small mistake: a dropped call, `>` for `>=`, a condition that is forgotten. One that survives shows what no test
checks. The first run measures which tests run which lines, which takes some minutes; later runs measure only test files that have
changed. Results, copies of the tree and the measured lines are kept in build/mutants. tests/mutation/equivalents.toml lists
mutants that were judged to mean the same.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.mutation import drawing, equivalents, report
from tests.mutation.coverage_map import CoverageMap, test_files
from tests.mutation.mutants import Mutant
from tests.mutation.trees import copy_tree
from tests.mutation.trying import Result, Trial
from tests.packages import sources

ROOT: Final = Path(__file__).resolve().parents[2]
DIRECTORY: Final = ROOT / "build" / "mutants"
# Test files that are measured in one run of pytest.
PORTION: Final = 20
SURVIVED: Final = ("survived", "uncovered")


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        "python -m tests.mutation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    found.add_argument(
        "--mutants", type=int, default=100, metavar="N", help="how many to draw, in all packages together (default 100)"
    )
    found.add_argument(
        "--seed", type=int, default=1, metavar="N", help="the same seed draws the same mutants of the same code (default 1)"
    )
    found.add_argument(
        "--packages", metavar="NAMES", help="such as log,offsets,protocol; root is the files of no package (default: all)"
    )
    found.add_argument(
        "--only", metavar="FILE:LINE", help="every mutant of one line, or of a FILE; --mutants does not limit them"
    )
    found.add_argument(
        "--again",
        type=Path,
        metavar="RESULTS",
        help="try only the survivors of an earlier run (--json); its other results stay as they are",
    )
    found.add_argument("--list", action="store_true", help="print the mutants, and try none")
    found.add_argument("--jobs", type=int, default=2, metavar="N", help="copies of the tree that try mutants at once (default 2)")
    found.add_argument(
        "--cap",
        type=float,
        default=60.0,
        metavar="S",
        help="run so many seconds of tests for a mutant, by what they took when they were measured (default 60)",
    )
    found.add_argument(
        "--least", type=float, default=90.0, metavar="PERCENT", help="exit with 1 if a package has less (default 90)"
    )
    found.add_argument("--json", type=Path, metavar="FILE", help="write all results there")
    found.add_argument(
        "--map",
        choices=["update", "anew", "keep"],
        default="update",
        help="what to measure first: test files that have changed (default), all, or none",
    )
    return found


def main(options: argparse.Namespace) -> int:
    began = time.monotonic()
    root = copy_tree(ROOT, DIRECTORY / "trees" / "all")
    mutants = _mutants(options, root)
    if options.list:
        for mutant in mutants:
            print(report.difference(Result(mutant.as_json(), "survived")).replace("; 0 of 0 tests ran and passed", ""))
        return 0
    if not mutants and options.again is None:
        print("there are no such mutants", file=sys.stderr)
        return 2
    coverage = _measured(options, root)
    known = equivalents.load()
    tried = [mutant for mutant in mutants if mutant.key() not in known]
    results = _earlier(options.again) if options.again is not None else []
    results += [Result(mutant.as_json(), "equivalent", why=known[mutant.key()]) for mutant in mutants if mutant.key() in known]
    _write(options.json, results)
    for number, result in enumerate(Trial(root, DIRECTORY, coverage, options.cap).run(tried, options.jobs), 1):
        results.append(result)
        print(report.progress(number, len(tried), result), flush=True)
        _write(options.json, results)
    _print(results, time.monotonic() - began)
    return 1 if report.below(results, options.least) else 0


@contextmanager
def alone() -> Iterator[None]:
    """The directory is this run's meanwhile."""
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    with (DIRECTORY / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another run in this tree", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _mutants(options: argparse.Namespace, root: Path) -> list[Mutant]:
    if options.again is not None:
        return _again(options.again, root)
    if options.only is not None:
        name, _, line = options.only.partition(":")
        text = (root / name).read_text()
        found = [site for site in drawing.sites(name, text) if not line or site.line == int(line)]
        return [made for site in found if (made := drawing.mutant(site, text)) is not None]
    packages = options.packages.split(",") if options.packages else list(sources(root))
    unknown = set(packages) - set(sources(root))
    if unknown:
        sys.exit(f"no such packages: {', '.join(sorted(unknown))}; there are {', '.join(sources(root))}")
    return drawing.draw(root, packages, options.mutants, options.seed)


def _write(path: Path | None, results: list[Result]) -> None:
    if path is not None:
        path.write_text(json.dumps(report.as_json(results), indent=1))


def _earlier(path: Path) -> list[Result]:
    """What did not survive then counts as it did."""
    results = [Result(**each) for each in json.loads(path.read_text())]
    return [result for result in results if result.status not in SURVIVED]


def _again(path: Path, root: Path) -> list[Mutant]:
    """The survivors of a run, found again where their lines are now."""
    found = []
    for result in json.loads(path.read_text()):
        if result["status"] not in SURVIVED:
            continue
        mutant = result["mutant"]
        again = _same(mutant, root)
        if again is None:
            print(f"no longer there: {mutant['path']}:{mutant['line']} {mutant['before'].strip()}", file=sys.stderr)
        else:
            found.append(again)
    return found


def _same(mutant: dict[str, str], root: Path) -> Mutant | None:
    if not (root / mutant["path"]).exists():
        return None
    text = (root / mutant["path"]).read_text()
    for site in drawing.sites(mutant["path"], text):
        if (site.function, site.family, site.operator) == (mutant["function"], mutant["family"], mutant["operator"]):
            made = drawing.mutant(site, text)
            if made is not None and (made.before, made.after) == (mutant["before"], mutant["after"]):
                return made
    return None


def _measured(options: argparse.Namespace, root: Path) -> CoverageMap:
    """Measure some test files at a time: what is done is kept when the run is interrupted."""
    coverage = CoverageMap(root, DIRECTORY)
    stale = {"keep": [], "update": coverage.stale(), "anew": test_files(root)}[options.map]
    for first in range(0, len(stale), PORTION):
        some = stale[first : first + PORTION]
        print(f"measuring which lines the tests run: files {first + 1} to {first + len(some)} of {len(stale)}", flush=True)
        for test in coverage.measure(some, options.jobs):
            print(f"failed while it was measured: {test}", file=sys.stderr)
    return coverage


def _print(results: list[Result], seconds: float) -> None:
    survivors = [result for result in results if result.status in SURVIVED]
    for result in [*survivors, *(result for result in results if result.status == "broken")]:
        print(f"\n{report.difference(result)}")
    print(f"\n{report.table(results)}\n\n{len(survivors)} survived; {seconds:.0f} s")


if __name__ == "__main__":
    wanted = parser().parse_args()
    try:
        with alone():
            sys.exit(main(wanted))
    except KeyboardInterrupt:
        sys.exit(130)
