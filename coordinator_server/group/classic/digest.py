"""The digest item of a classic group's GroupMetadata record, encoded in version 3."""

from __future__ import annotations

from coordinator_server.machine.digest import item_digest
from protocol.codec import encoder
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue

_KEY_TYPE = b"\0\2"
_VALUE_VERSION = 3


def metadata_digest(group_id: str, metadata: GroupMetadataValue) -> int:
    """Return the hash of the record."""
    key, value = bytearray(_KEY_TYPE), bytearray()
    encoder(GroupMetadataKey, 0)(GroupMetadataKey(group_id), key)
    encoder(GroupMetadataValue, _VALUE_VERSION)(metadata, value)
    return item_digest(bytes(key), bytes(value))
