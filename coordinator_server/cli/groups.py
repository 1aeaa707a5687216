"""Show the history of a group: why it rebalanced, and its offsets at a moment. Restore those offsets.

Answers come from the log of the group's shard. The server may run (the command asks it to seal its
open segments) or not. They go back as far as segments are kept: log.history.retention.ms.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coordinator_server.cli.engines import add_log_argument
from coordinator_server.cli.output import complain, say, say_json
from coordinator_server.cli.table import columns
from coordinator_server.cli.times import moment_ms, shown
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.sealing import ask_server, check_data_dir, seal
from coordinator_server.pipeline.locations import local_copy, local_directory
from coordinator_server.pipeline.replay.group_timeline import Event, GroupAt, events, group_at, shard_of
from coordinator_server.pipeline.states.groups import Offset

EPILOG = """\
examples:
  coordinator-server groups why billing --data-dir ./data
  coordinator-server groups at billing 2026-11-20T10:00Z --data-dir ./data
  coordinator-server groups restore billing --at 2026-11-20T10:00Z --data-dir ./data              # shows what would change
  coordinator-server groups restore billing --at 2026-11-20T10:00Z --data-dir ./data --execute    # the server must run
  coordinator-server groups expiring billing --data-dir ./data                                    # the server must run
"""
_END_OF_TIME = 2**63 - 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    why = _action(actions, "why", "the group's generations and deletions, with their causes and the clients behind them")
    at = _action(actions, "at", "the group and its offsets at a moment")
    at.add_argument("time", type=moment_ms, metavar="TIME", help="ISO 8601, UTC without a zone: 2026-11-20T10:00Z")
    restore = _action(actions, "restore", "restore the offsets of a group without members to those of a moment")
    restore.add_argument("--at", type=moment_ms, required=True, metavar="TIME", dest="time", help="ISO 8601, UTC without a zone")
    doing = restore.add_mutually_exclusive_group()
    doing.add_argument("--dry-run", action="store_true", help="show what would change (the default)")
    doing.add_argument("--execute", action="store_true", help="restore: one operation of the running server, recorded in the log")
    expiring = _action(actions, "expiring", "when the group's offsets expire, in its present state")
    for each in (why, at, restore, expiring):
        add_log_argument(each)
        each.add_argument("--json", action="store_true", help="print the answer as JSON")


def _action(actions: Any, name: str, summary: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog="\n".join(["examples:", *(line for line in EPILOG.splitlines() if f"groups {name} " in line)]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("group", metavar="GROUP", help="the group's id")
    return parser


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code."""
    try:
        if options.action in _OF_A_SERVER:
            local_directory(options.data_dir, "the command asks the server that runs on it")
        with local_copy(options.data_dir) as data_dir:
            check_data_dir(data_dir)
            options.data_dir = data_dir
            code: int = _ACTIONS[options.action](options)
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, OSError) as error:
        return complain(error, 1)
    return code


def _why(options: argparse.Namespace) -> int:
    shard = shard_of(options.data_dir, options.group)
    found = events(shard, options.group, _sealed(options.data_dir, shard))
    if not found and not options.json:
        raise PipelineError(f"the history of {shard.name} does not mention group {options.group}")
    _print(options, found, (_event(event) for event in found))
    return 0


def _at(options: argparse.Namespace) -> int:
    [then] = _groups_at(options, options.time)
    if then.group is None and not options.json:
        raise PipelineError(f"group {options.group} did not exist at {shown(options.time)}")
    _print(options, then, _group_text(then))
    return 0


