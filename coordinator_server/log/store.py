"""The seam to storage: what the runtime knows of a log.

Duties of the caller:

1. ``submit`` one batch list at a time per store; the next one after ``done`` was called.
2. ``expected_offset`` is the shard's end offset as the caller knows it; the data is whole RecordBatches that start there.
3. After an error the caller reverts each shard of the list to its ``expected_offset``, and may go on.

``done(None)`` means that every batch of the list is durable. ``done`` is called on the caller's loop, and before ``submit`` returns where
that is when it is known: a write that is done on the loop costs no second turn of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from coordinator_server.log.errors import LogError
from coordinator_server.log.layers.checkpoint import Checkpoint
from coordinator_server.log.shards import Append, ShardId


class LogStore(Protocol):
    """Storage of shards' logs. The local directory is the first (log/local.py)."""

    def submit(self, appends: Sequence[Append], done: Callable[[LogError | None], None], /) -> None:
        """Make the batches durable, all or none."""

    def read(self, shard: ShardId, from_offset: int, /) -> Iterator[bytes]:
        """Durable record batches in offset order, newest layer first, one ``bytes`` each, from the one that holds ``from_offset``."""

    def compacted_to(self, shard: ShardId, /) -> int:
        """The end of the newest layer: before this offset, ``read`` returns only what compaction has kept. 0 without a layer."""

    def checkpoint(self, shard: ShardId, /) -> Checkpoint | None:
        """State from which the records before its ``to_offset`` need not be replayed, if there is any. DamagedLog when it is damaged."""

    def end_offset(self, shard: ShardId, /) -> int:
        """The offset of the next record: one after the last durable one."""
