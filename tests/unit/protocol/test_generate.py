"""The generated codecs are those of the declarations."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocol.generate import __main__ as generate


def test_generated_code_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    """``python -m protocol.generate --check`` has nothing to say."""
    assert generate.main(["--check"]) == 0
    assert capsys.readouterr().err == ""


def test_check_names_what_differs_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A stale file, a missing one and one too many all fail the check; writing puts them right."""
    monkeypatch.setattr(generate, "GENERATED", tmp_path)
    generate.main([])
    (tmp_path / "heartbeat.py").write_text("stale")
    (tmp_path / "fetch.py").unlink()
    (tmp_path / "extra.py").write_text("")
    capsys.readouterr()

    assert generate.main(["--check"]) == 1
    assert set(capsys.readouterr().err.splitlines()) == {"differs: heartbeat.py", "differs: fetch.py", "differs: extra.py"}
    assert (tmp_path / "heartbeat.py").read_text() == "stale"
    generate.main([])
    assert generate.main(["--check"]) == 0
