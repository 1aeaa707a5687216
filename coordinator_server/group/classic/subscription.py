"""The topics to which the members of a consumer group are subscribed: their offsets are not deleted and do not expire.

A member's metadata is otherwise opaque to the server. It is decoded as version 0, which is a prefix of every later version.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from protocol.codec import decoder
from protocol.errors import DecodeError
from protocol.messages.consumer_protocol import ConsumerProtocolSubscription

_VERSION_BYTES: Final = 2


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """Return all topics of these subscriptions; None if one is no valid subscription (``ClassicGroup.computeSubscribedTopics``)."""
    decode = decoder(ConsumerProtocolSubscription, 0)
    try:
        return frozenset(topic for each in set(metadata) for topic in decode(each, _VERSION_BYTES)[0].topics)
    except DecodeError:
        return None
