"""Report the failure of a command."""

from __future__ import annotations

import sys


def complain(why: Exception, code: int) -> int:
    """Print one line on stderr and return the exit code."""
    print(f"coordinator-server: {why}", file=sys.stderr)
    return code
