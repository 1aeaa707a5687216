"""The table of group types: one row per type. ``registry.py`` creates each type for every shard.

The groups of an ``ImportedType`` row come from an imported log (``imported.py``); a type that is served gets its own class. The
order of the rows decides the type of a group with records of two types, which only a damaged log has.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from coordinator_server.group.classic.type import ClassicType
from coordinator_server.group.consumer.type import ConsumerType
from coordinator_server.group.group_type import GroupContext, GroupType, SharedTables
from coordinator_server.group.imported import STREAMS_RECORDS, ImportedType
from coordinator_server.group.share.type import ShareType

CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"
SHARE: Final = "share"

GROUP_TYPES: Final[dict[str, Callable[[GroupContext, SharedTables], GroupType]]] = {
    CLASSIC: ClassicType,
    CONSUMER: ConsumerType,
    SHARE: ShareType,
    "streams": partial(ImportedType, STREAMS_RECORDS),
}
