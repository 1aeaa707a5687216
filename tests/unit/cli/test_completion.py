"""``coordinator-server completion``: what a shell offers."""

from __future__ import annotations

import subprocess

import pytest

from coordinator_server.cli import COMMANDS, main
from coordinator_server.cli.completion import all_words

ASK = """
{script}
COMP_WORDS=({words}); COMP_CWORD={at}; _coordinator_server; echo "${{COMPREPLY[*]}}"
"""


@pytest.fixture
def script(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", "bash"]) == 0
    return capsys.readouterr().out


def test_bash_completes_commands_actions_options_and_values(script: str) -> None:
    """The last word of each line is completed."""
    lines = {
        "gro": ["groups"],
        "groups mem": ["members"],
        "groups members --boot": ["--bootstrap", "--bootstrap-server"],
        "groups members --output js": ["json", "jsonl"],
        "groups members billing --ver": ["--verbose"],
        "configs describe gr": ["group"],
        "completion f": ["fish"],
        "serve --log-level w": ["warning"],
        "nonsense x": [],
    }
    asked = "".join(
        ASK.format(script=script if number == 0 else "", words=f"coordinator-server {line}", at=len(line.split()))
        for number, line in enumerate(lines)
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)

    assert [line.split() for line in done.stdout.splitlines()] == list(lines.values())
    assert done.stderr == ""


def test_every_command_is_offered() -> None:
    first, *others = all_words()

    assert list(first.inner) == list(COMMANDS)
    assert {each.path[0] for each in others} == set(COMMANDS)


@pytest.mark.parametrize(
    ("shell", "first"), [("zsh", "#compdef coordinator-server"), ("fish", "complete -c coordinator-server -f -n ")]
)
def test_other_shells_have_the_same_words(shell: str, first: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    printed = capsys.readouterr().out

    assert printed.startswith(first)
    assert all(word in printed for word in ("groups", "members", "verbose", "jsonl", "kafka-consumer-groups"))
