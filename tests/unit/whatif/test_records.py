"""Which records of a batch are about members: of one group, or of all."""

from __future__ import annotations

import pytest

from coordinator_server.whatif.records import member_records
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.fields import Message
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue
from protocol.record_batch import Record, read_header
from tests.support.segments import Batch, encode

COMMIT = OffsetCommitValue(7, -1, "", 1, -1)
GENERATION = GroupMetadataValue("consumer", 1, "range", "m", -1, [])


def record(offset: int, key: Message, value: Message) -> Record:
    made = CoordinatorRecord(key, value)
    return Record(offset, 1, GROUP_SERDE.encode_key(made), GROUP_SERDE.encode_value(made))


@pytest.mark.parametrize(("group_id", "offsets"), [(None, [1, 2, 4]), ("a", [2, 4]), ("c", [])])
def test_commits_and_other_groups_are_passed_over(group_id: str | None, offsets: list[int]) -> None:
    """Wherever in the batch they are."""
    records = (
        record(0, OffsetCommitKey("a", "t", 0), COMMIT),
        record(1, GroupMetadataKey("b"), GENERATION),
        record(2, GroupMetadataKey("a"), GENERATION),
        record(3, OffsetCommitKey("a", "t", 1), COMMIT),
        record(4, GroupMetadataKey("a"), GENERATION),
    )
    data = encode(Batch(records))

    assert [each.offset for each in member_records(data, 0, read_header(data, 0), group_id)] == offsets
