"""List the shards of a running server with the loops that own them, and move shards to another loop.

A shard is a partition of an internal topic; a group's shard is a partition of __consumer_offsets. A server with several loops
distributes its shards evenly. To move one relieves a loop that has many busy groups: the former owner makes everything durable
and lets go, then the next owner loads the shard. Clients find the new owner by themselves, members stay in their groups, and
nothing that was acknowledged is lost. Moved shards stay where they are after a restart with the same number of loops. Shards of
a loop that is down, between its restarts, can be moved, too: --from names all shards of a loop. What makes a loop die again and
again may move with a shard. To move __cluster_metadata-0 makes another loop the controller.
"""

from __future__ import annotations

import argparse
from typing import Any, Final

from coordinator_server.cli.actions import add_action, add_actions, add_common
from coordinator_server.cli.answers import Answer, Row, print_answer
from coordinator_server.cli.log_actions import run_action

EPILOG = """\
examples:
  coordinator-server shards list --data-dir ./data
  coordinator-server shards list --loop 0 --data-dir ./data -o json
  coordinator-server shards list --group billing --data-dir ./data                  # which loop has a group
  coordinator-server shards move __consumer_offsets-7 --to 1 --data-dir ./data
  coordinator-server shards move --group billing --group shipping --to 1 --data-dir ./data -o json
  coordinator-server shards move --from 1 --to 0 --data-dir ./data                  # all shards of loop 1
"""

_FORMS: Final = ("list", "move")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = add_actions(parser)
    listed = add_action(actions, "list", "each shard, with its owner, its epoch and its state", EPILOG)
    listed.add_argument("--loop", type=int, metavar="N", help="only the shards of this loop")
    move = add_action(actions, "move", "move shards to a loop, one after the other", EPILOG)
    move.add_argument("shards", nargs="*", metavar="SHARD", help="such as __consumer_offsets-7")
    move.add_argument("--to", type=int, required=True, metavar="N", help="the loop that is to own them, from 0 on")
    move.add_argument("--from", type=int, dest="source", metavar="N", help="move all shards of this loop")
    for each in (listed, move):
        each.add_argument("--group", action="append", default=[], metavar="GROUP", help="the shard of this group; repeatable")
    add_common(listed, move, asks_server=True)


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code. Raises ConfigError."""
    if options.action == "move" and not options.shards and not options.group and options.source is None:
        from coordinator_server.config import ConfigError

        raise ConfigError("no shard is named: SHARD, such as __consumer_offsets-7, or --group, or --from and a loop")
    return run_action(options, {"list": _list, "move": _move}, _FORMS, _FORMS)


def _list(options: argparse.Namespace) -> int:
    owners, states = _ask(options, {"op": "owners"})["owners"], _ask(options, {"op": "shards"})["shards"]
    wanted = set(_of_groups(options))
    rows: list[Row] = [
        {"shard": shard, **owner, "state": states[shard]["state"] if shard in states else None}
        for shard, owner in owners.items()
        if options.loop in (None, owner["loop"]) and (not options.group or shard in wanted)
    ]
    return print_answer(options.output, Answer(rows, empty="no shards"))


def _move(options: argparse.Namespace) -> int:
    from coordinator_server.pipeline.errors import PipelineError

    rows: list[Row] = []
    for shard in dict.fromkeys([*options.shards, *_of_groups(options), *_of_loop(options)]):
        row: dict[str, Any] = {"shard": shard, "from": None, "to": options.to, "epoch": None, "ms": None}
        try:
            answer = _ask(options, {"op": "move-shard", "shard": shard, "loop": options.to})
        except PipelineError as refused:
            rows.append({**row, "outcome": "refused", "error": str(refused)})
            continue
        outcome = "moved" if answer["from"] != answer["to"] else "is there already"
        rows.append({name: answer[name] for name in row} | {"outcome": outcome, "error": None})
    return print_answer(options.output, Answer(rows, empty="no shards", failed=any(row["error"] is not None for row in rows)))


def _of_loop(options: argparse.Namespace) -> list[str]:
    if options.source is None:
        return []
    return [shard for shard, owner in _ask(options, {"op": "owners"})["owners"].items() if owner["loop"] == options.source]


def _of_groups(options: argparse.Namespace) -> list[str]:
    from coordinator_server.cli.group_shards import shards_of_groups

    return shards_of_groups(options.data_dir, options.group)


def _ask(options: argparse.Namespace, request: dict[str, Any]) -> dict[str, Any]:
    """Send an operation to the running server. Raises PipelineError."""
    from coordinator_server.pipeline.errors import PipelineError
    from coordinator_server.pipeline.input.data_dir import ask_server

    answer = ask_server(options.data_dir, request)
    if answer is None:
        raise PipelineError(f"no server runs on {options.data_dir}: only a running server has owners of shards")
    return answer
