"""Links between loops for messages from shard to shard. Each loop listens on its own socket and connects to loops on demand.

    sender                             receiver
    connect, Hello ──────────────────► drop an older link of that loop, with its messages that have not run
            ◄───────────────── Welcome
    Ask ─────────────────────────────► run at once, if no later owner of either shard is known
            ◄────────────────── Answer

A link is identified by the sending loop, that loop's incarnation, and the number of the attempt. Two rules prevent that a
message which a dead or stopped loop left in a socket runs late: the receiver drops the old link *before* it welcomes the new
one, and the sender sends no message before the Welcome. So when a link is lost, each unanswered message either has run by the
time of the next Welcome, or never runs.

The link of a loop that was stopped for long is still the newest one. What it left there runs only if the shards of the sender and
of the receiver have had no later owner (``epochs.py``).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
import structlog

from coordinator_server.log.shards import Ownership
from coordinator_server.machine.outbox import Effect
from coordinator_server.machine.shard import Reply
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.server.cluster.effects import Courier, encode_effect
from coordinator_server.server.cluster.epochs import Epochs
from coordinator_server.server.cluster.link import Link
from coordinator_server.server.cluster.link_transport import LinkTransport
from coordinator_server.server.cluster.messages import FORMAT, Answer, Ask, FromReceiver, FromSender, Hello, Welcome
from coordinator_server.server.cluster.unix import Listening
from protocol.error_codes import ErrorCode

log = structlog.get_logger(__name__)

Q = TypeVar("Q")
R = TypeVar("R")

# Maximum number of unanswered messages on one link: it limits the work of the receiver in one turn.
WINDOW: Final = 64


class Identity:
    """The number of a loop or node, and of its process: each new process has a greater ``incarnation``.

    So has a node that was put out of its cluster, and has joined again.
    """

    __slots__ = ("incarnation", "loop")

    def __init__(self, loop: int, incarnation: int) -> None:
        self.loop = loop
        self.incarnation = incarnation


class Neighbours:
    """The links of one loop to all other loops."""

    def __init__(self, identity: Identity, transport: LinkTransport, courier: Courier) -> None:
        self._identity = identity
        self._transport = transport
        self._courier = courier
        self._listening: Listening | None = None
        self._senders: dict[int, Sender] = {}
        self._receivers: dict[int, Receiver] = {}
        # A dict, so that iteration has a fixed order.
        self._accepted: dict[Receiver, None] = {}

    async def start(self) -> None:
        """Start to listen."""
        self._listening = await self._transport.listen(self._accept)

    async def stop(self) -> None:
        """Close all links and remove the socket."""
        for sender in self._senders.values():
            await sender.stop()
        for receiver in list(self._accepted):
            receiver.drop()
        if self._listening is not None:
            self._listening.close()

    @property
    def in_flight(self) -> int:
        """The number of messages that have no answer."""
        return sum(sender.unanswered for sender in self._senders.values())

    def ask(
        self, loop: int, sender: Ownership | None, to: Ownership, effect: Effect[Q, R], request: Q, reply: Reply[R], /
    ) -> None:
        """Run an operation on a different loop.

        ``reply`` fails with NETWORK_EXCEPTION if the link is lost. The operation may have run, but it will not run after the
        next Welcome. It fails with NOT_COORDINATOR if a different owner of either shard is known there, or here when the
        answer has come.
        """
        link = self._senders.get(loop)
        if link is None:
            link = self._senders[loop] = Sender(self._identity, self._courier.epochs, partial(self._transport.connect, loop))
        link.ask(sender, to, effect, request, reply)

    def _accept(self, peer: int | None) -> asyncio.Protocol:
        receiver = Receiver(self._courier, self._receivers, peer)
        link: Link[FromSender] = Link(FromSender, receiver.received, partial(self._lost, receiver))
        receiver.link = link
        self._accepted[receiver] = None
        return link

    def _lost(self, receiver: Receiver) -> None:
        receiver.is_dropped = True
        self._accepted.pop(receiver, None)


class _Unanswered(NamedTuple):
    sender: Ownership | None
    to: Ownership
    effect: Effect[Any, Any]
    reply: Reply[Any]


class Sender:
    """The link to a loop. It is connected with the first message, and with the first message after a loss."""

    def __init__(self, identity: Identity, epochs: Epochs, connect: Callable[[Callable[[], asyncio.Protocol]], Any]) -> None:
        self._identity = identity
        self._epochs = epochs
        self._connect = connect
        self._attempt = 0
        self._last_id = 0
        self._link: Link[FromReceiver] | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._is_welcome = False
        self._waiting: deque[Ask] = deque()
        self._asked: dict[int, _Unanswered] = {}

    @property
    def unanswered(self) -> int:
        """The number of messages that have no answer."""
        return len(self._asked)

    def ask(self, sender: Ownership | None, to: Ownership, effect: Effect[Q, R], request: Q, reply: Reply[R]) -> None:
        """Send a message, connecting the link first if necessary."""
        self._last_id += 1
        ask = Ask(self._last_id, to, sender, effect.name, encode_effect(request))
        self._asked[ask.id] = _Unanswered(sender, to, effect, reply)
        self._waiting.append(ask)
        if self._link is None:
            self._attempt += 1
            link = self._link = Link(FromReceiver, self._received, lambda: self._lost(link))
            self._connecting = asyncio.get_running_loop().create_task(self._make(link))
        else:
            self._send_some()

    async def stop(self) -> None:
        """Close the link."""
        if self._connecting is not None:
            self._connecting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._connecting
        if self._link is not None:
            self._link.close()

    async def _make(self, link: Link[FromReceiver]) -> None:
        try:
            await self._connect(lambda: link)
        except OSError:
            # The loop is starting or restarting.
            self._lost(link)
        else:
            link.send(Hello(self._identity.loop, self._identity.incarnation, self._attempt))

    def _received(self, message: FromReceiver) -> None:
        match message:
            case Welcome():
                self._is_welcome = True
            case Answer():
                self._answered(message)
        self._send_some()

    def _answered(self, answer: Answer) -> None:
        asked = self._asked[answer.id]
        # Decode before removing the entry: an invalid response closes the link, which fails all remaining entries.
        response = None if answer.response is None else msgspec.msgpack.decode(answer.response, type=asked.effect.response)
        del self._asked[answer.id]
        is_current = self._epochs.note(Ownership(asked.to.shard, answer.epoch))
        if asked.sender is not None:
            # A sender that has a later owner hears of it here; it sends nothing more, and discards the answer.
            self._epochs.note(Ownership(asked.sender.shard, answer.sender_epoch))
        if answer.response is None:
            asked.reply.fail(ErrorCode(answer.error), answer.message)
        elif is_current:
            asked.reply.complete(response)
        else:
            asked.reply.fail(ErrorCode.NOT_COORDINATOR, f"a former owner of {asked.to.shard} has answered")

    def _send_some(self) -> None:
        waiting = self._waiting
        while self._link is not None and self._is_welcome and waiting and len(self._asked) - len(waiting) < WINDOW:
            self._link.send(waiting.popleft())

    def _lost(self, link: Link[FromReceiver]) -> None:
        """Fail all unanswered messages. Those already sent will not run after the next Welcome; the others never run."""
        if self._link is not link:
            return
        self._link = None
        self._is_welcome = False
        self._waiting.clear()
        asked, self._asked = self._asked, {}
        for each in asked.values():
            each.reply.fail(ErrorCode.NETWORK_EXCEPTION, "the loop that has the shard is not there")


class Receiver:
    """A link from a different loop. ``current`` has the newest link of each loop, including links that are lost.

    ``peer`` is the loop or node that has proven its id, or None if its word is enough.
    """

    def __init__(self, courier: Courier, current: dict[int, Receiver], peer: int | None = None) -> None:
        self.link: Link[FromSender]
        self.is_dropped = False
        self._courier = courier
        self._current = current
        self._peer = peer
        self._hello: Hello | None = None

    @property
    def order(self) -> tuple[int, int]:
        """The age order of links: newer links compare greater."""
        assert self._hello is not None
        return self._hello.incarnation, self._hello.attempt

    def received(self, message: FromSender) -> None:
        """Process a message from the loop. Ignored if the link has been dropped."""
        if self.is_dropped:
            return
        match message:
            case Hello():
                self._greet(message)
            case Ask():
                assert self._hello is not None, "it says who it is first"
                self._run(message)

    def drop(self) -> None:
        """Close the link: ignore its messages and send no more answers."""
        self.is_dropped = True
        self.link.close()

    def _greet(self, hello: Hello) -> None:
        if self._peer not in (None, hello.loop):
            log.warning("link-refused", peer=self._peer, says=hello.loop, why="a node speaks for itself alone")
            self.drop()
            return
        self._hello = hello
        if hello.format != FORMAT:
            log.warning(
                "loop-not-linked",
                linked=hello.loop,
                why=f"its messages have format {hello.format}, ours {FORMAT}",
                action="none is taken: restart the processes of the older version",
            )
            self.drop()
            return
        known = self._current.get(hello.loop)
        if known is not None and known.order >= self.order:
            # This connection is older than the current link, but was accepted later.
            self.drop()
            return
        if known is not None:
            known.drop()
        self._current[hello.loop] = self
        self.link.send(Welcome())
        log.info("loop-linked", linked=hello.loop, incarnation=hello.incarnation)

    def _run(self, ask: Ask) -> None:
        effect = self._courier.effect(ask.to.shard.topic, ask.operation)
        request = msgspec.msgpack.decode(ask.request, type=effect.request)
        reply = CallbackReply(partial(self._answer, ask), partial(self._refuse, ask))
        self._courier.run(ask.sender, ask.to, ask.operation, request, reply)

    def _answer(self, ask: Ask, response: Any) -> None:
        self._send(Answer(ask.id, encode_effect(response), epoch=ask.to.epoch, sender_epoch=self._sender_epoch(ask)))

    def _refuse(self, ask: Ask, error: ErrorCode, message: str | None) -> None:
        epoch = self._courier.epochs.newest(ask.to.shard)
        self._send(Answer(ask.id, None, error, message, epoch, self._sender_epoch(ask)))

    def _sender_epoch(self, ask: Ask) -> int:
        return 0 if ask.sender is None else self._courier.epochs.newest(ask.sender.shard)

    def _send(self, answer: Answer) -> None:
        if not self.is_dropped:
            self.link.send(answer)
