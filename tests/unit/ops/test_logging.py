"""Log lines: one for each event, whatever a client calls itself."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any, Literal

import pytest

from tests.support.server import ROOT

# Without a space or a line end, which a console would quote by itself.
HOSTILE = "\x1b[2J\x9b31m\u202e"
PROGRAM = """
import logging, sys
import structlog
from coordinator_server.ops.logging import configure

configure("debug", sys.argv[1])
hostile = sys.argv[2]
log = structlog.get_logger()
log.info("request", client_id=hostile, group_ids=[hostile])
try:
    raise ValueError(f"{hostile}\\nforged {hostile}")
except ValueError:
    log.exception("request-failed", client_id=f"a\\nb{hostile}")
    logging.getLogger("asyncio").exception("callback failed: %s", hostile)
"""


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_client_cannot_write_to_the_terminal_nor_forge_a_line(form: Literal["console", "json"]) -> None:
    """Also by an exception that has its text, and by what asyncio logs."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, form, HOSTILE], cwd=ROOT, capture_output=True, check=True)
    lines = done.stderr.decode().split("\n")

    assert all(line.isprintable() for line in lines), ascii(lines)
    assert not [line for line in lines if line.startswith("forged")]
    if form == "json":
        assert json.loads(lines[0])["client_id"] == HOSTILE
        assert "ValueError" in json.loads(lines[1])["exception"]
        assert json.loads(lines[2]).keys() == {"event", "logger", "level", "timestamp", "exception"}
    else:
        assert "client_id=\\x1b[2J\\x9b31m\\u202e" in lines[0]
        assert len([line for line in lines if line.lstrip().startswith("ValueError: \\x1b[2J")]) == 2


def test_a_log_line_is_one_system_call() -> None:
    """Also without Python's buffer: the lines of several loops, which share a file, do not mix."""
    # Each read of such a pipe returns one write.
    reader, writer = os.pipe2(os.O_DIRECT)
    with os.fdopen(reader, "rb", buffering=0) as found:
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        subprocess.run([sys.executable, "-c", PROGRAM, "json", "client"], cwd=ROOT, stderr=writer, check=True, env=environment)
        os.close(writer)
        writes = list(iter(lambda: found.read(1 << 16), b""))

    assert len(writes) == 3
    assert all(each.endswith(b"\n") for each in writes)


@pytest.mark.parametrize(
    ("form", "is_terminal", "is_json"),
    [("auto", True, False), ("auto", False, True), ("json", True, True), ("console", False, False)],
)
def test_a_terminal_has_text_unless_another_form_is_chosen(form: str, is_terminal: bool, is_json: bool) -> None:
    """And anything else has JSON."""
    reader, writer = pty.openpty() if is_terminal else os.pipe()
    with os.fdopen(reader, "rb") as found:
        subprocess.run([sys.executable, "-c", SPEAKING, "error", form], cwd=ROOT, stderr=writer, check=True)
        line = found.readline()
        os.close(writer)

    assert line.startswith(b"{") is is_json
    assert b"said" in line


SPEAKING = """
import sys
import structlog
from coordinator_server.ops.logging import configure

configure(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None)
log = structlog.get_logger()
for level in ("debug", "info", "warning", "error"):
    getattr(log, level)("said", at=level)
"""


def said(level: str, *loop: str) -> list[dict[str, Any]]:
    done = subprocess.run([sys.executable, "-c", SPEAKING, level, "json", *loop], cwd=ROOT, capture_output=True, check=True)
    return [json.loads(line) for line in done.stderr.splitlines()]


def test_a_line_has_its_level_the_loop_and_the_time_in_utc() -> None:
    """Without loops there is no number of one; loop 0 has its number, too."""
    before = datetime.now(UTC)
    of_loops = [said("error", "0"), said("error", "3")]
    alone = said("error")
    after = datetime.now(UTC)

    assert [[(line["loop"], line["event"], line["level"]) for line in lines] for lines in of_loops] == [
        [(0, "said", "error")],
        [(3, "said", "error")],
    ]
    [line] = alone
    assert line.keys() == {"event", "at", "level", "timestamp"}
    assert line["timestamp"].endswith("Z")
    assert before <= datetime.fromisoformat(line["timestamp"]) <= after


@pytest.mark.parametrize(
    ("level", "count"),
    [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)],
)
def test_less_important_lines_are_left_out(level: str, count: int) -> None:
    assert [line["at"] for line in said(level)] == ["debug", "info", "warning", "error"][-count:]
