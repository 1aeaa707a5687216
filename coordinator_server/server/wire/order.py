"""The order in which a connection's requests act: as if one ran after the other, as in Kafka, though their answers overlap.

Kafka does not read a connection's next request before the last one is answered. Here a request may start earlier, if that makes no
difference to what the peer sees. Its API's class says when that is so.
"""

from __future__ import annotations

from enum import Enum


class Order(Enum):
    """When a request may start before earlier ones of its connection are answered.

    It may if all unanswered ones are FREE, or if all that are not FREE have its own class and that class is not ALONE. Requests
    of transactions may, though they are ALONE, if no unanswered one touches what they touch (``ApiRow.touches``).
    """

    FREE = "free"
    """It depends on nothing that a request can change, and changes nothing. It never waits, and nothing waits for it."""
    READ = "read"
    """It is answered from durable state and changes nothing that a later request depends on."""
    WRITE = "write"
    """Its effect is complete when the handler returns; only its answer waits for the log."""
    ALONE = "alone"
    """It waits for other clients, acts later, or takes effect in more than one shard or loop."""


class Turn(Enum):
    """When a request starts."""

    NOW = "now"
    BEHIND_WRITES = "behind writes"
    """Now, but what it reads must include the effects of unanswered WRITEs."""
    LATER = "later"


class State(Enum):
    """How far a request is (``exchange.py``)."""

    DECODING = "decoding"
    OPEN = "open"
    ENCODING = "encoding"
    ANSWERED = "answered"
