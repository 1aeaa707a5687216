"""Delivers the messages from the shards of a loop to other shards, with queues, retries and answers.

    send ──► queue of the destination ──► in flight ──► answered ──► ``then`` has run and is durable: done
                 ▲                           │             │
                 └──── back-off ◄── undelivered            └── not written: ``then`` again, after a back-off

A destination is a shard. It has one queue and one back-off; while it refuses, no further message is sent to it. A message has
at most one delivery in flight: it is sent again only after the previous delivery was refused, or can have no effect any more,
which the Carrier knows. One that was answered is never sent again: the other shard may have gone on with what the message has
done. This also holds for a shard that is unloaded and loaded again at the same epoch: it adopts the messages in flight from
before. At a newer epoch others may have owned the shard between, and its intents may be different ones: what is in flight from
before is discarded, here and by the receiver, because each delivery carries the sender's epoch.

No message is sent and no answer is processed within an operation, or while a batch is being answered. Both happen in the
loop's next turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import structlog

from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.machine.outbox import UNDELIVERED, Effect, Refused
from coordinator_server.machine.shard import Clock, CoordinatorResult, Reply
from coordinator_server.runtime.flush import Soon
from coordinator_server.runtime.timers import ShardTimers, Timer, TimerQueue
from protocol.error_codes import ErrorCode

log = structlog.get_logger(__name__)

Q = TypeVar("Q")
R = TypeVar("R")

OnOutcome = Callable[[ErrorCode | None], None]
RunOwn = Callable[[str, Callable[[], CoordinatorResult[Any]], OnOutcome], None]
"""Runs a write operation of a shard that no request caused. The callback is called once: with None when its records are
durable, otherwise with the error."""

LEAST_BACKOFF_MS: Final = 20
MOST_BACKOFF_MS: Final = 1000
# Maximum number of messages in flight to one destination: it bounds the memory used there.
WINDOW: Final = 64
# Maximum number of messages, and of answers, processed in one turn of the loop.
PER_TURN: Final = 64

_NOTHING: Final[CoordinatorResult[None]] = CoordinatorResult(None)


class Carrier(Protocol):
    """The transport of messages to shards of this loop and of other loops."""

    def locate(self, topic: str, to: int | str, /) -> ShardId:
        """Return the shard for a partition or a key of ``topic``."""

    def carry(self, sender: Ownership | None, shard: ShardId, effect: Effect[Q, R], request: Q, reply: Reply[R], /) -> None:
        """Run an operation on ``shard`` for the owner of a different shard, at most once. None: it only reads, for any caller.

        It does not run if a later owner of either shard is known. It fails with one of UNDELIVERED only if the operation will
        not run any more, ran without a lasting effect, or was answered by a former owner.
        """


class _Destination:
    """A shard and the messages queued for it."""

    __slots__ = ("backoff_ms", "is_held", "is_logged", "queue", "shard", "unanswered")

    def __init__(self, shard: ShardId) -> None:
        self.shard = shard
        self.queue: deque[_Message] = deque()
        self.unanswered = 0
        self.backoff_ms = 0
        self.is_held = False
        self.is_logged = False

    @property
    def is_ready(self) -> bool:
        return bool(self.queue) and not self.is_held and self.unanswered < WINDOW


class _Message:
    """The message of one intent. ``outbox`` is None if its shard was unloaded and has not sent it again since."""

    __slots__ = ("destination", "effect", "intent", "is_heard", "outbox", "request", "sender", "then")

    def __init__(
        self, sender: Ownership, intent: Hashable, destination: _Destination, effect: Effect[Any, Any], request: Any
    ) -> None:
        self.sender = sender
        self.intent = intent
        self.destination = destination
        self.effect = effect
        self.request = request
        self.outbox: ShardOutbox | None = None
        self.then: Callable[[Any], CoordinatorResult[Any]]
        self.is_heard = False


class _Answer:
    """The Reply of a message."""

    __slots__ = ("_message", "_queue")

    def __init__(self, queue: OutboxQueue, message: _Message) -> None:
        self._queue = queue
        self._message = message

    def complete(self, response: Any, /) -> None:
        self._queue.answered(self._message, response)

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        self._queue.answered(self._message, Refused(error, message))


class OutboxQueue:
    """The queues of all messages of a loop."""

    def __init__(self, carrier: Carrier, soon: Soon, timers: TimerQueue, clock: Clock) -> None:
        self._carrier = carrier
        self._soon = soon
        self._delays = ShardTimers(timers, clock, _fire)
        self._destinations: dict[ShardId, _Destination] = {}
        # By sending shard and intent.
        self._messages: dict[ShardId, dict[Hashable, _Message]] = {}
        self._ready: dict[_Destination, None] = {}
        self._answers: deque[tuple[_Message, Any]] = deque()
        self._is_scheduled = False

    def __len__(self) -> int:
        """Return the number of messages that are not done."""
        return sum(map(len, self._messages.values()))

    def message(self, sender: Ownership, intent: Hashable, effect: Effect[Q, R], to: int | str, request: Q) -> _Message:
        """Return the existing message of an intent, or enqueue a new one."""
        messages = self._messages.setdefault(sender.shard, {})
        known = messages.get(intent)
        if known is not None and (known.outbox is not None or known.sender == sender):
            assert known.effect is effect, f"intent {intent!r} of {sender} is {known.effect.name}, and {effect.name} as well"
            return known
        shard = self._carrier.locate(effect.topic, to)
        destination = self._destinations.get(shard)
        if destination is None:
            destination = self._destinations[shard] = _Destination(shard)
        message = messages[intent] = _Message(sender, intent, destination, effect, request)
        self._enqueue(message)
        return message

    def give_up(self, outbox: ShardOutbox, sender: Ownership) -> None:
        """Detach an unloaded shard's messages from its outbox, so that their answers are discarded."""
        for message in self._messages.get(sender.shard, {}).values():
            if message.outbox is outbox:
                message.outbox = None

    def answered(self, message: _Message, outcome: Any) -> None:
        """Queue the outcome of a delivery. It is processed in the loop's next turn."""
        self._answers.append((message, outcome))
        self._schedule()

    def _enqueue(self, message: _Message) -> None:
        message.destination.queue.append(message)
        self._look(message.destination)

    def _look(self, destination: _Destination) -> None:
        if destination.is_ready:
            self._ready[destination] = None
            self._schedule()

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            self._soon(self._turn)

    def _turn(self) -> None:
        self._is_scheduled = False
        try:
            for _ in range(min(len(self._answers), PER_TURN)):
                self._hear(*self._answers.popleft())
            self._send_some()
        finally:
            # An exception in one message must not stop the others.
            if self._answers or self._ready:
                self._schedule()

    def _send_some(self) -> None:
        budget = PER_TURN
        while self._ready and budget:
            destination = next(iter(self._ready))
            del self._ready[destination]
            while destination.is_ready and budget:
                message = destination.queue.popleft()
                if message.outbox is None:
                    self._forget(message)
                    continue
                budget -= 1
                destination.unanswered += 1
                # It has the epoch of now: the shard may have a newer one without a reload.
                message.sender = message.outbox.owned()
                self._carry(message)
            self._look(destination)

    def _carry(self, message: _Message) -> None:
        answer = _Answer(self, message)
        try:
            self._carrier.carry(message.sender, message.destination.shard, message.effect, message.request, answer)
        except Exception:
            log.exception("message-not-carried", effect=message.effect.name, shard=str(message.destination.shard))
            self.answered(message, Refused(ErrorCode.UNKNOWN_SERVER_ERROR))

    def _hear(self, message: _Message, outcome: Any) -> None:
        destination = message.destination
        destination.unanswered -= 1
        if isinstance(outcome, Refused) and outcome.error in UNDELIVERED:
            destination.queue.append(message)
            self._hold(destination, outcome)
            return
        self._resume(destination)
        self._conclude(message, outcome)

    def _conclude(self, message: _Message, outcome: Any) -> None:
        """Run ``then``, of whoever has the message now."""
        outbox = message.outbox
        if outbox is None:
            self._forget(message)
            return
        message.is_heard = True
        outbox.run(message.effect.name, partial(message.then, outcome), partial(self._concluded, message, outcome))

    def _concluded(self, message: _Message, outcome: Any, error: ErrorCode | None) -> None:
        """Remove the message if the records of ``then`` are durable; otherwise run it again later. Later calls are ignored."""
        if not message.is_heard:
            return
        message.is_heard = False
        if error is None:
            self._forget(message)
        else:
            self._delays.schedule(message, MOST_BACKOFF_MS, partial(self._again, message, outcome))

    def _again(self, message: _Message, outcome: Any) -> CoordinatorResult[None]:
        self._conclude(message, outcome)
        return _NOTHING

    def _forget(self, message: _Message) -> None:
        messages = self._messages[message.sender.shard]
        if messages.get(message.intent) is message:
            del messages[message.intent]

    def _hold(self, destination: _Destination, refused: Refused) -> None:
        """Stop sending to a destination for its back-off. Log once if the back-off has reached its maximum."""
        if destination.is_held:
            return
        if destination.backoff_ms == MOST_BACKOFF_MS and not destination.is_logged:
            destination.is_logged = True
            log.warning(
                "messages-held-back", shard=str(destination.shard), why=refused.error.name, messages=len(destination.queue)
            )
        destination.is_held = True
        destination.backoff_ms = min(max(2 * destination.backoff_ms, LEAST_BACKOFF_MS), MOST_BACKOFF_MS)
        self._delays.schedule(destination, destination.backoff_ms, partial(self._release, destination))

    def _release(self, destination: _Destination) -> CoordinatorResult[None]:
        destination.is_held = False
        self._look(destination)
        return _NOTHING

    def _resume(self, destination: _Destination) -> None:
        """Reset the back-off of a destination that has accepted a message."""
        destination.backoff_ms = 0
        if destination.is_logged:
            destination.is_logged = False
            log.info("messages-delivered-again", shard=str(destination.shard))
        if destination.is_held:
            self._delays.cancel(destination)
            destination.is_held = False
        self._look(destination)


class ShardOutbox:
    """The Outbox of one shard. ``owned`` returns it with its present epoch; ``run`` runs the operations that get the outcomes."""

    __slots__ = ("_queue", "owned", "run")

    def __init__(self, queue: OutboxQueue, owned: Callable[[], Ownership], run: RunOwn) -> None:
        self._queue = queue
        self.owned = owned
        self.run = run

    def send(
        self,
        intent: Hashable,
        effect: Effect[Q, R],
        to: int | str,
        request: Q,
        then: Callable[[R | Refused], CoordinatorResult[Any]],
        /,
    ) -> None:
        """Send a message that runs ``effect`` on another shard."""
        message = self._queue.message(self.owned(), intent, effect, to, request)
        message.outbox = self
        message.then = then

    def close(self) -> None:
        """Detach the shard's messages. Called when the shard is unloaded."""
        self._queue.give_up(self, self.owned())


def report_both(on_outcome: OnOutcome, on_append: OnOutcome | None, error: ErrorCode | None) -> None:
    """Report the outcome of an append to the caller of the operation, then to the operation itself."""
    on_outcome(error)
    if on_append is not None:
        on_append(error)


def _fire(timer: Timer) -> None:
    timer.operation()
