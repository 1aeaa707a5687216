"""Commands whose actions answer from the log, or ask the server that runs on it: ``groups`` and ``transactions``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Timer
from typing import Final

from coordinator_server.cli.output import complain, note, say, say_json
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.sealing import check_data_dir
from coordinator_server.pipeline.locations import local_copy, local_directory

SILENCE_S: Final = 2.0
"""The time after which a command that waits says so."""

Action = Callable[[argparse.Namespace], None]
"""Prints its answer. May raise PipelineError, CannotRun and OSError."""


def run_action(options: argparse.Namespace, actions: Mapping[str, Action], of_a_server: Collection[str]) -> int:
    """Run the chosen action, and return the exit code. Those ``of_a_server`` need a local directory, on which one runs."""
    try:
        if options.action in of_a_server:
            local_directory(options.data_dir, "the command asks the server that runs on it")
        with local_copy(options.data_dir) as data_dir:
            check_data_dir(data_dir)
            options.data_dir = data_dir
            with _patience(data_dir) if options.action in of_a_server else nullcontext():
                actions[options.action](options)
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, OSError) as error:
        return complain(error, 1)
    return 0


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


def print_answer(options: argparse.Namespace, answer: object, lines: Iterator[str]) -> None:
    """Print the answer as JSON, or the lines."""
    if options.json:
        say_json(answer)
    else:
        say(lines)
