"""How jobs say that there is something they leave as it is."""

from __future__ import annotations

import sys
from pathlib import Path

from coordinator_server.pipeline.plan import unknown_directories


def tell_unknown(data_dir: Path) -> None:
    """A line on stderr for each directory that may be a shard, and of which nothing is known here."""
    for path in unknown_directories(data_dir):
        print(f"coordinator-server: {path.name} is of no kind that this version knows: it is left as it is", file=sys.stderr)
