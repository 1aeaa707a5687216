"""The table of group types: every record of the log belongs to one row, every row answers everything,
and the answers rest on the row.
"""

from __future__ import annotations

import re
import tomllib
from itertools import chain

import pytest

from coordinator_server.group.group_type import GroupType
from coordinator_server.group.shard import GroupShard
from coordinator_server.group.types import CLASSIC, GROUP_TYPES
from coordinator_server.machine.errors import CoordinatorError
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages import streams_group_records as streams
from protocol.messages.group_records import LegacyOffsetCommitKey, OffsetCommitKey
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.support.group import GroupLog
from tests.support.server import ROOT

OF_ALL_TYPES = {LegacyOffsetCommitKey, OffsetCommitKey}
ENTRIES = sorted(name for name in vars(GroupType) if name == "__contains__" or not name.startswith("_"))


def types() -> dict[str, GroupType]:
    return GroupLog().shard.groups.types


def test_every_record_type_belongs_to_one_row() -> None:
    """But for offsets, which groups of all types have.

    A new one in the codec has to be given a row, or replay would not know where to put it.
    """
    claimed = list(chain.from_iterable(each.replay for each in types().values()))

    assert len(claimed) == len(set(claimed))
    assert {key for key, _ in GROUP_SERDE.types.values()} == OF_ALL_TYPES | set(claimed)
    assert set(claimed).isdisjoint(OF_ALL_TYPES)


def test_replay_asks_the_row_that_a_record_type_belongs_to() -> None:
    """A record of each type leaves a trace in that row's tables, and in no other's."""
    for key_type, value_type in GROUP_SERDE.types.values():
        if key_type in OF_ALL_TYPES:
            continue
        log = GroupLog()
        log.shard.replay(0, CoordinatorRecord(key_type("g"), value_type(), value_type.kafka.versions.high))

        [owner] = [each for each in log.shard.groups.types.values() if key_type in each.replay]
        assert [each for each in log.shard.groups.types.values() if "g" in each] == [owner]
        assert log.shard.groups.type_of("g") is owner
        assert [table for table in owner.tables if "g" not in table] == []
        assert owner.tables


def test_a_record_of_every_type_counts_in_the_digest() -> None:
    """Or two states that differ in it alone would have one digest."""
    for key_type, value_type in GROUP_SERDE.types.values():
        log = GroupLog()
        log.shard.replay(0, CoordinatorRecord(key_type("g"), value_type(), value_type.kafka.versions.high))
        found = log.shard.digest(1, 10)

        assert found is not None
        assert list(found.parts) == ["g"], key_type


@pytest.mark.parametrize("name", GROUP_TYPES)
@pytest.mark.parametrize("entry", ENTRIES)
def test_every_row_has_every_entry(name: str, entry: str) -> None:
    """The contract itself is inherited by none, so no entry can be forgotten."""
    group_type = types()[name]

    assert GroupType not in type(group_type).__mro__
    assert hasattr(group_type, entry)
    assert group_type.name == name


def test_the_import_contract_names_the_module_of_every_row() -> None:
    """It would let a type that it does not name import the others."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [siblings] = [layer for contract in contracts for layer in contract.get("layers", ()) if ".group.classic |" in layer]
    modules = {type(row).__module__.split(".")[2] for row in types().values()}

    assert modules <= set(re.findall(r"\.group\.(\w+)", siblings))


def test_a_row_is_named_as_list_groups_has_it() -> None:
    """In lower case: that is how a filter is compared."""
    assert all(name == name.lower() for name in GROUP_TYPES)
    assert next(iter(GROUP_TYPES)) == CLASSIC


def commit_error(group_type: GroupType, generation_id: int, member_id: str, *, is_transactional: bool) -> ErrorCode:
    try:
        group_type.admit_commit(OffsetCommitRequest("g", generation_id, member_id), 9, is_transactional=is_transactional)
    except CoordinatorError as refused:
        return refused.error
    return ErrorCode.NONE


NONE, UNKNOWN, ILLEGAL = ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION


def test_a_commit_of_a_transaction_may_name_no_member() -> None:
    """Producers of before KIP-447 do not; one that is named has to be right. The group's phase does not matter to them."""
    log = GroupLog()
    group_type = log.shard.groups.types[CLASSIC]
    protocols = [JoinGroupRequestProtocol("range", b"x")]
    join = JoinGroupRequest("g", 10_000, 30_000, protocol_type="consumer", protocols=protocols)
    answers: list[str] = []
    log.run(GroupShard.join_group, join, version=3, on_answer=lambda reply: answers.append(reply.response.member_id))
    log.advance(1)
    [member] = answers
    asked = [(-1, ""), (1, member), (2, member), (1, "other"), (-1, member)]

    def errors(*, is_transactional: bool) -> list[ErrorCode]:
        return [commit_error(group_type, *each, is_transactional=is_transactional) for each in asked]

    assert errors(is_transactional=True) == [NONE, NONE, ILLEGAL, UNKNOWN, ILLEGAL]
    assert errors(is_transactional=False) == [UNKNOWN, ErrorCode.REBALANCE_IN_PROGRESS, ILLEGAL, UNKNOWN, ILLEGAL]
    sync = SyncGroupRequest("g", 1, member, assignments=[SyncGroupRequestAssignment(member, b"a")])
    log.run(GroupShard.sync_group, sync, version=3)
    assert errors(is_transactional=False) == [UNKNOWN, NONE, ILLEGAL, UNKNOWN, ILLEGAL]


def test_a_commit_of_a_transaction_to_no_group() -> None:
    """It makes a simple group, unless it speaks for a generation: no version of its API knows that a group may be missing."""
    group_type = types()[CLASSIC]

    assert commit_error(group_type, -1, "", is_transactional=True) == NONE
    assert commit_error(group_type, 1, "m", is_transactional=True) == ILLEGAL
    assert commit_error(group_type, 1, "m", is_transactional=False) == ErrorCode.GROUP_ID_NOT_FOUND


def test_a_commit_of_a_transaction_to_a_streams_group() -> None:
    """It is accepted without a member."""
    log = GroupLog()
    log.shard.replay(
        0, CoordinatorRecord(streams.StreamsGroupMemberMetadataKey("g", "m"), streams.StreamsGroupMemberMetadataValue())
    )
    group_type = log.shard.groups.type_of("g")

    assert commit_error(group_type, -1, "", is_transactional=True) == NONE
    assert commit_error(group_type, -1, "", is_transactional=False) == UNKNOWN
    assert commit_error(group_type, 1, "n", is_transactional=True) == UNKNOWN
