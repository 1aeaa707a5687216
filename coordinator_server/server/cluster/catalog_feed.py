"""Both ends of the catalog's feed: its owner listens; other loops connect to it, and reconnect until they are stopped."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Protocol

import structlog

from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.server.cluster.catalog import OwnCatalog
from coordinator_server.server.cluster.catalog_replica import CatalogReplica
from coordinator_server.server.cluster.forwarded_client import context_of
from coordinator_server.server.cluster.link import Link
from coordinator_server.server.cluster.link_transport import LinkTransport
from coordinator_server.server.cluster.messages import (
    FORMAT,
    Acknowledge,
    Answer,
    Attach,
    Attached,
    FromFollower,
    FromOwner,
    Records,
    Renew,
    Renewed,
    StartOver,
    Submit,
)
from coordinator_server.server.cluster.operations import FORWARDED, Forwarded
from coordinator_server.server.cluster.unix import Listening
from protocol.error_codes import ErrorCode

log = structlog.get_logger(__name__)

_RETRY_S: Final = 0.02


class FeedServer:
    """The owner's end. Start it when the catalog is loaded."""

    def __init__(self, transport: LinkTransport, catalog: OwnCatalog, *, has_provenance: bool) -> None:
        self._transport = transport
        self._catalog = catalog
        self._has_provenance = has_provenance
        self._listening: Listening | None = None
        # A dict, so that iteration has a fixed order.
        self._sessions: dict[Session, None] = {}

    async def start(self) -> None:
        """Start to listen."""
        self._listening = await self._transport.listen(self._accept)

    async def stop(self) -> None:
        """Close all connections and remove the socket."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None
            for session in list(self._sessions):
                session.drop()

    def _accept(self, peer: int | None) -> Link[FromFollower]:
        session = Session(self._catalog, peer, has_provenance=self._has_provenance)
        link: Link[FromFollower] = Link(FromFollower, session.received, partial(self._lost, session))
        session.link = link
        self._sessions[session] = None
        return link

    def _lost(self, session: Session) -> None:
        session.gone()
        self._sessions.pop(session, None)


class _Sender(Protocol):
    """The part of a link that a session needs."""

    def send(self, message: object, /) -> None: ...

    def close(self) -> None: ...


class Session:
    """The connection of a different loop to the owner: the catalog's Follower.

    ``peer`` is the loop or node that has proven its id, or None if its word is enough.
    """

    def __init__(self, catalog: OwnCatalog, peer: int | None = None, *, has_provenance: bool) -> None:
        self.loop = self.incarnation = -1
        self.link: _Sender
        self._peer = peer
        self._catalog = catalog
        self._has_provenance = has_provenance

    def start_over(self) -> None:
        """Announce that the whole log follows."""
        self.link.send(StartOver())

    def publish(self, batch: bytes, next_offset: int, /) -> None:
        """Send a durable batch."""
        self.link.send(Records(batch, next_offset))

    def drop(self) -> None:
        """Close the connection."""
        self.link.close()

    def received(self, message: FromFollower) -> None:
        """Process a message from the loop."""
        if not self._catalog.may_grant and isinstance(message, Attach | Renew):
            log.warning(
                "lease-not-granted", attached=self.loop, why="the lease of this node is over: another may be the controller"
            )
            self.drop()
            return
        match message:
            case Attach(loop=loop) if self._peer not in (None, loop):
                log.warning("link-refused", peer=self._peer, says=loop, why="a node speaks for itself alone")
                self.drop()
            case Attach():
                self._attach(message)
            case Renew(sent_ms=sent_ms):
                lease_ms = self._catalog.grant(self)
                if lease_ms > 0:
                    self.link.send(Renewed(sent_ms, lease_ms))
            case Acknowledge(next_offset=next_offset):
                self._catalog.acknowledge(self, next_offset)
            case Submit():
                self._submit(message)

    def _attach(self, asked: Attach) -> None:
        if asked.format != FORMAT:
            log.warning("loop-not-attached", attaching=asked.loop, why=f"its messages have format {asked.format}, ours {FORMAT}")
            self.drop()
            return
        self.loop, self.incarnation = asked.loop, asked.incarnation
        end, lease_ms = self._catalog.attach(self, asked.next_offset)
        self.link.send(Attached(end, asked.sent_ms, lease_ms))
        log.info("loop-attached", attached=asked.loop, offset=asked.next_offset, end=end)

    def gone(self) -> None:
        """Tell the catalog that the link is lost. Called when the connection has ended."""
        self._catalog.detach(self)

    def _submit(self, asked: Submit) -> None:
        context = context_of(asked, has_provenance=self._has_provenance)
        row = FORWARDED[asked.operation]
        reply = CallbackReply(partial(self._answer, asked.id, row), partial(self._refuse, asked.id))
        self._catalog.write(row.operation, context, row.decode_request(asked.request), reply)

    def _answer(self, asked_id: int, row: Forwarded, response: Any) -> None:
        self.link.send(Answer(asked_id, row.encode_response(response)))

    def _refuse(self, asked_id: int, error: ErrorCode, message: str | None) -> None:
        self.link.send(Answer(asked_id, None, error, message))


class FeedClient:
    """The end of a loop that does not own the catalog. ``controller`` returns the loop that does, or NO_NODE."""

    def __init__(self, transport: LinkTransport, catalog: CatalogReplica, controller: Callable[[], int]) -> None:
        self._transport = transport
        self._catalog = catalog
        self._controller = controller
        self._task: asyncio.Task[None] | None = None
        # The owner that it is connected to.
        self._connected: tuple[int, Link[FromOwner]] | None = None

    def look(self) -> None:
        """Leave an owner that is none any more: it may not know that yet."""
        if self._connected is not None and self._connected[0] != self._controller():
            self._connected[1].close()

    def begin_anew(self) -> None:
        """Connect again, as a later process."""
        if self._connected is not None:
            self._connected[1].close()

    def start(self) -> None:
        """Connect, and stay connected."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._stay_connected())

    async def stop(self) -> None:
        """Close the connection and stop reconnecting."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _stay_connected(self) -> None:
        while True:
            lost = asyncio.Event()
            link: Link[FromOwner] = Link(FromOwner, self._catalog.received, lost.set)
            owner = self._controller()
            try:
                await self._transport.connect(owner, partial(_same, link))
            except OSError:
                # The owner is starting or restarting, or there is none. Retry without limit: others decide when to give up.
                await asyncio.sleep(_RETRY_S)
                continue
            self._connected = owner, link
            self._catalog.connected(link.send)
            try:
                await lost.wait()
            finally:
                self._connected = None
                link.close()
                self._catalog.disconnected()
            log.info("controller-lost")
            # A former owner accepts the connection, and closes it.
            await asyncio.sleep(_RETRY_S)


def _same(link: Link[FromOwner]) -> Link[FromOwner]:
    return link
