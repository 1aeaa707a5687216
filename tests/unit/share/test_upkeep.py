"""What a shard does unasked: states of deleted topics go, and cold states get snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.machine.timeline import LATEST
from coordinator_server.share import passes
from coordinator_server.share.state_batches import StateBatch
from protocol.error_codes import ErrorCode
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue
from protocol.share_partition_names import SharePartitionKey
from tests.support.share_shard import CONTEXT, KEY, TOPIC_ID, ShareSite

OTHER_ID = b"fedcba9876543210"
INTERVAL_MS = 60_000
NOT_USED: Any = None


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> ShareSite:
    """Two topics with three partitions each, and a state for each. A step visits two."""
    monkeypatch.setattr(passes, "NAMES_PER_STEP", 2)
    site = ShareSite(cold_after_ms=INTERVAL_MS)
    site.topics.counts[OTHER_ID] = 3
    for topic_id in (TOPIC_ID, OTHER_ID):
        for partition in range(3):
            site.initialize(key=SharePartitionKey("g", topic_id, partition))
    site.log.clear()
    return site


def finish(site: ShareSite, key: str) -> int:
    """Run a pass to its end: its steps are a moment apart. Return their number."""
    steps = 0
    while site.timers.armed.get(("pass", key), (1 << 31, NOT_USED))[0] <= passes.STEP_INTERVAL_MS:
        site.fire(key)
        steps += 1
    return steps


def topics_of(site: ShareSite) -> Sequence[bytes]:
    return sorted({key.topic_id for key, _ in site.shard.share_partitions(LATEST)})


def test_the_states_of_a_deleted_topic_go(site: ShareSite) -> None:
    """In steps: the first at once."""
    del site.topics.counts[OTHER_ID]
    site.take(site.shard.delete_topics(CONTEXT, [DeletedTopic("other", OTHER_ID)], NOT_USED))
    assert finish(site, "topic-deleted") >= 2

    assert topics_of(site) == [TOPIC_ID]
    assert [record.value for record in site.log] == [None] * 3
    assert site.timers.armed == {}


def test_what_could_not_be_written_is_tried_again(site: ShareSite) -> None:
    """From the beginning, after a second."""
    del site.topics.counts[OTHER_ID], site.topics.counts[TOPIC_ID]
    result = site.shard.delete_topics(CONTEXT, [DeletedTopic("other", OTHER_ID)], NOT_USED)
    assert result.on_append is not None
    result.on_append(ErrorCode.KAFKA_STORAGE_ERROR)

    assert site.timers.armed["pass", "topic-deleted"][0] == passes.RETRY_MS
    site.fire("topic-deleted")
    finish(site, "topic-deleted")
    assert topics_of(site) == []


@pytest.mark.parametrize("lacks", ["is_current", "has_all"])
def test_after_a_load_topics_that_do_not_exist_are_looked_for(site: ShareSite, lacks: str) -> None:
    """Not before it is known which exist: a former owner of the shard may have known of a topic that comes late here."""
    del site.topics.counts[OTHER_ID]
    setattr(site.topics, lacks, False)
    site.shard.on_loaded()
    site.fire("topic-deleted")
    finish(site, "topic-deleted")
    # The deletion of another topic begins a pass at once.
    site.take(site.shard.delete_topics(CONTEXT, [DeletedTopic("more", b"m" * 16)], NOT_USED))
    finish(site, "topic-deleted")
    assert len(topics_of(site)) == 2

    setattr(site.topics, lacks, True)
    site.fire("topic-deleted")
    finish(site, "topic-deleted")
    assert topics_of(site) == [TOPIC_ID]


def test_after_a_load_a_topic_that_is_known_may_be_one_that_was_deleted(site: ShareSite) -> None:
    """A loop that has just started reads the catalog from its beginning, and is not told what it says before its end."""
    site.topics.is_current = False
    site.shard.on_loaded()
    site.fire("topic-deleted")
    finish(site, "topic-deleted")

    del site.topics.counts[OTHER_ID]
    site.topics.is_current = True
    site.fire("topic-deleted")
    finish(site, "topic-deleted")
    assert topics_of(site) == [TOPIC_ID]


def test_cold_states_get_a_snapshot(site: ShareSite) -> None:
    """With a new epoch and time; the time of creation stays, and the state. Not those that were written as a snapshot lately."""
    site.shard.on_loaded()
    site.write(StateBatch(0, 4, 1, 0))
    began = site.clock.wall_ms()
    site.clock.advance(INTERVAL_MS - 1)
    young = SharePartitionKey("g", OTHER_ID, 2)
    site.initialize(key=young)
    site.clock.advance(1)
    site.log.clear()

    cold(site)

    assert len(site.log) == 5
    assert ShareSnapshotKey(*young) not in [record.key for record in site.log]
    [value] = [record.value for record in site.log if record.key == ShareSnapshotKey(*KEY)]
    assert isinstance(value, ShareSnapshotValue)
    assert (value.snapshot_epoch, value.create_timestamp, value.write_timestamp) == (1, began, began + INTERVAL_MS)
    assert len(value.state_batches) == 1


def test_a_shard_whose_states_are_all_cold_writes_nothing(site: ShareSite) -> None:
    """Until one of them is written as a snapshot again. Then all cold ones follow, again and again."""
    site.shard.on_loaded()
    site.clock.advance(INTERVAL_MS)
    cold(site)
    assert len(site.log) == 6
    site.clock.advance(INTERVAL_MS)
    cold(site)
    assert len(site.log) == 6

    site.initialize()
    cold(site)
    assert len(site.log) == 7 + 5


def test_a_shard_that_was_loaded_with_cold_states_writes_nothing(site: ShareSite) -> None:
    """A start is no reason to write them again."""
    site.shard.on_loaded()
    site.clock.advance(INTERVAL_MS)
    cold(site)
    site.clock.advance(INTERVAL_MS)
    written = len(site.log)

    site.load()
    site.shard.on_loaded()
    cold(site)

    assert len(site.log) == written


def cold(site: ShareSite) -> None:
    """An interval has passed: what is due runs, and the next interval begins."""
    site.fire("search-active")
    finish(site, "search-active")
    finish(site, "cold-partition")
    assert site.timers.armed["pass", "search-active"][0] == INTERVAL_MS
