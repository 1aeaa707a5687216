"""How every command says that it could not do what it was asked."""

from __future__ import annotations

import sys


def complain(why: Exception, code: int) -> int:
    """One line on stderr; returns the exit code."""
    print(f"coordinator-server: {why}", file=sys.stderr)
    return code
