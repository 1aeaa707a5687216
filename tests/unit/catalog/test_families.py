"""Users, ACLs and quotas: the last record of each key counts, in the state, the digest and what people see."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from coordinator_server.catalog.acls import ACLS
from coordinator_server.catalog.client_quotas import CLIENT_QUOTAS
from coordinator_server.catalog.families import FAMILIES
from coordinator_server.catalog.family import RecordFamily
from coordinator_server.catalog.scram_users import SCRAM_USERS
from coordinator_server.machine.timeline import LATEST
from coordinator_server.pipeline.states.catalog import CatalogState
from protocol.coordinator_records import CoordinatorRecord
from protocol.fields import Message
from protocol.messages.cluster_metadata import (
    AccessControlEntryRecord,
    ClientQuotaRecord,
    EntityData,
    RemoveAccessControlEntryRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from tests.support.catalog import Catalog

SECRET = b"not for people's eyes"
BOTH = [EntityData("user", "alice"), EntityData("client-id", None)]


class Case(NamedTuple):
    """Two records of one key, one of a different key, and the removal of the first."""

    family: RecordFamily
    first: Message
    second: Message
    other: Message
    removal: Message


CASES = (
    Case(
        SCRAM_USERS,
        UserScramCredentialRecord("alice", 1, SECRET, SECRET, SECRET, 4096),
        UserScramCredentialRecord("alice", 1, SECRET, b"stored", SECRET, 8192),
        UserScramCredentialRecord("alice", 2, SECRET, SECRET, SECRET, 4096),
        RemoveUserScramCredentialRecord("alice", 1),
    ),
    Case(
        ACLS,
        AccessControlEntryRecord(b"a" * 16, 2, "orders", 3, "User:alice", "*", 3, 3),
        AccessControlEntryRecord(b"a" * 16, 2, "orders", 4, "User:alice", "*", 3, 3),
        AccessControlEntryRecord(b"b" * 16, 2, "orders", 3, "User:alice", "*", 3, 3),
        RemoveAccessControlEntryRecord(b"a" * 16),
    ),
    Case(
        CLIENT_QUOTAS,
        ClientQuotaRecord(BOTH, "request_percentage", 10.0),
        ClientQuotaRecord(BOTH[::-1], "request_percentage", 20.0),
        ClientQuotaRecord(BOTH[:1], "request_percentage", 10.0),
        ClientQuotaRecord(BOTH, "request_percentage", 0.0, remove=True),
    ),
)
every_family = pytest.mark.parametrize("case", CASES, ids=[case.family.name for case in CASES])


def replay(catalog: Catalog, *messages: Message) -> None:
    for message in messages:
        catalog.shard.replay(len(catalog.records), CoordinatorRecord(message, None))
        catalog.records.append(CoordinatorRecord(message, None))


def test_every_family_is_tried_here() -> None:
    assert tuple(case.family for case in CASES) == FAMILIES


@every_family
def test_the_last_record_of_a_key_counts(case: Case) -> None:
    """And a removal of what is not there is nothing."""
    catalog = Catalog()
    found = []
    for message in (case.removal, case.first, case.other, case.second, case.removal):
        replay(catalog, message)
        found.append(list(catalog.shard.records(LATEST, case.family)))

    assert found == [[], [case.first], [case.first, case.other], [case.second, case.other], [case.other]]


@every_family
def test_what_is_not_durable_is_not_read(case: Case) -> None:
    """Nor left, once it is reverted; the version says when something changed."""
    catalog = Catalog()
    replay(catalog, case.first)
    [key] = [case.family.stated[type(case.first)](case.first).key]
    catalog.registry.snapshot(1)
    replay(catalog, case.removal, case.other)
    shard = catalog.shard

    assert shard.record(1, case.family, key) == case.first
    assert (shard.records(1, case.family), shard.changed_to(1, case.family)) == ([case.first], 1)
    assert (shard.record(LATEST, case.family, key), shard.changed_to(LATEST, case.family)) == (None, 3)
    catalog.registry.revert_to(1)
    assert (shard.records(LATEST, case.family), shard.changed_to(LATEST, case.family)) == ([case.first], 1)


@every_family
def test_the_digest_depends_on_what_holds_alone(case: Case) -> None:
    def digest(*messages: Message) -> str:
        catalog = Catalog()
        replay(catalog, *messages)
        return catalog.shard.digest(LATEST).digest

    assert digest(case.first, case.removal) == digest()
    assert digest(case.first, case.other, case.second) == digest(case.second, case.other) == digest(case.other, case.second)
    assert len({digest(), digest(case.first), digest(case.second), digest(case.other), digest(case.first, case.other)}) == 5


@every_family
def test_people_see_no_secret(case: Case) -> None:
    state = CatalogState()
    for offset, message in enumerate((case.first, case.other)):
        state.shard.replay(offset, CoordinatorRecord(message, None))
    shown = state.contents()

    assert sum(map(len, shown.values())) == 2
    assert not any(secret in str(shown) for secret in (SECRET.decode(), SECRET.hex(), str(SECRET)))
