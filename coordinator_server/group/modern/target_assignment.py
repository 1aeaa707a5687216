"""The target assignment of one member, as in its record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Generic, Protocol, TypeVar

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.machine.block import EncodedRecord
from protocol.coordinator_records import GROUP_SERDE


class _Topic(Protocol):
    topic_id: bytes
    partitions: list[int]


class TargetValue(Protocol):
    """The value of a target's record, of any group type."""

    @property
    def topic_partitions(self) -> Sequence[_Topic]: ...


V = TypeVar("V", bound=TargetValue)


class TargetAssignment(Generic[V]):
    """The value of a member's record, and the same by topic. A record that a child has encoded is decoded by the first read."""

    __slots__ = ("_encoded", "_partitions", "_value")

    def __init__(self, value: V | None, encoded: EncodedRecord | None = None) -> None:
        """Either of the two is given."""
        self._value = value
        self._encoded = encoded
        self._partitions: Partitions | None = None

    @property
    def value(self) -> V:
        """The value of the record."""
        if self._value is None:
            assert self._encoded is not None
            record: Any = GROUP_SERDE.decode(*self._encoded)
            self._value, self._encoded = record.value, None
        assert self._value is not None
        return self._value

    @property
    def partitions(self) -> Partitions:
        """The partitions by topic, in the order of the record."""
        if self._partitions is None:
            self._partitions = {topic.topic_id: topic.partitions for topic in self.value.topic_partitions}
        return self._partitions


NO_PARTITIONS: Final[Partitions] = {}
"""The target of a member without one."""
