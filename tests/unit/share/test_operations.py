"""The operations on one share partition: what they write, what they answer, and what they refuse."""

from __future__ import annotations

import pytest

from coordinator_server.share.requests import UNINITIALIZED, Summary
from coordinator_server.share.state_batches import StateBatch as B
from coordinator_server.share.write import MAX_BATCHES
from protocol.error_codes import ErrorCode
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue
from protocol.plain_share_states import Read
from protocol.share_partition_names import name_of
from tests.support.share_shard import CONTEXT, KEY, NO_REPLY, TOPIC_ID, ShareSite, refusal

INVALID, UNKNOWN = ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
FENCED_LEADER, FENCED_STATE = ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.FENCED_STATE_EPOCH


@pytest.fixture
def site() -> ShareSite:
    return ShareSite()


def test_a_state_begins_with_a_snapshot(site: ShareSite) -> None:
    """Its leader is not known; deliveries are counted from a start offset on."""
    began = site.clock.wall_ms()
    site.initialize(state_epoch=3, start_offset=-1)
    site.clock.advance(500)
    site.initialize(state_epoch=4, start_offset=7)

    first, second = (record.value for record in site.log)
    assert first == ShareSnapshotValue(0, 3, 0, -1, -1, began, began, [])
    assert second == ShareSnapshotValue(1, 4, 0, 7, 0, began + 500, began + 500, [])
    assert refusal(lambda: site.initialize(state_epoch=3)) is FENCED_STATE
    assert refusal(lambda: site.initialize(state_epoch=-1)) is ErrorCode.NONE


def test_a_write_is_an_update(site: ShareSite) -> None:
    """It has what was written, combined; and the epochs of the state, not those of the request."""
    site.initialize(start_offset=5)
    site.write(B(8, 9, 1, 0), B(5, 9, 1, 0), state_epoch=9, leader_epoch=9, complete=2)

    record = site.log[1]
    assert isinstance(record.key, ShareUpdateKey)
    assert isinstance(record.value, ShareUpdateValue)
    assert (record.value.snapshot_epoch, record.value.leader_epoch, record.value.start_offset) == (0, 0, -1)
    assert [(each.first_offset, each.last_offset) for each in record.value.state_batches] == [(5, 9)]
    assert site.state is not None
    assert (site.state.leader_epoch, site.state.state_epoch, site.state.delivery_complete_count) == (0, 0, 2)
    assert (site.state.highest_leader_epoch, site.state.highest_state_epoch) == (0, 0)


def test_a_repeated_read_gets_the_same_answer_while_the_state_is_durable_and_the_same(site: ShareSite) -> None:
    """Not if a write is on its way, or has come, or the topic is gone."""
    site.registry.snapshot(0)
    site.initialize()
    again = site.shard.read_state(CONTEXT, Read(name_of(KEY), 0), NO_REPLY).again
    assert again is not None

    assert not again(0)
    site.registry.delete_up_to(1)
    assert again(1)
    site.registry.snapshot(1)
    site.write(B(0, 4, 1, 2))
    assert (again(1), again(2)) == (False, False)
    site.registry.revert_to(1)
    assert again(1)
    site.topics.counts.clear()
    assert refusal(lambda: again(1)) is UNKNOWN


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_a_snapshot_follows_so_many_updates(limit: int) -> None:
    """It has the whole state, and begins a new count. A new state does not: the count goes on."""
    site = ShareSite(limit)
    site.initialize()
    for offset in range(3 * (limit + 1)):
        site.write(B(offset, offset, 1, 2))

    kinds = [isinstance(record.key, ShareSnapshotKey) for record in site.log[1:]]
    assert kinds == [*[False] * limit, True] * 3
    last = site.log[-1].value
    assert isinstance(last, ShareSnapshotValue)
    assert (last.snapshot_epoch, len(last.state_batches), last.create_timestamp) == (3, 1, site.clock.wall_ms())
    if limit == 3:
        site.write()
        site.initialize()
        site.write()
        site.write()
        site.write()
        assert isinstance(site.log[-1].key, ShareSnapshotKey)


def test_a_start_offset_moves_both_ways(site: ShareSite) -> None:
    """What lies below goes. A batch that reaches beyond keeps its delivery count. Without an offset it stays."""
    site.initialize(start_offset=0)
    site.write(B(0, 9, 3, 0))
    site.write(start_offset=4)
    assert site.read().state_batches == (B(4, 9, 3, 0),)
    site.write(B(2, 3, 1, 0), start_offset=2)
    site.write(start_offset=-1)

    assert site.read().start_offset == 2
    assert site.read().state_batches == (B(2, 3, 1, 0), B(4, 9, 3, 0))


