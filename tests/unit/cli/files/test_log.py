"""``coordinator-server log verify``: what it prints, and its exit codes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from coordinator_server.cli import main
from coordinator_server.cli.files import log
from coordinator_server.log.repair.findings import Note, Report
from coordinator_server.log.repair.salvage import Hole, Salvaged
from tests.support.log_dir import SHARDS, make


@pytest.fixture
def data(tmp_path: Path) -> Path:
    make(tmp_path / "data")
    return tmp_path / "data"


def damage(data: Path) -> Path:
    path = data / str(SHARDS[0]) / f"{4:020d}.log"
    path.write_bytes(path.read_bytes()[:-5] + b"12345")
    return path


def test_log_verify_of_an_undamaged_directory(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_log_verify_prints_json(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    """A mistyped path is told: the command line is wrong, and nothing is damaged."""
    assert main(["log", "verify", "--data-dir", str(tmp_path)]) == 2
    assert "no data directory" in capsys.readouterr().err
    assert main(["log", "verify", "--data-dir", str(tmp_path / "gone")]) == 2
    assert "no data directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    "files",
    [
        {"meta.properties": "version=1\ncluster.id=x\nnode.id=1\ndirectory.id=y\n"},
        {"__consumer_offsets-0/00000000000000000000.log": "", "recovery-point-offset-checkpoint": "0\n0\n"},
    ],
)
def test_a_brokers_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str], files: dict[str, str]) -> None:
    """It is not damaged, either."""
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    assert main(["log", "verify", "--data-dir", str(tmp_path)]) == 2
    assert "is a Kafka broker's directory: use 'coordinator-server import" in capsys.readouterr().err


def test_a_directory_for_salvage_that_has_files(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line is wrong."""
    assert main(["log", "verify", "--data-dir", str(data), "--salvage", str(data)]) == 2
    assert "is not empty" in capsys.readouterr().err


class Terminal(io.StringIO):
    """Keeps what is written to it, and what of it is shown."""

    shown = ""

    def flush(self) -> None:
        self.shown = self.getvalue()

    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal(data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On one line, which ends with the last part."""
    assert main(["log", "verify", "--data-dir", str(data)]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())

    assert main(["log", "verify", "--data-dir", str(data)]) == 0
    assert terminal.shown == terminal.getvalue() == "\rread 0 of 0 MiB\n"


def test_what_could_not_be_saved_has_a_line_each() -> None:
    """And what was repaired, too."""
    saved = Salvaged(
        shards=2,
        batches=1000,
        bytes=2000,
        holes=[Hole("a-0", 5, 9), Hole("a-1", 0, 1)],
        mended=[("a-0/x.log", 61)],
        lost_frames=["journal/1 at byte 7"],
    )

    assert list(log._saved(Path("out"), saved)) == [
        "missing: a-0, offsets 5 to 8",
        "missing: a-1, offsets 0 to 0",
        "missing: records in the journal from journal/1 at byte 7",
        "repaired: a-0/x.log at byte 61: only the offset or the magic of the batch was damaged",
        "saved to out: 2 shards, 1,000 batches, 2,000 bytes; missing: 5 offsets",
    ]


def test_notes_have_a_line_each_before_the_verdict() -> None:
    """They need no action, and damage does."""
    report = Report(files=2, bytes=3000, batches=4, records=5, notes=[Note("a", "one"), Note("b", "two")])

    assert list(log._as_text(report)) == [
        "note: a: one",
        "note: b: two",
        "all is whole: 2 files, 3,000 bytes, 4 batches, 5 records",
    ]


def test_the_actions_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["log", "--help"])

    assert "verify read and check everything" in " ".join(capsys.readouterr().out.split())
