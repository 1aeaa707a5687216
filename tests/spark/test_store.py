"""Jobs on Spark over a log in a database: each task brings what it reads, and the driver brings nothing."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.cli import main
from tests.support.postgresql import PostgresqlServer
from tests.support.postgresql import postgresql as postgresql  # noqa: PLC0414 - a fixture
from tests.support.segments import coordinator_log, write_meta, write_segments


def test_all_jobs_do_what_they_do_in_a_directory(
    jobs: Any, postgresql: PostgresqlServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The layers have the bytes of the plain engine, and nothing went through the driver."""
    data = tmp_path / "data"
    for number in range(4):
        write_segments(data / f"__consumer_offsets-{number}", coordinator_log(number, 40), 3)
    write_meta(data)
    url = postgresql.url(postgresql.empty_database())
    assert main(["store", "push", "--data-dir", str(data), "--store", url]) == 0

    done = jobs.run("pipeline", "compact", "history", "verify", "--store", url, "--out", tmp_path / "history", "--json")

    assert (done.code, done.stderr) == (0, "")
    compacted, history, verdicts = map(json.loads, done.stdout.splitlines())
    assert all(verdict["full"] == verdict["compacted"] for verdict in verdicts)
    assert {verdict["records"] for verdict in verdicts} == {layer["records_in"] for layer in compacted["layers"]}
    assert sum(history["rows"].values()) > 0
    brought = [path for path in Path(tempfile.gettempdir()).glob(f"coordinator-server-store-{jobs.pid}-*/**/*") if path.is_file()]
    assert brought == []
    capsys.readouterr()
    assert main(["compact", "--engine", "python", "--data-dir", str(data), "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)["layers"]
    assert {each["shard"]: each["digest"] for each in plain} == {each["shard"]: each["digest"] for each in compacted["layers"]}
    pulled = tmp_path / "pulled"
    assert main(["store", "pull", "--data-dir", str(pulled), "--store", url]) == 0
    files = [path.relative_to(data) for path in data.glob("*/layer-*/*") if path.name != "manifest.json"]
    assert files
    assert [path for path in files if (pulled / path).read_bytes() != (data / path).read_bytes()] == []
