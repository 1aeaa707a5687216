"""The digest of a shard's groups: equal when the state is, different when anything in it is,
and kept up from question to question.
"""

from __future__ import annotations

import hashlib
import random
import struct
from collections.abc import Callable

import pytest

from coordinator_server.group.digest import group_digest
from coordinator_server.group.registry import Groups
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.shard import Producer, TransactionResult
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.fields import Message
from protocol.messages.consumer_group_records import ConsumerGroupMetadataKey, ConsumerGroupMetadataValue
from protocol.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from tests.support.group import GroupLog
from tests.support.imported import IMPORTED, imported_bytes, imported_key, imported_value

ALL = 10**9


def offset(group_id: str, partition: int, committed: int | None, metadata: str = "") -> CoordinatorRecord:
    value = None if committed is None else OffsetCommitValue(committed, 3, metadata, 1000)
    return CoordinatorRecord(OffsetCommitKey(group_id, "t", partition), value, 4)


def group(group_id: str, generation: int | None, members: tuple[str, ...] = ()) -> CoordinatorRecord:
    value = None
    if generation is not None:
        mates = [MemberMetadata(name, None, name, "/h", 1, 2, b"s", b"a") for name in members]
        value = GroupMetadataValue("consumer", generation, "range", next(iter(members), None), 7, mates)
    return CoordinatorRecord(GroupMetadataKey(group_id), value, 3)


P, Q = Producer(7, 0), Producer(8, 0)


class Live:
    """A shard whose records become durable, or do not, as the runtime would have it."""

    def __init__(self) -> None:
        self.registry = SnapshotRegistry()
        self.shard: GroupShard = GroupLog().build(self.registry)
        self.end = self.high_watermark = 0
        self.log: list[CoordinatorRecord] = []

    def append(self, *records: CoordinatorRecord) -> None:
        self.registry.snapshot(self.end)
        for record in records:
            self.shard.replay(self.end, record)
            self.log.append(record)
            self.end += 1

    def commit(self) -> None:
        self.high_watermark = self.end
        self.registry.delete_up_to(self.end)

    def fail(self) -> None:
        self.registry.revert_to(self.high_watermark)
        self.end = self.high_watermark
        del self.log[self.end :]

    def digest(self) -> StateDigest:
        found = self.shard.digest(self.high_watermark, ALL)
        assert found is not None
        return found

    def replayed(self) -> StateDigest:
        """What the durable log comes to, from nothing."""
        return StateDigest(self.high_watermark, *digest_of(self.log[: self.high_watermark])[1:])


def digest_of(records: list[CoordinatorRecord]) -> StateDigest:
    shard = GroupLog().build(SnapshotRegistry())
    for place, record in enumerate(records):
        shard.replay(place, record)
    found = shard.digest(LATEST, ALL)
    assert found is not None
    return found


STATE = [group("g", 4, ("a", "b")), offset("g", 0, 10), offset("g", 1, 11, "note"), offset("h", 0, 12), group("i", 0)]


def test_a_digest_is_the_same_for_ever() -> None:
    """In every process and version of Python: who compares digests may not run what we run."""
    assert digest_of(STATE).digest == "6413f00c88e5642135c2145be8b5b8cb"
    assert digest_of([]).digest == "0" * 32


def test_an_item_by_hand() -> None:
    """As anybody else would work it out: key length, Kafka's key, Kafka's value at version 4, expiry."""
    key = b"\0\1" + b"\0\1h" + b"\0\1t" + b"\0\0\0\0"
    value = struct.pack(">qi", 12, 3) + b"\1" + struct.pack(">q", 1000) + b"\0" + struct.pack(">q", -1)

    found = digest_of(STATE).parts["h"]

    assert found == hashlib.blake2b(struct.pack(">I", len(key)) + key + value, digest_size=16).hexdigest()


def test_a_record_of_an_imported_group_by_hand() -> None:
    """Key length, Kafka's key, Kafka's value: epoch, and the tagged metadata hash."""
    key = b"\0\3" + b"\0\1g"
    value = struct.pack(">i", 5) + b"\1\0\x08" + struct.pack(">q", 77)

    found = digest_of([CoordinatorRecord(ConsumerGroupMetadataKey("g"), ConsumerGroupMetadataValue(5, 77))]).parts["g"]

    assert found == hashlib.blake2b(struct.pack(">I", len(key)) + key + value, digest_size=16).hexdigest()


