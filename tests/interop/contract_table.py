"""The contract's outcome as a table of scenarios and clients, and what some clients cannot do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

CONTRACT = "test_contract.py"
# Why a client is not asked to take part in a scenario.
LACKS = {
    ("sarama", "cooperative_sticky"): "no cooperative rebalancing",
    ("kafkajs", "cooperative_sticky"): "no cooperative rebalancing",
    ("aiokafka", "cooperative_sticky"): "no cooperative rebalancing",
    ("kafkajs", "static_restart"): "no static membership",
    **{(client, "tokens"): "its program here has no tokens" for client in ("sarama", "kafkajs", "kafka-python", "aiokafka")},
    ("aiokafka", "admin_alters_and_deletes"): "its admin has no such calls",
}
# The same of the scenarios of KIP-848.
LACKS_OF_CONSUMERS = {
    (
        "franz-go",
        "static_restart",
    ): "1.22.2 leaves without its instance id, which is refused: its place is free after its session only",
}


def contract_table(reporter: pytest.TerminalReporter, clients: Sequence[str]) -> Iterator[str]:
    """Lines: seconds where a scenario went well, FAILED where it did not, and where a client cannot,
    why; then which tools are missing.
    """
    missing: dict[str, None] = {}
    cells: dict[tuple[str, str], str] = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in reporter.stats.get(outcome, []):
            path, _, name = report.nodeid.partition("::")
            if path.endswith(CONTRACT):
                scenario, _, client = name.removeprefix("test_").removesuffix("]").partition("[")
                cells[client, scenario] = f"{report.duration:.1f} s" if outcome == "passed" else outcome.upper()
            if outcome == "skipped":
                missing[str(report.longrepr[-1])] = None
    cells |= {cell: why for cell, why in LACKS.items() if cell[0] in clients}
    scenarios = dict.fromkeys(scenario for _, scenario in cells)
    rows = [["", *clients], *([scenario, *(cells.get((client, scenario), "") for client in clients)] for scenario in scenarios)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    yield from missing


def pauses(reporter: pytest.TerminalReporter) -> Iterator[str]:
    """Lines: how long a client waited at most while shards moved."""
    for report in reporter.stats.get("passed", []):
        for name, value in report.user_properties:
            if name == "longest_pause":
                yield f"{report.nodeid.partition('::')[2]}: longest pause {value}"
