"""The checks of a heartbeat's fields, with Kafka's messages (GroupCoordinatorService)."""

from __future__ import annotations

from typing import Final

from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode

# String.trim of Java removes these characters.
_BLANK: Final = "".join(map(chr, range(33)))


def require_text(text: str | None, message: str) -> None:
    """Refuse a text that is empty or blank. None is accepted. Raises INVALID_REQUEST."""
    require(text is None or text.strip(_BLANK) != "", message)


def require(is_valid: bool, message: str) -> None:
    """Refuse the request unless ``is_valid``. Raises INVALID_REQUEST."""
    if not is_valid:
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, message)
