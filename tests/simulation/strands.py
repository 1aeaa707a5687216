"""Messages that a process has left in its sockets, and what each of them would end where it arrives.

A message that ends something arrives late enough to do harm when that is over, because a later owner of its sender's shard has
ended it, and the next one has begun in the same place. A ``Strand`` sees that moment.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Final

import msgspec

from coordinator_server.group.share.state_effects import DELETE_STATES, StatesOfGroup
from coordinator_server.runtime.producers import FIRST_WITH_EPOCH_BUMP
from coordinator_server.server.cluster.link import MAX_MESSAGE_BYTES
from coordinator_server.server.cluster.messages import Ask, FromSender
from coordinator_server.server.hosting.node import Node
from coordinator_server.transaction.markers import WRITE_MARKER, Marker
from protocol.frames import FrameSplitter
from protocol.share_partition_names import SharePartitionKey, name_of
from tests.simulation.links import End
from tests.simulation.machine import Process

_decode = msgspec.msgpack.Decoder(FromSender).decode


def _transaction(node: Node, partition: int, marker: Marker) -> Hashable:
    """The offset at which the open transaction begins that a marker would end."""
    context = node.groups._contexts.get(partition)
    known = None if context is None else context.producers._states.get(marker.producer_id)
    if context is None or known is None or known.epoch != marker.producer_epoch:
        return None
    return context.producers._first.get(marker.producer_id)


def _states(node: Node, partition: int, asked: StatesOfGroup) -> Hashable:
    """The share partitions whose states a message would delete."""
    context = node.share_states._contexts.get(partition)
    keys = [SharePartitionKey(asked.group_id, topic_id, number) for topic_id, number in asked.partitions]
    return None if context is None else tuple(key for key in keys if name_of(key) in context.shard._partitions) or None


ENDS: Final[Mapping[str, tuple[Any, Callable[[Node, int, Any], Hashable]]]] = {
    WRITE_MARKER.name: (Marker, _transaction),
    DELETE_STATES.name: (StatesOfGroup, _states),
}
"""The messages that end something: the type of each, and what it would end at the moment, or None."""


class Stranded:
    """A message in a socket."""

    def __init__(self, end: End, ask: Ask, request: Any) -> None:
        self._would_end = ENDS[ask.operation][1]
        self._shard = ask.to.shard
        self._receiver = end.other.process
        self._request = request
        self._meant = self.would_end()

    def would_end(self) -> Hashable:
        """What it would end now, or None."""
        rooms = self._receiver.daemon._rooms
        if not self._receiver.is_alive or rooms is None:
            return None
        return self._would_end(rooms.hosting.node, self._shard.partition, self._request)

    def would_end_another(self) -> bool:
        """Whether that is not what it was sent for, but something that has begun since."""
        found = self.would_end()
        if found is None:
            # What it was sent for is over.
            self._meant = None
        return found not in (None, self._meant)


class Strand:
    """All that a process has said on the links that it has since these are held, until ``release``. It stands still."""

    def __init__(self, process: Process, held: list[End]) -> None:
        self.process = process
        self._held = held
        self._found: list[Stranded] | None = None

    def is_ripe(self) -> bool:
        """Whether a message among it would end now what has begun since."""
        if self._found is None:
            self._found = [each for end in self._held if is_sender(end) for each in messages_in(end, end.held)]
        # Each looks, to see what is over.
        ripe = [each.would_end_another() for each in self._found]
        return any(ripe)

    @property
    def is_over(self) -> bool:
        """Whether it was released."""
        return not self._held

    def release(self) -> None:
        """Let it arrive."""
        held, self._held = self._held, []
        for end in held:
            end.release()


def is_sender(end: End) -> bool:
    """Whether messages to shards go this way. What an end says that it has accepted are answers."""
    rooms = end.process.daemon._rooms
    neighbours = None if rooms is None else rooms.cluster.neighbours
    senders = () if neighbours is None else neighbours._senders.values()
    return any(sender._link is not None and sender._link._transport is end for sender in senders)


def messages_in(end: End, data: bytes) -> Iterator[Stranded]:
    """The messages among what is written at a sender's end that could end what begins later."""
    for frame in FrameSplitter(MAX_MESSAGE_BYTES).feed(data):
        message = _decode(frame)
        if isinstance(message, Ask) and message.operation in ENDS:
            request: Any = msgspec.msgpack.decode(message.request, type=ENDS[message.operation][0])
            # From version 2 on the next transaction has another epoch.
            if not isinstance(request, Marker) or request.version < FIRST_WITH_EPOCH_BUMP:
                yield Stranded(end, message, request)
