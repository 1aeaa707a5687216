"""What the running server says of rebalances that go on: a classic group's log is silent about them. One question for all viewers.

The question takes time of the server's loops: it waits until a hundred times as long has gone by as the last one took, but for no
more than some seconds. A machine that is busy with other things answers late, and rebalances are over before long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import structlog
from msgspec import Struct

from coordinator_server.group.holdup import Holdup, waits_for
from coordinator_server.log.errors import LogError
from coordinator_server.log.opening import identity_of
from coordinator_server.page.summaries import Progress
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.input.data_dir import ask_server

log = structlog.get_logger(__name__)

_PAUSES: Final = 100
_LONGEST_PAUSE_S: Final = 5.0
_STATES: Final = {"PreparingRebalance": "rebalancing", "CompletingRebalance": "rebalancing"}
_MOST_NAMED: Final = 3


class Wait(Struct):
    """What a group waits for; times in ms since 1970. ``until_ms`` is when the member is put out, or the group goes on."""

    what: str
    member: str = ""
    client_id: str = ""
    host: str = ""
    since_ms: int | None = None
    until_ms: int | None = None


class InProgress:
    """The groups that wait for something, as of the last question."""

    def __init__(self, data_dir: Path, ask: Callable[..., dict[str, Any] | None] = ask_server) -> None:
        self._data_dir = data_dir
        self._ask = ask
        self._next_s = 0.0
        self._found: dict[str, list[Wait]] = {}
        self._states: dict[str, str] = {}

    def refresh(self) -> None:
        """Ask the running server, if it is time. Where none runs, or it does not answer, nothing is in progress."""
        began_s = time.monotonic()
        if began_s < self._next_s:
            return
        found: Sequence[Holdup] = ()
        try:
            # Of a cluster that is followed only the log is known.
            answer = None if identity_of(self._data_dir).is_observed else self._ask(self._data_dir, {"op": "holdups"})
            if answer is not None:
                found = msgspec.convert(answer["holdups"], list[Holdup])
        except (PipelineError, LogError, OSError) as failed:
            log.warning("rebalances-not-asked", why=str(failed), action="they are asked again")
        now_ms = round(time.time() * 1000)
        waits: dict[str, list[Wait]] = {}
        for each in found:
            waits.setdefault(each.group_id, []).append(_wait(each, now_ms))
        self._states = {each.group_id: _STATES.get(each.state, each.state.lower()) for each in found}
        self._found = waits
        ended_s = time.monotonic()
        self._next_s = ended_s + min(_PAUSES * (ended_s - began_s), _LONGEST_PAUSE_S)

    def waits(self, group_id: str) -> list[Wait]:
        """Return what a group waits for."""
        return self._found.get(group_id, [])

    def rows(self) -> dict[str, Progress]:
        """Return what the list says of groups that wait."""
        return {group_id: Progress(self._states[group_id], _text(waits)) for group_id, waits in self._found.items()}


def _wait(each: Holdup, now_ms: int) -> Wait:
    until_ms = None if each.out_in_ms is None else now_ms + each.out_in_ms
    host = each.client_host.removeprefix("/")
    return Wait(waits_for(each), each.member_id, each.client_id, host, each.since_ms, until_ms)


def _text(waits: Sequence[Wait]) -> str:
    said = [" ".join(filter(None, (each.client_id or each.member, each.what))) for each in waits[:_MOST_NAMED]]
    more = len(waits) - len(said)
    return "; ".join(said) + (f"; and {more} more" if more > 0 else "")
