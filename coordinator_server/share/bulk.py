"""Fast replay of the first snapshot of each share partition, which stays encoded until its first use."""

from __future__ import annotations

from coordinator_server.share.partitions import SharePartitions
from protocol.plain_snapshots import PlainSnapshots


class SnapshotReplay:
    """The fast replay of plain records (``protocol/plain_snapshots.py``). No snapshot of the timeline may be open."""

    __slots__ = ("_partitions",)

    def __init__(self, partitions: SharePartitions) -> None:
        self._partitions = partitions

    def replay(self, data: bytes, pos: int, end: int, base_offset: int, last_delta: int) -> tuple[int, int]:
        """Replay plain records; see ``PlainRecords``."""
        snapshots = PlainSnapshots(self._partitions.known, data, end, last_delta)
        behind = snapshots.read(pos)
        self._partitions.fill_encoded(snapshots.found)
        return behind, len(snapshots.found)
