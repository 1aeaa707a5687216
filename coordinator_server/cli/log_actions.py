"""Commands whose actions answer from the log, or ask the server that runs on it: ``groups`` and ``transactions``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Timer
from typing import Final

from coordinator_server.cli.observed_directory import refuse_observed
from coordinator_server.cli.output import complain, note, say, say_json
from coordinator_server.config import ConfigError
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.data_dir import check_data_dir
from coordinator_server.pipeline.locations import local_copy, local_directory

SILENCE_S: Final = 2.0
"""The time after which a command that waits says so."""

Action = Callable[[argparse.Namespace], int | None]
"""Prints its answer, and returns the exit code or None for 0. May raise PipelineError, CannotRun and OSError."""


def run_action(
    options: argparse.Namespace, actions: Mapping[str, Action], of_a_server: Collection[str], with_rows: Collection[str] = ()
) -> int:
    """Run the chosen action, and return the exit code. Those ``of_a_server`` need a local directory, on which one runs.

    Those ``with_rows`` may print CSV. Raises ConfigError.
    """
    _choose_form(options, has_rows=options.action in with_rows)
    try:
        if options.action in of_a_server:
            local_directory(options.data_dir, "the command asks the server that runs on it")
        with local_copy(options.data_dir) as data_dir:
            check_data_dir(data_dir, asks_server=options.action in of_a_server)
            options.data_dir = data_dir
            if options.action in of_a_server:
                refuse_observed(data_dir)
            with _patience(data_dir) if options.action in of_a_server else nullcontext():
                return actions[options.action](options) or 0
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, OSError) as error:
        return complain(error, 1)


@contextmanager
def _patience(data_dir: Path) -> Iterator[None]:
    """Say after a while that a server has not answered yet."""
    timer = Timer(SILENCE_S, note, (f"waiting for the server on {data_dir} to answer",))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def print_answer(options: argparse.Namespace, answer: object, lines: Iterator[str], empty: str = "") -> None:
    """Print the answer as JSON, as a line of JSON for each of its parts, or the lines. ``empty`` is a note in place of no lines."""
    if options.output == "jsonl":
        for each in answer if isinstance(answer, list) else [answer]:
            say_json(each)
    elif options.json:
        say_json(answer)
    elif empty and not answer:
        note(empty)
    else:
        say(lines)


def _choose_form(options: argparse.Namespace, *, has_rows: bool) -> None:
    """Let ``output`` be the form, also with ``--json``, and ``json`` whether it is JSON. Raises ConfigError."""
    if options.output == "csv" and not has_rows:
        raise ConfigError("-o csv is for answers that are rows: this one is text, JSON or lines of JSON")
    if getattr(options, "json", False) and options.output == "text":
        options.output = "json"
    options.json = options.output in {"json", "jsonl"}
