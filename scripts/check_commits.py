#!/usr/bin/env python3
"""Check the subjects of commits: at most 72 characters, a capital letter first, no full stop at the end.

scripts/check_commits.py            the commits since this rule; make check runs it. Exit code 1 if one breaks it
scripts/check_commits.py FILE       the message in a file: the form of Git's hook commit-msg

    ln -s ../../scripts/check_commits.py .git/hooks/commit-msg      # checks each message before its commit
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
MOST_CHARACTERS: Final = 72
# The last commit before the rule.
BEFORE: Final = "6848af25015af3239fa85c705041fcaf8d48663f"


def problem(subject: str) -> str | None:
    """Return what is wrong with a subject, or None."""
    if len(subject) > MOST_CHARACTERS:
        return f"it has {len(subject)} characters, and may have {MOST_CHARACTERS}: the why belongs into the body"
    if not subject[:1].isupper() or subject.endswith("."):
        return "it has to begin with a capital letter, and to end without a full stop"
    return None


def subject_of(message: str) -> str:
    """Return the first line of a message that is neither empty nor a comment of Git's."""
    return next((line for line in message.splitlines() if line.strip() and not line.startswith("#")), "")


def subjects(root: Path = ROOT, before: str = BEFORE) -> list[str]:
    """Return the subjects since a commit; of a clone without that commit, the last one; none where there is no repository."""
    if not (root / ".git").exists():
        return []
    git = ["git", "-C", str(root)]
    is_known = subprocess.run([*git, "cat-file", "-e", f"{before}^{{commit}}"], check=False, capture_output=True).returncode == 0
    chosen = [f"{before}..HEAD"] if is_known else ["-1"]
    log = subprocess.run([*git, "log", "--no-merges", "--format=%s", *chosen], check=True, capture_output=True, text=True)
    return log.stdout.splitlines()


def main(files: list[str]) -> int:
    """Print the subjects that break the rule."""
    found = [subject_of(Path(each).read_text()) for each in files] if files else subjects()
    wrong = [(subject, why) for subject in found if (why := problem(subject)) is not None]
    for subject, why in wrong:
        print(f"{subject!r}: {why}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
