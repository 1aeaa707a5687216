"""What a cluster says of its groups, for ``verify``: once, when the directory has all that was written before, and once again."""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from coordinator_server.cli.client_properties import connection_settings
from coordinator_server.cli.cluster_command import TIMEOUT_S
from coordinator_server.cli.observed_directory import is_observed
from coordinator_server.cli.output import counted
from coordinator_server.client.errors import ClientError, InvalidSettings
from coordinator_server.kinds import GROUPS
from coordinator_server.log.opening import holder_of, identity_of
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.data_dir import durable
from coordinator_server.pipeline.input.owners import owner_of
from coordinator_server.pipeline.replay.beside_cluster import SETTLED, Asked, GroupThere

if TYPE_CHECKING:
    from coordinator_server.client.admin.cluster import Cluster

LOOK_S: Final = 0.2
"""How often the directory is looked at while it is behind."""

Groups = dict[str, GroupThere]


def ask_cluster(options: argparse.Namespace, data_dir: Path) -> tuple[Mapping[str, int], Mapping[str, Asked]]:
    """Ask the cluster that a directory follows. Return the end of each shard at a moment, and the answers around it, by shard.

    Raises PipelineError and ConfigError.
    """
    if not is_observed(data_dir):
        raise CannotRun(f"{data_dir} follows no cluster: --bootstrap is for a directory of observe")
    try:
        return asyncio.run(_ask(options, data_dir))
    except InvalidSettings as error:
        raise CannotRun(str(error)) from error
    except ClientError as error:
        raise PipelineError(str(error)) from error


async def _ask(options: argparse.Namespace, data_dir: Path) -> tuple[Mapping[str, int], Mapping[str, Asked]]:
    # It is not needed to explain the command or to find its mistakes.
    from coordinator_server.client.admin.cluster import Cluster
    from coordinator_server.client.admin.groups import may_describe_all_groups
    from coordinator_server.observe.cluster import acl_of_groups

    identity = identity_of(data_dir)
    partitions = identity.partition_count(GROUPS.topic)
    settings = connection_settings(options.bootstrap, options.command_config, TIMEOUT_S)
    async with Cluster(settings) as cluster:
        await cluster.learn()
        if cluster.cluster_id != identity.cluster_id:
            raise CannotRun(f"{data_dir} follows the cluster {identity.cluster_id}, and this is {cluster.cluster_id}")
        if not await may_describe_all_groups(cluster):
            raise PipelineError(
                "the cluster does not let this user describe all groups, and does not say which ones it leaves out: allow it by "
                + acl_of_groups(settings)
            )
        before = await _groups(cluster)
        ends = await _caught_up(cluster, data_dir, partitions)
        after = await _groups(cluster)
    found = {f"{GROUPS.topic}-{number}": Asked({}, {}) for number in range(partitions)}
    for group_id in {*before, *after}:
        asked = found[owner_of(identity, GROUPS.topic, group_id)]
        for answers, of in ((asked.before, before), (asked.after, after)):
            if group_id in of:
                answers[group_id] = of[group_id]
    return ends, found


async def _groups(cluster: Cluster) -> Groups:
    from coordinator_server.client.admin.groups import describe_groups, list_groups
    from coordinator_server.client.admin.offsets import committed_offsets

    ids = [each.group_id for each in await list_groups(cluster)]
    described, committed = await describe_groups(cluster, ids), await committed_offsets(cluster, ids)
    found = {}
    for group_id in ids:
        offsets = {(where.topic, where.partition): each.offset for where, each in committed.get(group_id, {}).items()}
        group = described.get(group_id)
        is_settled = group is not None and group.state in SETTLED
        members = tuple(sorted(each.member_id for each in group.members)) if group is not None and is_settled else None
        found[group_id] = GroupThere(offsets, members, None if group is None else group.epoch)
    return found


async def _caught_up(cluster: Cluster, data_dir: Path, partitions: int) -> Mapping[str, int]:
    """Return how far the directory can be read, as soon as that is as far as the cluster's log is now. Raises PipelineError."""
    from coordinator_server.client.admin.offsets import LATEST, topic_offsets
    from coordinator_server.client.offsets import TopicPartition

    wanted = await topic_offsets(cluster, [TopicPartition(GROUPS.topic, number) for number in range(partitions)], LATEST)
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        ends = await asyncio.to_thread(durable, data_dir)
        behind = {f"{topic}-{number}": end - ends.get(f"{topic}-{number}", 0) for (topic, number), end in wanted.items()}
        left = sum(max(0, each) for each in behind.values())
        if not left:
            return ends
        if holder_of(data_dir) is None:
            raise PipelineError(
                f"{data_dir} is {counted(left, 'record')} behind the cluster, and nothing follows it: run observe"
            )
        if time.monotonic() > deadline:
            raise PipelineError(
                f"{data_dir} is {counted(left, 'record')} behind the cluster, after {TIMEOUT_S:g} s: try again later"
            )
        await asyncio.sleep(LOOK_S)
