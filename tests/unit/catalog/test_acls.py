"""What CreateAcls and DeleteAcls write (``AclControlManager``)."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from coordinator_server.catalog import acls as module
from coordinator_server.catalog.acls import ACLS, plan_acls, plan_removal
from coordinator_server.catalog.families import FAMILIES
from coordinator_server.catalog.family import FamilyStates
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from protocol.error_codes import ErrorCode
from protocol.messages.create_acls import AclCreation, CreateAclsRequest
from protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest

ALICE = AclCreation(2, "orders", 3, "User:alice", "*", 3, 3)


class Entries:
    """Entries that are created and removed at once. Ids count."""

    def __init__(self) -> None:
        self.states = FamilyStates(SnapshotRegistry(), FAMILIES)
        self._ids = count(1)
        self._offsets = count()

    def create(self, *creations: AclCreation, most: int = 100) -> list[tuple[int, str | None]]:
        results, records = plan_acls(CreateAclsRequest(list(creations)), self.states, self._new_id, most)
        self._replay(records)
        return [(each.error_code, each.error_message) for each in results]

    def remove(self, *filters: DeleteAclsFilter) -> list[Any]:
        """Return the number of entries that each filter has removed, or its error."""
        results, records = plan_removal(DeleteAclsRequest(list(filters)), self.states)
        self._replay(records)
        return [each.error_message if each.error_code else len(each.matching_acls) for each in results]

    @property
    def names(self) -> list[str]:
        return sorted(record.resource_name for record in self.states.records(LATEST, ACLS))

    def _new_id(self) -> bytes:
        return next(self._ids).to_bytes(16, "big")

    def _replay(self, records: list[Any]) -> None:
        for record in records:
            self.states.replay(next(self._offsets), record.key)


def changed(**fields: Any) -> AclCreation:
    return AclCreation(**({name: getattr(ALICE, name) for name in ALICE.__struct_fields__} | fields))


def test_an_entry_is_created_once() -> None:
    """The second time is no error."""
    entries = Entries()

    assert entries.create(ALICE, ALICE) == [(0, ""), (0, "")]
    assert entries.create(ALICE, changed(resource_name="others")) == [(0, ""), (0, "")]
    assert entries.names == ["orders", "others"]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"resource_type": 4}, "The only valid name for the CLUSTER resource is kafka-cluster"),
        ({"resource_name": ""}, "Invalid empty resource name"),
        ({"resource_type": 1}, "Invalid resourceType ANY"),
        ({"resource_type": 99}, "Invalid resourceType UNKNOWN"),
        ({"resource_pattern_type": 2}, "Invalid patternType MATCH"),
        ({"operation": 1}, "Invalid operation ANY"),
        ({"operation": 99}, "Invalid operation UNKNOWN"),
        ({"permission_type": 1}, "Invalid permissionType ANY"),
        (
            {"principal": "alice"},
            "Could not parse principal from `alice` (no colon is present separating the principal type from the principal name)",
        ),
    ],
)
def test_an_entry_that_can_have_no_effect_is_refused_alone(fields: dict[str, Any], problem: str) -> None:
    entries = Entries()

    assert entries.create(changed(**fields), ALICE) == [(ErrorCode.INVALID_REQUEST, problem), (0, "")]
    assert entries.names == ["orders"]


def test_no_more_entries_than_a_property_allows() -> None:
    """Those that exist are none that are added."""
    entries = Entries()
    others = [changed(resource_name=f"t{number}") for number in range(3)]

    refused = (ErrorCode.POLICY_VIOLATION, "there are as many ACLs as acls.max=2 allows")
    assert entries.create(*others, others[0], most=2) == [(0, ""), (0, ""), refused, (0, "")]
    assert entries.names == ["t0", "t1"]


def test_filters_remove_what_they_select() -> None:
    """An entry that two filters select is a result of both, and goes once."""
    entries = Entries()
    entries.create(*[changed(resource_name=name) for name in ("orders", "others", "rest")])
    one = DeleteAclsFilter(2, "orders", 3, "User:alice", "*", 3, 3)

    assert entries.remove(one, DeleteAclsFilter(2, "orders", 1, None, None, 1, 1), one) == [1, 1, 1]
    assert entries.names == ["others", "rest"]
    assert entries.remove(one) == [0]
    assert entries.remove(DeleteAclsFilter(9, None, 1, None, None, 1, 1)) == ["Unknown patternFilter."]
    assert entries.remove(DeleteAclsFilter(1, None, 1, None, None, 1, 1)) == [2]
    assert entries.names == []


def test_the_work_of_a_request_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """One filter is always compared with all; what is left is untouched."""
    monkeypatch.setattr(module, "MOST_COMPARED", 5)
    monkeypatch.setattr(module, "MOST_REMOVED", 2)
    entries = Entries()
    entries.create(*[changed(resource_name=f"t{number}") for number in range(3)])
    everything, nothing = DeleteAclsFilter(1, None, 1, None, None, 1, 1), DeleteAclsFilter(3, None, 1, None, None, 1, 1)

    too_many = "Cannot remove more than 2 acls in a single delete operation."
    assert entries.remove(everything) == [too_many]
    assert entries.remove(nothing, nothing) == [0, "the filters of the request select too widely together"]
    assert entries.names == ["t0", "t1", "t2"]


def test_entries_that_were_not_written_are_none() -> None:
    """The second index of entries, by what they say, is hard state, too."""
    registry = SnapshotRegistry()
    states = FamilyStates(registry, FAMILIES)
    _, records = plan_acls(CreateAclsRequest([ALICE]), states, lambda: b"i" * 16, 100)
    registry.snapshot(0)
    states.replay(0, records[0].key)
    existing = plan_acls(CreateAclsRequest([ALICE]), states, lambda: b"j" * 16, 100)
    registry.revert_to(0)

    assert existing[1] == []
    assert len(plan_acls(CreateAclsRequest([ALICE]), states, lambda: b"j" * 16, 100)[1]) == 1
