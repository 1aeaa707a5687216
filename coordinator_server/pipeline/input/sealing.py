"""Seals the log of a data directory for jobs, whose input must never change.

Compaction alone may import this (the contract "no reader seals" in pyproject.toml): each seal ends the open segments of all shards.
A reader reads what is durable, ``data_dir.durable``.
"""

from __future__ import annotations

from pathlib import Path

from coordinator_server.pipeline.input.data_dir import ends_after
from coordinator_server.pipeline.input.retries import ONCE, Retries


def seal(data_dir: Path, retries: Retries = ONCE) -> dict[str, int]:
    """Seal all shards. Return the offset up to which each is sealed."""
    return ends_after("seal", lambda store, done: store.seal(done), data_dir, retries)
