"""Needs that several APIs have: rights on the group or the transactional id that a request names."""

from __future__ import annotations

from operator import attrgetter
from typing import Final

from coordinator_server.server.guard.access import Need
from protocol.acl_codes import Operation, ResourceType

_GROUP_ID: Final = attrgetter("group_id")

READ_GROUP: Final = Need(Operation.READ, ResourceType.GROUP, _GROUP_ID)
DELETE_GROUP: Final = Need(Operation.DELETE, ResourceType.GROUP, _GROUP_ID)
WRITE_TRANSACTION: Final = Need(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, attrgetter("transactional_id"))
