"""What nodes say to each other while one gives shards to another, so that clients wait little for it.

    giver                                next owner                          others
    Offer(shards) ─────────────────────► reads them from the store
            ◄────────── Ready(is_taken)
    Moving(to, shards) ────────────────► says to clients that they are its   say to clients whose they are
    unloads them, and gives them in the rows
    Given(to, shards) ─────────────────► takes them, and reads the rows      read the rows

The rows alone say who owns a shard. A message that is lost, late or wrong costs time: nodes read the rows anyway.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

from msgspec import Struct

from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.server.cluster.link import Link
from coordinator_server.server.cluster.link_transport import LinkTransport
from coordinator_server.server.cluster.unix import Listening

READY_S: Final = 5.0
"""A node that has not read what it is offered after so long does not get it now."""


class Offer(Struct, tag=True, frozen=True):
    """Shards that the node is about to get, with the epochs of the giver."""

    shards: tuple[Ownership, ...]


class Ready(Struct, tag=True, frozen=True):
    """The answer to an offer: whether the node takes the shards."""

    is_taken: bool


class Moving(Struct, tag=True, frozen=True):
    """Shards that the giver unloads now: from now on it is ``to`` that clients are to ask."""

    to: int
    shards: tuple[Ownership, ...]


class Given(Struct, tag=True, frozen=True):
    """The rows say now that ``to`` has the shards, unless something has come between."""

    to: int
    shards: tuple[Ownership, ...]


FromGiver = Offer | Moving | Given


class Receiver(Protocol):
    """What a node does with the messages of a giver."""

    def offered(self, shards: Sequence[Ownership], done: Callable[[bool], None], /) -> None:
        """Read shards that this node is about to get. ``done`` gets whether it takes them."""

    def moving(self, to: int, shards: Sequence[Ownership], /) -> None:
        """Say to clients that a node is about to answer for shards."""

    def given(self, to: int, shards: Sequence[Ownership], /) -> None:
        """Take shards that were given to this node, and read the rows."""


class Handovers:
    """The links of one node for this purpose."""

    def __init__(self, transport: LinkTransport) -> None:
        self._transport = transport
        self._listening: Listening | None = None
        # A dict, so that iteration has a fixed order.
        self._accepted: dict[Link[FromGiver], None] = {}
        self._open: dict[ShardId, Handover] = {}

    async def start(self, receiver: Receiver) -> None:
        """Listen from now on."""

        def accept(_node: int | None) -> asyncio.Protocol:
            link: Link[FromGiver] = Link(
                FromGiver, lambda message: received(link, message), lambda: self._accepted.pop(link, None)
            )
            self._accepted[link] = None
            return link

        def received(link: Link[FromGiver], message: FromGiver) -> None:
            match message:
                case Offer():
                    receiver.offered(message.shards, lambda is_taken: link.send(Ready(is_taken)))
                case Moving():
                    receiver.moving(message.to, message.shards)
                case Given():
                    receiver.given(message.to, message.shards)

        self._listening = await self._transport.listen(accept)

    def stop(self) -> None:
        """Close all links."""
        if self._listening is not None:
            self._listening.close()
        for accepted in list(self._accepted):
            accepted.close()
        for each in self._open.values():
            each.close()

    async def offer(self, to: int, others: Iterable[int], shards: Sequence[Ownership]) -> bool:
        """Offer shards to a node, and tell it and the others that they are moving if it takes them. Return whether it does.

        ``settle`` of each ends what was begun here.
        """
        handover = Handover(to, [each for each in others if each != to], shards)
        is_taken = await handover.offer(self._transport)
        if is_taken:
            self._open.update((shard, handover) for shard, _ in shards)
        return is_taken

    def settle(self, shard: ShardId) -> None:
        """Note the outcome of giving a shard away. After the last one of an offer, all that know of the offer are notified."""
        handover = self._open.pop(shard, None)
        if handover is not None and handover not in self._open.values():
            handover.end()


class Handover:
    """The links to all other nodes for some shards that go to node ``to``."""

    def __init__(self, to: int, others: Sequence[int], shards: Sequence[Ownership]) -> None:
        self._shards = tuple(shards)
        self._ready: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._to = to
        self._nodes = (to, *others)
        self.links: list[Link[Ready]] = [Link(Ready, self._answered, self._lost), *(_telling() for _ in others)]

    async def offer(self, transport: LinkTransport) -> bool:
        """Connect to all, offer the shards, and wait for the answer. Return whether they are taken."""
        connecting = [
            asyncio.ensure_future(self._connect(transport, node, link))
            for node, link in zip(self._nodes, self.links, strict=True)
        ]
        try:
            async with asyncio.timeout(READY_S):
                await connecting[0]
                self.links[0].send(Offer(self._shards))
                is_taken = await self._ready
        except (OSError, TimeoutError):
            is_taken = False
        finally:
            for each in connecting:
                each.cancel()
        if is_taken:
            self._tell(Moving(self._to, self._shards))
        else:
            self.close()
        return is_taken

    def end(self) -> None:
        """Tell all that the shards were given."""
        self._tell(Given(self._to, self._shards))
        self.close()

    def close(self) -> None:
        """End the links, when what was sent has been read."""
        for link in self.links:
            link.finish()

    def _tell(self, message: FromGiver) -> None:
        for link in self.links:
            link.send(message)

    async def _connect(self, transport: LinkTransport, node: int, link: Link[Ready]) -> None:
        try:
            await transport.connect(node, lambda: link)
        except OSError:
            if node == self._to:
                raise

    def _answered(self, ready: Ready) -> None:
        if not self._ready.done():
            self._ready.set_result(ready.is_taken)

    def _lost(self) -> None:
        self._answered(Ready(is_taken=False))


def _telling() -> Link[Ready]:
    """Return a link to a node that has nothing to answer."""
    return Link(Ready, lambda _: None, lambda: None)
