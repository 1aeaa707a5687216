"""Decoded partitions as the rows that a plain request has them in."""

from __future__ import annotations

from collections.abc import Iterable
from struct import pack

from protocol.messages.offset_commit import OffsetCommitRequestPartition


def rows_of(partitions: Iterable[OffsetCommitRequestPartition]) -> bytes:
    """Their metadata is left out."""
    return b"".join(
        [pack(">iqi2x", each.partition_index, each.committed_offset, each.committed_leader_epoch) for each in partitions]
    )
