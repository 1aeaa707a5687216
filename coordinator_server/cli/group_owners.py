"""``groups owners``: who had a partition when, and for how long it had no owner, from the log."""

from __future__ import annotations

import argparse
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby

from coordinator_server.cli.answers import Answer, Row, print_answer
from coordinator_server.cli.offset_targets import Topics
from coordinator_server.cli.times import shown
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.replay.group_owners import Ownership


def show_owners(options: argparse.Namespace, owned: Sequence[Ownership]) -> None:
    """Print who had which partition in a period. Raises PipelineError."""
    until_ms = round(time.time() * 1000) if options.until is None else options.until
    _check_topics(options, {each.topic for each in owned})
    found = list(_with_gaps(_wanted(owned, options.topic), options, until_ms))
    if not found:
        raise PipelineError(f"no partition of group {options.group} had an owner then: --topic orders:3 names one all the same")
    print_answer(
        options.output,
        Answer([{"group": options.group, **_row(each, until_ms)} for each in found], notes=list(_without_owner(found, until_ms))),
    )


def _check_topics(options: argparse.Namespace, owned: Collection[str]) -> None:
    """Raise PipelineError for a named topic of which the group never had a partition: its name may be mistaken."""
    others = sorted({one.topic for one in options.topic} - {*owned})
    if others and owned:
        had = ", ".join(sorted(owned))
        raise PipelineError(
            f"no partition of {', '.join(others)} ever had an owner in group {options.group}: it had those of {had}"
        )


def _wanted(found: Iterable[Ownership], topics: Sequence[Topics]) -> Iterator[Ownership]:
    for each in found:
        if not topics or any(
            each.topic == one.topic and each.partition in (one.partitions or (each.partition,)) for one in topics
        ):
            yield each


def _with_gaps(found: Iterable[Ownership], options: argparse.Namespace, until_ms: int) -> Iterator[Ownership]:
    """Return what is in the period, with the time before the first owner, and that of named partitions without any."""
    of_partition = {position: list(some) for position, some in groupby(found, key=lambda each: (each.topic, each.partition))}
    named = {(one.topic, number) for one in options.topic for number in one.partitions}
    for position in sorted({*of_partition, *named}):
        owned = of_partition.get(position, [])
        first_ms = owned[0].since_ms if owned else until_ms
        since_ms = options.since
        if since_ms is None and not owned:
            raise PipelineError(f"{position[0]}-{position[1]} never had an owner in group {options.group}")
        if since_ms is not None and since_ms < min(first_ms, until_ms):
            yield Ownership(*position, (), since_ms, min(first_ms, until_ms))
        for each in owned:
            begin_ms = each.since_ms if since_ms is None else max(each.since_ms, since_ms)
            end_ms = until_ms if each.until_ms is None else min(each.until_ms, until_ms)
            if begin_ms < end_ms:
                goes_on = each.until_ms is None and options.until is None
                yield Ownership(*position, each.members, begin_ms, None if goes_on else end_ms, each.clients)


def _row(each: Ownership, now_ms: int) -> Row:
    clients = [each.clients[member] for member in each.members if member in each.clients]
    end_ms = now_ms if each.until_ms is None else each.until_ms
    return {
        "topic": each.topic,
        "partition": each.partition,
        "member": ", ".join(each.members) or None,
        "client_id": ", ".join(client.client_id for client in clients) or None,
        "host": ", ".join(client.client_host for client in clients) or None,
        "since": shown(each.since_ms),
        "until": None if each.until_ms is None else shown(each.until_ms),
        "seconds": (end_ms - each.since_ms) / 1000,
    }


def _without_owner(found: Sequence[Ownership], now_ms: int) -> Iterator[str]:
    """Say for how long each partition had no owner."""
    for (topic, partition), some in groupby(found, key=lambda each: (each.topic, each.partition)):
        spans = [(bool(each.members), (now_ms if each.until_ms is None else each.until_ms) - each.since_ms) for each in some]
        gap_s = sum(span for is_owned, span in spans if not is_owned) / 1000
        yield f"{topic}-{partition} had no owner for {gap_s:,.1f} of {sum(span for _, span in spans) / 1000:,.1f} s"
