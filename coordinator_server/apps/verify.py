"""``spark-submit verify.py``: the proof that nothing was lost, on the session that spark-submit prepares.

Options: ``coordinator-server verify --help``.
"""

from __future__ import annotations

import sys

from coordinator_server.cli import main

if __name__ == "__main__":
    sys.exit(main(["verify", *sys.argv[1:]]))
