"""`make test ARGS=--cov`: the report by package."""

from __future__ import annotations

from typing import Any

from tests.coverage_report import table
from tests.packages import package_of


def file(lines: int, missed: int, branches: int, missed_branches: int) -> dict[str, Any]:
    counts = {"num_statements": lines, "missing_lines": missed, "num_branches": branches, "missing_branches": missed_branches}
    return {"summary": counts}


def test_files_are_added_up_by_package() -> None:
    rows = table(
        {
            "coordinator_server/log/meta.py": file(10, 1, 4, 0),
            "coordinator_server/log/read/shard_reader.py": file(30, 1, 4, 2),
            "protocol/wire.py": file(60, 0, 0, 0),
        }
    ).splitlines()

    assert [row.split() for row in rows[1:]] == [
        ["log", "40", "2", "95.0%", "8", "2", "75.0%"],
        ["protocol", "60", "0", "100.0%", "0", "0", "-"],
        ["all", "100", "2", "98.0%", "8", "2", "75.0%"],
    ]


def test_a_file_of_no_package_has_a_row() -> None:
    assert package_of("coordinator_server/kinds.py") == "root"
    assert package_of("coordinator_server/server/apis/topics.py") == "server"
