"""What commands about a running server print: rows, as a table, JSON, lines of JSON or CSV. Only the answer is on stdout."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, Generic, TypeVar, overload

import msgspec

from coordinator_server.cli.output import note, say, say_json, say_json_list
from coordinator_server.cli.table import columns

Row = Mapping[str, object]
"""The fields of a row in order; all rows of an answer have the same. The names are those of JSON: snake case."""

T = TypeVar("T")

NOT_EXECUTED: Final = "nothing was changed: --execute makes the change"
_IF_ANY: Final = frozenset({"error"})
"""Columns that a table does not have if all rows have None."""


class Rows(Sequence[Row], Generic[T]):
    """Rows that are made when they are read, each time: as many as there are items, and one in memory."""

    def __init__(self, items: Sequence[T], row_of: Callable[[T], Row]) -> None:
        self._items = items
        self._row_of = row_of

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Row]:
        return map(self._row_of, self._items)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Rows[T]: ...
    def __getitem__(self, index: int | slice) -> Row | Rows[T]:
        if isinstance(index, slice):
            return Rows(self._items[index], self._row_of)
        return self._row_of(self._items[index])


class _Cells:
    """The cells of rows, their heading first, made each time that they are read."""

    def __init__(self, rows: Sequence[Row], names: Sequence[str]) -> None:
        self._rows = rows
        self._names = names

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        yield tuple(name.replace("_", " ") for name in self._names)
        for row in self._rows:
            yield tuple(cell(row[name]) for name in self._names)


@dataclass(frozen=True)
class Answer:
    """The answer of a command.

    ``text`` are lines to print in place of the table. ``notes`` go to stderr. ``failed`` makes the exit code 1.
    """

    rows: Sequence[Row]
    text: Iterable[str] | None = None
    empty: str = "none"
    notes: Sequence[str] = field(default_factory=tuple)
    failed: bool = False


def add_output_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the option that chooses the form of the answer, unless the parser has it."""
    if parser.get_default("output") is None:
        parser.add_argument("-o", "--output", choices=tuple(_FORMS), default="text", help="form of the answer (%(default)s)")


def add_json_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of an answer that is text or one JSON value: ``options.json`` is which."""
    parser.add_argument(
        "-o", "--output", choices=("text", "json"), default="text", action=_ChooseJson, help="form of the answer (%(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="the same as -o json")


class _ChooseJson(argparse.Action):
    """Sets ``output`` and ``json``."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        namespace.output, namespace.json = values, values == "json"


def add_execute_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the option without which a change is only shown."""
    parser.add_argument("--execute", action="store_true", help="make the change; without it, the command shows what would change")


def changes(rows: Sequence[Row], done: str, *, executed: bool) -> Answer:
    """Return the answer of a command that changes something: a row for each change.

    Each row has ``error``: why the change is refused, or None. In front of it comes ``outcome``: ``done``, such as "deleted", or
    "would be deleted" if it is not ``executed``, or "refused".
    """
    would = done if executed else f"would be {done}"
    shown = []
    for row in rows:
        error = row["error"]
        about = {name: value for name, value in row.items() if name != "error"}
        shown.append(
            about | ({"outcome": would, "error": None} if error is None else {"outcome": "refused", "error": str(error)})
        )
    refused = sum(row["error"] is not None for row in rows)
    notes = () if executed or refused == len(rows) else (NOT_EXECUTED,)
    return Answer(shown, empty="nothing to change", notes=notes, failed=refused > 0)


def print_answer(output: str, answer: Answer) -> int:
    """Print the answer, and return the exit code. Raises ReaderGone."""
    _FORMS[output](answer)
    for each in answer.notes:
        note(each)
    return 1 if answer.failed else 0


def _text(answer: Answer) -> None:
    if answer.text is not None:
        say(answer.text)
    elif answer.rows:
        names = [name for name in answer.rows[0] if name not in _IF_ANY or any(row[name] is not None for row in answer.rows)]
        say(columns(_Cells(answer.rows, names)))
    else:
        note(answer.empty)


def _json(answer: Answer) -> None:
    say_json_list(answer.rows)


def _jsonl(answer: Answer) -> None:
    for row in answer.rows:
        say_json(row)


def _csv(answer: Answer) -> None:
    if answer.rows:
        say(_csv_lines(answer.rows))


def _csv_lines(rows: Sequence[Row]) -> Iterator[str]:
    for row in chain([list(rows[0])], (list(map(_field, row.values())) for row in rows)):
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(row)
        yield line.getvalue()


_FORMS: Final[Mapping[str, Callable[[Answer], None]]] = {"text": _text, "json": _json, "jsonl": _jsonl, "csv": _csv}


def cell(value: object) -> str:
    """Return a value as people like to read it."""
    match value:
        case None:
            return "-"
        case str() | dict() | list() | tuple() if not value:
            return "-"
        case bool():
            return "yes" if value else "no"
        case dict():
            return "; ".join(f"{key} {cell(each)}" for key, each in value.items())
        case list() | tuple():
            return ",".join(map(cell, value))
        case _:
            return str(value)


def _field(value: object) -> str:
    """Return a value for CSV: nothing for None, and JSON for what has parts."""
    match value:
        case None:
            return ""
        case bool() | dict() | list() | tuple():
            return msgspec.json.encode(value).decode()
        case _:
            return str(value)
