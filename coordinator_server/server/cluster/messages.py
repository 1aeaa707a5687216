"""The messages between loops.

``cluster.sock`` connects the catalog's owner and each other loop (catalog_feed.py), ``loop-N.sock`` any two loops
(neighbours.py).
"""

from __future__ import annotations

from typing import Final, Union

from msgspec import Struct

from coordinator_server.log.shards import Ownership

FORMAT: Final = 2
"""The format of the messages of a link between loops. Loops with different formats do not talk to each other."""


class Attach(Struct, tag=True, frozen=True):
    """A loop's subscription to the catalog's log. It has all records before ``next_offset``.

    ``sent_ms`` is its CLOCK_BOOTTIME, which the answer repeats. A later process of it has a greater ``incarnation``.
    """

    loop: int
    next_offset: int
    incarnation: int
    sent_ms: int
    format: int = FORMAT


class Acknowledge(Struct, tag=True, frozen=True):
    """A loop's acknowledgement of all records before ``next_offset``."""

    next_offset: int


class Submit(Struct, tag=True, frozen=True):
    """A client's forwarded operation (operations.py). ``request`` has the newest encoding; the other fields are its context."""

    id: int
    operation: str
    client_id: str
    client_host: str
    api_key: int
    api_version: int
    principal: str
    request: bytes


class Records(Struct, tag=True, frozen=True):
    """A durable record batch of the catalog's log. ``next_offset`` is the offset after it."""

    batch: bytes
    next_offset: int


class StartOver(Struct, tag=True, frozen=True):
    """The start of a whole log, sent because compaction has removed records after the loop's ``next_offset``.

    The log consists of the records sent before ``Attached``.
    """


class Attached(Struct, tag=True, frozen=True):
    """The end of the log at the time of subscription. A loop that has all records before ``end`` may serve clients.

    It may do so for ``lease_ms`` from when it has sent its request, unless it renews that; 0 is without an end.
    """

    end: int
    sent_ms: int = 0
    lease_ms: int = 0


class Renew(Struct, tag=True, frozen=True):
    """A loop's request for a new lease. ``sent_ms`` is its CLOCK_BOOTTIME."""

    sent_ms: int


class Renewed(Struct, tag=True, frozen=True):
    """The answer to Renew: the loop has all records of changes that were answered before."""

    sent_ms: int
    lease_ms: int


class Answer(Struct, tag=True, frozen=True):
    """The outcome of a Submit or an Ask: a response, or Kafka's error code.

    That of an Ask has the epoch of the shard that has run it, and the newest one of the sender that is known there. If it was
    refused, both are the newest ones that are known.
    """

    id: int
    response: bytes | None = None
    error: int = 0
    message: str | None = None
    epoch: int = 0
    sender_epoch: int = 0


FromFollower = Union[Attach, Acknowledge, Submit, Renew]  # noqa: UP007 - msgspec's decoder takes it as a value
FromOwner = Union[Records, StartOver, Attached, Answer, Renewed]  # noqa: UP007


class Hello(Struct, tag=True, frozen=True):
    """The first message on a link. A later link of the same loop has a greater ``incarnation`` or a greater ``attempt``."""

    loop: int
    incarnation: int
    attempt: int
    format: int = FORMAT


class Welcome(Struct, tag=True, frozen=True):
    """The answer to Hello: no message from an older link of that loop will run any more."""


class Ask(Struct, tag=True, frozen=True):
    """A request to run an operation of the shard ``to`` for a different shard, or None for a read."""

    id: int
    to: Ownership
    sender: Ownership | None
    operation: str
    request: bytes


FromSender = Union[Hello, Ask]  # noqa: UP007
FromReceiver = Union[Welcome, Answer]  # noqa: UP007
