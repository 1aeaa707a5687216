"""What a response says in fields of one name, wherever they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec


def field_values(answer: Any, field: str = "error_code") -> Iterator[Any]:
    """What a response has in all fields of this name, outermost first. AddPartitionsToTxn has a longer name for it."""
    if isinstance(answer, list):
        for each in answer:
            yield from field_values(each, field)
    elif isinstance(answer, msgspec.Struct):
        for name in {field, f"partition_{field}"} & set(answer.__struct_fields__):
            yield getattr(answer, name)
        for name in answer.__struct_fields__:
            yield from field_values(getattr(answer, name), field)
