"""The layers of shards in a simulated store (``shared_store.py``), and the statements of those who make them.

    put         a file of an attempt, in an object store: it is there at once, and nothing brings it back
    publish     the row that names an attempt: if the term is the maker's, the manifest is there, and no other layer ends there
    trim        rows go, if a layer that the maker has read back has them, and is published at that moment
    clean       the manifests of what is not published, under the term; then, by a later statement, the files

What these statements compare is what those of a database do (``upkeep.py`` and ``removal.py`` of ``log/postgresql/``).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final, NamedTuple

from coordinator_server.log.errors import Fenced
from coordinator_server.log.shards import ShardId

if TYPE_CHECKING:
    from tests.support.shared_store import Database

Files = dict[str, bytes]


class StoredLayer(NamedTuple):
    """A published layer, as its row has it."""

    to_offset: int
    attempt: str
    manifest: bytes


class Attempt(NamedTuple):
    """What may become a layer of a shard, and the term under which its files are stored."""

    shard: ShardId
    name: str
    term: int


class LayerRows:
    """All rows of layers, and the term of who makes them. ``objects``: files by attempt, in a store without a standby."""

    def __init__(self, objects: dict[Attempt, Files]) -> None:
        self.term = 0
        self.objects: Final = objects
        self.manifests: dict[str, bytes] = {}
        """Those of the attempts that may be published."""
        self.published: dict[ShardId, dict[int, StoredLayer]] = {}

    def copy(self) -> LayerRows:
        copied = LayerRows(self.objects)
        copied.term, copied.manifests = self.term, dict(self.manifests)
        copied.published = {shard: dict(layers) for shard, layers in self.published.items()}
        return copied

    # What is read.

    def of(self, shard: ShardId) -> list[StoredLayer]:
        """The published layers of a shard, the newest first."""
        return sorted(self.published.get(shard, {}).values(), reverse=True)

    def files(self, shard: ShardId, stored: StoredLayer) -> Files | None:
        """The files of a layer without its manifest; None if they are missing."""
        return next((files for each, files in self.objects.items() if (each.shard, each.name) == (shard, stored.attempt)), None)

    # Who makes layers.

    def claim(self) -> int:
        """The lock that only keeps two from working at once is never taken: its holder may have lost it."""
        self.term += 1
        return self.term

    def put(self, attempt: Attempt, files: Files) -> None:
        """Any process may, whatever its term."""
        self.objects[attempt] = files

    def put_manifest(self, attempt: Attempt, manifest: bytes) -> None:
        """The last file of an attempt is in the database."""
        self.manifests[attempt.name] = manifest

    def publish(self, term: int, attempt: Attempt, to_offset: int) -> bool:
        """Whether the attempt is the layer now; False if there is another one."""
        self._compare(term)
        layers = self.published.setdefault(attempt.shard, {})
        if to_offset in layers:
            return False
        if attempt.name not in self.manifests:
            raise Fenced("the attempt was removed: another process makes layers since")
        layers[to_offset] = StoredLayer(to_offset, attempt.name, self.manifests[attempt.name])
        return True

    def trim(self, database: Database, term: int, shard: ShardId, to_offset: int, intact: Collection[int]) -> bool:
        """Remove the rows before an offset. ``intact`` are the ends of layers that were read back."""
        self._compare(term)
        if not self.replaces(shard, to_offset, intact):
            return False
        kept = database.shard(shard)
        kept.start = max(kept.start, to_offset)
        return True

    def replaces(self, shard: ShardId, to_offset: int, intact: Collection[int]) -> bool:
        """Whether a published layer that is intact has all rows before an offset."""
        return any(each >= to_offset and each in intact for each in self.published.get(shard, {}))

    def supersede(self, term: int, shard: ShardId, ends: Collection[int]) -> list[StoredLayer]:
        """Remove layers. Their files are removed later."""
        self._compare(term)
        layers = self.published.get(shard, {})
        return [layers.pop(each) for each in ends if each in layers]

    def clean(self, term: int, shard: ShardId) -> list[Attempt]:
        """Remove the manifests of a shard that are not published. Return the attempts whose files nobody can publish any more."""
        self._compare(term)
        named = {stored.attempt for stored in self.of(shard)}
        self.manifests = {
            name: each for name, each in self.manifests.items() if name in named or not name.startswith(f"{shard}:")
        }
        return [each for each in self.objects if each.shard == shard and each.term <= term and each.name not in named]

    def remove_files(self, attempts: Collection[Attempt]) -> None:
        for attempt in attempts:
            self.objects.pop(attempt, None)

    def _compare(self, term: int) -> None:
        if term != self.term:
            raise Fenced(f"the term is {self.term}, not {term}")
