"""Generic refusals, parameterized by message types, field names and error codes.

Each function here returns the ``refuse`` function of a row. ``errors`` maps error codes to the codes that the API answers
instead; other codes are unchanged. An API whose refusal needs more has a function next to its handler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.exchange.api_row import Refusal
from protocol.error_codes import ErrorCode

R = TypeVar("R")

UNCHANGED: Final[Mapping[ErrorCode, ErrorCode]] = {}


def error_only(response: type[R], errors: Mapping[ErrorCode, ErrorCode] = UNCHANGED) -> Refusal[Any, R]:
    """Return a refusal with one error for the whole request, and its message if the response has a field for it."""
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
    """Return a refusal with the same error for each item of the request.

    ``response.field`` is a list with one ``item`` for each element of ``request.of``. The fields ``by``, which both types
    have, identify the element and are copied.
    """
    make = cast(Callable[..., R], response)
    answer = _error_of(item)

    def refuse(context: RequestContext, request: Any, error: ErrorCode, message: str | None) -> R:
        code = errors.get(error, error)
        items = [answer(code, message, {name: getattr(asked, name) for name in by}) for asked in getattr(request, of)]
        return make(**{field: items})

    return refuse


def _error_of(answer: type[Any]) -> Callable[[ErrorCode, str | None, dict[str, Any]], Any]:
    """Return a function that makes an answer from an error, its message and other fields. Not all answers have a message."""
    if "error_message" in answer.__struct_fields__:
        return lambda error, message, others: answer(error_code=error, error_message=message, **others)
    return lambda error, message, others: answer(error_code=error, **others)
