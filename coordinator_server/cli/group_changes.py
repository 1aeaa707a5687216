"""The actions of ``groups`` that change something at running servers: offsets, groups and memberships."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from coordinator_server.cli.answers import Answer, Row, changes
from coordinator_server.cli.blocking_members import MOST_SHOWN, BlockingMember, blocking_member_lines
from coordinator_server.cli.cluster_command import ClusterAction, Progress, run_on_cluster
from coordinator_server.cli.group_views import found_groups
from coordinator_server.cli.offset_files import read_offsets
from coordinator_server.cli.offset_targets import Topics, named_partitions, target_offsets
from coordinator_server.cli.output import counted
from coordinator_server.client.admin.cluster import Cluster
from coordinator_server.client.admin.groups import SHARE, Description, Member, delete_group, describe_groups, remove_member
from coordinator_server.client.admin.offsets import commit_offsets, committed_offsets, delete_offsets
from coordinator_server.client.admin.share_offsets import delete_share_offsets, set_share_offsets, share_offsets
from coordinator_server.client.errors import ClientError, Refused
from coordinator_server.client.offsets import Committed, TopicPartition
from coordinator_server.config import ConfigError
from protocol.error_codes import ErrorCode

MOST_PER_COMMIT: Final = 10_000
"""The number of offsets that one request sets."""

Positions = Mapping[TopicPartition, Committed]


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code."""
    return run_on_cluster(options, _ACTIONS)


def who_is_connected(group: Description) -> list[str]:
    """Return lines that name the members of a group, for those who have to stop them."""
    found = [BlockingMember(each.member_id, each.client_id, each.client_host, each.instance_id) for each in group.members]
    return blocking_member_lines(group.group_id, found)


async def _reset(cluster: Cluster, options: argparse.Namespace) -> Answer:
    group = (await describe_groups(cluster, [options.group])).get(options.group)
    if options.from_file is not None:
        wanted = read_offsets(options.from_file, options.group).get(options.group, {})
        return await _moved(cluster, options, group, options.group, wanted)
    if not options.topic and not options.all_topics:
        raise ConfigError("--topic TOPIC or --all-topics says which offsets to reset")
    current = await _positions(cluster, options.group, group)
    named = await named_partitions(cluster, options.topic)
    partitions = sorted({*named, *(current if options.all_topics else ())})
    targets = await target_offsets(cluster, options, partitions, {at: each.offset for at, each in current.items()})
    wanted = {at: Committed(each) for at, each in targets.items()}
    return await _moved(cluster, options, group, options.group, wanted, current)


async def _clone(cluster: Cluster, options: argparse.Namespace) -> Answer:
    found = await describe_groups(cluster, [options.group, options.to])
    source, target = found.get(options.group), found.get(options.to)
    if source is None:
        raise Refused(f"there is no group {options.group}", ErrorCode.GROUP_ID_NOT_FOUND)
    if source.type == SHARE or (target is not None and target.type == SHARE):
        raise Refused("a share group commits no offsets: there is nothing to clone")
    positions = (await committed_offsets(cluster, [options.group]))[options.group]
    return await _moved(cluster, options, target, options.to, positions)


async def _export(cluster: Cluster, options: argparse.Namespace) -> Answer:
    await found_groups(cluster, options.group)
    committed = await committed_offsets(cluster, options.group)
    rows = [
        {
            "group": group_id,
            "topic": at.topic,
            "partition": at.partition,
            "offset": each.offset,
            "leader_epoch": each.leader_epoch if each.leader_epoch >= 0 else None,
            "metadata": each.metadata or None,
        }
        for group_id, positions in sorted(committed.items())
        for at, each in positions.items()
    ]
    return Answer(rows, empty="no committed offsets")


async def _import(cluster: Cluster, options: argparse.Namespace) -> Answer:
    wanted = read_offsets(options.file, options.group)
    if options.group is not None:
        wanted = {group_id: offsets for group_id, offsets in wanted.items() if group_id == options.group}
    groups = await describe_groups(cluster, wanted)
    answers = [await _moved(cluster, options, groups.get(each), each, wanted[each]) for each in sorted(wanted)]
    rows = [row for answer in answers for row in answer.rows]
    notes = list(dict.fromkeys(note for answer in answers for note in answer.notes))
    return Answer(rows, empty="the file has no offsets", notes=notes, failed=any(each.failed for each in answers))


async def _delete(cluster: Cluster, options: argparse.Namespace) -> Answer:
    groups = await describe_groups(cluster, options.group)
    rows: list[Row] = []
    connected = []
    progress = Progress("groups", len(options.group))
    for group_id in dict.fromkeys(options.group):
        group = groups.get(group_id)
        refused: object = f"there is no group {group_id}" if group is None else _busy(group)
        if refused is None and options.execute:
            refused = await delete_group(cluster, group_id)
        if group is not None:
            connected += who_is_connected(group)
        row = {"group": group_id, "type": group and group.type, "state": group and group.state}
        rows.append({**row, "members": 0 if group is None else len(group.members), "error": refused})
        progress.step()
    answer = changes(rows, "deleted", executed=options.execute)
    return replace(answer, notes=(*connected, *answer.notes))