def test_a_newer_leader_is_written_by_its_first_read(site: ShareSite) -> None:
    """It fences the older ones. Its answer is the state before; a summary raises nothing."""
    site.initialize(start_offset=1)
    site.write(B(1, 2, 1, 0), complete=4)

    assert site.read(7).leader_epoch == 0
    assert [site.read(7).leader_epoch, site.read(-1).leader_epoch, len(site.log)] == [7, 7, 3]
    assert site.state is not None
    assert (site.state.state_batches, site.state.delivery_complete_count) == ((B(1, 2, 1, 0),), 4)
    assert [refusal(lambda: site.read(6)), refusal(lambda: site.write(leader_epoch=6))] == [FENCED_LEADER] * 2
    site.write(leader_epoch=-1)
    assert site.summarize() == Summary(0, 7, 1, -1)
    assert len(site.log) == 4


def test_an_older_state_epoch_is_fenced(site: ShareSite) -> None:
    site.initialize(state_epoch=3)

    assert refusal(lambda: site.write(state_epoch=2)) is FENCED_STATE
    site.write(state_epoch=-1)
    site.write(state_epoch=4)
    site.write(state_epoch=3)


def test_a_share_partition_without_a_state(site: ShareSite) -> None:
    """Its summary is no error, nor is its deletion."""
    assert [refusal(site.read), refusal(site.write)] == [INVALID] * 2
    assert site.summarize() == UNINITIALIZED == (0, 0, -1, -1)
    site.delete()
    assert site.log == []
    site.initialize()
    site.delete()
    assert (site.log[-1].key, site.log[-1].value, site.state) == (ShareSnapshotKey(*KEY), None, None)


def test_a_topic_or_partition_that_does_not_exist(site: ShareSite) -> None:
    """A read or a write looks for the state first, the others for the topic."""
    other = KEY._replace(partition=3)
    site.initialize(key=KEY._replace(partition=2))
    for key in (other, KEY._replace(topic_id=b"x" * 16)):
        refused = [refusal(lambda: site.read(key=key)), refusal(lambda: site.write(key=key))]  # noqa: B023 - run at once
        assert refused == [INVALID] * 2
        for operation in (site.initialize, site.summarize, site.delete):
            assert refusal(lambda: operation(key=key)) is UNKNOWN  # noqa: B023
    site.topics.counts = {}
    known = KEY._replace(partition=2)
    assert [refusal(lambda: site.read(key=known)), refusal(lambda: site.write(key=known))] == [UNKNOWN] * 2


@pytest.mark.parametrize("lacks", ["is_current", "has_all"])
def test_a_topic_or_partition_that_may_be_unknown_here_only(site: ShareSite, lacks: str) -> None:
    """A former owner of the shard may have known it, and have written its state."""
    site.initialize()
    site.topics.counts = {TOPIC_ID: 0}
    setattr(site.topics, lacks, False)
    site.load()
    site.shard.on_loaded()
    for operation in (site.initialize, site.read, site.write, site.summarize, site.delete):
        assert refusal(operation) is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    setattr(site.topics, lacks, True)
    assert refusal(site.read) is UNKNOWN
    site.topics.counts = {TOPIC_ID: 1}
    assert refusal(site.read) is ErrorCode.NONE


def test_a_negative_partition_is_refused(site: ShareSite) -> None:
    key = KEY._replace(partition=-1)
    for operation in (site.initialize, site.summarize, site.delete, site.read, site.write):
        assert refusal(lambda: operation(key=key)) is INVALID  # noqa: B023 - run at once


def test_a_write_has_so_many_batches(site: ShareSite) -> None:
    """As many as a leader may have records in flight; a state has at most twice as many."""
    site.initialize()
    many = [B(2 * offset, 2 * offset, 1, 0) for offset in range(MAX_BATCHES + 1)]

    assert refusal(lambda: site.write(*many)) is INVALID
    site.write(*many[1:])
    site.write(*[B(2 * MAX_BATCHES + each.first_offset + 2, 2 * MAX_BATCHES + each.first_offset + 2, 1, 0) for each in many[1:]])
    assert refusal(lambda: site.write(B(0, 0, 1, 0))) is INVALID
    site.write(B(0, 0, 1, 0), start_offset=10)
    assert KEY.topic_id == TOPIC_ID


@pytest.mark.interpreted  # A compiled constant is no variable.
def test_a_state_above_the_limit_of_batches_may_change_and_not_grow(site: ShareSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import may have brought it."""
    site.initialize()
    site.write(B(0, 0, 1, 0), B(2, 2, 1, 0), B(4, 4, 1, 0))
    monkeypatch.setattr("coordinator_server.share.write.MAX_STORED_BATCHES", 2)

    assert refusal(lambda: site.write(B(6, 6, 1, 0))) is INVALID
    assert refusal(lambda: site.write(B(4, 4, 2, 1))) is ErrorCode.NONE
    assert site.state is not None
    assert list(site.state.state_batches) == [B(0, 0, 1, 0), B(2, 2, 1, 0), B(4, 4, 2, 1)]
