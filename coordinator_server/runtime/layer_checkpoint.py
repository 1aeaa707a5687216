"""A layer's checkpoint as the state machine of a shard reads it."""

from __future__ import annotations

from collections.abc import Iterator

import structlog

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.layers.checkpoint import Checkpoint
from protocol.coordinator_records import CoordinatorRecord, RecordSerde
from protocol.record_batch import iter_records, read_header

log = structlog.get_logger(__name__)


class LayerCheckpoint:
    """``CheckpointState`` over a checkpoint. Damage is told once; what is damaged is taken from the layer's records."""

    __slots__ = ("_checkpoint", "_is_told", "_serde")

    def __init__(self, checkpoint: Checkpoint, serde: RecordSerde) -> None:
        self._checkpoint = checkpoint
        self._serde = serde
        self._is_told = False

    def __contains__(self, key: str, /) -> bool:
        return key in self._checkpoint

    def __iter__(self) -> Iterator[str]:
        return self._checkpoint.keys()

    def bounds(self, key: str, /) -> tuple[int, int]:
        """What is written down beside the block of a key that is there."""
        return self._checkpoint.summary(key).bounds

    def block(self, key: str, /) -> bytes | None:
        """What is written down of a key that is there; None when it is damaged."""
        try:
            return self._checkpoint.block(key)
        except DamagedLog as damage:
            if not self._is_told:
                self._is_told = True
                log.error(
                    "checkpoint-damaged",
                    why=str(damage),
                    action="what is damaged is read from the layer's records; compact again",
                )
            return None

    def records(self) -> Iterator[tuple[int, CoordinatorRecord]]:
        """The layer's records. DamagedLog when they are damaged as well."""
        layer = self._checkpoint.layer
        layer.verify()
        for batch in layer.read():
            header = read_header(batch)
            for record in () if header.is_control else iter_records(batch, 0, header, with_headers=False):
                decoded = self._serde.decode(record.key, record.value)
                if decoded is not None:
                    yield record.offset, decoded

    def close(self) -> None:
        """It is needed no more."""
        self._checkpoint.close()