async def _delete_offsets(cluster: Cluster, options: argparse.Namespace) -> Answer:
    group = (await found_groups(cluster, [options.group]))[options.group]
    if group.type == SHARE:
        return await _delete_share_offsets(cluster, options, group)
    current = (await committed_offsets(cluster, [options.group]))[options.group]
    partitions = [at for at in current if _is_meant(at, options.topic)]
    codes = dict.fromkeys(partitions, ErrorCode.NONE)
    if options.execute and partitions:
        codes = await delete_offsets(cluster, options.group, partitions)
    rows = [
        {
            "group": options.group,
            "topic": at.topic,
            "partition": at.partition,
            "offset": current[at].offset,
            "error": codes[at].name if codes[at] else None,
        }
        for at in partitions
    ]
    answer = changes(rows, "deleted", executed=options.execute)
    # Offsets of topics that members have subscribed to stay.
    return replace(answer, notes=(*who_is_connected(group), *answer.notes)) if group.members else answer


async def _delete_share_offsets(cluster: Cluster, options: argparse.Namespace, group: Description) -> Answer:
    if any(each.partitions for each in options.topic):
        raise ConfigError(f"{group.group_id} is a share group: its offsets are deleted by topic, not by partition")
    names = sorted({at.topic for at in await share_offsets(cluster, group.group_id) if _is_meant(at, options.topic)})
    refused: Mapping[str, object] = dict.fromkeys(names, _busy(group))
    if options.execute and names and not group.members:
        refused = await delete_share_offsets(cluster, group.group_id, names)
    rows = [{"group": group.group_id, "topic": each, "error": refused[each]} for each in names]
    answer = changes(rows, "deleted", executed=options.execute)
    return replace(answer, notes=(*who_is_connected(group), *answer.notes))


async def _evict(cluster: Cluster, options: argparse.Namespace) -> Answer:
    group = (await found_groups(cluster, [options.group]))[options.group]
    chosen = [each for each in group.members if options.all or _is_chosen(each, options)]
    if not chosen and group.members:
        raise Refused(
            f"no member of group {options.group} is chosen: --member, --instance, --client-id or --all does; its members are: "
            + ", ".join(map(_short, group.members[:MOST_SHOWN]))
        )
    rows: list[Row] = []
    progress = Progress("members", len(chosen))
    for each in chosen:
        refused = await remove_member(cluster, group, each, options.reason) if options.execute else None
        row = {"group": options.group, "member": each.member_id, "instance_id": each.instance_id, "client_id": each.client_id}
        rows.append({**row, "host": each.client_host.removeprefix("/"), "partitions": each.partition_count, "error": refused})
        progress.step()
    return changes(rows, "evicted", executed=options.execute)


_ACTIONS: Final[Mapping[str, ClusterAction]] = {
    "reset": _reset,
    "clone": _clone,
    "export": _export,
    "import": _import,
    "delete": _delete,
    "delete-offsets": _delete_offsets,
    "evict": _evict,
}


async def _moved(
    cluster: Cluster,
    options: argparse.Namespace,
    group: Description | None,
    group_id: str,
    wanted: Positions,
    current: Positions | None = None,
) -> Answer:
    """Set offsets of a group, or show what would change. ``current`` are those that it has, unless they must still be read."""
    if current is None:
        current = await _positions(cluster, group_id, group)
    busy = None if group is None else _busy(group)
    refused: Mapping[TopicPartition, object] = dict.fromkeys(wanted, busy)
    if options.execute and busy is None:
        refused = await _set(cluster, group_id, group, wanted)
    rows = [
        {
            "group": group_id,
            "topic": at.topic,
            "partition": at.partition,
            "before": current[at].offset if at in current else None,
            "after": each.offset,
            "error": refused.get(at),
        }
        for at, each in sorted(wanted.items())
    ]
    answer = changes(rows, "set", executed=options.execute)
    notes = [f"group {group_id} does not exist: it is created with these offsets"] if group is None and wanted else []
    return replace(answer, notes=(*notes, *(who_is_connected(group) if group is not None else ()), *answer.notes))


async def _positions(cluster: Cluster, group_id: str, group: Description | None) -> Positions:
    if group is not None and group.type == SHARE:
        starts = await share_offsets(cluster, group_id)
        return {at: Committed(each.offset) for at, each in starts.items() if each.offset is not None}
    return (await committed_offsets(cluster, [group_id])).get(group_id, {})


async def _set(
    cluster: Cluster, group_id: str, group: Description | None, wanted: Positions
) -> dict[TopicPartition, ClientError | str | None]:
    """Set offsets. Return why each was refused."""
    if group is not None and group.type == SHARE:
        return {**await set_share_offsets(cluster, group_id, {at: each.offset for at, each in wanted.items()})}
    refused: dict[TopicPartition, ClientError | str | None] = {}
    items = sorted(wanted.items())
    starts = range(0, len(items), MOST_PER_COMMIT)
    progress = Progress("requests", len(starts))
    for start in starts:
        codes = await commit_offsets(cluster, group_id, dict(items[start : start + MOST_PER_COMMIT]))
        refused |= {at: code.name if code else None for at, code in codes.items()}
        progress.step()
    return refused


def _busy(group: Description) -> str | None:
    """Return why the server would refuse a change of a group that has members."""
    return f"the group has {counted(len(group.members), 'member')}: stop them first" if group.members else None


def _is_meant(at: TopicPartition, topics: Collection[Topics]) -> bool:
    return any(each.topic == at.topic and (not each.partitions or at.partition in each.partitions) for each in topics)


def _is_chosen(member: Member, options: argparse.Namespace) -> bool:
    names = {member.member_id: options.member, member.instance_id: options.instance, member.client_id: options.client_id}
    return any(name in chosen for name, chosen in names.items())


def _short(member: Member) -> str:
    return f"{member.member_id} of {member.client_id}"
