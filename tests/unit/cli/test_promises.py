"""What docs/commands.md promises of all commands, held against their parsers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator_server.cli import COMMANDS, times
from tests.unit.cli.test_options import of_all_commands

PAGE = (Path(__file__).parents[3] / "docs/commands.md").read_text()
# They print what other programs read: a service's line of readiness, the tables of Kafka's tool, a shell's script.
WITHOUT_FORM = {"serve", "observe", "page", "kafka-consumer-groups", "completion"}
FORMS = {"text", "json", "jsonl", "csv"}
# Names of options and arguments that take a moment.
MOMENTS = {"at", "time", "since", "until", "to_datetime"}


def commands() -> dict[str, list[argparse.Action]]:
    """The arguments of every command that runs, by its words."""
    found: dict[str, list[argparse.Action]] = {}
    for command, action in of_all_commands():
        found.setdefault(command, []).append(action)
    return found


def moments() -> Iterator[tuple[str, argparse.Action]]:
    for command, arguments in commands().items():
        for each in arguments:
            if each.dest in MOMENTS and command not in WITHOUT_FORM:
                yield command, each


def test_every_command_has_the_option_of_its_form() -> None:
    """``-o json`` everywhere. A command about a running server has all forms; ``verify``, a job, asks one beside its log."""
    forms = {
        command: {form for each in found if "-o" in each.option_strings for form in each.choices or ()}
        for command, found in commands().items()
    }

    assert {command for command, chosen in forms.items() if not {"text", "json"} <= chosen} == WITHOUT_FORM
    asking = {command for command, found in commands().items() if any("--bootstrap" in each.option_strings for each in found)}
    assert {command for command in asking - WITHOUT_FORM - {"verify"} if forms[command] != FORMS} == set()


def test_the_older_name_of_json_is_nowhere_alone() -> None:
    """What has ``--json`` has ``-o``, too."""
    for command, found in commands().items():
        names = {name for each in found for name in each.option_strings}
        assert "--json" not in names or "-o" in names, command


def test_every_command_that_changes_previews_without_execute() -> None:
    """Those of a running server, and of a directory, need ``--execute``."""
    changing = {
        "set",
        "unset",
        "add",
        "remove",
        "delete",
        "create",
        "grow",
        "reset",
        "clone",
        "import",
        "delete-offsets",
        "evict",
        "restore",
        "abort",
    }
    found = {command for command in commands() if command.partition(" ")[2] in changing}

    assert len(found) > 15
    assert [command for command in found if not any("--execute" in each.option_strings for each in commands()[command])] == []


@pytest.mark.parametrize("command", sorted({command for command, _ in moments()}))
def test_every_moment_may_be_said_in_all_ways(command: str) -> None:
    for name, each in moments():
        if name == command:
            assert callable(each.type)
            for text in ("2026-11-20T10:00Z", "13:40", "yesterday 22:00", "5m ago"):
                assert each.type(text) is not None
            assert times.MOMENT.partition(",")[0] in (each.help or "")


def test_every_option_that_takes_a_moment_is_known_here() -> None:
    others = [
        f"{command} {each.dest}"
        for command, found in commands().items()
        for each in found
        if each.type in (times.moment_ms, times.past_ms)
    ]

    assert {each.split()[-1] for each in others} <= MOMENTS


def test_the_page_names_every_command() -> None:
    """With its actions, each of those of a command in the same row."""
    missing = [
        command
        for command in commands()
        if command.split()[0] not in WITHOUT_FORM | {"config", "import", "export"}
        and not any(all(re.search(rf"\b{re.escape(word)}\b", row) for word in command.split()) for row in PAGE.splitlines())
    ]

    assert missing == []
    assert set(COMMANDS) >= WITHOUT_FORM


@pytest.mark.parametrize("text", ["5m ago", "13:40", "yesterday 22:00"])
def test_the_page_says_how_a_moment_is_written(text: str) -> None:
    assert text in PAGE
