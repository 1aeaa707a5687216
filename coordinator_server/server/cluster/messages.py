"""What loops say to each other: the others and loop 0 on ``cluster.sock`` (tail.py), each of them and any other on ``loop-N.sock`` (neighbours.py)."""

from __future__ import annotations

from typing import Union

from msgspec import Struct


class Attach(Struct, tag=True, frozen=True):
    """A loop has the catalog's log before ``next_offset``, and wants the rest, for good."""

    loop: int
    next_offset: int


class Acknowledge(Struct, tag=True, frozen=True):
    """The loop knows everything before ``next_offset``."""

    next_offset: int


class Submit(Struct, tag=True, frozen=True):
    """Run an operation of operations.py for a client; ``request`` is its newest encoding, the rest tells who asked, and how."""

    id: int
    operation: str
    client_id: str
    client_host: str
    api_key: int
    api_version: int
    principal: str
    request: bytes


class Records(Struct, tag=True, frozen=True):
    """A durable record batch of the catalog's log; ``next_offset`` comes after it."""

    batch: bytes
    next_offset: int


class StartOver(Struct, tag=True, frozen=True):
    """Compaction has removed records after the loop's ``next_offset``. The records sent before ``Attached`` are the whole log."""


class Attached(Struct, tag=True, frozen=True):
    """Who knows everything before ``end`` may serve."""

    end: int


class Answer(Struct, tag=True, frozen=True):
    """The outcome of a Submit or an Ask: a response, or Kafka's error code."""

    id: int
    response: bytes | None = None
    error: int = 0
    message: str | None = None


FromFollower = Union[Attach, Acknowledge, Submit]  # noqa: UP007 - msgspec's decoder takes it as a value
FromOwner = Union[Records, StartOver, Attached, Answer]  # noqa: UP007


class Hello(Struct, tag=True, frozen=True):
    """A loop has messages. Of two links of one loop the later one has the greater ``incarnation``, or the greater ``attempt``."""

    loop: int
    incarnation: int
    attempt: int


class Welcome(Struct, tag=True, frozen=True):
    """Nothing that came over an older link of that loop will run any more."""


class Ask(Struct, tag=True, frozen=True):
    """Run an operation of a shard for another shard."""

    id: int
    topic: str
    partition: int
    operation: str
    request: bytes


FromSender = Union[Hello, Ask]  # noqa: UP007
FromReceiver = Union[Welcome, Answer]  # noqa: UP007
