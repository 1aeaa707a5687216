"""A catalog whose read operations are methods of a test's own object, by their names."""

from __future__ import annotations

from typing import Any


class ReadByName:
    """``read(CatalogShard.topic, name)`` calls ``topic(name)`` of what the test gives."""

    def __init__(self, site: Any) -> None:
        self._site = site

    def read(self, operation: Any, *args: Any) -> Any:
        return getattr(self._site, operation.__name__)(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._site, name)
