"""The table of group types: one row per type. ``registry.py`` creates each type for every shard.

The order of the rows decides the type of a group with records of two types, which only a damaged log has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from coordinator_server.group.classic.type import ClassicType
from coordinator_server.group.consumer.type import ConsumerType
from coordinator_server.group.group_type import GroupContext, GroupType, SharedTables
from coordinator_server.group.share.type import ShareType
from coordinator_server.group.streams.type import StreamsType

CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"
SHARE: Final = "share"
STREAMS: Final = "streams"

GROUP_TYPES: Final[dict[str, Callable[[GroupContext, SharedTables], GroupType]]] = {
    CLASSIC: ClassicType,
    CONSUMER: ConsumerType,
    SHARE: ShareType,
    STREAMS: StreamsType,
}
