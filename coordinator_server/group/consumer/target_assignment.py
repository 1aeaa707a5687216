"""The target assignment of one member, as in its record."""

from __future__ import annotations

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.machine.block import EncodedRecord
from protocol.coordinator_records import GROUP_SERDE
from protocol.messages.consumer_group_records import ConsumerGroupTargetAssignmentMemberValue


class TargetAssignment:
    """The value of a member's record, and the same by topic. A record that a child has encoded is decoded by the first read."""

    __slots__ = ("_encoded", "_partitions", "_value")

    def __init__(self, value: ConsumerGroupTargetAssignmentMemberValue | None, encoded: EncodedRecord | None = None) -> None:
        """Either of the two is given."""
        self._value = value
        self._encoded = encoded
        self._partitions: Partitions | None = None

    @property
    def value(self) -> ConsumerGroupTargetAssignmentMemberValue:
        """The value of the record."""
        if self._value is None:
            assert self._encoded is not None
            record = GROUP_SERDE.decode(*self._encoded)
            assert record is not None
            assert isinstance(record.value, ConsumerGroupTargetAssignmentMemberValue)
            self._value, self._encoded = record.value, None
        return self._value

    @property
    def partitions(self) -> Partitions:
        """The partitions by topic, in the order of the record."""
        if self._partitions is None:
            self._partitions = {topic.topic_id: topic.partitions for topic in self.value.topic_partitions}
        return self._partitions


NO_TARGET = TargetAssignment(ConsumerGroupTargetAssignmentMemberValue())
