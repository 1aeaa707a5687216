"""The actions of ``kafka-consumer-groups``."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Iterable, Mapping
from typing import Final

from coordinator_server.cli import kafka_group_tables as tables
from coordinator_server.cli.answers import Answer
from coordinator_server.cli.cluster_command import ClusterAction
from coordinator_server.cli.group_views import partition_owners
from coordinator_server.cli.offset_files import read_offsets
from coordinator_server.cli.offset_targets import inside_messages, named_partitions, target_offsets
from coordinator_server.client.admin.cluster import Cluster
from coordinator_server.client.admin.groups import (
    CLASSIC,
    CONSUMER,
    Description,
    Listed,
    delete_group,
    describe_groups,
    list_groups,
)
from coordinator_server.client.admin.offsets import LATEST, commit_offsets, committed_offsets, delete_offsets, topic_offsets
from coordinator_server.client.admin.topics import describe_topics
from coordinator_server.client.offsets import Committed, TopicPartition
from coordinator_server.config import ConfigError
from protocol.error_codes import ErrorCode

_EMPTY: Final = "Empty"
_REBALANCING: Final = frozenset({"PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"})
_STATES: Final = ("Empty", "Stable", "Dead", "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")
_TYPES: Final = (CLASSIC, CONSUMER)


async def _list(cluster: Cluster, options: argparse.Namespace) -> Answer:
    states = _named("state", options.state, {each.lower(): each for each in _STATES})
    types = _named("type", options.type, {each: each for each in _TYPES})
    listed = await _consumer_groups(cluster, states, types or _TYPES)
    if options.state is None and options.type is None:
        return Answer([], text=[each.group_id for each in listed])
    return Answer([], text=tables.listing(listed, with_type=options.type is not None, with_state=options.state is not None))


async def _describe(cluster: Cluster, options: argparse.Namespace) -> Answer:
    names = await _groups_of(cluster, options)
    found = await describe_groups(cluster, names)
    groups = {each: group for each, group in found.items() if group.type in _TYPES}
    committed = {} if options.members or options.state is not None else await committed_offsets(cluster, groups)
    # All in one go: a request for each of thousands of groups would take long.
    ends = await topic_offsets(cluster, _partitions(groups.values(), committed), LATEST) if committed else {}
    lines: list[str] = []
    notes = [f"Consumer group '{each}' does not exist." for each in names if each not in groups]
    for group in groups.values():
        if options.members:
            shown = tables.members(group, verbose=options.verbose)
        elif options.state is not None:
            shown = tables.state(group, str(cluster.servers[group.node_id]), verbose=options.verbose)
        else:
            shown = tables.offsets(group, committed[group.group_id], ends, verbose=options.verbose)
        lines += shown
        if group.state == _EMPTY:
            notes.append(f"Consumer group '{group.group_id}' has no active members.")
        elif group.state in _REBALANCING:
            notes.append(f"Warning: Consumer group '{group.group_id}' is rebalancing.")
    return Answer([], text=lines, notes=notes, failed=len(groups) < len(names))


def _partitions(
    groups: Iterable[Description], committed: Mapping[str, Mapping[TopicPartition, Committed]]
) -> set[TopicPartition]:
    assigned = {at for group in groups for at in partition_owners(group)}
    return assigned.union(*committed.values())


async def _delete(cluster: Cluster, options: argparse.Namespace) -> Answer:
    names = await _groups_of(cluster, options)
    refused = {each: await delete_group(cluster, each) for each in names}
    done = ", ".join(f"'{each}'" for each, error in refused.items() if error is None)
    failed = [f"* Group '{each}' could not be deleted due to: {error}" for each, error in refused.items() if error is not None]
    if not failed:
        return Answer([], text=[f"Deletion of requested consumer groups ({done}) was successful."])
    lines = ["", f"These consumer groups were deleted successfully: {done}"] if done else []
    return Answer([], text=lines, notes=["Error: Deletion of some consumer groups failed:", *failed], failed=True)


async def _reset(cluster: Cluster, options: argparse.Namespace) -> Answer:
    names = await _groups_of(cluster, options)
    found = await describe_groups(cluster, names)
    rows: list[tuple[str, TopicPartition, int]] = []
    notes = []
    for name in names:
        group = found.get(name)
        if group is not None and group.members:
            notes.append(
                f"Error: Assignments can only be reset if the group '{name}' is inactive, but the current state is {group.state}."
            )
            continue
        targets = await _targets(cluster, options, name)
        if options.execute and targets:
            codes = await commit_offsets(cluster, name, {at: Committed(offset) for at, offset in targets.items()})
            notes += [f"Error: {name} {at.topic}-{at.partition}: {code.name}" for at, code in codes.items() if code]
        rows += [(name, at, offset) for at, offset in sorted(targets.items())]
    is_refused = bool(notes)
    if not options.execute and not options.dry_run:
        notes.append("no offset was set: --execute sets them")
    lines = _csv(rows, with_group=len(names) > 1) if options.export else tables.new_offsets(rows)
    return Answer([], text=lines, notes=notes, failed=is_refused)


async def _targets(cluster: Cluster, options: argparse.Namespace, group: str) -> dict[TopicPartition, int]:
    if options.from_file is not None:
        planned = read_offsets(options.from_file, group).get(group, {})
        return await inside_messages(cluster, {at: each.offset for at, each in planned.items()})
    committed = (await committed_offsets(cluster, [group])).get(group, {})
    partitions = sorted(committed) if options.all_topics else await named_partitions(cluster, options.topic)
    return await target_offsets(cluster, options, partitions, {at: each.offset for at, each in committed.items()})


def _csv(rows: Iterable[tuple[str, TopicPartition, int]], *, with_group: bool) -> list[str]:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for group, at, offset in rows:
        writer.writerow([*([group] if with_group else []), at.topic, at.partition, offset])
    return out.getvalue().splitlines()


async def _delete_offsets(cluster: Cluster, options: argparse.Namespace) -> Answer:
    [group] = options.group
    whole = {each.topic for each in options.topic if not each.partitions}
    known = await describe_topics(cluster, whole)
    partitions = [TopicPartition(each.topic, number) for each in options.topic for number in each.partitions]
    partitions += [TopicPartition(name, number) for name, topic in known.items() for number in topic.leaders]
    codes = {TopicPartition(name, -1): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION for name in whole - known.keys()}
    codes |= await delete_offsets(cluster, group, sorted(partitions))
    rows = [(at, f"Error: {code.name}" if code else "Successful") for at, code in sorted(codes.items())]
    if any(codes.values()):
        notes = ["Error: Encountered some partition-level error, see the follow-up details."]
        return Answer([], text=tables.statuses(rows), notes=notes, failed=True)
    return Answer([], text=[f"Request succeeded for deleting offsets from group {group}.", *tables.statuses(rows)])


ACTIONS: Final[Mapping[str, ClusterAction]] = {
    "list": _list,
    "describe": _describe,
    "delete": _delete,
    "reset_offsets": _reset,
    "delete_offsets": _delete_offsets,
}


async def _groups_of(cluster: Cluster, options: argparse.Namespace) -> list[str]:
    if options.all_groups:
        return [each.group_id for each in await _consumer_groups(cluster, (), _TYPES)]
    return sorted(set(options.group))


async def _consumer_groups(cluster: Cluster, states: Iterable[str], types: Iterable[str]) -> list[Listed]:
    """Return the groups that Kafka's tool calls consumer groups: not those of other protocol types, such as Connect's."""
    listed = await list_groups(cluster, states, types)
    return [each for each in listed if each.protocol_type in {"", CONSUMER}]


def _named(what: str, text: str | None, known: Mapping[str, str]) -> list[str]:
    """Return the names of a comma-separated list. Raises ConfigError for one that is not known."""
    words = [each.strip() for each in (text or "").split(",") if each.strip()]
    for word in words:
        if word.lower() not in known:
            raise ConfigError(f"--{what} takes {', '.join(known.values())}, not {word!r}")
    return [known[each.lower()] for each in words]
