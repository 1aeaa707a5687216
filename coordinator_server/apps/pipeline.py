"""``spark-submit pipeline.py``: several jobs on the session that spark-submit prepares.

Options: ``coordinator-server pipeline --help``.
"""

from __future__ import annotations

import sys

from coordinator_server.cli import main

if __name__ == "__main__":
    sys.exit(main(["pipeline", *sys.argv[1:]]))
