"""Effects of one shard on another: messages that a state machine sends, and whose outcome it gets.

A shard never calls another shard. It first writes what it wants done elsewhere as a record: an *intent*, which stays open
until another record of the same shard closes it.

    operation ── the intent is a record ── durable: on_append ── ``Outbox.send`` ──► an operation of the other shard
                                                                                       its effect is durable, or refused
    a record closes the intent ◄── ``then``, an operation of this shard ◄──────────────────┘

A message is delivered at least once while its shard is loaded here, and never again when its outcome is known. Only the log
remembers it. The caller's duties:

1. Replay the intent first. Send its message when the intent is durable: in ``on_append``, if there is no error.
2. In ``on_loaded``, send the message of every open intent: its outcome is unknown.
3. Send the same message for an intent each time. A different message is a different intent with its own id.
4. The receiving operation writes the intent's id together with the effect, in one operation. A repeated id has no effect
   and gets the same answer as the first.
5. ``then`` closes the intent, or replaces it by other intents, with a record. If that record is not written, ``then`` runs
   again, with the same outcome: the message is not sent again.
6. Intents are unordered, even those for one shard. To order two messages, send the second from ``then`` of the first.
7. The receiver forgets an id when a separate message of the sender says that the intent is closed, never after some time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, Generic, NamedTuple, NoReturn, Protocol, TypeVar

from coordinator_server.machine.shard import CoordinatorResult
from protocol.error_codes import ErrorCode

Q = TypeVar("Q")
R = TypeVar("R")


class Effect(NamedTuple, Generic[Q, R]):
    """The operation of another shard that a message runs. msgspec must be able to encode both types."""

    topic: str
    name: str
    request: type[Q]
    response: type[R]


class Refused(NamedTuple):
    """The other shard's error, in place of a response."""

    error: ErrorCode
    message: str | None = None


UNDELIVERED: Final = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NETWORK_EXCEPTION,
        # The effect was not written to the log of the other shard, or its outcome is unknown.
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REQUEST_TIMED_OUT,
    }
)
"""Errors that are not about the request: the message is sent again after a back-off. Any other error is an outcome."""


class Outbox(Protocol):
    """The messages of one shard."""

    def send(
        self,
        intent: Hashable,
        effect: Effect[Q, R],
        to: int | str,
        request: Q,
        then: Callable[[R | Refused], CoordinatorResult[Any]],
        /,
    ) -> None:
        """Send a message that runs ``effect`` on another shard, later. Do nothing if this intent's message is already on its way.

        ``to`` is a partition of the effect's topic, or a key, which selects its partition. ``then`` gets the outcome and
        runs as a write operation of this shard. It is not called after the shard is unloaded.
        """


class _NoOutbox:
    def send(self, *_: Any) -> NoReturn:
        raise AssertionError("this state machine only replays")


NO_OUTBOX: Final[Outbox] = _NoOutbox()
"""The outbox of a state machine that only replays."""
