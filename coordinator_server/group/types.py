"""The table of group types: one row per type, which ``registry.py`` opens for every shard.

Groups of a row that is not served come from an imported log (``imported.py``). Serving them replaces the row. The order of the rows decides where records of
two types name one group, which no sound log has.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from coordinator_server.group.classic.type import ClassicType
from coordinator_server.group.group_type import GroupContext, GroupType, SharedTables
from coordinator_server.group.imported import CONSUMER_RECORDS, SHARE_RECORDS, STREAMS_RECORDS, ImportedType

CLASSIC: Final = "classic"

GROUP_TYPES: Final[dict[str, Callable[[GroupContext, SharedTables], GroupType]]] = {
    CLASSIC: ClassicType,
    "consumer": partial(ImportedType, CONSUMER_RECORDS),
    "share": partial(ImportedType, SHARE_RECORDS),
    "streams": partial(ImportedType, STREAMS_RECORDS),
}
