"""The shards of groups on which a server runs: by the log of its directory, or, as a node's has none, by what the node says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coordinator_server.kinds import GROUPS
from coordinator_server.log.opening import identity_of, is_log
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.input.data_dir import ask_server
from coordinator_server.pipeline.input.owners import owner_of
from coordinator_server.runtime.partitioner import partition_for


def shards_of_groups(data_dir: Path, group_ids: Sequence[str]) -> list[str]:
    """Return the shard of each group. Raises PipelineError."""
    if not group_ids:
        return []
    if is_log(data_dir):
        identity = identity_of(data_dir)
        return [owner_of(identity, GROUPS.topic, each) for each in group_ids]
    partitions = sum(shard.startswith(f"{GROUPS.topic}-") for shard in _asked(data_dir, "owners"))
    return [f"{GROUPS.topic}-{partition_for(each, partitions)}" for each in group_ids]


def shards_here(data_dir: Path, group_ids: Sequence[str]) -> list[str]:
    """Return the shard of each group, all of which the server on the directory owns: of others it knows nothing.

    Raises PipelineError, also if another node owns one.
    """
    shards = shards_of_groups(data_dir, group_ids)
    here = shards if is_log(data_dir) else _asked(data_dir, "shards")
    for shard in shards:
        if shard not in here:
            owner = _asked(data_dir, "owners")[shard]["node_id"]
            raise PipelineError(f"node {owner} has {shard}: ask the server that runs on its --data-dir")
    return shards


def _asked(data_dir: Path, what: str) -> dict[str, Any]:
    answer = ask_server(data_dir, {"op": what})
    if answer is None:
        raise PipelineError(f"no server runs on {data_dir}, and it has no log")
    found: dict[str, Any] = answer[what]
    return found
