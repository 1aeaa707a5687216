"""``groups waiting``: who holds up the rebalance of a group now, as the running server knows it. ``doctor`` asks the same."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from coordinator_server.cli.answers import Answer, Row, print_answer
from coordinator_server.cli.group_shards import shards_here
from coordinator_server.cli.times import shown
from coordinator_server.group.holdup import Holdup, waits_for
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.input.data_dir import ask_server


def show_waiting(options: argparse.Namespace) -> None:
    """Print a row for each thing that the groups wait for. Raises PipelineError."""
    answer = _ask(options.data_dir, options.group)
    if answer is None:
        raise PipelineError(f"no server runs on {options.data_dir}: only a running server knows who is late")
    if answer["unknown"]:
        raise PipelineError(f"there is no group {', '.join(answer['unknown'])}")
    found = msgspec.convert(answer["holdups"], list[Holdup])
    named = ", ".join(options.group)
    empty = f"nothing holds up {named}" if named else "nothing holds up any group"
    print_answer(options.output, Answer([_row(each, time.time() * 1000) for each in found], empty=empty))


def holdups(data_dir: Path, group_ids: Sequence[str] = ()) -> list[Holdup] | None:
    """Ask the server that runs on a directory what some groups wait for, or all. None if no server runs. Raises PipelineError."""
    answer = _ask(data_dir, group_ids)
    return None if answer is None else msgspec.convert(answer["holdups"], list[Holdup])


def _ask(data_dir: Path, group_ids: Sequence[str]) -> dict[str, Any] | None:
    request: dict[str, Any] = {"op": "holdups"}
    if group_ids:
        request |= {"groups": list(group_ids), "shards": sorted(set(shards_here(data_dir, group_ids)))}
    return ask_server(data_dir, request)


def _row(each: Holdup, now_ms: float) -> Row:
    return {
        "group": each.group_id,
        "type": each.type,
        "state": each.state,
        "member": each.member_id or None,
        "client_id": each.client_id or None,
        "host": each.client_host or None,
        "instance_id": each.group_instance_id,
        "waits_for": waits_for(each),
        "since": None if each.since_ms is None else shown(each.since_ms),
        "for_s": None if each.since_ms is None else round(max(0.0, now_ms - each.since_ms) / 1000, 1),
        "out_in_s": None if each.out_in_ms is None else round(each.out_in_ms / 1000, 1),
    }
