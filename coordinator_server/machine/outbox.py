"""Effects of one shard on another: messages that a state machine hands over, and hears the outcome of.

A shard never calls another one, and nothing waits in a task. What a shard wants done elsewhere it writes down first, as a record: an
*intent*, which is open until another record of the shard closes it.

    operation ── the intent is a record ── durable: on_append ── ``Outbox.send`` ──► an operation of the other shard
                                                                                       its effect is durable, or refused
    a record closes the intent ◄── ``then``, an operation of this shard ◄──────────────────┘

A message is delivered at least once, while its shard is here; nobody but the log remembers it. So the caller has duties:

1. Replay the intent first, and send its message when that is durable: in ``on_append``, when there is no error.
2. In ``on_loaded`` send the message of every intent that is open: nobody knows what became of it.
3. One intent is one message, which says the same each time. Another message is another intent, with an id of its own.
4. The operation that receives it writes the intent's id down with the effect, in one operation. When the id comes again it has no effect, and
   is answered as before.
5. ``then`` closes the intent, or replaces it by others, with a record. If that is not written, the message is sent again.
6. Intents have no order, not even those for one shard. Whoever needs one sends the next message from ``then``.
7. The receiver forgets an id when the sender says, with a message of its own, that the intent is closed; not after some time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from coordinator_server.machine.shard import CoordinatorResult
from protocol.error_codes import ErrorCode

Q = TypeVar("Q")
R = TypeVar("R")


class Effect(NamedTuple, Generic[Q, R]):
    """An operation of another shard, as those name it who send it a message. Both types are ones that msgspec can encode."""

    topic: str
    name: str
    request: type[Q]
    response: type[R]


class Refused(NamedTuple):
    """What the other shard said instead of a response."""

    error: ErrorCode
    message: str | None = None


UNDELIVERED: Final = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NETWORK_EXCEPTION,
        # The log of the other shard did not take the effect, or may have.
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REQUEST_TIMED_OUT,
    }
)
"""Refusals that say nothing of the request: the message is sent again, after a while. Any other is an outcome."""


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
        """Have a shard run an operation, later: partition ``to`` of its kind, or the one that has this key. An intent that is on its way is not sent twice.

        ``then`` runs as a write operation of this shard. Nothing is heard of a message any more when the shard is given up.
        """
