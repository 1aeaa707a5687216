"""Whether a process of another node is certainly gone: nothing listens at its address for nodes, or a later process does.

    asker                                      the address that the member has in the store
    connect ─────────────────────────────────► refused: its process is gone
    Greeting(purpose presence) ──────────────►
            ◄────────────── Present(incarnation)  a later one: its process is gone

Everything else proves nothing: no answer, an answer of the process itself, a certificate that is not the node's, a connection
that is closed. A process that is paused or cut off may own its shards until its lease is over.
"""

from __future__ import annotations

import asyncio
from typing import Final, cast

from msgspec import Struct

from coordinator_server.log.members import Member
from coordinator_server.server.cluster.link import Link, encode_message
from coordinator_server.server.cluster.link_transport import LinkTransport
from coordinator_server.server.cluster.neighbours import Identity
from coordinator_server.server.cluster.unix import Listening
from coordinator_server.server.cluster.view import Endpoint

ANSWER_S: Final = 1.0
"""A node that has not answered after this long has not proven anything. It is asked again at the next look."""


class Present(Struct, tag=True, frozen=True):
    """The answer: the incarnation of the process that listens. It is 0 before the process has joined."""

    incarnation: int


class Presence:
    """Answers for this process, ``who``, and asks for others."""

    def __init__(self, transport: LinkTransport, who: Identity) -> None:
        self._transport = transport
        self._who = who
        self._listening: Listening | None = None

    async def start(self) -> None:
        """Answer from now on."""
        self._listening = await self._transport.listen(lambda _node: _Answerer(self._who))

    def stop(self) -> None:
        """Answer no more."""
        if self._listening is not None:
            self._listening.close()

    async def is_gone(self, member: Member, address: Endpoint) -> bool:
        """Return whether a member's process has ended. False: there is no proof of it."""
        heard: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def hear(incarnation: int) -> None:
            if not heard.done():
                heard.set_result(incarnation)

        link: Link[Present] = Link(Present, lambda message: hear(message.incarnation), lambda: hear(0))
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._transport.connect(member.node, lambda: link, address)
                return await heard > member.incarnation
        except ConnectionRefusedError:
            return True
        except (OSError, TimeoutError):
            return False
        finally:
            link.close()


class _Answerer(asyncio.Protocol):
    """A connection that gets the answer, and ends."""

    def __init__(self, who: Identity) -> None:
        self._who = who

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # An event loop's own transports may not inherit from asyncio.Transport.
        connection = cast(asyncio.Transport, transport)
        connection.write(encode_message(Present(self._who.incarnation)))
        connection.close()
