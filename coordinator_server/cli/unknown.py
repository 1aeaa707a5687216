"""The warning about directories that jobs do not read."""

from __future__ import annotations

from pathlib import Path

from coordinator_server.cli.output import note
from coordinator_server.pipeline.input.shards import unknown_directories


def tell_unknown(data_dir: Path) -> None:
    """Print a line on stderr for each directory that has a shard's name and no known kind."""
    for path in unknown_directories(data_dir):
        note(f"{path.name} is of no kind that this version knows: it is left as it is")
