"""Where an answer has ``throttle_time_ms``: in most of them it has the same place in every answer,
so it is written there afterwards.

Answers that are encoded without message objects, and responses that several requests share, need no field for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from coordinator_server.server.exchange.api_row import ApiRow
from protocol.codec import encode
from protocol.fields import Message

NO_FIELD: Final = -1
"""The version has no such field."""
MOVING: Final = -2
"""What is before it has no fixed length."""

_FIELD: Final = "throttle_time_ms"
# Length and correlation id of a frame.
_PREFIX: Final = 8


class ThrottleFields:
    """The places of the field in the frames of each API, by version. They are found when an API is first asked for."""

    def __init__(self) -> None:
        self._found: dict[int, Sequence[int]] = {}

    def of(self, row: ApiRow[Any, Any]) -> Sequence[int]:
        """Return for each version where the field is in a frame, or NO_FIELD or MOVING."""
        found = self._found.get(row.key)
        if found is None:
            headers = [_PREFIX + has_tags for has_tags in row.has_flexible_response_header]
            found = [
                _place(row.response, version, headers[version]) if version >= row.min_version else NO_FIELD
                for version in range(row.max_version + 1)
            ]
            self._found[row.key] = found
        return found


def _place(response: type[Message], version: int, header: int) -> int:
    fields = response.__struct_fields__
    if _FIELD not in fields:
        return NO_FIELD
    make: Any = response
    without, with_it = (encode(make(**{_FIELD: value}), version) for value in (0, -1))
    if without == with_it:
        return NO_FIELD
    before = [getattr(make(), name) for name in fields[: fields.index(_FIELD)]]
    if not all(isinstance(value, int) for value in before):
        return MOVING
    return header + next(place for place, pair in enumerate(zip(without, with_it, strict=True)) if pair[0] != pair[1])
