"""The actions of ``transactions`` that answer from the log."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from coordinator_server.cli import answers
from coordinator_server.cli.answers import changes
from coordinator_server.cli.engines import retries_of
from coordinator_server.cli.log_actions import print_answer, run_action
from coordinator_server.cli.observed_directory import say_what_is_missing
from coordinator_server.cli.table import columns
from coordinator_server.cli.timelines import is_chosen, newest, print_events
from coordinator_server.cli.times import shown
from coordinator_server.kinds import TRANSACTIONS
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.input.data_dir import ask_server, durable
from coordinator_server.pipeline.replay.transaction_steps import Step, in_runs
from coordinator_server.pipeline.replay.transaction_timeline import Hanging, Known, hanging, known_at, shard_of, steps_of


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code."""
    return run_action(options, _ACTIONS, of_a_server=("abort",), with_rows=("abort",))


def _list(options: argparse.Namespace) -> None:
    known = known_at(options.data_dir, durable(options.data_dir, retries_of(options)), options.at)
    if options.open:
        known = [each for each in known if each.start_ms >= 0]
    rows = [("transactional id", "state", "producer", "epoch", "open since", "groups"), *(_row(each) for each in known)]
    print_answer(options, known, columns(rows), empty="there are no such transactional ids")


def _describe(options: argparse.Namespace) -> None:
    known = known_at(options.data_dir, durable(options.data_dir, retries_of(options)), options.at)
    found = [each for each in known if each.transactional_id == options.transactional_id]
    if not found:
        raise PipelineError(f"transactional id {options.transactional_id} is not known")
    print_answer(options, found[0], _known_text(found[0]))


def _why(options: argparse.Namespace) -> None:
    steps = steps_of(options.data_dir, options.transactional_id, durable(options.data_dir, retries_of(options)))
    first = next(steps, None)
    if first is None:
        shard = shard_of(options.data_dir, options.transactional_id).name
        raise PipelineError(f"the history of {shard} does not mention transactional id {options.transactional_id}")
    say_what_is_missing(options.data_dir, TRANSACTIONS.topic, shard_of(options.data_dir, options.transactional_id).name)
    found = (each for each in chain([first], steps) if is_chosen(options, each.at_ms))
    print_events(options, newest(options, found if options.each else in_runs(found)), _step_text)


def _hanging(options: argparse.Namespace) -> None:
    found = hanging(options.data_dir, durable(options.data_dir, retries_of(options)))
    rows = [("partition", "producer", "epoch", "first offset", "last written", "groups"), *(_hanging_row(each) for each in found)]
    print_answer(options, found, columns(rows), empty="no transaction hangs")


def _abort(options: argparse.Namespace) -> int:
    found = _open(options)
    if options.execute:
        shard = shard_of(options.data_dir, options.transactional_id).name
        request = {"op": "abort-transaction", "shards": [shard], "transactional_id": options.transactional_id}
        answer = ask_server(options.data_dir, request)
        if answer is None:
            raise PipelineError(f"no server runs on {options.data_dir}: start it, then abort")
        aborted: Mapping[str, Any] = answer["aborted"]
        found |= {"producer_id": aborted["producer_id"], "producer_epoch": aborted["producer_epoch"]}
    return answers.print_answer(options.output, changes([{**found, "error": None}], "aborted", executed=options.execute))


def _open(options: argparse.Namespace) -> dict[str, Any]:
    """Return the open transaction of the options' id, as a row. Raises PipelineError."""
    known = known_at(options.data_dir, durable(options.data_dir, retries_of(options)))
    found = next((each for each in known if each.transactional_id == options.transactional_id), None)
    if found is None:
        raise PipelineError(f"transactional id {options.transactional_id} is not known")
    if found.start_ms < 0:
        raise PipelineError(f"no transaction of {options.transactional_id} is open")
    return {
        "transactional_id": found.transactional_id,
        "state": found.state,
        "producer_id": found.producer_id,
        "producer_epoch": found.producer_epoch,
        "open_since": shown(found.start_ms),
        "partitions": found.partitions,
        "groups": found.groups,
    }


_ACTIONS = {"list": _list, "describe": _describe, "why": _why, "hanging": _hanging, "abort": _abort}


def _row(known: Known) -> tuple[str, ...]:
    since = shown(known.start_ms) if known.start_ms >= 0 else "-"
    return (
        known.transactional_id,
        known.state,
        str(known.producer_id),
        str(known.producer_epoch),
        since,
        ", ".join(known.groups) or "-",
    )


def _known_text(known: Known) -> Iterator[str]:
    yield f"transactional id {known.transactional_id}: {known.state} since {shown(known.update_ms)}"
    yield f"producer {known.producer_id} epoch {known.producer_epoch}, timeout {known.timeout_ms} ms"
    if known.start_ms >= 0:
        yield f"open since {shown(known.start_ms)}: {', '.join(known.partitions) or 'no partitions'}"
        yield f"groups that wait for it: {', '.join(known.groups) or 'none'}"


def _step_text(step: Step) -> str:
    what = step.what
    if step.until_ms is not None and step.longest_ms is not None:
        longest = f"the longest was open for {step.longest_ms / 1000:.1f} s"
        what = f"{step.transactions:,} {step.what} until {shown(step.until_ms)}, {longest}"
    parts = [what + (f", because {step.why}" if step.why else "")]
    if step.producer_epoch >= 0:
        parts.append(f"producer {step.producer_id} epoch {step.producer_epoch}")
    if step.groups:
        parts.append(f"groups {', '.join(step.groups)}")
    return f"{shown(step.at_ms)}  {'; '.join(parts)}" + (f"  {step.by}" if step.by is not None else "")


def _hanging_row(each: Hanging) -> tuple[str, ...]:
    return (
        each.partition,
        str(each.producer_id),
        str(each.producer_epoch),
        str(each.first_offset),
        shown(each.last_ms),
        ", ".join(each.groups),
    )
