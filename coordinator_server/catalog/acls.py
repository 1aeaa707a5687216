"""Access control entries (Kafka's ``AclControlManager``): each has an id of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from coordinator_server.catalog.acl_model import Acl, AclFilter, Pattern
from coordinator_server.catalog.family import FamilyStates, RecordFamily, Shown, Stated
from coordinator_server.machine.errors import CoordinatorError
from protocol.acl_codes import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType, code_of
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.cluster_metadata import AccessControlEntryRecord, RemoveAccessControlEntryRecord
from protocol.messages.create_acls import AclCreation, AclCreationResult, CreateAclsRequest
from protocol.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
)

MOST_REMOVED: Final = 10_000
"""The number of entries that a request removes (``QuorumController.MAX_RECORDS_PER_USER_OP``)."""
MOST_COMPARED: Final = 500_000
"""The number of entries that a request compares with its filters, about 0.2 s. Filters that name one entry compare none."""


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
    Acl.of_record,
)


# Creation


def plan_acls(
    request: CreateAclsRequest, states: FamilyStates, new_id: Callable[[], bytes], most: int
) -> tuple[list[AclCreationResult], list[CoordinatorRecord]]:
    """Return the results, and the records of the entries that do not exist yet. ``most`` entries may exist afterwards."""
    results: list[AclCreationResult] = []
    records: dict[Acl, Message] = {}
    left = most - states.count(ACLS)
    for creation in request.creations:
        result = AclCreationResult()
        results.append(result)
        acl = acl_of(creation)
        try:
            _check(acl)
            if acl in records or states.keys_of(ACLS, acl):
                continue
            if len(records) >= left:
                raise CoordinatorError(ErrorCode.POLICY_VIOLATION, f"there are as many ACLs as acls.max={most} allows")
        except CoordinatorError as refused:
            result.error_code, result.error_message = refused.error, refused.message
            continue
        pattern = acl.pattern
        records[acl] = AccessControlEntryRecord(
            new_id(),
            pattern.resource_type,
            pattern.name,
            pattern.pattern_type,
            acl.principal,
            acl.host,
            acl.operation,
            acl.permission,
        )
    return results, [CoordinatorRecord(record, None) for record in records.values()]


def acl_of(creation: AclCreation) -> Acl:
    """Return the entry of a request."""
    pattern = Pattern(creation.resource_type, creation.resource_name, creation.resource_pattern_type)
    return Acl(pattern, creation.principal, creation.host, creation.operation, creation.permission_type)


def _check(acl: Acl) -> None:
    """Raise CoordinatorError for an entry that can have no effect (``AclApis``, ``AclControlManager.validateNewAcl``)."""
    pattern = acl.pattern
    resource_type = code_of(ResourceType, pattern.resource_type)
    if resource_type == ResourceType.CLUSTER and pattern.name != CLUSTER_NAME:
        raise _invalid(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
    if not pattern.name:
        raise _invalid("Invalid empty resource name")
    if resource_type <= ResourceType.ANY:
        raise _invalid(f"Invalid resourceType {resource_type.name}")
    pattern_type = code_of(PatternType, pattern.pattern_type)
    if pattern_type <= PatternType.MATCH:
        raise _invalid(f"Invalid patternType {pattern_type.name}")
    operation = code_of(Operation, acl.operation)
    if operation <= Operation.ANY:
        raise _invalid(f"Invalid operation {operation.name}")
    permission = code_of(Permission, acl.permission)
    if permission <= Permission.ANY:
        raise _invalid(f"Invalid permissionType {permission.name}")
    if ":" not in acl.principal:
        why = "(no colon is present separating the principal type from the principal name)"
        raise _invalid(f"Could not parse principal from `{acl.principal}` {why}")


def _invalid(problem: str) -> CoordinatorError:
    return CoordinatorError(ErrorCode.INVALID_REQUEST, problem)


# Removal


def plan_removal(
    request: DeleteAclsRequest, states: FamilyStates
) -> tuple[list[DeleteAclsFilterResult], list[CoordinatorRecord]]:
    """Return what each filter removes, and the records of it. An entry that two filters select is a result of both."""
    results: list[DeleteAclsFilterResult] = []
    removed: dict[bytes, None] = {}
    compared = 0
    for asked in request.filters:
        result = DeleteAclsFilterResult(0, None)
        results.append(result)
        selecting = filter_of(asked)
        try:
            if selecting.problem is not None:
                raise _invalid(selecting.problem)
            if selecting.only is None:
                compared += states.count(ACLS)
                if compared > max(MOST_COMPARED, states.count(ACLS)):
                    raise CoordinatorError(ErrorCode.POLICY_VIOLATION, "the filters of the request select too widely together")
            found = list(_selected(selecting, states))
            if len(removed.keys() | {acl_id for acl_id, _ in found}) > MOST_REMOVED:
                raise _invalid(f"Cannot remove more than {MOST_REMOVED} acls in a single delete operation.")
        except CoordinatorError as refused:
            result.error_code, result.error_message = refused.error, refused.message
            continue
        removed.update(dict.fromkeys(acl_id for acl_id, _ in found))
        result.matching_acls = [_matching(acl) for _, acl in found]
    return results, [CoordinatorRecord(RemoveAccessControlEntryRecord(acl_id), None) for acl_id in removed]


def filter_of(asked: Any) -> AclFilter:
    """Return the filter of a request to describe or to remove entries: ``DescribeAclsRequest`` or ``DeleteAclsFilter``."""
    return AclFilter(
        asked.resource_type_filter,
        asked.resource_name_filter,
        asked.pattern_type_filter,
        asked.principal_filter,
        asked.host_filter,
        asked.operation,
        asked.permission_type,
    )


def _selected(selecting: AclFilter, states: FamilyStates) -> Iterable[tuple[bytes, Acl]]:
    """Yield the ids and the entries that a filter selects."""
    if selecting.only is not None:
        for key in states.keys_of(ACLS, selecting.only):
            assert isinstance(key, bytes)
            yield key, selecting.only
        return
    for _, record in states.all_of(ACLS):
        acl = Acl.of_record(record)
        if selecting.matches(acl):
            yield record.id, acl


def _matching(acl: Acl) -> DeleteAclsMatchingAcl:
    pattern, principal, host, operation, permission = acl
    return DeleteAclsMatchingAcl(0, None, *pattern, principal, host, operation, permission)
