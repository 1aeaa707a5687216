"""``coordinator-server log verify``: what it prints, and its exit codes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from coordinator_server.cli import main
from tests.support.log_dir import SHARDS, make


@pytest.fixture
def data(tmp_path: Path) -> Path:
    make(tmp_path / "data")
    return tmp_path / "data"


def damage(data: Path) -> Path:
    path = data / str(SHARDS[0]) / f"{4:020d}.log"
    path.write_bytes(path.read_bytes()[:-5] + b"12345")
    return path


def test_a_whole_directory(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit code 0."""
    assert main(["log", "verify", "--data-dir", str(data)]) == 0
    assert capsys.readouterr().out.startswith("all is whole: ")


def test_damage_is_one_line_each(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """File, position, what it means, what to do; exit code 1, also when all else was saved."""
    path = damage(data)
    assert main(["log", "verify", "--data-dir", str(data), "--salvage", f"{data}-saved"]) == 1
    lines = capsys.readouterr().out.splitlines()

    assert [
        line for line in lines if line.startswith(f"damage: {path} at byte ") and "does not start" in line and "--salvage" in line
    ]
    assert lines[-1].startswith(f"saved to {data}-saved: 2 shards, ")
    assert main(["log", "verify", "--data-dir", f"{data}-saved"]) == 0


def test_as_json(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same for programs."""
    path = damage(data)
    assert main(["log", "verify", "--data-dir", str(data), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["damage"][0]

    assert found["path"] == str(path)
    assert found.keys() == {"path", "position", "why", "kind", "means", "action"}


def test_what_was_saved_as_json(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only if it was to be saved."""
    damage(data)
    assert main(["log", "verify", "--data-dir", str(data), "--json"]) == 1
    assert "salvaged" not in json.loads(capsys.readouterr().out)

    assert main(["log", "verify", "--data-dir", str(data), "--json", "--salvage", f"{data}-saved"]) == 1
    saved = json.loads(capsys.readouterr().out)["salvaged"]
    assert saved["shards"] == 2


def test_no_data_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistyped path is told."""
    assert main(["log", "verify", "--data-dir", str(tmp_path)]) == 1
    assert "no data directory" in capsys.readouterr().err


class Terminal(io.StringIO):
    """Keeps what is written to it."""

    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal(data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On one line, which ends with the last part."""
    assert main(["log", "verify", "--data-dir", str(data)]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())

    assert main(["log", "verify", "--data-dir", str(data)]) == 0
    assert terminal.getvalue() == "\rread 0 of 0 MiB\n"
