"""Share partitions get a state before they are assigned: the messages to their shards, and what becomes of their outcomes."""

from __future__ import annotations

import pytest

from coordinator_server.group.share import state_messages
from protocol.error_codes import ErrorCode
from protocol.messages.share_group_records import ShareGroupStatePartitionMetadataValue
from tests.support.group import SHARE_SHARDS, SentMessage
from tests.support.share_beats import ShareBeats, initialized


def refused(message: SentMessage) -> list[int]:
    return [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, *([ErrorCode.NONE] * (len(message.request.partitions) - 1))]


def asked(beats: ShareBeats) -> list[tuple[int | str, list[tuple[int, int, int]]]]:
    """The messages on their way: shard, then partition, state epoch and start offset of each."""
    return sorted(
        (message.to, [(each.partition, each.state_epoch, each.start_offset) for each in message.request.partitions])
        for message in beats.log.outbox.messages.values()
    )


def test_each_shard_gets_one_message_with_the_groups_epoch() -> None:
    """Without a start offset: the leader of the partition chooses it."""
    beats = ShareBeats(t=4)
    beats.member("m").join()

    assert SHARE_SHARDS == 3
    assert asked(beats) == [(0, [(0, 2, -1), (3, 2, -1)]), (1, [(1, 2, -1)]), (2, [(2, 2, -1)])]


def test_a_topic_that_does_not_exist_keeps_no_other_from_getting_a_state() -> None:
    """Wherever it stands in the order in which topics are visited."""
    for subscribed in (["t", *map(str, range(8))], [*map(str, range(8)), "t"]):
        beats = ShareBeats(t=1)
        beats.member("m", *subscribed).join()

        assert asked(beats) == [(0, [(0, 2, -1)])]


def test_nothing_is_asked_before_the_record_is_durable() -> None:
    beats = ShareBeats(t=1)
    beats.log.is_holding = True
    beats.member("m").join()
    assert asked(beats) == []

    beats.log.flush()
    assert asked(beats) == [(0, [(0, 2, -1)])]


def test_one_record_closes_an_attempt() -> None:
    """When the last outcome is known."""
    beats = ShareBeats(t=4)
    beats.member("m").join()
    beats.taken()

    beats.initialize()

    assert beats.taken() == ["StatePartitionMetadata"]
    assert beats.state_topics() == {"initializing": {}, "initialized": {"t": [0, 1, 2, 3]}}


def test_an_outcome_that_comes_again_leads_to_nothing_new() -> None:
    """As when its operation was not written; but for that of the last one, which closes the attempt."""
    beats = ShareBeats(t=2)
    beats.member("m").join()
    first, last = beats.log.outbox.messages.values()

    written = [len(message.then(initialized(message)).records) for message in (first, first, last, first, last)]

    assert written == [0, 0, 1, 0, 1]


def test_while_it_lasts_no_heartbeat_asks_again() -> None:
    """However long it takes: the messages are repeated until they arrive."""
    beats = ShareBeats(t=1)
    member = beats.member("m")
    member.join()
    beats.taken()
    messages = dict(beats.log.outbox.messages)
    beats.log.advance(40_000)

    member.beat()

    assert (beats.taken(), beats.log.outbox.messages) == ([], messages)


def test_the_next_heartbeat_begins_anew_with_partitions_that_were_refused() -> None:
    """The others have a state now, and belong to the group."""
    beats = ShareBeats(t=4)
    member = beats.member("m")
    member.join()
    beats.taken()

    beats.log.deliver(refused)
    assert (beats.taken(), beats.log.reports) == (["StatePartitionMetadata"], ["share-state-refused"])
    assert beats.state_topics() == {"initializing": {}, "initialized": {"t": [3]}}

    member.beat()
    assert "StatePartitionMetadata" in beats.taken()
    assert beats.state_topics() == {"initializing": {"t": [0, 1, 2]}, "initialized": {"t": [3]}}


def test_an_outcome_that_is_not_written_is_offered_again() -> None:
    beats = ShareBeats(t=4)
    beats.member("m").join()
    beats.log.is_holding = True
    beats.log.deliver(initialized)
    beats.log.fail()
    beats.log.is_holding = False
    assert len(beats.log.outbox.messages) == 1

    beats.initialize()
    assert beats.state_topics() == {"initializing": {}, "initialized": {"t": [0, 1, 2, 3]}}


def test_after_a_restart_the_messages_are_sent_again() -> None:
    """With the group's epoch of then, in which nobody has the partitions yet."""
    beats = ShareBeats(t=2)
    beats.member("m").join()
    beats.log.restart()

    assert asked(beats) == [(0, [(0, 2, -1)]), (1, [(1, 2, -1)])]
    beats.initialize()
    beats.settle()
    assert beats.member("m").assigned == {"t": [0, 1]}


@pytest.mark.parametrize("lacks", ["is_current", "has_all"])
def test_after_a_load_no_partition_gets_a_state_before_all_topics_are_known(lacks: str) -> None:
    """Its topic may be deleted: a former owner of the shard has forgotten it, and its state would begin anew."""
    beats = ShareBeats(t=4)
    member = beats.member("m")
    member.join()
    beats.log.deliver(refused)
    setattr(beats.log.topics, lacks, False)
    beats.log.restart()
    beats.settle()
    beats.taken()

    member.beat()
    member.beat()
    assert (beats.taken(), asked(beats), beats.log.was_repeat) == ([], [], False)
    assert member.assigned == {"t": [3]}

    setattr(beats.log.topics, lacks, True)
    member.beat()
    assert beats.state_topics() == {"initializing": {"t": [0, 1, 2]}, "initialized": {"t": [3]}}


def test_a_topic_that_was_deleted_before_a_load_gets_no_state_after_it() -> None:
    """It is known here until its deletion is."""
    beats = ShareBeats(t=1)
    member = beats.member("m")
    member.join()
    beats.log.deliver(refused)
    beats.log.topics.has_all = False
    beats.log.restart()
    beats.settle()

    beats.log.topics.delete("t")
    beats.log.topics.has_all = True
    beats.settle()
    assert beats.state_topics() == {"initializing": {}, "initialized": {}}


def test_a_topic_that_does_not_exist_gets_no_state() -> None:
    """There is not even a record; when it is created, the next heartbeat sees it."""
    beats = ShareBeats()
    member = beats.member("m")
    member.join()
    assert beats.taken()[-1] == "CurrentMemberAssignment"

    beats.log.topics.create(t=1)
    member.beat()
    assert beats.state_topics()["initializing"] == {"t": [0]}


def test_many_partitions_are_several_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """No message keeps another shard for long."""
    monkeypatch.setattr(state_messages, "PARTITIONS_PER_MESSAGE", 2)
    beats = ShareBeats(t=12)
    beats.member("m").join()

    assert max(len(partitions) for _, partitions in asked(beats)) == 2
    beats.initialize()
    assert beats.state_topics()["initialized"] == {"t": list(range(12))}


def test_the_names_of_topics_are_in_the_record() -> None:
    beats = ShareBeats(t=1, u=1)
    beats.member("m", "u", "t").join()
    [value] = [record.value for record in beats.records if isinstance(record.value, ShareGroupStatePartitionMetadataValue)]

    assert sorted(topic.topic_name for topic in value.initializing_topics) == ["t", "u"]
