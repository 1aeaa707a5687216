"""``spark-submit history.py``: the history tables, on the session that spark-submit prepares.

Options: ``coordinator-server history --help``.
"""

from __future__ import annotations

import sys

from coordinator_server.cli import main

if __name__ == "__main__":
    sys.exit(main(["history", *sys.argv[1:]]))
