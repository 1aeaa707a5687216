"""The actions of ``groups`` that ask running servers and change nothing: list, describe, members and offsets."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Final

from coordinator_server.cli.answers import Answer, Row, Rows
from coordinator_server.cli.cluster_command import ClusterAction, run_on_cluster
from coordinator_server.client.admin.cluster import Cluster
from coordinator_server.client.admin.groups import CLASSIC, SHARE, Description, Listed, Member, describe_groups, list_groups
from coordinator_server.client.admin.offsets import LATEST, committed_offsets, topic_offsets
from coordinator_server.client.admin.share_offsets import share_offsets
from coordinator_server.client.errors import Refused
from coordinator_server.client.offsets import TopicPartition
from protocol.error_codes import ErrorCode


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code."""
    return run_on_cluster(options, _ACTIONS)


async def found_groups(cluster: Cluster, group_ids: list[str]) -> dict[str, Description]:
    """Return these groups, by id. Raises Refused if one of them does not exist, and ClientError."""
    found = await describe_groups(cluster, group_ids)
    for group_id in group_ids:
        if group_id not in found:
            raise Refused(f"there is no group {group_id}", ErrorCode.GROUP_ID_NOT_FOUND)
    return found


async def _list(cluster: Cluster, options: argparse.Namespace) -> Answer:
    listed = await list_groups(cluster, options.state, options.type)
    empty = "there are no such groups" if options.state or options.type else "there are no groups"
    return Answer(Rows(listed, _listed), empty=empty)


def _listed(group: Listed) -> Row:
    return {
        "group": group.group_id,
        "type": group.type or None,
        "state": group.state or None,
        "protocol_type": group.protocol_type or None,
        "coordinator": group.node_id,
    }


async def _describe(cluster: Cluster, options: argparse.Namespace) -> Answer:
    found = await found_groups(cluster, options.group)
    return Answer([_described(cluster, each) for each in found.values()])


def _described(cluster: Cluster, group: Description) -> Row:
    return {
        "group": group.group_id,
        "type": group.type,
        "state": group.state,
        "assignor": group.protocol or None,
        "epoch": group.epoch,
        "assignment_epoch": group.assignment_epoch,
        "members": len(group.members),
        "partitions": sum(each.partition_count for each in group.members),
        "coordinator": group.node_id,
        "address": str(cluster.servers[group.node_id]),
    }


async def _members(cluster: Cluster, options: argparse.Namespace) -> Answer:
    found = await found_groups(cluster, options.group)
    rows = [member_row(group, member, verbose=options.verbose) for group in found.values() for member in group.members]
    return Answer(rows, empty=f"no members: {', '.join(found)}")


def member_row(group: Description, member: Member, *, verbose: bool = False) -> Row:
    """Return the row of a member. With ``verbose`` it also has the fields that are rarely needed."""
    row = {
        "group": group.group_id,
        "member": member.member_id,
        "client_id": member.client_id,
        "host": member.client_host.removeprefix("/"),
        "partitions": member.partition_count,
        "assignment": member.assignment,
    }
    if verbose:
        row |= {
            "instance_id": member.instance_id,
            "epoch": member.epoch,
            "rack": member.rack_id,
            "topics": list(member.topics),
            "topic_regex": member.topic_regex,
            "target": member.target,
            "protocol": CLASSIC if member.is_classic else group.type,
        }
    return row


async def _offsets(cluster: Cluster, options: argparse.Namespace) -> Answer:
    groups = await found_groups(cluster, options.group)
    rows: list[Row] = []
    committed = await committed_offsets(cluster, [each.group_id for each in groups.values() if each.type != SHARE])
    owners = {group.group_id: partition_owners(group) for group in groups.values() if group.type != SHARE}
    partitions: set[TopicPartition] = set()
    ends = await topic_offsets(cluster, partitions.union(*owners.values(), *committed.values()), LATEST)
    for group in groups.values():
        if group.type == SHARE:
            for at, start in (await share_offsets(cluster, group.group_id)).items():
                rows.append(_row(group, at, start.offset, start.lag, start.leader_epoch, None))
            continue
        whose, positions = owners[group.group_id], committed[group.group_id]
        for at in sorted({*whose, *positions}):
            position, end = positions.get(at), ends.get(at)
            # A server without messages has no end to be behind.
            lag = end - position.offset if position is not None and end else None
            epoch = None if position is None or position.leader_epoch < 0 else position.leader_epoch
            rows.append(_row(group, at, None if position is None else position.offset, lag, epoch, whose.get(at)))
    return Answer(rows, empty=f"no committed offsets and no assigned partitions: {', '.join(groups)}")


def _row(
    group: Description, at: TopicPartition, offset: int | None, lag: int | None, epoch: int | None, owner: Member | None
) -> Row:
    return {
        "group": group.group_id,
        "topic": at.topic,
        "partition": at.partition,
        "offset": offset,
        "lag": lag,
        "leader_epoch": epoch,
        "member": None if owner is None else owner.member_id,
        "client_id": None if owner is None else owner.client_id,
        "host": None if owner is None else owner.client_host.removeprefix("/"),
    }


def partition_owners(group: Description) -> dict[TopicPartition, Member]:
    """Return the member that has each assigned partition."""
    return {
        TopicPartition(topic, partition): member
        for member in group.members
        for topic, partitions in (member.assignment or {}).items()
        for partition in partitions
    }


_ACTIONS: Final[Mapping[str, ClusterAction]] = {"list": _list, "describe": _describe, "members": _members, "offsets": _offsets}
