"""What `make failover` and `make cluster` say where a program is missing: one line, and exit code 2."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from tests.failover import __main__ as failover
from tests.failover import promotions
from tests.failover.patroni import Missing, install

ROOT = Path(__file__).parents[3]


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """pip finds no package."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")


@pytest.mark.usefixtures("offline")
def test_patroni_that_cannot_be_installed(tmp_path: Path) -> None:
    """The last line of pip says why."""
    with pytest.raises(Missing) as missing:
        install(tmp_path / "patroni", sys.executable)

    assert str(missing.value).startswith(f"Patroni cannot be installed into {tmp_path}/patroni: No matching distribution found")
    assert "\n" not in str(missing.value)


def test_patroni_without_an_interpreter_for_it(tmp_path: Path) -> None:
    with pytest.raises(Missing, match=r"Patroni cannot be installed into .*/patroni: .*No such file"):
        install(tmp_path / "patroni", str(tmp_path / "python3"))


def test_what_is_missing_is_said_without_a_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def miss(*_: object) -> NoReturn:
        raise Missing("Patroni is away")

    monkeypatch.setattr(promotions, "play", miss)
    monkeypatch.setattr(sys, "argv", ["failover", "--patroni"])

    assert failover.main() == 2
    assert capsys.readouterr().err == "Patroni is away\n"


@pytest.mark.parametrize("words", [["-m", "tests.failover"], ["-m", "tests.failover", "--patroni"], ["scripts/cluster.py"]])
def test_without_postgresql(words: list[str], tmp_path: Path) -> None:
    """Its programs are neither where Debian has them nor on the path."""
    (tmp_path / "sitecustomize.py").write_text(
        "import pathlib\nglob = pathlib.Path.glob\n"
        "pathlib.Path.glob = lambda path, pattern: [] if 'postgresql' in str(path) else glob(path, pattern)\n"
    )
    environment = {"PATH": "", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
    )

    missing = "PostgreSQL is missing: apt-get install postgresql (its programs are enough; no cluster of it is used)\n"
    assert (done.returncode, done.stderr) == (2, missing)
