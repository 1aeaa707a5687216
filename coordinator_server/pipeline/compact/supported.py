"""Which batches and records compaction can rewrite, and errors that name the place of one that it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from coordinator_server.log.errors import DamagedLog
from coordinator_server.pipeline.errors import CannotCompact
from protocol.errors import DecodeError
from protocol.record_batch import (
    COMPRESSION_MASK,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    NO_PRODUCER_ID,
    TRANSACTIONAL,
    BatchHeader,
)

_SUPPORTED: Final = COMPRESSION_MASK | LOG_APPEND_TIME | TRANSACTIONAL | CONTROL | DELETE_HORIZON


class Unsupported(Exception):
    """A batch is intact, but this version does not rewrite its kind; the message says which kind."""


def check_header(header: BatchHeader, *, has_transactions: bool) -> None:
    """Raise Unsupported for a batch of a kind that is not rewritten."""
    is_of_producer = header.producer_id != NO_PRODUCER_ID
    if header.attributes & ~_SUPPORTED:
        raise Unsupported(f"batches with attributes {header.attributes:#x}")
    if is_of_producer != header.is_transactional or (header.is_control and not is_of_producer):
        raise Unsupported("transactional records without a producer, or a producer's outside of transactions,")
    if is_of_producer and not has_transactions:
        raise Unsupported("transactional records in a log that has none")


@contextmanager
def errors_at(path: str, position: int) -> Iterator[None]:
    """Add file and position to errors inside the block. Raises CannotCompact for Unsupported, DamagedLog for DecodeError."""
    try:
        yield
    except Unsupported as why:
        file = Path(path)
        raise CannotCompact(
            f"{file.parent.name}/{file.name} at byte {position}: {why} are not compacted by this version; the shard is left as it "
            "is"
        ) from why
    except DecodeError as error:
        raise DamagedLog(path, position if error.position is None else error.position, error.reason) from error
