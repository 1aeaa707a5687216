"""The replica of the catalog on a loop that does not own its log: the same state machine, fed with the owner's records.

    apart ──connected, caught up──► current ──link lost──► apart

While apart, a loop serves requests from the topics it has, and answers that it cannot decide about unknown topics. Before the
owner answers a change it waits for this loop, whether it is apart or not. Between nodes it does so until this one's lease is over;
then this node answers nobody, until it has a new one. If compaction has removed records that the loop missed, the owner sends the
whole log, and the loop uses its old image until it has received all of it. Every change is forwarded to the owner. No I/O:
catalog_feed.py transports the messages.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, NamedTuple, TypeVar, TypeVarTuple

import structlog

from coordinator_server.catalog.family import RecordFamily
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.machine.shard import Reply, RequestContext
from coordinator_server.machine.timeline import LATEST
from coordinator_server.runtime.lease import NEVER, Gate
from coordinator_server.runtime.loader import replay_batch
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.cluster.catalog import NO_NOTICES, CallLater, Notices
from coordinator_server.server.cluster.messages import (
    Acknowledge,
    Answer,
    Attach,
    Attached,
    FromOwner,
    Records,
    Renew,
    Renewed,
    StartOver,
    Submit,
)
from coordinator_server.server.cluster.neighbours import Identity
from coordinator_server.server.cluster.operations import FORWARDED, Forwarded
from protocol.coordinator_records import RecordSerde
from protocol.error_codes import ErrorCode

log = structlog.get_logger(__name__)

Q = TypeVar("Q")
R = TypeVar("R")
Ts = TypeVarTuple("Ts")

# Longer than the owner waits for a stuck loop by default, shorter than clients wait for an answer.
ANSWER_S: Final = 10.0
RENEWALS: Final = 4
"""So often a lease is renewed in its length."""

Send = Callable[[object], None]


class _Asked(NamedTuple):
    row: Forwarded
    reply: Reply[Any]


class _Image:
    """The state of the catalog after all records before ``next_offset``. ``at`` is the offset at which ``shard`` is read.

    One that is not read at its end has been the owner's, and gets no more records.
    """

    __slots__ = ("at", "next_offset", "shard")

    def __init__(self, shard: CatalogShard, at: int = LATEST) -> None:
        self.shard = shard
        self.at = at
        self.next_offset = 0


class CatalogReplica:
    """The catalog as replicated from the owner. ``who`` is this process; ``new_shard`` makes an empty catalog.

    ``gate`` has the lease for answers from the replica, which ends only if the owner says for how long it is granted.
    ``diverged`` is called if the replicated records are not a prefix of the owner's log. The replica is invalid then.
    """

    def __init__(
        self,
        who: Identity,
        new_shard: Callable[[], CatalogShard],
        serde: RecordSerde,
        call_later: CallLater,
        diverged: Callable[[str], None],
        gate: Gate,
    ) -> None:
        self._who = who
        self._boot_ms = gate.boot_ms
        self._lease = gate.lease()
        self._new_shard = new_shard
        self._serde = serde
        self._call_later = call_later
        self._diverged = diverged
        self._send: Send | None = None
        # The number of images that have been shown.
        self._images = 0
        # The image being received, between StartOver and Attached; it will replace the known image.
        self._incoming: _Image | None = None
        self._current_from: int | None = None
        # When that was sent to which the owner has answered last, on CLOCK_BOOTTIME.
        self._asked_ms = 0
        self._has_begun = False
        self._asked: dict[int, _Asked] = {}
        self._last_id = 0
        self.on_current: Callable[[], None] = lambda: None
        self._deleted: list[DeletedTopic] = []
        self._notices = NO_NOTICES
        self._show(_Image(new_shard()))

    def notify(self, notices: Notices) -> None:
        """Call these as at the owner, before a change is acknowledged; not with topics deleted before the first Attached."""
        self._notices = notices

    @property
    def is_current(self) -> bool:
        """Whether this loop has all that was answered: it has caught up with the owner, which still waits for it.

        What shards do unasked looks at this, too: the gate keeps only answers back when the lease is over.
        """
        return self._has_caught_up and self._boot_ms() < self._lease.ends_ms

    def has_all_of_now(self) -> Callable[[], bool]:
        """Return what says whether this loop has by then every change that is durable now, answered or not.

        The owner sends what is durable before it answers a renewal. Without leases the loops are on one machine, and wait for
        each other's sockets only.
        """
        now_ms = self._boot_ms()
        return lambda: self._asked_ms > now_ms or self._lease.ends_ms == NEVER

    @property
    def _has_caught_up(self) -> bool:
        """Whether this loop is attached to the owner, and has what was there then."""
        return self._send is not None and self._current_from is not None and self._known.next_offset >= self._current_from

    @property
    def version(self) -> int:
        """The number of records that the visible image contains."""
        return self._known.next_offset

    def read(self, operation: Callable[[CatalogShard, int, *Ts], R], /, *args: *Ts) -> R:
        """Run a read operation of the shard on what is known here."""
        return operation(self._shard, self._known.at, *args)

    def family_version(self, family: RecordFamily) -> Hashable:
        """Return the image, and the offset after the last record of a family: a new image may lack a removal that was compacted."""
        return self._images, self._shard.changed_to(self._known.at, family)

    def write(
        self, operation: WriteOperation[CatalogShard, Q, R], context: RequestContext, request: Q, reply: Reply[R], /
    ) -> None:
        """Forward a change to the owner.

        ``reply`` fails with NOT_CONTROLLER if the owner is not connected, and with REQUEST_TIMED_OUT if it does not answer: the
        change may have been made then.
        """
        if self._send is None:
            reply.fail(ErrorCode.NOT_CONTROLLER, "the controller is not there at the moment; try again")
            return
        row = FORWARDED[operation.name]
        self._last_id += 1
        asked = self._last_id
        self._asked[asked] = _Asked(row, reply)
        self._call_later(ANSWER_S, lambda: self._give_up(asked))
        who = (context.client_id, context.client_host, context.api_key, context.api_version, context.principal)
        self._send(Submit(asked, operation.name, *who, row.encode_request(request)))  # type: ignore[arg-type]

    # Called by the link.

    def connected(self, send: Send) -> None:
        """Subscribe to the log. Called when the link to the owner is connected."""
        self._send = send
        if self._known.at != LATEST:
            self._incoming = _Image(self._new_shard())
        have = 0 if self._incoming is not None else self._known.next_offset
        send(Attach(self._who.loop, have, self._who.incarnation, self._boot_ms()))

    def adopt(self, shard: CatalogShard, end: int) -> None:
        """Show what this node has made durable as the owner, all records before ``end``, until the next owner has sent the log."""
        image = _Image(shard, end)
        image.next_offset = end
        self._show(image)
        self._has_begun = True

    def note_role(self, *, is_leading: bool, has_leases: bool) -> None:
        """Need a lease as a follower, once it is granted, if followers have leases. The owner has that of its shards."""
        if is_leading:
            self._lease.lift()
        elif has_leases:
            self._lease.end()

    def end_lease(self) -> None:
        """Stop answering until the next lease is granted: this process is now a later one of the node."""
        self._lease.end()

    def disconnected(self) -> None:
        """Fail all forwarded changes, whose outcomes are unknown. Called when the link to the owner has ended."""
        self._send = self._current_from = self._incoming = None
        for asked in list(self._asked):
            self._give_up(asked)

    def received(self, message: FromOwner) -> None:
        """Process a message from the owner."""
        match message:
            case Records():
                self._learn(message)
            case StartOver():
                self._incoming = _Image(self._new_shard())
            case Attached():
                self._attached(message.end)
                self._granted(message)
            case Renewed():
                self._granted(message)
            case Answer():
                self._answered(message)

    def _granted(self, grant: Attached | Renewed) -> None:
        """Answer clients for so long, and renew it in time while this link lasts."""
        if not grant.lease_ms:
            return
        self._asked_ms = max(self._asked_ms, grant.sent_ms)
        self._lease.renew(grant.sent_ms, grant.lease_ms)
        link = self._send
        self._call_later(grant.lease_ms / RENEWALS / 1000, lambda: self._renew(link))

    def _renew(self, link: Send | None) -> None:
        if link is not None and link is self._send:
            link(Renew(self._boot_ms()))

    def _show(self, image: _Image) -> None:
        """Make an image visible to handlers."""
        self._known = image
        self._images += 1
        self._shard = image.shard
        image.shard.on_removed = self._deleted.append

    def _attached(self, end: int) -> None:
        """Finish the initial transfer: the owner has sent all records before ``end``, except those removed by compaction."""
        if end < self._known.next_offset:
            self._diverged(f"the catalog's log ends at offset {end}, and had got to {self._known.next_offset} before")
            return
        if self._incoming is not None:
            coming, self._incoming = self._incoming, None
            gone = [
                topic for topic in self.read(CatalogShard.all_topics) if coming.shard.topic_by_id(LATEST, topic.topic_id) is None
            ]
            self._show(coming)
            self._deleted += [DeletedTopic(topic.name, topic.topic_id) for topic in gone]
        self._known.next_offset = self._current_from = end
        self._notify_changes()
        self._has_begun = True
        self._acknowledge()

    def _learn(self, records: Records) -> None:
        image = self._incoming or self._known
        if records.next_offset <= image.next_offset:
            return
        replay_batch(records.batch, self._serde, image.shard)
        image.next_offset = records.next_offset
        self._notify_changes()
        if self._current_from is not None:
            self._acknowledge()

    def _notify_changes(self) -> None:
        deleted = self._deleted[:]
        self._deleted.clear()
        if deleted and self._has_begun:
            self._notices.deleted(deleted)
        self._notices.changed()

    def _acknowledge(self) -> None:
        if self._send is not None:
            self._send(Acknowledge(self._known.next_offset))
        if self._has_caught_up:
            self.on_current()

    def _answered(self, answer: Answer) -> None:
        asked = self._asked.pop(answer.id, None)
        if asked is None:
            return
        if answer.response is not None:
            asked.reply.complete(asked.row.decode_response(answer.response))
        else:
            asked.reply.fail(ErrorCode(answer.error), answer.message)

    def _give_up(self, asked_id: int) -> None:
        asked = self._asked.pop(asked_id, None)
        if asked is not None:
            log.warning("forwarded-without-answer", operation=asked.row.operation.name)
            asked.reply.fail(ErrorCode.REQUEST_TIMED_OUT, "the controller did not answer; the change may have been made")