@pytest.mark.parametrize("key_type", IMPORTED, ids=lambda key_type: key_type.__name__)
def test_every_record_of_an_imported_group_counts(key_type: type[Message]) -> None:
    """Its key and its value; when it is gone nothing is left, whatever other types say of a group of that name."""
    mine = CoordinatorRecord(imported_key(key_type, "g"), imported_value(key_type, 1))
    changed = CoordinatorRecord(mine.key, imported_value(key_type, 2))
    other = CoordinatorRecord(imported_key(key_type, "h"), imported_value(key_type, 1))
    rest = [
        group("g", 3),
        *(CoordinatorRecord(imported_key(key, "g"), imported_value(key, 0)) for key in IMPORTED if key is not key_type),
    ]

    assert len({digest_of(records).digest for records in ([], [mine], [changed], [other], [mine, other])}) == 5
    assert digest_of([*rest, mine, CoordinatorRecord(mine.key, None)])[1:] == digest_of(rest)[1:]
    assert digest_of([mine, *rest])[1:] == digest_of([*rest, mine])[1:]


@pytest.mark.parametrize("key_type", IMPORTED, ids=lambda key_type: key_type.__name__)
def test_the_group_digest_ignores_unknown_tagged_fields(key_type: type[Message]) -> None:
    """A later release may write tagged fields that this one passes over: what was decoded is what is hashed."""
    record = CoordinatorRecord(imported_key(key_type, "g"), imported_value(key_type, 1))
    read = GROUP_SERDE.decode(GROUP_SERDE.encode_key(record), imported_bytes(key_type, 1))

    assert read is not None
    assert digest_of([read]) == digest_of([record])


def test_a_change_of_an_imported_group_is_noticed() -> None:
    """Of one of its records alone, once it is durable, and not when it is taken back."""
    live = Live()
    records = [CoordinatorRecord(imported_key(key_type, "g"), imported_value(key_type, 1)) for key_type in IMPORTED]
    live.append(*records)
    live.commit()
    before = live.digest()
    for key_type, record in zip(IMPORTED, records, strict=True):
        live.append(CoordinatorRecord(record.key, imported_value(key_type, 2)))
        assert live.digest() == before
        live.fail()
        assert live.digest() == before
        live.append(CoordinatorRecord(record.key, imported_value(key_type, 3)))
        live.commit()
        after = live.digest()
        assert after.digest != before.digest
        assert after == live.replayed()
        before = after


def test_the_group_digest_does_not_depend_on_order() -> None:
    """Neither that of records nor that of groups, nor where in the log they stand."""
    shuffled = STATE[:]
    random.Random(1).shuffle(shuffled)

    assert digest_of([offset("g", 0, 1), group("x", 1), group("x", None), *shuffled])[1:] == digest_of(STATE)[1:]


@pytest.mark.parametrize(
    "other",
    [
        offset("g", 0, 11),
        offset("g", 0, 10, "other"),
        offset("g", 0, None),
        offset("g", 2, 10),
        offset("j", 0, 10),
        CoordinatorRecord(OffsetCommitKey("g", "t", 0), OffsetCommitValue(10, 4, "", 1000), 4),
        CoordinatorRecord(OffsetCommitKey("g", "t", 0), OffsetCommitValue(10, 3, "", 1001), 4),
        CoordinatorRecord(OffsetCommitKey("g", "t", 0), OffsetCommitValue(10, 3, "", 1000, topic_id=b"i" * 16), 4),
        CoordinatorRecord(OffsetCommitKey("g", "t", 0), OffsetCommitValue(10, 3, "", 1000, 5), 1),
        CoordinatorRecord(OffsetCommitKey("g", "u", 0), OffsetCommitValue(10, 3, "", 1000), 4),
        group("g", 5, ("a", "b")),
        group("g", 4, ("a",)),
        group("g", 4, ("b", "a")),
        group("g", None),
        group("i", 1),
        *(
            CoordinatorRecord(GroupMetadataKey("g"), GroupMetadataValue("consumer", 4, "range", "a", 7, members), 3)
            for members in (
                [MemberMetadata("a", None, "a", "/h", 1, 2, b"s", b"a"), MemberMetadata("b", None, "b", "/h", 1, 2, b"s", b"c")],
                [MemberMetadata("a", None, "a", "/h", 1, 2, b"s", b"a"), MemberMetadata("b", "i", "b", "/h", 1, 2, b"s", b"a")],
                [MemberMetadata("a", None, "a", "/h", 1, 2, b"s", b"a"), MemberMetadata("b", None, "b", "/x", 1, 2, b"s", b"a")],
            )
        ),
    ],
    ids=str,
)
def test_any_change_of_state_changes_it(other: CoordinatorRecord) -> None:
    """Offset, epoch, metadata, time, topic, expiry, generation, members, assignments; deletions."""
    before, after = digest_of(STATE), digest_of([*STATE, other])
    key = other.key
    assert isinstance(key, OffsetCommitKey | GroupMetadataKey)

    assert after.digest != before.digest
    changed = {name for name in before.parts.keys() | after.parts.keys() if before.parts.get(name) != after.parts.get(name)}
    assert changed == {key.group}


