"""The target assignment of one member, as in its record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from coordinator_server.machine.block import EncodedRecord
from protocol.coordinator_records import GROUP_SERDE

T = TypeVar("T")
"""The target of a member: partitions by topic, or tasks."""


class TargetAssignment(Generic[T]):
    """The value of a member's record, and what it says. A record that a child has encoded is decoded by the first read."""

    __slots__ = ("_encoded", "_read", "_target", "_value")

    def __init__(self, read: Callable[[Any], T], value: Any, encoded: EncodedRecord | None = None) -> None:
        """Either of value and record is given. ``read`` returns the target that a value says."""
        self._read = read
        self._value = value
        self._encoded = encoded
        self._target: T | None = None

    @property
    def value(self) -> Any:
        """The value of the record."""
        if self._value is None:
            assert self._encoded is not None
            record: Any = GROUP_SERDE.decode(*self._encoded)
            self._value, self._encoded = record.value, None
        assert self._value is not None
        return self._value

    @property
    def portable(self) -> T | EncodedRecord:
        """The target for a child process, which reads a record that is not decoded yet."""
        return self.target if self._encoded is None else self._encoded

    @property
    def target(self) -> T:
        """What the record says."""
        if self._target is None:
            self._target = self._read(self.value)
        return self._target
