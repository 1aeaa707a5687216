"""What a server for tests does wrong on purpose: it refuses, delays or fences what an API's handler would answer.

The handlers of the API table are wrapped when such a server is composed (``Environment.alter_apis``). Other servers have no
wrapper, so they pay nothing.
"""

from __future__ import annotations

import difflib
from collections import defaultdict, deque
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from msgspec.structs import replace

from coordinator_server.machine.shard import CoordinatorResult, CoordinatorTimer, RequestContext
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.local_operation import Refusal
from coordinator_server.server.wire.order import Order
from protocol.error_codes import ErrorCode


class _Failure(NamedTuple):
    """The answer to a coming request; of any client if ``client_id`` is None."""

    error: ErrorCode
    client_id: str | None


class Faults:
    """The faults that wait for requests. ``timers`` are those of the running server."""

    def __init__(self) -> None:
        self.timers: CoordinatorTimer | None = None
        self._apis: dict[str, ApiRow[Any, Any]] = {}
        self._failures: dict[str, deque[_Failure]] = defaultdict(deque)
        self._delays_ms: dict[str, int] = {}
        # Member ids of static members that a test has fenced: they stay fenced, whoever has their instance id.
        self._fenced: set[str] = set()

    def alter(self, apis: Sequence[ApiRow[Any, Any]]) -> Sequence[ApiRow[Any, Any]]:
        """Return the APIs with handlers that look for faults first."""
        self._apis = {api.name: api for api in apis}
        return [replace(api, run=partial(self._handle, api)) for api in apis]

    def fail_next(self, api: str, error: str | int, times: int = 1, client_id: str | None = None) -> None:
        """Answer the next requests for an API with an error. Raises Refusal."""
        name = self._api_named(api).name
        self._failures[name] += [_Failure(_error_named(error), client_id)] * times

    def delay(self, api: str, delay_ms: int) -> None:
        """Handle requests for an API late, from now on; 0 ends that. Raises Refusal."""
        self._delays_ms[self._api_named(api).name] = delay_ms

    def fence(self, member_id: str) -> None:
        """Answer each request of a static member with FENCED_INSTANCE_ID."""
        self._fenced.add(member_id)

    def clear(self) -> None:
        """Forget all faults. Requests that are delayed already stay so."""
        self._failures.clear()
        self._delays_ms.clear()
        self._fenced.clear()

    def _handle(self, api: ApiRow[Any, Any], context: RequestContext, request: Any, reply: Any, /) -> None:
        delay_ms = self._delays_ms.get(api.name, 0)
        if delay_ms and self.timers is not None:
            self._handle_later(self.timers, api, reply, delay_ms)
        else:
            self._answer(api, context, request, reply)

    def _answer(self, api: ApiRow[Any, Any], context: RequestContext, request: Any, reply: Any) -> None:
        error = self._take_failure(api.name, context.client_id)
        if error is None and getattr(request, "member_id", None) in self._fenced:
            error = ErrorCode.FENCED_INSTANCE_ID
        if error is None:
            api.run(context, request, reply)
        else:
            reply.fail(error)

    def _take_failure(self, api: str, client_id: str) -> ErrorCode | None:
        failures = self._failures.get(api, ())
        found = next((each for each in failures if each.client_id in (None, client_id)), None)
        if found is None:
            return None
        self._failures[api].remove(found)
        return found.error

    def _handle_later(self, timers: CoordinatorTimer, api: ApiRow[Any, Any], reply: Any, delay_ms: int) -> None:
        """Let the connection's later requests wait behind this one, as Kafka does, but for those that act in any order."""
        connection = reply.connection
        is_held = api.order is not Order.FREE
        if is_held:
            connection.is_decoding, connection.order = True, Order.ALONE

        def handle() -> CoordinatorResult[None]:
            try:
                self._answer(api, reply.context, reply.request, reply)
            except Exception as failure:  # noqa: BLE001 - as in the dispatcher: it ends this request alone
                reply.fail_after(failure)
            if is_held:
                connection.decoded()
            return CoordinatorResult(None)

        timers.schedule(reply, delay_ms, handle)

    def _api_named(self, name: str) -> ApiRow[Any, Any]:
        by_name = {known.lower(): api for known, api in self._apis.items()}
        api = by_name.get(name.lower())
        if api is None:
            close = difflib.get_close_matches(name, self._apis, 1)
            hint = f" (did you mean {close[0]}?)" if close else ""
            raise Refusal(f"no API is named {name!r}{hint}; there are: {', '.join(sorted(self._apis))}")
        return api


def _error_named(error: str | int) -> ErrorCode:
    names = [each.name for each in ErrorCode if each is not ErrorCode.NONE]
    try:
        found = ErrorCode[error.upper()] if isinstance(error, str) else ErrorCode(error)
    except (KeyError, ValueError):
        close = difflib.get_close_matches(str(error).upper(), names, 3) or ["NOT_COORDINATOR", "REBALANCE_IN_PROGRESS"]
        raise Refusal(f"no error is named {error!r}; the names are those of Kafka's Errors, such as {', '.join(close)}") from None
    if found is ErrorCode.NONE:
        raise Refusal("NONE is no error; without a fault the server answers what is true")
    return found
