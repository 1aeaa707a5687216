"""Sends messages about share partitions of a group to the shards that keep their states, and collects the outcomes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.state_effects import (
    DELETE_STATES,
    INITIALIZE_STATES,
    StatesOfGroup,
    StateStart,
    StatesToInitialize,
)
from coordinator_server.machine.outbox import Effect, Refused
from coordinator_server.machine.shard import CoordinatorResult
from protocol.error_codes import ErrorCode

PARTITIONS_PER_MESSAGE = 1_000
"""A message with more would take the other shard for long, and its records might not fit into a batch."""

SharePartition = tuple[bytes, int]
"""A topic and one of its partitions."""
Finish = Callable[[Mapping[SharePartition, ErrorCode]], CoordinatorResult[Any]]
"""The write operation after the last outcome.

It gets the errors, of those that failed. It runs again, for the last message, if its records are not written.
"""


class StateMessages:
    """The messages of one attempt, whose outcomes are unknown.

    Messages are unordered. So an attempt sends none before the group's last attempt has ended: a state that it deletes must not
    come back by an older message, nor one that it initializes get an older offset.
    """

    __slots__ = ("_errors", "_finish", "_last", "_left")

    def __init__(self, finish: Finish) -> None:
        self._finish = finish
        self._left: set[tuple[int, int]] = set()
        self._errors: dict[SharePartition, ErrorCode] = {}
        # The one that was answered last: its answer ends the attempt. Those of others may come again, too.
        self._last: tuple[int, int] | None = None

    def initialize(self, share: ShareContext, group_id: str, starts: Mapping[SharePartition, int], state_epoch: int) -> None:
        """Have states initialized, each with its start offset."""

        def request(positions: list[SharePartition]) -> StatesToInitialize:
            return StatesToInitialize(group_id, [StateStart(*each, state_epoch, starts[each]) for each in positions])

        self._send(share, group_id, INITIALIZE_STATES, starts, request)

    def delete(self, share: ShareContext, group_id: str, positions: Iterable[SharePartition]) -> None:
        """Have states deleted."""

        def request(positions: list[SharePartition]) -> StatesOfGroup:
            return StatesOfGroup(group_id, positions)

        self._send(share, group_id, DELETE_STATES, positions, request)

    def _send(
        self,
        share: ShareContext,
        group_id: str,
        effect: Effect[Any, list[int]],
        positions: Iterable[SharePartition],
        request: Callable[[list[SharePartition]], Any],
    ) -> None:
        begin = partial(self._begin, share, group_id, effect, list(positions), request)
        waiting = share.attempts.get(group_id)
        if waiting is None:
            share.attempts[group_id] = deque()
            begin()
        else:
            waiting.append(begin)

    def _begin(
        self,
        share: ShareContext,
        group_id: str,
        effect: Effect[Any, list[int]],
        positions: list[SharePartition],
        request: Callable[[list[SharePartition]], Any],
    ) -> None:
        share.intents += 1
        by_message: dict[tuple[int, int], list[SharePartition]] = {}
        counts: dict[int, int] = {}
        for each in positions:
            shard = share.share_shard(group_id, *each)
            count = counts[shard] = counts.get(shard, 0) + 1
            by_message.setdefault((shard, count // PARTITIONS_PER_MESSAGE), []).append(each)
        self._left = set(by_message)
        for message, found in by_message.items():
            intent = effect.name, share.intents, *message
            share.outbox.send(intent, effect, message[0], request(found), partial(self._take, share, group_id, message, found))

    def _take(
        self,
        share: ShareContext,
        group_id: str,
        message: tuple[int, int],
        positions: list[SharePartition],
        outcome: list[int] | Refused,
    ) -> CoordinatorResult[Any]:
        errors = [outcome.error] * len(positions) if isinstance(outcome, Refused) else outcome
        failed = {position: ErrorCode(error) for position, error in zip(positions, errors, strict=True) if error}
        self._errors.update(failed)
        self._left.discard(message)
        if self._left or self._last not in (None, message):
            return CoordinatorResult(None)
        if self._last is None:
            self._last = message
            _begin_next(share, group_id)
        return self._finish(self._errors)


def _begin_next(share: ShareContext, group_id: str) -> None:
    waiting = share.attempts[group_id]
    if waiting:
        waiting.popleft()()
    else:
        del share.attempts[group_id]