def _restore(options: argparse.Namespace) -> int:
    before, then = _groups_at(options, _END_OF_TIME, options.time)
    if then.group is None:
        raise PipelineError(f"group {options.group} did not exist at {shown(options.time)}: nothing to restore")
    wanted = then.group.offsets
    changes = _changes(before.group.offsets if before.group is not None else [], wanted)
    restored = None
    if options.execute:
        offsets = [
            {
                "topic": o.topic,
                "partition": o.partition,
                "offset": o.offset,
                "leader_epoch": o.leader_epoch,
                "metadata": o.metadata,
            }
            for o in wanted
        ]
        group = {"group_id": options.group, "offsets": offsets, "as_of": shown(options.time)}
        answer = ask_server(options.data_dir, {"op": "restore", "shards": [then.shard], "group": group})
        if answer is None:
            raise PipelineError(f"no server runs on {options.data_dir}: start it, then restore")
        restored = answer["restored"]
    _print(options, {"changes": changes, "restored": restored}, _table_of_changes(changes, restored))
    return 0


def _expiring(options: argparse.Namespace) -> int:
    shard = shard_of(options.data_dir, options.group).name
    answer = ask_server(options.data_dir, {"op": "expiring", "shards": [shard], "group": options.group})
    if answer is None:
        raise PipelineError(f"no server runs on {options.data_dir}: start it first, because its members decide what expires")
    due = answer["expiring"]
    rows = [("expires", "topic", "partition"), *((shown(each["at_ms"]), each["topic"], str(each["partition"])) for each in due)]
    _print(options, due, columns(rows) if due else iter(["no offset of this group expires in its present state"]))
    return 0


_OF_A_SERVER = ("restore", "expiring")
_ACTIONS = {"why": _why, "at": _at, "restore": _restore, "expiring": _expiring}


def _groups_at(options: argparse.Namespace, *times_ms: int) -> list[GroupAt]:
    shard = shard_of(options.data_dir, options.group)
    sealed_to = _sealed(options.data_dir, shard)
    return [group_at(shard, options.group, at_ms, sealed_to) for at_ms in times_ms]


def _sealed(data_dir: Path, shard: Path) -> int:
    return seal(data_dir).get(shard.name, 0)


def _event(event: Event) -> str:
    what = event.what
    if event.generation is not None:
        what += f" {event.generation}" if event.generation else ""
        what += f", {event.members} member{'s' if event.members > 1 else ''}" if event.members else ""
    if event.offsets:
        what = f"{event.offsets} {what}"
    return f"{shown(event.at_ms)}  {what}" + (f"  {event.by}" if event.by is not None else "")


def _group_text(then: GroupAt) -> Iterator[str]:
    group = then.group
    assert group is not None
    if group.generation is not None:
        protocol = f"{group.protocol_type or '-'}/{group.protocol or '-'}"
        yield f"group {group.group_id}: generation {group.generation}, {protocol}, members {len(group.members)}"
    else:
        yield f"group {group.group_id}: offsets only"
    yield from (f"member {member.member_id} of {member.client_id} at {member.client_host}" for member in group.members)
    rows = [("topic", "partition", "offset", "committed"), *(_position(each) for each in group.offsets)]
    yield from columns(rows)


def _position(each: Offset) -> tuple[str, ...]:
    return each.topic, str(each.partition), str(each.offset), shown(each.commit_timestamp_ms)


def _changes(before: Sequence[Offset], after: Sequence[Offset]) -> list[dict[str, Any]]:
    """Return every position that either has, with the offset before and after."""
    old, new = ({(each.topic, each.partition): each.offset for each in offsets} for offsets in (before, after))
    return [
        {"topic": topic, "partition": partition, "before": old.get((topic, partition)), "after": new.get((topic, partition))}
        for topic, partition in sorted({*old, *new})
    ]


def _table_of_changes(changes: Sequence[dict[str, Any]], restored: dict[str, int] | None) -> Iterator[str]:
    rows = [("topic", "partition", "before", "after")]
    rows += [tuple("none" if cell is None else str(cell) for cell in change.values()) for change in changes]  # type: ignore[misc]
    yield from columns(rows)
    if restored is None:
        yield "nothing was changed; use --execute to restore"
    else:
        yield f"done: {restored['written']} offsets written, {restored['deleted']} deleted"


def _print(options: argparse.Namespace, answer: object, lines: Iterator[str]) -> None:
    if options.json:
        say_json(answer)
    else:
        say(lines)
