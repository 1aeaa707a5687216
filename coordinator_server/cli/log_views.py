"""The views of ``groups`` and ``topics`` from the log of a directory, in the same columns as those of a running server.

Who coordinates a group, and what its members have not written (a subscription, a join in progress), is not in the log.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from coordinator_server.cli.answers import Answer, Row, print_answer
from coordinator_server.cli.engines import retries_of
from coordinator_server.cli.output import complain
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.data_dir import check_data_dir
from coordinator_server.pipeline.locations import local_copy
from coordinator_server.pipeline.replay.shard_states import ShardState, replay
from coordinator_server.pipeline.states.shown_group import Group, Member

_SIMPLE: Final = "Empty"


def run(options: argparse.Namespace, view: str) -> int:
    """Print the answer and return the exit code."""
    try:
        with local_copy(options.data_dir) as data_dir:
            check_data_dir(data_dir)
            answer = _VIEWS[view](options, _states(options, data_dir))
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, OSError) as error:
        return complain(error, 1)
    return print_answer(options.output, answer)


def _states(options: argparse.Namespace, data_dir: Path) -> list[ShardState]:
    """Return the states of all shards, with all records that are durable now."""
    return list(replay(data_dir, retries=retries_of(options)))


def _topics(options: argparse.Namespace, states: list[ShardState]) -> Answer:
    rows = [{"topic": name, "partitions": count} for state in states for name, count in sorted(state.topics.items())]
    return Answer(rows, empty="there are no topics")


def _list(options: argparse.Namespace, states: list[ShardState]) -> Answer:
    wanted = {each.lower() for each in options.state}, {each.lower() for each in options.type}
    rows = [
        {
            "group": each.group_id,
            "type": each.type,
            "state": state_of(each),
            "protocol_type": each.protocol_type,
            "coordinator": None,
        }
        for each in _groups(states).values()
        if (not wanted[0] or state_of(each).lower() in wanted[0]) and (not wanted[1] or each.type in wanted[1])
    ]
    return Answer(rows, empty="there are no such groups" if any(wanted) else "there are no groups")


def _describe(options: argparse.Namespace, states: list[ShardState]) -> Answer:
    rows = [
        {
            "group": each.group_id,
            "type": each.type,
            "state": state_of(each),
            "assignor": each.protocol,
            "epoch": each.epoch,
            "assignment_epoch": each.assignment_epoch,
            "members": len(each.members),
            "partitions": sum(map(_partitions, each.members)),
            "coordinator": None,
            "address": None,
        }
        for each in _named(options, states)
    ]
    return Answer(rows)


def _members(options: argparse.Namespace, states: list[ShardState]) -> Answer:
    found = _named(options, states)
    rows = [_member(group, each, verbose=options.verbose) for group in found for each in group.members]
    return Answer(rows, empty=f"no members: {', '.join(options.group)}")


def _member(group: Group, member: Member, *, verbose: bool) -> Row:
    row = {
        "group": group.group_id,
        "member": member.member_id,
        "client_id": member.client_id,
        "host": member.client_host.removeprefix("/"),
        "partitions": _partitions(member),
        "assignment": member.assignment,
    }
    if verbose:
        row |= {
            "instance_id": member.group_instance_id,
            "epoch": member.epoch,
            "state": member.state,
            "revoking": member.revoking,
        }
    return row


def _offsets(options: argparse.Namespace, states: list[ShardState]) -> Answer:
    rows = []
    for group in _named(options, states):
        owners = {
            (topic, number): member
            for member in group.members
            for topic, some in (member.assignment or {}).items()
            for number in some
        }
        committed = {(each.topic, each.partition): each for each in group.offsets}
        for topic, number in sorted({*owners, *committed}):
            offset, owner = committed.get((topic, number)), owners.get((topic, number))
            rows.append(
                {
                    "group": group.group_id,
                    "topic": topic,
                    "partition": number,
                    "offset": None if offset is None else offset.offset,
                    "lag": None,
                    "leader_epoch": None if offset is None or offset.leader_epoch < 0 else offset.leader_epoch,
                    "member": None if owner is None else owner.member_id,
                    "client_id": None if owner is None else owner.client_id,
                    "host": None if owner is None else owner.client_host.removeprefix("/"),
                }
            )
    return Answer(rows, empty=f"no committed offsets and no assigned partitions: {', '.join(options.group)}")


_VIEWS: Final[Mapping[str, Callable[[argparse.Namespace, list[ShardState]], Answer]]] = {
    "topics": _topics,
    "list": _list,
    "describe": _describe,
    "members": _members,
    "offsets": _offsets,
}


def state_of(group: Group) -> str:
    """Return the state that the log implies: a classic group has written its members when it was stable."""
    return group.state or ("Stable" if group.members else _SIMPLE)


def _groups(states: list[ShardState]) -> dict[str, Group]:
    return {
        each.group_id: each
        for each in sorted((group for state in states for group in state.groups), key=lambda each: each.group_id)
    }


def _named(options: argparse.Namespace, states: list[ShardState]) -> list[Group]:
    found = _groups(states)
    for group_id in options.group:
        if group_id not in found:
            raise PipelineError(f"there is no group {group_id}")
    return [found[each] for each in sorted(set(options.group))]


def _partitions(member: Member) -> int:
    return sum(map(len, (member.assignment or {}).values()))
