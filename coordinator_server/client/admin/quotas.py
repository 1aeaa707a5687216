"""Quotas of clients (KIP-546): DescribeClientQuotas and AlterClientQuotas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coordinator_server.client.admin.cluster import Cluster, check, error_of
from coordinator_server.client.errors import ClientError
from protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
    RequestEntryData,
)
from protocol.messages.describe_client_quotas import DescribeClientQuotasRequest, DescribeClientQuotasResponse

Entity = tuple[tuple[str, str | None], ...]
"""Types with names, such as ``("user", "alice")``, in the order of the types. The name None is the default entity's."""


@dataclass(frozen=True, order=True)
class Quota:
    """A quota of an entity. They are in the order of the entities."""

    sort_key: tuple[tuple[str, str], ...] = field(init=False, repr=False)
    entity: Entity = field(compare=False)
    name: str
    value: float = field(compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sort_key", tuple((kind, name or "") for kind, name in self.entity))


def entity_of(names: Mapping[str, str | None]) -> Entity:
    """Return the entity with these names by type."""
    return tuple(sorted(names.items()))


def alteration(entity: Entity, values: Mapping[str, float | None], *, validate_only: bool) -> AlterClientQuotasRequest:
    """Return the request that sets quotas of an entity, and removes those whose value is None.

    ``validate_only``: it is only checked.
    """
    ops = [OpData(name, 0.0 if value is None else value, value is None) for name, value in values.items()]
    return AlterClientQuotasRequest([RequestEntryData([EntityData(*each) for each in entity], ops)], validate_only)


async def describe_quotas(cluster: Cluster) -> list[Quota]:
    """Return all quotas. Raises ClientError."""
    answer = await cluster.ask(DescribeClientQuotasRequest([], strict=False), DescribeClientQuotasResponse)
    check("DescribeClientQuotas", answer.error_code, answer.error_message)
    return sorted(
        Quota(entity_of({part.entity_type: part.entity_name for part in entry.entity}), each.key, each.value)
        for entry in answer.entries or ()
        for each in entry.values
    )


async def alter_quotas(cluster: Cluster, request: AlterClientQuotasRequest) -> ClientError | None:
    """Change the quotas of one entity; return why that is refused, or None. Raises ClientError."""
    return refusal_of(await cluster.ask_controller(request, AlterClientQuotasResponse))


def refusal_of(answer: AlterClientQuotasResponse) -> ClientError | None:
    """Return why the change of one entity is refused, or None."""
    [entry] = answer.entries
    return error_of("change of quotas", entry.error_code, entry.error_message)