def test_a_shards_digest_is_the_sum_of_its_groups() -> None:
    """So a shard that differs leads to the group that does."""
    found = digest_of(STATE)

    assert int(found.digest, 16) == sum(int(digest, 16) for digest in found.parts.values()) % 2**128
    assert set(found.parts) == {"g", "h", "i"}


def test_records_of_the_oldest_clusters_come_to_the_same_state() -> None:
    """The digest is of state: how it was written does not count."""
    old = CoordinatorRecord(LegacyOffsetCommitKey("g", "t", 0), LegacyOffsetCommitValue(5, "m", 9))
    new = CoordinatorRecord(OffsetCommitKey("g", "t", 0), OffsetCommitValue(5, -1, "m", 9), 4)

    assert digest_of([old]) == digest_of([new])


def test_the_group_digest_has_only_durable_records() -> None:
    """Before it is, and when it never comes to be."""
    live = Live()
    live.append(*STATE)
    assert live.digest() == StateDigest(0, "0" * 32, {})
    live.commit()
    durable = live.digest()
    live.append(offset("g", 0, 99), offset("new", 0, 1), group("i", None), offset("h", 0, None))

    assert live.digest() == durable
    live.fail()
    assert live.digest() == durable == live.replayed()


def test_a_question_hashes_what_has_changed_since_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the groups that stayed as they were, however many there are."""
    live = Live()
    for number in range(50):
        live.append(offset(f"g{number}", 0, 1), group(f"g{number}", 1))
    live.commit()
    live.digest()
    hashed: list[str] = []

    def counted(groups: Groups, group_id: str, committed_offset: int) -> tuple[int, int]:
        hashed.append(group_id)
        return group_digest(groups, group_id, committed_offset)

    monkeypatch.setattr("coordinator_server.group.digest.group_digest", counted)
    live.append(offset("g7", 0, 2))
    live.commit()
    live.append(group("g8", 2), offset("new", 0, 1))
    live.append(offset("g9", 0, 2))
    live.fail()
    live.append(offset("g10", 0, None))
    live.commit()
    live.append(offset("g11", 0, 1))

    found = live.digest()
    assert sorted(hashed) == ["g10", "g7"]
    assert found == live.replayed()


def test_a_long_answer_is_worked_out_in_pieces() -> None:
    """Other work goes on between them, and the answer is of one moment all the same."""
    live = Live()
    for number in range(50):
        live.append(offset(f"g{number}", 0, 1))
    live.commit()
    pieces = 0
    while (found := live.shard.digest(live.high_watermark, 20)) is None:
        pieces += 1
        live.append(offset(f"g{pieces}", 0, 100 + pieces), offset(f"g{49 - pieces}", 0, None))
        live.commit()

    assert pieces > 3
    assert found == live.replayed()


def test_an_open_transaction_is_state_of_its_own() -> None:
    """Whose it is counts; once it is over, only what it left does, as if it had been committed without one."""
    live = Live()
    live.append(*STATE)
    live.commit()
    before = live.digest()

    def run(change: Callable[[], None]) -> StateDigest:
        live.registry.snapshot(live.end)
        change()
        live.end += 1
        live.commit()
        return live.digest()

    shard = live.shard
    opened = run(lambda: shard.replay_in_transaction(P, live.end, offset("g", 0, 77)))
    rewritten = run(lambda: shard.replay_in_transaction(P, live.end, offset("g", 0, 78)))
    of_two = run(lambda: shard.replay_in_transaction(Q, live.end, offset("new", 5, 78)))
    of_one = run(lambda: shard.replay_end_transaction_marker(Q, TransactionResult.ABORT))
    done = run(lambda: shard.replay_end_transaction_marker(P, TransactionResult.COMMIT))

    assert len({before.digest, opened.digest, rewritten.digest, of_two.digest}) == 4
    assert set(of_two.parts) == {*before.parts, "new"}
    assert of_one[1:] == rewritten[1:]
    assert done[1:] == digest_of([*STATE, offset("g", 0, 78)])[1:]
