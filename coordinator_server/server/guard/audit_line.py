"""The logger of the audit log. Its lines have ``logger: audit``, and are written whatever the log level is."""

from __future__ import annotations

from typing import Any, Final

import structlog

LONGEST_TEXT: Final = 256
"""Characters of a resource, a client id or a user. A client may send 32 KiB for each."""

_EVERY_LEVEL: Final = 0
log = structlog.wrap_logger(None, wrapper_class=structlog.make_filtering_bound_logger(_EVERY_LEVEL))


def write_line(event: str, **fields: Any) -> None:
    """Write a line. Long texts are cut."""
    shown = {name: short(value) if isinstance(value, str) else value for name, value in fields.items()}
    log.info(event, logger="audit", **shown)


def short(text: str) -> str:
    """Return a text of a client in the length that a line may have."""
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
