"""Print a script with which a shell completes commands, actions and options of coordinator-server.

Put it where the shell reads it, or load it in the shell that runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module
from typing import Final, NamedTuple

from coordinator_server.cli.output import say

EPILOG = """\
examples:
  source <(coordinator-server completion bash)
  coordinator-server completion bash >/etc/bash_completion.d/coordinator-server
  source <(coordinator-server completion zsh)                      # in ~/.zshrc, after compinit
  coordinator-server completion fish >~/.config/fish/completions/coordinator-server.fish
"""

PROGRAM: Final = "coordinator-server"


class Words(NamedTuple):
    """What may follow a command or an action. ``inner`` are actions; ``values`` are the choices of an option or an argument."""

    path: tuple[str, ...]
    inner: dict[str, str]
    options: dict[str, str]
    values: dict[str, tuple[str, ...]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("shell", choices=tuple(_SHELLS), metavar="SHELL", help=", ".join(_SHELLS))


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    say(_SHELLS[options.shell](list(all_words())))
    return 0


def all_words() -> Iterator[Words]:
    """Yield the words of the program, of each command and of each action."""
    from coordinator_server.cli import COMMANDS

    yield Words((), {name: summary for name, (_, summary) in COMMANDS.items()}, {"--help": "", "--version": ""}, {})
    for name, (module, _) in COMMANDS.items():
        parser = argparse.ArgumentParser(name)
        import_module(f"coordinator_server.cli.{module}").add_arguments(parser)
        yield from _words((name,), parser)


def _words(path: tuple[str, ...], parser: argparse.ArgumentParser) -> Iterator[Words]:
    inner: dict[str, argparse.ArgumentParser] = {}
    summaries: dict[str, str] = {}
    options: dict[str, str] = {}
    values: dict[str, tuple[str, ...]] = {}
    # argparse has no other way to ask what was declared.
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            inner = dict(action.choices)
            summaries = {each.dest: each.help or "" for each in action._choices_actions}
            continue
        options |= dict.fromkeys(
            (each for each in action.option_strings if each.startswith("--")), (action.help or "").partition(";")[0]
        )
        for option in action.option_strings or [""]:
            if action.choices:
                values[option] = tuple(map(str, action.choices))
    yield Words(path, summaries, options, values)
    for name, each in inner.items():
        yield from _words((*path, name), each)


def _bash(words: list[Words]) -> Iterator[str]:
    yield "_coordinator_server() {"
    yield '    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" path="" word words=""'
    yield '    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do'
    yield '        case "$path/$word" in'
    yield f'            {"|".join("/" + "/".join(each.path) for each in words if each.path)}) path="$path/$word" ;;'
    yield "        esac"
    yield "    done"
    yield '    case "$path $previous" in'
    for each in words:
        for option, values in each.values.items():
            if option:
                yield f"        {_quoted(_place(each.path) + ' ' + option)}) words={_quoted(' '.join(values))} ;;"
    yield "    esac"
    yield '    if [ -z "$words" ]; then'
    yield '        case "$path" in'
    for each in words:
        following = " ".join([*each.inner, *each.values.get("", ()), *each.options])
        yield f"            {_quoted(_place(each.path))}) words={_quoted(following)} ;;"
    yield "        esac"
    yield "    fi"
    yield '    COMPREPLY=($(compgen -W "$words" -- "$current"))'
    yield "}"
    yield f"complete -o default -F _coordinator_server {PROGRAM}"


def _zsh(words: list[Words]) -> Iterator[str]:
    yield f"#compdef {PROGRAM}"
    yield "autoload -U +X bashcompinit && bashcompinit"
    yield from _bash(words)


def _fish(words: list[Words]) -> Iterator[str]:
    for each in words:
        condition = _fish_condition(each)
        for name, summary in each.inner.items():
            yield f"complete -c {PROGRAM} -f -n {_quoted(condition)} -a {name} -d {_quoted(summary)}"
        for option, summary in each.options.items():
            values = each.values.get(option)
            takes = f" -x -a {_quoted(' '.join(values))}" if values else ""
            described = f" -d {_quoted(summary)}" if summary else ""
            yield f"complete -c {PROGRAM} -n {_quoted(condition)} -l {option.removeprefix('--')}{takes}{described}"


def _fish_condition(words: Words) -> str:
    if not words.path:
        return "__fish_use_subcommand"
    seen = "; and ".join(f"__fish_seen_subcommand_from {name}" for name in words.path)
    return f"{seen}; and not __fish_seen_subcommand_from {' '.join(words.inner)}" if words.inner else seen


def _place(path: tuple[str, ...]) -> str:
    return "".join(f"/{name}" for name in path)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", r"'\''") + "'"


_SHELLS: Final = {"bash": _bash, "zsh": _zsh, "fish": _fish}
