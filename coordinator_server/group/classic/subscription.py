"""The topics that the members of a consumer group say they consume: offsets of those are not deleted and do not expire.

A member's metadata is its own business but for this. It is read as version 0, which every later version begins with.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from protocol.codec import decoder
from protocol.errors import DecodeError
from protocol.messages.consumer_protocol import ConsumerProtocolSubscription

CONSUMER: Final = "consumer"
_VERSION_BYTES: Final = 2


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """All topics of these subscriptions; None when one of them is no subscription (``ClassicGroup.computeSubscribedTopics``)."""
    decode = decoder(ConsumerProtocolSubscription, 0)
    try:
        return frozenset(topic for each in set(metadata) for topic in decode(each, _VERSION_BYTES)[0].topics)
    except DecodeError:
        return None
