"""The audit log: one line for each request that is denied and each administrative one.
It says who, from where, what, and the outcome.

The event is ``request-denied``, ``authentication-failed``, ``administrative-request`` (see ``audited_apis.py``) or
``administrative-operation`` (of ``control.sock``, see ``control.py``). A line names at most RESOURCES_PER_LINE resources, and has
no value that may be secret. Lines about administrators are never left out. Those about refusals are bounded:

- A client that tries the same again has a line at once, and then one per minute, with the number of cases (``episodes.py``). Cases
  are the same if they differ in their client id at most.
- A loop writes at most REFUSALS_PER_SECOND lines in a second: the next one says how many were left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.guard.audit_line import short, write_line
from coordinator_server.server.wire.episodes import Episodes
from protocol.api import APIS
from protocol.error_codes import ErrorCode

RESOURCES_PER_LINE: Final = 20
REFUSALS: Final = ("request-denied", "authentication-failed")
REFUSALS_PER_SECOND: Final = 100
MOST_EPISODES: Final = 1000
"""Maximum number of open summaries: beyond it, each refusal has its own line."""


class Resources(NamedTuple):
    """What a request names: the first RESOURCES_PER_LINE of ``total`` resources, such as ``Group:readers``."""

    texts: Sequence[str]
    total: int


def resources_of(elements: Collection[Any], text_of: Callable[[Any], str]) -> Resources:
    """Return the texts of the elements of a request."""
    return Resources([text_of(each) for each in islice(elements, RESOURCES_PER_LINE)], len(elements))


class Audit:
    """The audit log of one loop."""

    def __init__(self, now_ms: Callable[[], int], episodes: Episodes) -> None:
        # The number of refusals by event, also of those without a line.
        self.counts: Counter[str] = Counter()
        self._now_ms = now_ms
        self._episodes = episodes
        # The second of the last lines about refusals, and how many they are.
        self._second = 0
        self._written = 0
        self._left_out = 0

    def denied(self, context: RequestContext, operation: str, resources: Sequence[str]) -> None:
        """A request was denied, or a part of it: ``operation`` is Kafka's, such as ``Alter``,
        and a resource such as ``Group:readers``.
        """
        named = _named(Resources(resources, len(resources)))
        self._refused("request-denied", **_who(context), operation=operation, **named)

    def authentication_failed(self, host: str, *, listener: str, mechanism: str, user: str, why: str) -> None:
        """A client was not authenticated. ``user`` is the name that it claims, or empty."""
        self._refused("authentication-failed", host=host, listener=listener, mechanism=mechanism, user=user, why=why)

    def administered(self, context: RequestContext, resources: Resources, codes: Iterable[int], **fields: Any) -> None:
        """An administrative request was answered. ``codes`` are the error codes of the answer."""
        refused = [code for code in codes if code]
        outcome = ",".join(sorted({ErrorCode(code).name for code in refused})) or "done"
        counts = {"refused": len(refused)} if refused else {}
        write_line("administrative-request", **_who(context), **_named(resources), outcome=outcome, **counts, **fields)

    def _refused(self, event: str, **fields: Any) -> None:
        self.counts[event] += 1
        # Of a client's text only what a line shows is kept.
        shown = {name: short(value) if isinstance(value, str) else value for name, value in fields.items()}
        same = (
            event,
            *(tuple(value) if isinstance(value, list) else value for name, value in shown.items() if name != "client_id"),
        )
        if same not in self._episodes and not self._may_write():
            self._left_out += 1
        elif same in self._episodes or len(self._episodes) < MOST_EPISODES:
            self._episodes.add(same, partial(self._write, event), shown)
        else:
            self._write(event, **shown)

    def _may_write(self) -> bool:
        second = self._now_ms() // 1000
        if second != self._second:
            self._second, self._written = second, 0
        self._written += 1
        return self._written <= REFUSALS_PER_SECOND

    def _write(self, event: str, **fields: Any) -> None:
        if self._left_out:
            fields["left_out_before"], self._left_out = self._left_out, 0
        write_line(event, **fields)


def _who(context: RequestContext) -> dict[str, Any]:
    api = APIS.get(context.api_key)
    return {
        "principal": context.principal,
        "host": context.client_host,
        "client_id": context.client_id,
        "api": context.api_key if api is None else api.name,
        "version": context.api_version,
    }


def _named(resources: Resources) -> dict[str, Any]:
    named: dict[str, Any] = {"resources": [short(each) for each in resources.texts[:RESOURCES_PER_LINE]]}
    if resources.total > RESOURCES_PER_LINE:
        named["more_resources"] = resources.total - RESOURCES_PER_LINE
    return named
