"""Run a child process of the server: ``python -m coordinator_server.cli.child NAME …``, with loop, executor or clean for NAME.

Not a command: only the server and its loops start children. NAME is a module of this package with a ``main``.
"""

from __future__ import annotations

import sys
from importlib import import_module


def run() -> int:
    """Run the child and return its exit code. Children start without rich, as the command does (__main__.py)."""
    sys.modules["rich"] = None  # type: ignore[assignment]
    name = sys.argv.pop(1)
    code: int = import_module(f"coordinator_server.cli.{name}").main()
    return code


if __name__ == "__main__":
    sys.exit(run())
