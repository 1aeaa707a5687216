"""The interface to storage: what the runtime knows of a log.

Duties of the caller:

1. ``submit`` one list of appends at a time per store, the next one after ``done`` was called.
2. ``expected_offset`` is the shard's end offset as the caller knows it; the data is whole RecordBatches that start there.
3. After an error the caller reverts each shard of the list to its ``expected_offset``, and may go on.

``done(None)`` means that every batch of the list is durable. ``done`` is called on the caller's
loop. If the outcome is known before ``submit`` returns, because the write was done on the loop,
``done`` is called before that, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from coordinator_server.log.errors import LogError
from coordinator_server.log.layers.checkpoint import Checkpoint
from coordinator_server.log.shards import Append, ShardId


class LogStore(Protocol):
    """Storage of shards' logs. The implementation is a local directory (log/local.py)."""

    def submit(self, appends: Sequence[Append], done: Callable[[LogError | None], None], /) -> None:
        """Make the batches durable, all or none."""

    def read(self, shard: ShardId, from_offset: int, /) -> Iterator[bytes]:
        """Return the durable record batches in offset order, one ``bytes`` each, from the one that holds ``from_offset``.

        The newest layer comes first, then the segments after it.
        """

    def compacted_to(self, shard: ShardId, /) -> int:
        """Return the end of the newest layer: before it, ``read`` returns only what compaction has kept. 0 without a layer."""

    def checkpoint(self, shard: ShardId, /) -> Checkpoint | None:
        """Return the newest layer's checkpoint, which replaces the replay of all records before its ``to_offset``; None without one.

        Raise DamagedLog if it is damaged.
        """

    def end_offset(self, shard: ShardId, /) -> int:
        """Return the offset of the next record: one after the last durable record."""
