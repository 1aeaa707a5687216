"""The actions of ``groups`` on a data directory: why, at, owners, what-if and restore read the log of the group's shard,
expiring asks the server.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from heapq import merge
from operator import attrgetter
from typing import Any, Final

from coordinator_server.cli import answers
from coordinator_server.cli.answers import NOT_EXECUTED, Answer
from coordinator_server.cli.blocking_members import BlockingMember, blocking_member_lines
from coordinator_server.cli.engines import retries_of
from coordinator_server.cli.group_owners import show_owners
from coordinator_server.cli.group_shards import shards_here
from coordinator_server.cli.group_waiting import show_waiting
from coordinator_server.cli.group_words import event_line, partitions_text
from coordinator_server.cli.log_actions import print_answer, run_action
from coordinator_server.cli.observed_directory import say_what_is_missing
from coordinator_server.cli.output import counted, note
from coordinator_server.cli.refused import refused_commits
from coordinator_server.cli.table import columns
from coordinator_server.cli.timelines import is_chosen, newest, print_events
from coordinator_server.cli.times import shown
from coordinator_server.config import ConfigError
from coordinator_server.kinds import GROUPS
from coordinator_server.log.jobs import JobShard
from coordinator_server.log.store_paths import is_store
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.index.answers import GroupHistory
from coordinator_server.pipeline.index.period import Period
from coordinator_server.pipeline.input.data_dir import ask_server, durable
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD, TopicNames
from coordinator_server.pipeline.replay.group_timeline import GroupAt
from coordinator_server.pipeline.states.shown_group import Member, Offset

_END_OF_TIME = 2**63 - 1
SHARE = "share"
"""The type of groups that have share partitions instead of committed offsets."""


_SET, _DELETED, _UNCHANGED = "set", "deleted", "unchanged"
# What becomes of an offset, before it is so.
_AHEAD: Final = {_SET: "would be set", _DELETED: "would be deleted", _UNCHANGED: _UNCHANGED}


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code. Raises ConfigError."""
    if getattr(options, "execute", False) and is_store(options.data_dir):
        raise ConfigError(
            f"--execute asks the server of a directory, and a store has several: without it, this shows what would change, and "
            f"'coordinator-server groups reset {options.group} --topic TOPIC:PARTITION --to-offset N --execute' or 'groups import' "
            "changes it, at any node (--bootstrap)"
        )
    return run_action(options, _ACTIONS, _OF_A_SERVER, _WITH_ROWS)


def _why(options: argparse.Namespace) -> None:
    if options.follow and options.until is not None:
        raise ConfigError("--follow goes on until ctrl-C: leave out --until")
    history = GroupHistory(options.data_dir, options.group, note)
    shard = history.shard
    end, names = _durable(options, shard)
    refused = refused_commits(options.data_dir, options.group)
    found = history.events(Period(options.since, options.until, options.limit, options.each), end, names)
    ledger = found.ledger
    chosen = [each for each in refused if is_chosen(options, each.at_ms)]
    shown_events = newest(options, merge(found.events, chosen, key=attrgetter("at_ms")), found.left_out)
    if not ledger.has_events and not refused and not options.follow:
        raise PipelineError(f"the history of {shard.name} does not mention group {options.group}")
    say_what_is_missing(options.data_dir, GROUPS.topic, shard.name)
    if options.follow and options.output == "json":
        options.output = "jsonl"
    print_events(options, shown_events, event_line)
    if options.follow:
        sys.stdout.flush()
        from coordinator_server.cli.group_follow import follow

        follow(options, ledger, shard, end)


def _at(options: argparse.Namespace) -> None:
    [then] = _groups_at(options, options.time)
    if then.group is None:
        raise PipelineError(f"group {options.group} did not exist at {shown(options.time)}")
    if then.lost_to:
        note(f"records of {then.shard} before offset {then.lost_to} were not salvaged: what they changed is not in this answer")
    say_what_is_missing(options.data_dir, GROUPS.topic, then.shard)
    print_answer(options, then, _group_text(then))


def _owners(options: argparse.Namespace) -> None:
    history = GroupHistory(options.data_dir, options.group, note)
    end, names = _durable(options, history.shard)
    say_what_is_missing(options.data_dir, GROUPS.topic, history.shard.name)
    show_owners(options, history.owners(end, names))


def _what_if(options: argparse.Namespace) -> None:
    # The assignors take longer to import than the other actions.
    from coordinator_server.cli.group_what_if import show_what_if

    show_what_if(options)


def _restore(options: argparse.Namespace) -> int:
    before, then = _groups_at(options, _END_OF_TIME, options.time)
    if then.group is None:
        raise PipelineError(f"group {options.group} did not exist at {shown(options.time)}: nothing to restore")
    if then.group.type == SHARE:
        raise PipelineError(f"group {options.group} is a share group, which commits no offsets: nothing to restore")
    wanted = then.group.offsets
    members = before.group.members if before.group is not None else []
    for line in blocking_member_lines(
        options.group,
        [BlockingMember(each.member_id, each.client_id, each.client_host, each.group_instance_id) for each in members],
    ):
        note(line)
    changes = _changes(options.group, before.group.offsets if before.group is not None else [], wanted)
    if options.execute:
        written = _restored(options, then.shard, wanted)
        notes = [f"{counted(written['written'], 'offset')} written, {written['deleted']} deleted"]
        rows = [{**each, "error": None} for each in changes]
    elif members:
        error = f"the group has {counted(len(members), 'member')}: stop them first"
        notes = []
        rows = [{**each, "outcome": "refused", "error": error} for each in changes]
    else:
        rows = [{**each, "outcome": _AHEAD[each["outcome"]], "error": None} for each in changes]
        is_same = all(each["outcome"] == _UNCHANGED for each in changes)
        notes = ["already so: no offset would change" if is_same else NOT_EXECUTED]
    answer = Answer(
        rows, empty="the group had no offsets then, and has none", notes=notes, failed=bool(members and not options.execute)
    )
    return answers.print_answer(options.output, answer)


