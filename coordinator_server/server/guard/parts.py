"""What is checked of the elements of a request and of its answer (``Parts`` in ``access.py``), for the rows of any API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from coordinator_server.security.authorizer import ERRORS
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work, in_portions
from coordinator_server.server.guard.access import MESSAGES, Asked, Parts
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode

CHECKED_PER_STEP: Final = 1_000
NO_MESSAGES: Final[Mapping[ErrorCode, str | None]] = {}
EMPTY_MESSAGES: Final = dict.fromkeys(MESSAGES, "")


Refused = Callable[[Any, ErrorCode, str | None], Any]
"""Makes the answer for one denied element of a request."""

# Elements of requests


class Each(NamedTuple):
    """The elements of a request, each of which needs an operation. The API's refusal answers those that are denied.

    ``of`` is the list of the request, and ``answers`` that of the response. ``name_of`` returns None for an element that the
    handler refuses itself, because it names nothing. ``refused`` makes an answer, if the API's refusal has none. With
    ``is_whole`` the handler gets a request of which nothing is left, too, because its answer says more.
    """

    of: str
    operation: Operation
    resource_type: ResourceType
    name_of: Callable[[Asked, Any], str | None]
    answers: str
    messages: Mapping[ErrorCode, str | None] = MESSAGES
    refused: Refused | None = None
    is_whole: bool = False

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether all elements are allowed."""
        verdicts, name_of = asked.access.verdicts(self.operation, self.resource_type), self.name_of
        for element in getattr(request, self.of) or ():
            name = name_of(asked, element)
            if name is not None and not verdicts[name]:
                return False
        return True

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Take the denied elements out of the request; their answers follow the others."""
        allowed, denied = yield from self.divided(asked, getattr(request, self.of) or ())
        if not denied:
            return request
        error = ERRORS[self.resource_type]
        message = self.messages.get(error)
        if self.refused is not None:
            answers = [self.refused(element, error, message) for element in denied]
        else:
            refused: Any = reply.row.refuse(asked.context, replace(request, **{self.of: denied}), error, message)
            if not allowed and not self.is_whole:
                reply.complete(refused)
                return None
            answers = getattr(refused, self.answers)
        return put_back(reply, replace(request, **{self.of: allowed}), self.answers, answers)

    def divided(self, asked: Asked, elements: Iterable[Any]) -> Work[tuple[list[Any], list[Any]]]:
        """Return the elements that are allowed, and the others, which are reported."""
        return (yield from divided(asked, elements, self.operation, self.resource_type, partial(self.name_of, asked)))


def divided(
    asked: Asked,
    elements: Iterable[Any],
    operation: Operation,
    resource_type: ResourceType,
    name_of: Callable[[Any], str | None],
) -> Work[tuple[list[Any], list[Any]]]:
    """Return the elements of which an operation is allowed, and the others, which are reported. In steps."""
    verdicts = asked.access.verdicts(operation, resource_type)
    allowed: list[Any] = []
    denied: list[Any] = []
    names: dict[str, None] = {}
    for portion in in_portions(elements, CHECKED_PER_STEP):
        if allowed or denied:
            yield
        for element in portion:
            name = name_of(element)
            if name is None or verdicts[name]:
                allowed.append(element)
            else:
                denied.append(element)
                names[name] = None
    if names:
        asked.report(asked.context, operation, resource_type, list(names))
    return allowed, denied


def put_back(reply: Exchange[Any], rest: Any, name: str, answers: Sequence[Any]) -> Any:
    """Return the rest of a request for its handler. ``answers`` are those of the elements that were taken out."""
    reply.request = rest
    reply.amend(partial(_with_answers, name, answers))
    return rest


def _with_answers(name: str, answers: Sequence[Any], response: Any) -> Any:
    # An error of the whole request is the answer for all elements.
    if getattr(response, "error_code", 0):
        return response
    return replace(response, **{name: [*getattr(response, name), *answers]})


# Answers


class Filtered(NamedTuple):
    """An answer that is filtered: ``amended`` gets it, and may be called in a thread."""

    amended: Callable[[Asked, Any, Any], Any]
    """Takes the request, too; returns a response, and changes none of the lists of the one that it got."""

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return False, because the answer is not known yet."""
        return False

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Let the answer be filtered when it is encoded."""
        reply.amend(partial(self.amended, asked, request))
        yield from ()
        return request


class Visible(NamedTuple):
    """An answer in which elements are left out that the principal may not describe. ``unless`` is an operation on the cluster."""

    answers: str
    resource_type: ResourceType
    name_of: Callable[[Any], str]
    unless: Operation | None = None

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether everything is visible."""
        return self.unless is not None and asked.access.allows(self.unless, ResourceType.CLUSTER)

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Let the answer be filtered when it is encoded."""
        if not self.allows_all(asked, request):
            reply.amend(partial(self._visible, asked))
        yield from ()
        return request

    def _visible(self, asked: Asked, response: Any) -> Any:
        verdicts = asked.access.verdicts(Operation.DESCRIBE, self.resource_type)
        left = [each for each in getattr(response, self.answers) if verdicts[self.name_of(each)]]
        return replace(response, **{self.answers: left})


class Both(NamedTuple):
    """One part after the other."""

    first: Parts
    second: Parts

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether both allow all."""
        return self.first.allows_all(asked, request) and self.second.allows_all(asked, request)

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Let the second divide what the first has left."""
        rest = yield from self.first.divide(asked, request, reply)
        if rest is None:
            return None
        return (yield from self.second.divide(asked, rest, reply))


# Needs that depend on the request


class Conditional(NamedTuple):
    """Needs that depend on what the request has. ``denial`` returns the error of one that is not met, which it reports, or None."""

    denial: Callable[[Asked, Any], ErrorCode | None]

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return False: ``divide`` finds the needs."""
        return False

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Refuse the request if a need is not met."""
        yield from ()
        error = self.denial(asked, request)
        if error is None:
            return request
        reply.fail(error, MESSAGES[error])
        return None
