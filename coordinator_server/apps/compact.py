"""``spark-submit compact.py``: compaction, on the session that spark-submit prepares.

Options: ``coordinator-server compact --help``.
"""

from __future__ import annotations

import sys

from coordinator_server.cli import main

if __name__ == "__main__":
    sys.exit(main(["compact", *sys.argv[1:]]))
