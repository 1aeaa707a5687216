"""Print the state that the log holds, as of an offset or a time.

The state has groups with members and committed offsets, topics, share partitions and transactions.
The server's own code rebuilds it, from durable records only. A running server
is asked how far its log is durable. With --no-seal the command leaves out what is in open segments,
and a line on stderr says so. It changes nothing, except that it recovers the log of a server that was
killed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import msgspec

from coordinator_server.cli.answers import add_json_arguments
from coordinator_server.cli.engines import add_log_argument, retries_of
from coordinator_server.cli.group_words import partitions_text
from coordinator_server.cli.output import complain, note, say, say_json
from coordinator_server.cli.table import columns
from coordinator_server.cli.times import MOMENT, past_ms, shown
from coordinator_server.cli.unread_directories import warn_of_unread
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.data_dir import check_data_dir
from coordinator_server.pipeline.locations import local_copy
from coordinator_server.pipeline.replay.shard_states import Moment, ShardState, replay
from coordinator_server.pipeline.states.shown_group import Group, Offset

EPILOG = """\
examples:
  coordinator-server replay --data-dir ./data
  coordinator-server replay --data-dir ./data --shard __consumer_offsets-7 --at 1200
  coordinator-server replay --data-dir ./data --at 2026-11-20T10:00Z
  coordinator-server replay --data-dir ./data --why
  coordinator-server replay --data-dir ./data --digest
  coordinator-server replay --data-dir ./data -o json | jq '.[].groups[].group'
"""

# Maximum width of a table's cell; -o json has the whole value.
WIDEST = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_log_argument(parser)
    parser.add_argument(
        "--shard", action="append", default=[], metavar="NAME", help="such as __consumer_offsets-7; repeat for more"
    )
    parser.add_argument(
        "--at",
        type=_offset_or_moment,
        metavar="WHEN",
        help=f"read the records before this offset, or those up to this time (default: all): {MOMENT}",
    )
    parser.add_argument("--no-seal", action="store_true", help="leave out what a running server has in its open segments")
    parser.add_argument("--digest", action="store_true", help="print the digest of each shard's state, and of each group's")
    parser.add_argument(
        "--why",
        action="store_true",
        help="print the client and the reason of each generation and committed offset, if the log has them",
    )
    add_json_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Replay and return the exit code."""
    try:
        with local_copy(options.data_dir) as data_dir:
            check_data_dir(data_dir)
            warn_of_unread(data_dir)
            found = replay(
                data_dir,
                options.shard,
                options.at,
                with_changes=options.why,
                sealed_only=options.no_seal,
                retries=retries_of(options),
            )
            states = list(found)
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, OSError) as error:
        return complain(error, 1)
    if options.json:
        say_json(states)
    else:
        say(_digests(states) if options.digest else _table(states))
    unseen = [f"{state.shard} from {state.seen_to}" for state in states if not state.is_whole]
    if unseen and options.no_seal:
        first = ", ".join(unseen[:3]) + (f" and {len(unseen) - 3} more shards" if len(unseen) > 3 else "")
        note(f"the server runs: records in its open segments are not shown ({first}): --no-seal leaves them out")
    return 0


def _offset_or_moment(text: str) -> int | Moment:
    return int(text) if text.isdecimal() else Moment(past_ms(text))


def _digests(states: list[ShardState]) -> Iterator[str]:
    for state in states:
        yield f"{state.digest}  {state.shard}, before offset {state.seen_to}"
        yield from (f"{group.digest}    group {group.group_id}" for group in state.groups)


def _table(states: list[ShardState]) -> Iterator[str]:
    shown = [state for state in states if state.groups or state.topics or state.contents]
    for state in shown:
        yield f"{state.shard}, before offset {state.seen_to}"
        yield from (f"  topic {name}: partitions {partitions}" for name, partitions in state.topics.items())
        for group in state.groups:
            yield from _group(group)
        yield from (f"  {part}: {msgspec.json.encode(items).decode()}" for part, items in state.contents.items())
    if not shown:
        is_whole = all(state.is_whole for state in states)
        unseen = "the sealed segments, and the server runs: without --no-seal its open segments are read, too"
        note("the log has nothing of this" if is_whole else f"nothing in {unseen}")


def _group(group: Group) -> Iterator[str]:
    if group.epoch is not None:
        target = f"target of epoch {group.assignment_epoch}"
        yield f"  group {group.group_id}: epoch {group.epoch}, {target}, {group.state}, members {len(group.members)}"
    elif group.generation is None:
        yield f"  group {group.group_id}: offsets only"
    else:
        protocol = f"{group.protocol_type or '-'}/{group.protocol or '-'}"
        yield f"  group {group.group_id}: generation {group.generation}, {protocol}, members {len(group.members)}"
    for what, partitions in group.share_partitions.items():
        yield f"    share partitions {what}: {', '.join(partitions) if what == 'deleting' else partitions_text(partitions)}"
    if group.changed is not None:
        yield f"    since {shown(group.changed.at_ms)}: {group.changed}"
    for member in group.members:
        role = " (leader)" if member.member_id == group.leader else ""
        owned = "assignment in the members' own format" if member.assignment is None else partitions_text(member.assignment)
        epoch = "" if member.epoch is None else f"epoch {member.epoch}, {member.state}, "
        revoking = f"; gives up {partitions_text(member.revoking)}" if member.revoking else ""
        yield f"    member {member.member_id}{role} at {member.client_host}: {epoch}{owned}{revoking}"
    names = ["topic", "partition", "offset", "metadata"]
    if any(offset.changed is not None for offset in group.offsets):
        names.append("changed")
    for row in columns([tuple(names)] + [_offset(offset, names) for offset in group.offsets]):
        yield f"    {row}"


def _offset(offset: Offset, names: list[str]) -> tuple[str, ...]:
    cells = [str(getattr(offset, name)) for name in names[:4]]
    cells = [cell if len(cell) <= WIDEST else f"{cell[: WIDEST - 1]}…" for cell in cells]
    if len(names) > 4:
        cells.append("" if offset.changed is None else f"{shown(offset.changed.at_ms)} {offset.changed}")
    return tuple(cells)
