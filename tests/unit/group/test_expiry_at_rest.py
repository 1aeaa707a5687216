"""Offsets expire in groups that rest in a checkpoint, too, and are not read before they can."""

from __future__ import annotations

from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue
from tests.support.configs import config_with
from tests.support.group import GroupLog
from tests.support.resting import MemoryCheckpoint, Records

HOUR_MS = 3_600_000
CHECK_MS = 600_000


def resting(log: GroupLog, records: Records) -> MemoryCheckpoint:
    """A shard that rests on what the records come to, just loaded."""
    checkpoint = MemoryCheckpoint(records, set())
    log.shard = log.build(log.registry)
    assert log.shard.use_checkpoint(checkpoint)
    log.shard.on_loaded()
    return checkpoint


def commit(group: str, age_ms: int, log: GroupLog, expire_ms: int = -1) -> tuple[OffsetCommitKey, OffsetCommitValue]:
    now_ms = log.clock.wall_ms()
    expire_ms = expire_ms if expire_ms == -1 else now_ms + expire_ms
    return OffsetCommitKey(group, "t", 0), OffsetCommitValue(7, -1, "", now_ms - age_ms, expire_ms)


def test_a_group_is_read_when_its_first_offset_may_expire() -> None:
    """By age, or by an expiry of its own; when it is due, it goes."""
    log = GroupLog(config_with(offsets_retention_minutes=120))
    rows = [commit("young", 0, log), commit("old", HOUR_MS, log), commit("own", 0, log, HOUR_MS // 2)]
    checkpoint = resting(log, [(offset, key, value) for offset, (key, value) in enumerate(rows)])

    log.advance(2 * CHECK_MS)
    assert checkpoint.read == []
    log.advance(HOUR_MS // 2)
    assert set(checkpoint.read) == {"own"}
    assert set(log.hard_state()) == {"young", "old"}
    log.advance(HOUR_MS)
    assert set(log.hard_state()) == {"young"}
    log.advance(HOUR_MS)
    assert log.hard_state() == {}


def test_a_group_that_was_described_is_still_at_rest() -> None:
    """A description of all groups leaves nothing in memory, and the next passes skip them as before."""
    log = GroupLog(config_with(offsets_retention_minutes=120))
    checkpoint = resting(log, [(0, *commit("young", 0, log))])

    assert log.shard.describe_group(0, "young").group_state == "Empty"
    log.advance(2 * CHECK_MS)

    assert checkpoint.read == []


def test_a_retention_that_is_changed_counts_for_all_groups() -> None:
    """Also for those that were known to be too young, and in both directions."""
    log = GroupLog(config_with(offsets_retention_minutes=120))
    rows = [commit("old", HOUR_MS, log), commit("young", 0, log)]
    resting(log, [(offset, key, value) for offset, (key, value) in enumerate(rows)])
    log.advance(CHECK_MS)
    assert set(log.hard_state()) == {"old", "young"}

    log.config.live.adopt(config_with(offsets_retention_minutes=60).live)
    log.advance(CHECK_MS)
    assert set(log.hard_state()) == {"young"}

    log.config.live.adopt(config_with(offsets_retention_minutes=180).live)
    log.advance(2 * HOUR_MS)
    assert set(log.hard_state()) == {"young"}
    log.advance(HOUR_MS)
    assert log.hard_state() == {}


def test_what_the_index_says_is_not_all_of_a_group_that_has_more() -> None:
    """A newer commit with an early expiry of its own; a group that became empty long ago."""
    log = GroupLog(config_with(offsets_retention_minutes=120))
    rows = [commit("over", 0, log), commit("empty", 0, log)]
    resting(log, [(offset, key, value) for offset, (key, value) in enumerate(rows)])
    key, value = commit("over", 0, log, 1000)
    log.shard.groups.offsets.replay(8, key, value)
    metadata = GroupMetadataValue("consumer", 3, None, None, log.clock.wall_ms() - 3 * HOUR_MS, [])
    log.shard.groups.classic.replay(9, GroupMetadataKey("empty"), metadata)

    log.advance(CHECK_MS)

    assert log.hard_state() == {}
