"""DescribeClientQuotas (48): the quotas of the entities that match a filter (``ClientQuotasImage``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from coordinator_server.catalog.client_quotas import key_of
from coordinator_server.catalog.quota_names import CLIENT_ID, IP, USER, Entity, Match
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.cluster_metadata import ClientQuotaRecord
from protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)


class QuotaFilter(NamedTuple):
    """Which entities match: those with these types, of which some have these names. ``is_strict``: and with no other type."""

    names: dict[str, str | None]
    types: set[str]
    is_strict: bool

    def matches(self, entity: Entity) -> bool:
        """Return whether an entity is described."""
        parts = dict(entity)
        if self.is_strict and len(parts) != len(self.names) + len(self.types):
            return False
        return self.types <= parts.keys() and all(kind in parts and parts[kind] == name for kind, name in self.names.items())


def quota_filter(request: DescribeClientQuotasRequest) -> QuotaFilter:
    """Return the filter of a request. Raises CoordinatorError."""
    found = QuotaFilter({}, set(), request.strict)
    for component in request.components:
        _add(found, component)
    kinds = found.names.keys() | found.types
    if IP in kinds and len(kinds) > 1:
        raise _invalid(
            "Invalid entity filter component combination. IP filter component should not be used with user or clientId filter "
            "component."
        )
    return found


def _add(found: QuotaFilter, component: ComponentData) -> None:
    kind, match_type, name = component.entity_type, component.match_type, component.match
    if not kind:
        raise _invalid("Invalid empty entity type.")
    if kind in found.names or kind in found.types:
        raise _invalid(f"Entity type {kind} cannot appear more than once in the filter.")
    if kind not in (USER, CLIENT_ID, IP):
        raise CoordinatorError(ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {kind}")
    if match_type not in Match.__members__.values():
        raise _invalid(f"Unknown match type {match_type}")
    match = Match(match_type)
    if match is Match.EXACT and name is None:
        raise _invalid("Request specified MATCH_TYPE_EXACT, but set match string to null.")
    if match is not Match.EXACT and name is not None:
        raise _invalid(f"Request specified MATCH_TYPE_{match.name}, but also specified a match string.")
    if match is Match.SPECIFIED:
        found.types.add(kind)
    else:
        found.names[kind] = name


def described(records: Iterable[ClientQuotaRecord], wanted: QuotaFilter) -> DescribeClientQuotasResponse:
    """Return the quotas of the entities that match, in the order of the entities."""
    found: dict[Entity, list[ValueData]] = {}
    for record in records:
        entity = key_of(record).entity
        if wanted.matches(entity):
            found.setdefault(entity, []).append(ValueData(record.key, record.value))
    entries = [
        EntryData([EntityData(*each) for each in entity], sorted(values, key=lambda value: value.key))
        for entity, values in sorted(found.items(), key=_order)
    ]
    return DescribeClientQuotasResponse(entries=entries)


def _order(entry: tuple[Entity, list[ValueData]]) -> list[tuple[str, str]]:
    return [(kind, name or "") for kind, name in entry[0]]


def _invalid(message: str) -> CoordinatorError:
    return CoordinatorError(ErrorCode.INVALID_REQUEST, message)
