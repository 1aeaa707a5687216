"""The share partitions of a shard, by name (``protocol/share_partition_names.py``).

A load leaves snapshots as bytes, and most share partitions of a large log are not used soon. A state is decoded on its first use.
"""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping

from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict
from coordinator_server.share.share_partition import SharePartition, decoded_state
from protocol.share_state_records import encoded_timestamps


class SharePartitions:
    """States whose past can be read and restored."""

    def __init__(self, registry: SnapshotRegistry) -> None:
        self._states: TimelineDict[bytes, SharePartition | bytes] = TimelineDict(registry)

    def __len__(self) -> int:
        return len(self._states)

    def __contains__(self, name: bytes) -> bool:
        return name in self._states

    @property
    def known(self) -> KeysView[bytes]:
        """The names of all share partitions."""
        return self._states.keys()

    def get(self, name: bytes) -> SharePartition | None:
        """Return the latest state, or None."""
        state = self._states.get(name)
        if type(state) is bytes:
            state = decoded_state(state)
            self._states.fill_one(name, state)
        return state  # type: ignore[return-value]

    def get_at(self, name: bytes, committed_offset: int) -> SharePartition | None:
        """Return the state as of an offset, or None."""
        return _state(self._states.get_at(name, committed_offset))

    def is_as_of(self, name: bytes, state: SharePartition, committed_offset: int) -> bool:
        """Return whether a state is the latest one, and that as of an offset."""
        return self._states.get(name) is state and self._states.get_at(name, committed_offset) is state

    def items_at(self, committed_offset: int) -> Iterator[tuple[bytes, SharePartition]]:
        """Yield the states as of an offset, in no particular order."""
        for name, state in self._states.items_at(committed_offset):
            decoded = _state(state)
            assert decoded is not None
            yield name, decoded

    def names(self) -> list[bytes]:
        """Return all names, in no particular order."""
        return list(self._states)

    def timestamps(self, name: bytes) -> tuple[int, int] | None:
        """Return when the latest state was created and written, in milliseconds since the Unix epoch, or None."""
        state = self._states.get(name)
        if state is None:
            return None
        return encoded_timestamps(state) if isinstance(state, bytes) else (state.create_timestamp, state.write_timestamp)

    def put(self, name: bytes, state: SharePartition | None) -> None:
        """Replace a state, or remove it."""
        if state is None:
            self._states.pop(name, None)
        else:
            self._states[name] = state

    def fill_encoded(self, snapshots: Mapping[bytes, bytes]) -> None:
        """Add the first records of share partitions: snapshots in version 0. No snapshot of the timeline may be open."""
        self._states.put_all(snapshots)


def _state(state: SharePartition | bytes | None) -> SharePartition | None:
    return decoded_state(state) if isinstance(state, bytes) else state
