"""The shards of groups on which a server runs: by the log of its directory, or, as a node's has none, by what the node says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coordinator_server.kinds import GROUPS
from coordinator_server.log.opening import identity_of, is_log
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.input.data_dir import ask_server
from coordinator_server.runtime.partitioner import partition_for


def shards_of_groups(data_dir: Path, group_ids: Sequence[str]) -> list[str]:
    """Return the shard of each group. Raises PipelineError."""
    if is_log(data_dir):
        partitions = identity_of(data_dir).partition_count(GROUPS.topic)
    else:
        partitions = sum(shard.startswith(f"{GROUPS.topic}-") for shard in _asked(data_dir, "owners"))
    return [f"{GROUPS.topic}-{partition_for(each, partitions)}" for each in group_ids]


def check_here(data_dir: Path, shards: Sequence[str]) -> None:
    """Raise PipelineError if another node owns one of these shards: the server that runs on the directory knows nothing of it."""
    if is_log(data_dir):
        return
    here, owners = _asked(data_dir, "shards"), _asked(data_dir, "owners")
    for shard in shards:
        if shard not in here:
            raise PipelineError(f"node {owners[shard]['node_id']} has {shard}: ask the server that runs on its --data-dir")


def _asked(data_dir: Path, what: str) -> dict[str, Any]:
    answer = ask_server(data_dir, {"op": what})
    if answer is None:
        raise PipelineError(f"no server runs on {data_dir}, and it has no log")
    found: dict[str, Any] = answer[what]
    return found
