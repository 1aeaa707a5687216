"""AlterClientQuotas (49): set and remove quotas of users, clients and addresses (``ClientQuotaControlManager``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from coordinator_server.catalog.client_quotas import QuotaKey
from coordinator_server.catalog.quota_names import Entity, check_value, names_for, shown
from coordinator_server.machine.errors import CoordinatorError
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
    RequestEntryData,
    ResponseEntryData,
)
from protocol.messages.cluster_metadata import ClientQuotaRecord
from protocol.messages.cluster_metadata import EntityData as QuotaEntity


class Quotas(NamedTuple):
    """The present quotas: the value of one, or None, and how many more there may be."""

    value: Callable[[QuotaKey], float | None]
    room: int


def plan_quotas(request: AlterClientQuotasRequest, quotas: Quotas) -> tuple[AlterClientQuotasResponse, list[CoordinatorRecord]]:
    """Return the answer for each entity, in the order of the request, and the records of the changes.

    As in Kafka, an entity that the request names twice gets an error, and what its first entry changes counts.
    """
    answers: dict[Entity, ResponseEntryData] = {}
    records: list[CoordinatorRecord] = []
    room = quotas.room
    for entry in request.entries:
        entity = entity_of(entry)
        is_repeated = entity in answers
        answer = answers[entity] = ResponseEntryData(0, None, [EntityData(*each) for each in entity])
        try:
            if is_repeated or len({op.key for op in entry.ops}) < len(entry.ops):
                raise CoordinatorError(ErrorCode.INVALID_REQUEST, f"Ignoring duplicate entity {shown(entity)}")
            changes, added = _changes(entity, entry.ops, quotas.value, room)
        except CoordinatorError as refused:
            answer.error_code, answer.error_message = refused.error, refused.message
        else:
            records += changes
            room -= added
    return AlterClientQuotasResponse(entries=list(answers.values())), records


def entity_of(entry: RequestEntryData) -> Entity:
    """Return the entity of an entry. Of a type that is named twice, the last name counts."""
    return tuple(sorted({each.entity_type: each.entity_name for each in entry.entity}.items()))


def _changes(
    entity: Entity, ops: list[OpData], current: Callable[[QuotaKey], float | None], room: int
) -> tuple[list[CoordinatorRecord], int]:
    """Return the records of the changes of an entity, and by how many quotas there are more. Raises CoordinatorError."""
    names = names_for(entity)
    records = []
    added = 0
    parts = [QuotaEntity(*each) for each in entity]
    for op in ops:
        before = current(QuotaKey(entity, op.key))
        if op.remove:
            if before is not None:
                records.append(ClientQuotaRecord(parts, op.key, remove=True))
                added -= 1
            continue
        check_value(names, op.key, op.value)
        if before != op.value:
            records.append(ClientQuotaRecord(parts, op.key, op.value))
            added += before is None
    if added > max(room, 0):
        raise CoordinatorError(ErrorCode.POLICY_VIOLATION, "there are as many quotas as client.quotas.max allows")
    return [CoordinatorRecord(record, None) for record in records], added
