"""What tests take for a process that strace holds (tests/support/strace.py)."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support.strace import is_traced


def test_a_process_that_its_first_failure_ended_is_not_waited_for() -> None:
    """A sync in the background may come before the test's own, and then the server is gone before strace has every thread."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()

    assert is_traced(gone.pid)


def test_a_living_process_without_strace_is_not_traced() -> None:
    assert not is_traced(os.getpid())
