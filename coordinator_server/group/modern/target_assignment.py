"""The target assignment of one member, as in its record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.machine.block import EncodedRecord
from protocol.coordinator_records import GROUP_SERDE
from protocol.fields import Message

V = TypeVar("V", bound=Message)


class TargetAssignment(Generic[V]):
    """The value of a member's record, and the same by topic. A record that a child has encoded is decoded by the first read."""

    __slots__ = ("_encoded", "_partitions", "_read", "_value")

    def __init__(self, read: Callable[[V], Partitions], value: V | None, encoded: EncodedRecord | None = None) -> None:
        """Either of value and record is given. ``read`` returns the partitions of a value."""
        self._read = read
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
            self._partitions = self._read(self.value)
        return self._partitions


NO_PARTITIONS: Final[Partitions] = {}
"""The target of a member without one."""
