"""The parser of the command line: a wrong word is explained by the command that it was meant for."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterable
from typing import Any


class CommandParser(argparse.ArgumentParser):
    """As argparse's, but an unknown option ends at the command that does not have it,
    and a wrong word names the nearest right one.
    """

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the options. Unknown ones are an error here, and not at the outermost parser, whose usage says nothing of them."""
        found, extra = super().parse_known_args(args, namespace)
        if extra:
            options = [each for action in self._actions for each in action.option_strings]
            unknown = next((each for each in extra if each.startswith("-")), "")
            self.error(f"unrecognized arguments: {' '.join(extra)}{_nearest(unknown.partition('=')[0], options)}")
        return found, extra

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as wrong:
            wrong.message += _nearest(str(value), map(str, action.choices or ()))
            raise


def _nearest(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, known, 1)
    return f"; did you mean {near[0]}?" if near else ""
