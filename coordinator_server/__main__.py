"""``python -m coordinator_server``, and the command ``coordinator-server``."""

from __future__ import annotations

import sys

from coordinator_server.cli import main


def run() -> int:
    """Run the command in a process of its own. Return the exit code.

    structlog imports rich where it is installed. That takes a quarter of a start,
    and tracebacks in the log would show the values of variables.
    """
    sys.modules["rich"] = None  # type: ignore[assignment]
    return main()


if __name__ == "__main__":
    sys.exit(run())