def _restored(options: argparse.Namespace, shard: str, wanted: Sequence[Offset]) -> dict[str, int]:
    """Let the server restore offsets. Return how many it has written and deleted."""
    offsets = [
        {"topic": o.topic, "partition": o.partition, "offset": o.offset, "leader_epoch": o.leader_epoch, "metadata": o.metadata}
        for o in wanted
    ]
    group = {"group_id": options.group, "offsets": offsets, "as_of": shown(options.time)}
    answer = ask_server(options.data_dir, {"op": "restore", "shards": [shard], "group": group})
    if answer is None:
        raise PipelineError(f"no server runs on {options.data_dir}: start it, then restore")
    restored: dict[str, int] = answer["restored"]
    return restored


def _expiring(options: argparse.Namespace) -> int:
    shards = shards_here(options.data_dir, [options.group])
    answer = ask_server(options.data_dir, {"op": "expiring", "shards": shards, "group": options.group})
    if answer is None:
        raise PipelineError(f"no server runs on {options.data_dir}: start it first, because its members decide what expires")
    if not answer["is_known"]:
        raise PipelineError(f"there is no group {options.group}")
    rows = [
        {"group": options.group, "topic": each["topic"], "partition": each["partition"], "expires": shown(each["at_ms"])}
        for each in answer["expiring"]
    ]
    return answers.print_answer(options.output, Answer(rows, empty="no offset of this group expires in its present state"))


_WITH_ROWS = ("restore", "expiring", "waiting", "owners")
_OF_A_SERVER = ("restore", "expiring", "waiting")
_ACTIONS = {
    "why": _why,
    "at": _at,
    "restore": _restore,
    "expiring": _expiring,
    "waiting": show_waiting,
    "owners": _owners,
    "what-if": _what_if,
}


def _groups_at(options: argparse.Namespace, *times_ms: int) -> list[GroupAt]:
    history = GroupHistory(options.data_dir, options.group, note)
    end, names = _durable(options, history.shard)
    return [history.at(at_ms, end, names) for at_ms in times_ms]


def _durable(options: argparse.Namespace, shard: JobShard) -> tuple[int, TopicNames]:
    """Return how far the group's shard is durable, and the names of topics."""
    ends = durable(options.data_dir, retries_of(options))
    return ends.get(shard.name, 0), TopicNames(options.data_dir, ends.get(CATALOG_SHARD, 0))


def _group_text(then: GroupAt) -> Iterator[str]:
    group = then.group
    assert group is not None
    if group.generation is not None:
        protocol = f"{group.protocol_type or '-'}/{group.protocol or '-'}"
        yield f"group {group.group_id}: generation {group.generation}, {protocol}, members {len(group.members)}"
    elif group.epoch is not None:
        target = "" if group.assignment_epoch == group.epoch else f", target of epoch {group.assignment_epoch}"
        yield f"group {group.group_id}: epoch {group.epoch}{target}, {group.state}, members {len(group.members)}"
    else:
        yield f"group {group.group_id}: offsets only"
    for what, partitions in group.share_partitions.items():
        yield f"share partitions {what}: {', '.join(partitions) if what == 'deleting' else partitions_text(partitions)}"
    yield from map(_member_text, group.members)
    owners = {
        (topic, partition): member
        for member in group.members
        for topic, partitions in (member.assignment or {}).items()
        for partition in partitions
    }
    committed = {(each.topic, each.partition): each for each in group.offsets}
    rows = [_position(*at, committed.get(at), owners.get(at)) for at in sorted({*owners, *committed})]
    yield from columns([("topic", "partition", "offset", "committed", "member", "client", "host"), *rows])


def _member_text(member: Member) -> str:
    text = f"member {member.member_id} of {member.client_id} at {member.client_host}"
    if member.epoch is None:
        return text
    revoking = f"; gives up {partitions_text(member.revoking)}" if member.revoking else ""
    return f"{text}: epoch {member.epoch}, {member.state}, {partitions_text(member.assignment or {})}{revoking}"


def _position(topic: str, partition: int, offset: Offset | None, owner: Member | None) -> tuple[str, ...]:
    committed = ("-", "-") if offset is None else (str(offset.offset), shown(offset.commit_timestamp_ms))
    who = ("-", "-", "-") if owner is None else (owner.member_id, owner.client_id or "-", owner.client_host.removeprefix("/"))
    return topic, str(partition), *committed, *who


def _changes(group_id: str, before: Sequence[Offset], after: Sequence[Offset]) -> list[dict[str, Any]]:
    """Return every position that either has, with the offset before and after, and what becomes of it."""
    old, new = ({(each.topic, each.partition): each.offset for each in offsets} for offsets in (before, after))
    return [
        {
            "group": group_id,
            "topic": at[0],
            "partition": at[1],
            "before": old.get(at),
            "after": new.get(at),
            "outcome": _DELETED if at not in new else _UNCHANGED if old.get(at) == new[at] else _SET,
        }
        for at in sorted({*old, *new})
    ]
