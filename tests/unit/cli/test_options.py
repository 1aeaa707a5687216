"""The options of every command, as options.txt lists them; ``--rewrite`` lists them anew, for the diff to be read."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from coordinator_server.cli import COMMANDS

LISTED = Path(__file__).with_name("options.txt")


def actions(command: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    """The arguments of a command and of the commands inside, but for --help."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from actions(f"{command} {name}", inner)
        elif not isinstance(action, argparse._HelpAction):
            yield command, action


def of_all_commands() -> Iterator[tuple[str, argparse.Action]]:
    for name, (module, _) in COMMANDS.items():
        parser = argparse.ArgumentParser(name)
        import_module(f"coordinator_server.cli.{module}").add_arguments(parser)
        yield from actions(name, parser)


def line(command: str, action: argparse.Action) -> str:
    """What an argument takes, and what it is if it is not given."""
    metavar = (
        "" if action.nargs == 0 else action.metavar or (action.choices and "|".join(map(str, action.choices))) or action.dest
    )
    names = " ".join([*action.option_strings, str(metavar)]).strip()
    notes = [f"nargs={action.nargs}"] if action.nargs not in (None, 0) else []
    notes += ["required"] if action.required and action.option_strings else []
    notes += [f"default={action.default}"] if action.default not in (None, False, argparse.SUPPRESS) else []
    return " ".join([f"{command}: {names}", *notes])


def test_options_are_as_they_are_listed(request: pytest.FixtureRequest) -> None:
    """A name, a default or a flag that changes breaks the scripts of those who use it."""
    lines = [line(command, action) for command, action in of_all_commands()]
    if request.config.getoption("--rewrite"):
        LISTED.write_text("\n".join(lines) + "\n")

    assert lines == LISTED.read_text().splitlines()


def test_every_option_is_explained() -> None:
    """In the help of its command."""
    silent = [line(command, action) for command, action in of_all_commands() if not action.help]

    assert silent == []
