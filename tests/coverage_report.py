"""`make test ARGS=--cov`: lines and branches that the tests ran, by package."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import pytest

from tests.packages import package_of

# Files, functions, and lines that no test ran.
DETAILS: Final = "build/coverage/report.json"
_COUNTS: Final = ("num_statements", "missing_lines", "num_branches", "missing_branches")


def pytest_configure(config: pytest.Config) -> None:
    """The report by package takes the place of pytest-cov's by file, unless that is asked for (``--cov-report``)."""
    plugin = config.pluginmanager.get_plugin("_cov")
    if plugin is not None and plugin.options.cov_report == ["term"]:
        plugin.options.cov_report = {}


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    plugin = config.pluginmanager.get_plugin("_cov")
    measured = plugin and plugin.cov_controller and plugin.cov_controller.cov
    if not measured:
        return
    path = config.rootpath / DETAILS
    path.parent.mkdir(parents=True, exist_ok=True)
    measured.json_report(outfile=str(path))
    terminalreporter.write_sep("=", "coverage by package")
    terminalreporter.write(table(json.loads(path.read_text())["files"]))
    terminalreporter.write(f"lines that no test ran: {DETAILS}\n")


def table(files: dict[str, Any]) -> str:
    """A row for each package, and one for all."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0] * len(_COUNTS))
    for path, found in files.items():
        for name in (package_of(Path(path).as_posix()), "all"):
            for place, count in enumerate(_COUNTS):
                sums[name][place] += found["summary"][count]
    rows = [f"{'package':12} {'lines':>7} {'missed':>7} {'':>6} {'branches':>9} {'missed':>7}"]
    for name in [*sorted(set(sums) - {"all"}), "all"]:
        lines, missed, branches, missed_branches = sums[name]
        rows.append(
            f"{name:12} {lines:7} {missed:7} {_share(lines, missed)} {branches:9} {missed_branches:7} "
            f"{_share(branches, missed_branches)}"
        )
    return "\n".join(rows) + "\n"


def _share(number: int, missed: int) -> str:
    return f"{1 - missed / number:6.1%}" if number else f"{'-':>6}"
