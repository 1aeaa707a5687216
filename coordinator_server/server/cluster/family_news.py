"""Notifies parts of a loop of changes of users, ACLs and quotas: when a change is visible in this loop, before it is answered.

So when the answer to a change is sent, every serving loop has acted on it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from coordinator_server.catalog.family import RecordFamily
from coordinator_server.server.cluster.catalog import Catalog


class FamilyNews:
    """The followers of the record families in one loop."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._followers: list[tuple[RecordFamily, Callable[[], None]]] = []
        self._seen: dict[RecordFamily, Hashable] = {}

    def follow(self, family: RecordFamily, call: Callable[[], None]) -> None:
        """Call ``call`` when the catalog is loaded, and when records of the family have changed."""
        self._followers.append((family, call))

    def changed(self) -> None:
        """Look for changes. Called for every change of the catalog, and once when it is loaded."""
        for family in {family: None for family, _ in self._followers}:
            version = self._catalog.family_version(family)
            if self._seen.get(family) != version:
                self._seen[family] = version
                for followed, call in self._followers:
                    if followed is family:
                        call()
