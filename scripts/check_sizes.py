"""Say which hand-written files are longer than the limit. ``make check`` runs it.

scripts/check_sizes.py      exit code 1 if there is any, or an exception that nothing needs any more

Ruff holds the limit of statements in a function (``max-statements`` in pyproject.toml).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
MOST_LINES: Final = 400
GENERATED: Final = "protocol/generated/"
TOPS: Final = ("bench", "coordinator_server", "examples", "protocol", "scripts", "tests")
# Files that are longer, and how long they may be. To split one is welcome; a new one is not.
LONGER: Final[dict[str, int]] = {
    "bench/hot.py": 475,
    "coordinator_server/runtime/runtime.py": 475,
    "coordinator_server/server/wire/connection.py": 510,
    "protocol/generate/decoding.py": 425,
    "tests/integration/test_coordinator_fixture.py": 600,
    "tests/integration/test_loops.py": 600,
    "tests/integration/test_sasl.py": 450,
    "tests/integration/test_transactions.py": 475,
    "tests/interop/clients.py": 650,
    "tests/simulation/machine.py": 475,
    "tests/simulation/test_checkers.py": 575,
    "tests/spark/test_history_docs.py": 425,
    "tests/support/group.py": 475,
    "tests/support/group_model.py": 550,
    "tests/support/storage.py": 450,
    "tests/unit/client/test_coordinator.py": 875,
    "tests/unit/group/consumer/test_heartbeat.py": 850,
    "tests/unit/group/migration/test_classic_members.py": 625,
    "tests/unit/group/migration/test_upgrade.py": 475,
    "tests/unit/group/share/test_offsets.py": 500,
    "tests/unit/group/test_large_groups.py": 475,
    "tests/unit/log/layers/test_retention.py": 450,
    "tests/unit/log/repair/test_check.py": 475,
    "tests/unit/pipeline/history/test_history.py": 525,
    "tests/unit/pipeline/files/kafka/test_importer.py": 625,
    "tests/unit/pipeline/layer/test_checkpoint.py": 450,
    "tests/unit/server/apis/test_share_fetch.py": 500,
    "tests/unit/server/wire/test_turns.py": 450,
}


def lengths(root: Path = ROOT) -> dict[str, int]:
    """Return the number of lines of each hand-written file, by its path."""
    paths = (path for top in TOPS for path in sorted((root / top).rglob("*.py")))
    found = {path.relative_to(root).as_posix(): path.read_bytes().count(b"\n") for path in paths}
    return {name: lines for name, lines in found.items() if not name.startswith(GENERATED)}


def problems(found: Mapping[str, int], longer: Mapping[str, int] = LONGER) -> Iterator[str]:
    """Yield what breaks the limit, in lines for people."""
    for name, lines in found.items():
        if lines > (most := longer.get(name, MOST_LINES)):
            yield f"{name} has {lines} lines, and may have {most}: split it by noun"
    for name in longer:
        if found.get(name, 0) <= MOST_LINES:
            yield f"{name} has at most {MOST_LINES} lines now: remove it from LONGER in scripts/check_sizes.py"


def main() -> int:
    """Print what breaks the limit."""
    found = list(problems(lengths()))
    for each in found:
        print(each, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
