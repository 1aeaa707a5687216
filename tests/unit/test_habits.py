"""The limits of files and of commit subjects, which ``make check`` holds."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scripts.check_commits import main, problem, subject_of, subjects
from scripts.check_sizes import LONGER, MOST_LINES, lengths, problems


def test_no_file_is_longer_than_the_limit_or_its_exception() -> None:
    found = lengths()

    assert len(found) > 1000
    assert list(problems(found)) == []
    assert not [name for name in LONGER if not name.endswith(".py")]


def test_the_line_beyond_the_limit_and_an_exception_without_need_are_problems() -> None:
    assert list(problems({"a.py": MOST_LINES, "b.py": 410}, {"b.py": 410})) == []

    [long, longer, unneeded] = problems({"a.py": MOST_LINES + 1, "b.py": 411, "c.py": MOST_LINES}, {"b.py": 410, "c.py": 500})
    assert long == "a.py has 401 lines, and may have 400: split it by noun"
    assert longer == "b.py has 411 lines, and may have 410: split it by noun"
    assert unneeded.startswith("c.py has at most 400 lines now: remove it")


@pytest.mark.parametrize("subject", ["Bound the group id cache by bytes", "A" * 72])
def test_a_subject_of_72_characters_passes(subject: str) -> None:
    assert problem(subject) is None


@pytest.mark.parametrize("subject", ["A" * 73, "bound it", "Bound it.", ""])
def test_a_longer_subject_or_one_of_another_form_does_not_pass(subject: str) -> None:
    assert problem(subject) is not None


def test_the_hook_reads_the_subject_past_comments_of_git(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = tmp_path / "COMMIT_EDITMSG"
    message.write_text("\n# Please enter the commit message\n" + "B" * 80 + "\n\nWhy.\n")

    assert subject_of(message.read_text()) == "B" * 80
    assert main([str(message)]) == 1
    assert "it has 80 characters, and may have 72" in capsys.readouterr().err


def test_subjects_are_those_since_the_rule_or_the_last_one(tmp_path: Path) -> None:
    """A shallow clone does not have the commit before the rule. Without a repository there are none."""
    assert subjects(tmp_path) == []
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for subject in ("First", "Second", "Third"):
        subprocess.run(["git", "-C", str(tmp_path), *identity, "commit", "-q", "--allow-empty", "-m", subject], check=True)
    log = ["git", "-C", str(tmp_path), "rev-list", "--max-parents=0", "HEAD"]
    first = subprocess.run(log, check=True, capture_output=True, text=True).stdout.strip()

    assert subjects(tmp_path, first) == ["Third", "Second"]
    assert subjects(tmp_path, "0" * 40) == ["Third"]
