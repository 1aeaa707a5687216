"""JSON of strangers: an object whose names are unique, without numbers that JSON does not have, and not nested too deeply."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def object_of(data: bytes) -> dict[str, Any]:
    """Return the object that a text is. Raises ValueError; the message does not quote the text."""
    try:
        found = json.loads(data.decode(), object_pairs_hook=_unique, parse_constant=_refuse)
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except json.JSONDecodeError:
        raise ValueError("is not JSON") from None
    if not isinstance(found, dict):
        raise ValueError("is not a JSON object")
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("has a name twice")
    return found


def _refuse(_constant: str) -> NoReturn:
    raise ValueError("has a number that JSON does not have")
