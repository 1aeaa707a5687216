"""The adapter from a layer's checkpoint to a state machine's ``CheckpointState``."""

from __future__ import annotations

from collections.abc import Iterator

import structlog

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.store import Checkpoint
from protocol.coordinator_records import CoordinatorRecord, RecordSerde
from protocol.record_batch import NO_PRODUCER_ID, iter_records, read_header

log = structlog.get_logger(__name__)


class LayerCheckpoint:
    """A ``CheckpointState`` that reads a checkpoint. Damage is logged once; the layer's records replace damaged blocks."""

    __slots__ = ("_checkpoint", "_is_logged", "_serde")

    def __init__(self, checkpoint: Checkpoint, serde: RecordSerde) -> None:
        self._checkpoint = checkpoint
        self._serde = serde
        self._is_logged = False

    def __contains__(self, key: str, /) -> bool:
        return key in self._checkpoint

    def __iter__(self) -> Iterator[str]:
        return self._checkpoint.keys()

    def __len__(self) -> int:
        return len(self._checkpoint)

    def bounds(self, key: str, /) -> tuple[int, int]:
        """Return the two numbers stored in the index for an existing key."""
        return self._checkpoint.summary(key).bounds

    def rows(self, key: str, /) -> int:
        """Return the number of rows of an existing key."""
        return self._checkpoint.summary(key).rows

    def block(self, key: str, /) -> bytes | None:
        """Return the block of an existing key, or None if it is damaged."""
        try:
            return self._checkpoint.block(key)
        except DamagedLog as damage:
            if not self._is_logged:
                self._is_logged = True
                log.error(
                    "checkpoint-damaged",
                    why=str(damage),
                    action="what is damaged is read from the layer's records; compact again",
                )
            return None

    def records(self) -> Iterator[tuple[int, CoordinatorRecord]]:
        """Yield the layer's records with their offsets, without those of open transactions, which no block has.

        Raises DamagedLog if they are damaged too.
        """
        for batch in self._checkpoint.all_batches():
            header = read_header(batch)
            if header.producer_id != NO_PRODUCER_ID:
                continue
            for record in iter_records(batch, 0, header, with_headers=False):
                decoded = self._serde.decode(record.key, record.value)
                if decoded is not None:
                    yield record.offset, decoded

    def close(self) -> None:
        """Close the checkpoint's file."""
        self._checkpoint.close()
