"""Access control entries (Kafka's ``AclControlManager``): each has an id of its own."""

from __future__ import annotations

from typing import Final

from coordinator_server.catalog.family import RecordFamily, Shown, Stated
from protocol.messages.cluster_metadata import AccessControlEntryRecord, RemoveAccessControlEntryRecord


def _show(record: AccessControlEntryRecord) -> Shown:
    of = (record.permission_type, record.principal, record.host, record.operation)
    on = (record.resource_type, record.pattern_type, record.resource_name)
    return Shown("acls", record.id.hex(), [*of, *on])


ACLS: Final = RecordFamily(
    "acls",
    {
        AccessControlEntryRecord: lambda record: Stated(record.id),
        RemoveAccessControlEntryRecord: lambda record: Stated(record.id, is_removal=True),
    },
    _show,
)
