"""Counts the errors in answers, for metrics: those of the outermost ``error_code`` fields of a response.

Kafka counts those of all levels (``AbstractResponse.errorCounts``), and answers without an error, too. Inner levels are about
parts of requests that were served.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

from msgspec import Struct

from coordinator_server.server.exchange.tally import Tally
from protocol.refused_commits import EncodedRefusal

_FIELD: Final = "error_code"
_LIST: Final = re.compile(r"\blist\[(\w+)\]")


def error_counter(response: type[Struct]) -> Callable[[Any, Tally], None] | None:
    """Return a function that counts the errors of an answer, or None if the type of response has no errors.

    The answers of short ways are of other types, and have none, but for refusals.
    """
    path = _path_to_errors(response)
    if path is None:
        return None
    if path:
        return _inner_counter(response, path)
    # Versions with lists of answers have the errors there, and not outside.
    inner = [name for name, kind in lists_of_structs(response) if _FIELD in kind.__struct_fields__]
    assert len(inner) <= 1, f"{response.__name__} has several lists with errors"
    return _outer_counter(response, inner[0]) if inner else _plain_counter(response)


def _plain_counter(response: type[Any]) -> Callable[[Any, Tally], None]:
    def count(answer: Any, tally: Tally) -> None:
        if type(answer) is response and answer.error_code:
            tally.count_error(answer.error_code)

    return count


def _outer_counter(response: type[Any], inner: str) -> Callable[[Any, Tally], None]:
    list_of = attrgetter(inner)

    def count(answer: Any, tally: Tally) -> None:
        if type(answer) is not response:
            return
        if answer.error_code:
            tally.count_error(answer.error_code)
            return
        for each in list_of(answer) or ():
            if each.error_code:
                tally.count_error(each.error_code)

    return count


def _inner_counter(response: type[Any], path: Sequence[str]) -> Callable[[Any, Tally], None]:
    def count(answer: Any, tally: Tally) -> None:
        if type(answer) is response:
            for each in _at(answer, path):
                if each.error_code:
                    tally.count_error(each.error_code)
        elif type(answer) is EncodedRefusal:
            tally.count_error(answer.error_code, answer.parts)

    return count


def _at(answer: Any, path: Sequence[str]) -> Iterable[Any]:
    inner = getattr(answer, path[0]) or ()
    return inner if len(path) == 1 else [each for one in inner for each in _at(one, path[1:])]


def _path_to_errors(response: type[Struct]) -> tuple[str, ...] | None:
    """Return the lists that lead to the outermost fields of errors, the outer list first. None: there are none."""
    level: list[tuple[tuple[str, ...], type[Struct]]] = [((), response)]
    while level:
        for path, kind in level:
            if _FIELD in kind.__struct_fields__:
                return path
        level = [((*path, name), inner) for path, kind in level for name, inner in lists_of_structs(kind)]
    return None


def lists_of_structs(kind: type[Struct]) -> Iterator[tuple[str, type[Struct]]]:
    """Yield the fields that are lists of structs.

    Reads the text of annotations: to evaluate those of all responses takes 50 ms of each start of a loop.
    """
    names = vars(sys.modules[kind.__module__])
    for field, annotation in kind.__annotations__.items():
        found = _LIST.search(annotation)
        item = names[found[1]] if found else None
        if isinstance(item, type) and issubclass(item, Struct):
            yield field, item
