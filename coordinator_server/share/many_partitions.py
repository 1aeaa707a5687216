"""Operations on many share partitions of a shard at once, for share groups. Each share partition has its own outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.share.context import ShareContext
from coordinator_server.share.initialize import initialize_state, is_initialized, tombstone
from coordinator_server.share.read import summary
from coordinator_server.share.requests import Initialization, Summary
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode

Q = TypeVar("Q")
R = TypeVar("R")

# An error of the whole message: it is sent again.
_LOADING: Final = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def initialize_new(context: ShareContext, requests: Iterable[Initialization]) -> CoordinatorResult[list[ErrorCode]]:
    """Initialize states. One that is as this request leaves it stays: the message may be repeated. Raises CoordinatorError."""
    records: list[CoordinatorRecord] = []

    def initialize(request: Initialization) -> ErrorCode:
        if not is_initialized(context, request):
            records.extend(initialize_state(context, request))
        return ErrorCode.NONE

    errors = _each(requests, initialize, lambda error: error)
    return CoordinatorResult(errors, records)


def delete_states(context: ShareContext, names: Sequence[bytes]) -> CoordinatorResult[list[ErrorCode]]:
    """Remove states, also of topics that do not exist."""
    records = [record for name in dict.fromkeys(names) if name in context.partitions for record in tombstone(context, name)]
    return CoordinatorResult([ErrorCode.NONE] * len(names), records)


def summarize_states(context: ShareContext, names: Iterable[bytes]) -> CoordinatorResult[list[Summary | ErrorCode]]:
    """Return summaries, or errors. Raises CoordinatorError."""

    def summarize(name: bytes) -> Summary | ErrorCode:
        return summary(context, name)

    return CoordinatorResult(_each(names, summarize, lambda error: error))


def _each(requests: Iterable[Q], operation: Callable[[Q], R], refused: Callable[[ErrorCode], R]) -> list[R]:
    outcomes = []
    for request in requests:
        try:
            outcome = operation(request)
        except CoordinatorError as refusal:
            if refusal.error is _LOADING:
                raise
            outcome = refused(refusal.error)
        outcomes.append(outcome)
    return outcomes
