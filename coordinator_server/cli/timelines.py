"""Commands that print what happened, a line for each event: which part of it, and in which form."""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from coordinator_server.cli.output import counted, note, say, say_json
from coordinator_server.cli.times import MOMENT, moment_ms

MOST_EVENTS = 100


class Timed(Protocol):
    """Something that happened at a time."""

    at_ms: int


T = TypeVar("T", bound=Timed)


def add_timeline_arguments(parser: argparse.ArgumentParser, each: str) -> None:
    """Declare which events are printed. ``each`` says what is printed one by one with ``--each``."""
    parser.add_argument("--since", type=moment_ms, metavar="TIME", help=f"only what happened then or later: {MOMENT}")
    parser.add_argument("--until", type=moment_ms, metavar="TIME", help=f"only what happened before then, or then: {MOMENT}")
    parser.add_argument(
        "--limit",
        type=_limit,
        default=MOST_EVENTS,
        metavar="N",
        help="the newest N events; 0 for all (%(default)s)",
    )
    parser.add_argument("--each", action="store_true", help=each)


def is_chosen(options: argparse.Namespace, at_ms: int) -> bool:
    """Return whether an event of this time is asked for."""
    return (options.since is None or at_ms >= options.since) and (options.until is None or at_ms <= options.until)


def newest(options: argparse.Namespace, events: Iterable[T], earlier: int = 0) -> list[T]:
    """Return the events to print, and say how many earlier ones there are: ``earlier`` before these, or more."""
    kept: deque[T] = deque(maxlen=options.limit or None)
    count = 0
    for event in events:
        count += 1
        kept.append(event)
    if left := earlier + count - len(kept):
        left_out = f"{counted(left, 'earlier event')}: --limit 0 shows all, --since and --until a part"
        note(f"left out {left_out}")
    return list(kept)


def print_events(options: argparse.Namespace, events: Sequence[T], line_of: Callable[[T], str]) -> None:
    """Print events in the chosen form."""
    is_limited = options.since is not None or options.until is not None
    if not events and is_limited and not getattr(options, "follow", False):
        note("nothing in the log happened in this period")
    if options.output == "json":
        say_json(list(events))
    elif options.output == "jsonl":
        for event in events:
            say_json(event)
    else:
        say(map(line_of, events))


def _limit(text: str) -> int:
    if not text.isascii() or not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of events")
    return int(text)
