"""The warning about directories that jobs do not read."""

from __future__ import annotations

from pathlib import Path

from coordinator_server.cli.output import note
from coordinator_server.log.opening import unknown_shards


def warn_of_unread(data_dir: Path) -> None:
    """Print a line on stderr for each directory that has a shard's name and no known kind."""
    for name in unknown_shards(data_dir):
        note(f"{name} is of no kind that this version knows: it is left as it is")
