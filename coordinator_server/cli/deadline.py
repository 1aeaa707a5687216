"""The end of a stop that takes too long: a disk that hangs, or a check of the history that is in the middle of a large file."""

from __future__ import annotations

import os
import sys
import threading
from typing import Final

import structlog

log = structlog.get_logger(__name__)

# The rest of ``stop.timeout.ms`` is for the end of the processes.
_PART: Final = 0.8


def end_within(timeout_ms: int) -> None:
    """End the process with exit code 0 when most of this time is over, whatever its threads do.

    What is acknowledged is durable, and clients have their answers before: only the next start has more to recover.
    """
    timer = threading.Timer(_PART * timeout_ms / 1000, _end, (timeout_ms,))
    timer.daemon = True
    timer.start()


def _end(timeout_ms: int) -> None:
    log.warning(
        "stop-cut-short",
        why=f"the log was not closed within stop.timeout.ms={timeout_ms}",
        action="none is needed: the next start recovers it",
    )
    sys.stderr.flush()
    os._exit(0)
