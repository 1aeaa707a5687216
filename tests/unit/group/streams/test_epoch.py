"""When the epoch of a streams group rises without a change of members, topics or settings."""

from __future__ import annotations

from msgspec.structs import replace

from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.streams_group_records import StreamsGroupMetadataKey
from tests.support.streams_beats import StreamsBeats


def test_a_topology_that_is_ready_was_not_so_in_the_log() -> None:
    """As in a log of another server: the hash of the topics is right, and the topology is said to be none that was validated."""
    beats = StreamsBeats(t=1)
    [member] = beats.joined("a")
    epoch, value = beats.group.group_epoch, beats.group.epoch_value
    beats.log.committed.append(CoordinatorRecord(StreamsGroupMetadataKey("g"), replace(value, validated_topology_epoch=-1)))
    beats.log.restart()

    member.beat()

    assert (beats.group.group_epoch, beats.group.epoch_value.validated_topology_epoch) == (epoch + 1, 0)
    assert member.epoch == epoch + 1
