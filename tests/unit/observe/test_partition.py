"""What the answers of a leader mean for a partition (KIP-320, KIP-595)."""

from __future__ import annotations

from coordinator_server.log.shards import ShardId
from coordinator_server.observe.facts import ShardFacts
from coordinator_server.observe.partition import Batches, Cut, Denied, Find, Followed, Moved, Nothing, Step
from protocol.error_codes import ErrorCode
from protocol.messages.fetch import EpochEndOffset, PartitionData
from tests.support.log import batch
from tests.support.observed import in_epoch

SHARD = ShardId("__consumer_offsets", 7)


def followed() -> Followed:
    found = Followed(SHARD, ShardFacts())
    found.lead(1, 5)
    return found


def answered(partition: Followed, records: bytes = b"", high_watermark: int = 100, **more: object) -> Step:
    data = PartitionData(7, high_watermark=high_watermark, records=records, **more)  # type: ignore[arg-type]
    return partition.take(partition.asked(), data, is_whole=True)


def append(partition: Followed, *batches: bytes) -> None:
    step = answered(partition, b"".join(batches))
    assert isinstance(step, Batches)
    partition.appended(step.dense)


def test_it_asks_for_what_comes_after_its_log_with_the_epoch_of_its_last_batch() -> None:
    partition = followed()
    assert (partition.asked().fetch_offset, partition.asked().last_fetched_epoch) == (0, -1)

    append(partition, in_epoch(batch(0), 2), in_epoch(batch(1), 4))

    asked = partition.asked()
    assert (asked.partition, asked.current_leader_epoch, asked.fetch_offset, asked.last_fetched_epoch) == (7, 5, 2, 4)


def test_where_records_were_removed_no_epoch_is_known() -> None:
    """With any other one the leader would say that the logs have diverged."""
    partition = followed()
    append(partition, in_epoch(batch(0), 2))

    assert partition.found(earliest=50, latest=60)

    asked = partition.asked()
    assert (asked.fetch_offset, asked.last_fetched_epoch) == (50, -1)
    append(partition, in_epoch(batch(50), 3))
    assert (partition.position, partition.facts.missing, partition.facts.missing_to) == (51, 49, 50)
    assert partition.asked().last_fetched_epoch == 3


def test_a_position_outside_of_the_leaders_log_is_looked_for() -> None:
    partition = followed()
    append(partition, in_epoch(batch(0, count=10), 2))

    assert answered(partition, error_code=ErrorCode.OFFSET_OUT_OF_RANGE) == Find()

    assert not partition.found(earliest=0, latest=5)
    assert not partition.found(earliest=0, latest=20), "the leader does not know the epoch of our last batch"


def test_a_leader_with_an_older_epoch_cuts_the_log() -> None:
    """To where its epoch ends, or to where a later one begins here: what comes first."""
    partition = followed()
    append(partition, in_epoch(batch(0, count=10), 2), in_epoch(batch(10, count=5), 3))

    at_its_end = answered(partition, diverging_epoch=EpochEndOffset(2, 8))
    at_ours = answered(partition, diverging_epoch=EpochEndOffset(2, 12))
    assert partition.asked().fetch_offset == 15

    assert isinstance(at_its_end, Cut)
    assert isinstance(at_ours, Cut)
    assert (at_its_end.from_offset, at_ours.from_offset) == (8, 10)


def doubting() -> Followed:
    """Its leader has no epoch 3, in a log that goes beyond our position."""
    partition = followed()
    append(partition, in_epoch(batch(0, count=10), 2), in_epoch(batch(10, count=5), 3))
    assert answered(partition, diverging_epoch=EpochEndOffset(2, 40)) == Nothing()
    return partition


def test_an_epoch_that_the_leader_does_not_know_is_doubted() -> None:
    """Where ours begins the leader is asked for records. If it has some there, they are other ones than ours."""
    partition = doubting()
    assert (partition.asked().fetch_offset, partition.asked().last_fetched_epoch) == (10, -1)
    assert partition.is_behind

    assert answered(partition, batch(10)[:-1]) == Nothing()
    assert partition.is_starved
    step = answered(partition, in_epoch(batch(10), 2) + in_epoch(batch(11, count=29), 2))

    assert isinstance(step, Cut)
    assert step.from_offset == 10


def test_records_that_were_cleaned_away_before_the_leader_copied_its_log_are_not_lost() -> None:
    """It has nothing between where our epoch begins and our position."""
    for records in (in_epoch(batch(40), 5), b""):
        partition = doubting()

        assert answered(partition, records) == Nothing()

        assert (partition.asked().fetch_offset, partition.asked().last_fetched_epoch) == (15, -1)
        append(partition, in_epoch(batch(40), 5))
        assert partition.asked().last_fetched_epoch == 5


def test_a_doubt_is_about_one_leader_and_waits_for_its_high_watermark() -> None:
    partition = doubting()

    assert answered(partition, high_watermark=12) == Nothing()
    assert partition.asked().fetch_offset == 10
    partition.lead(2, 6)

    assert (partition.asked().fetch_offset, partition.asked().last_fetched_epoch) == (15, 3)


def test_after_a_cut_it_goes_on_from_there() -> None:
    partition = followed()
    append(partition, in_epoch(batch(0, count=10), 2))

    facts = ShardFacts()
    partition.was_cut(facts)

    assert partition.asked().fetch_offset == 0
    assert partition.is_behind


def test_an_answer_to_an_earlier_position_is_nothing() -> None:
    """Somebody has cut the log meanwhile."""
    partition = followed()
    append(partition, batch(0))
    asked = partition.asked()
    partition.was_cut(ShardFacts())

    assert partition.take(asked, PartitionData(7, records=batch(1)), is_whole=True) == Nothing()


def test_errors() -> None:
    """A lost leader is learned again, nothing is asked until then; what is denied is said."""
    partition = followed()

    assert answered(partition, error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED) == Denied("TOPIC_AUTHORIZATION_FAILED")
    assert not partition.is_waiting
    for code in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.UNKNOWN_TOPIC_ID):
        partition.lead(1, 5)
        assert answered(partition, error_code=code) == Moved(code.name)
        assert partition.is_waiting
    assert answered(partition, error_code=12_345) == Moved("error 12345")


def test_it_is_behind_until_it_has_all_before_the_high_watermark() -> None:
    partition = followed()
    assert partition.is_behind

    step = answered(partition, batch(0), high_watermark=2)
    assert isinstance(step, Batches)
    partition.appended(step.dense)
    assert partition.is_behind

    # The last records before the end were removed.
    assert answered(partition, high_watermark=2) == Nothing()
    assert not partition.is_behind


def test_an_empty_answer_says_nothing_if_others_have_filled_it() -> None:
    partition = followed()

    partition.take(partition.asked(), PartitionData(7, high_watermark=2), is_whole=False)

    assert partition.is_behind


def test_a_part_of_a_batch_is_asked_for_first_next_time() -> None:
    """The first partition of a request gets one batch, whatever its size."""
    partition = followed()

    assert answered(partition, batch(0)[:-1]) == Nothing()
    assert partition.is_starved
    append(partition, batch(0))
    assert not partition.is_starved


def test_a_partition_without_a_leader_is_not_asked() -> None:
    partition = followed()

    partition.lead(-1, 6)

    assert partition.is_waiting
