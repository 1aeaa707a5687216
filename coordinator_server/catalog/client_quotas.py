"""Client quotas (KIP-546, Kafka's ``ClientQuotaControlManager``): one for each entity and name."""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator_server.catalog.family import RecordFamily, Shown, Stated
from protocol.messages.cluster_metadata import ClientQuotaRecord


class QuotaKey(NamedTuple):
    """The entity, as types with names in the order of the types, and the name of the quota.

    The name None is the default entity's.
    """

    entity: tuple[tuple[str, str | None], ...]
    quota: str


def key_of(record: ClientQuotaRecord) -> QuotaKey:
    """Return what a record is about."""
    entity = {each.entity_type: each.entity_name for each in record.entity}
    return QuotaKey(tuple(sorted(entity.items())), record.key)


def _show(record: ClientQuotaRecord) -> Shown:
    entity = ", ".join(f"{kind} {'<default>' if name is None else name}" for kind, name in key_of(record).entity)
    return Shown(f"quotas of {entity}", record.key, record.value)


CLIENT_QUOTAS: Final = RecordFamily(
    "client-quotas",
    {ClientQuotaRecord: lambda record: Stated(key_of(record), is_removal=record.remove)},
    _show,
)
