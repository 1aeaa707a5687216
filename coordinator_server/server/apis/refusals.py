"""Refusals that differ from each other in message types, field names and error codes alone.

Each function here makes the ``refuse`` of a row. ``errors`` says which codes an API answers as others; the rest stay as they are. A refusal
that says anything more is a function beside its handler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.api_row import Refusal
from protocol.error_codes import ErrorCode

R = TypeVar("R")

UNCHANGED: Final[Mapping[ErrorCode, ErrorCode]] = {}


def error_only(response: type[R], errors: Mapping[ErrorCode, ErrorCode] = UNCHANGED) -> Refusal[Any, R]:
    """One error for the whole request, with its message where the response has a field for it."""
    answer = _error_of(response)

    def refuse(context: RequestContext, request: Any, error: ErrorCode, message: str | None) -> R:
        return cast(R, answer(errors.get(error, error), message, {}))

    return refuse


def each_refused(
    response: type[R],
    field: str,
    item: type[Any],
    *,
    of: str,
    by: Sequence[str],
    errors: Mapping[ErrorCode, ErrorCode] = UNCHANGED,
) -> Refusal[Any, R]:
    """The same error for each item of the request.

    ``response.field`` is a list with one ``item`` for each of ``request.of``; the fields ``by``, which both have, say which one it is.
    """
    make = cast(Callable[..., R], response)
    answer = _error_of(item)

    def refuse(context: RequestContext, request: Any, error: ErrorCode, message: str | None) -> R:
        told = errors.get(error, error)
        items = [answer(told, message, {name: getattr(asked, name) for name in by}) for asked in getattr(request, of)]
        return make(**{field: items})

    return refuse


def _error_of(answer: type[Any]) -> Callable[[ErrorCode, str | None, dict[str, Any]], Any]:
    """Makes an answer out of an error, its message and the other fields. Only some answers have a field for the message."""
    if "error_message" in answer.__struct_fields__:
        return lambda error, message, others: answer(error_code=error, error_message=message, **others)
    return lambda error, message, others: answer(error_code=error, **others)
