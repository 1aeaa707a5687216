"""The digest of each group's hard state and of all groups of a shard, as of the high watermark.

A group's digest is the sum over its items: the records that its type defines as hard state, its offsets, and the offsets of
open transactions. A shard's digest is the sum over its groups.

Until the first request nothing is stored and writes have no extra cost. The first request hashes every group, in steps. After
that, each batch that becomes durable marks the groups whose containers it changed, and the next request hashes only those.

The offsets of a large group are copied and hashed in several steps. If the group changes meanwhile, it is hashed again in one step,
so that a request about a busy group comes to an end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from coordinator_server.group.registry import Groups
from coordinator_server.machine.digest import StateDigest, digest_text
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.offsets.digest import offsets_digest
from coordinator_server.offsets.store import GroupOffsets, OffsetAndMetadata, TopicPartition

_MANY_OFFSETS: Final = 5_000


def group_digest(groups: Groups, group_id: str, committed_offset: int) -> tuple[int, int]:
    """Return the sum over a group's items as of ``committed_offset``, and the number of items."""
    offsets = groups.offsets.of_group_at(group_id, committed_offset)
    rest, count = _digest_of_rest(groups, group_id, committed_offset)
    if offsets is None:
        return rest, count
    digest, offset_count = offsets_digest(group_id, offsets.items_at(committed_offset))
    return rest + digest, count + offset_count


def _digest_of_rest(groups: Groups, group_id: str, committed_offset: int) -> tuple[int, int]:
    """Return the same without the committed offsets."""
    items = [item for each in groups.types.values() for item in each.digest_items(group_id, committed_offset).values()]
    parts = [
        offsets_digest(group_id, pending.items_at(committed_offset), producer_id)
        for producer_id, pending in groups.pending.of_group_at(group_id, committed_offset)
    ]
    return sum(items) + sum(part for part, _ in parts), len(items) + sum(count for _, count in parts)


class _LargeGroup:
    """A group that is hashed in several steps. ``left`` are its offsets at one moment; None until they have been read."""

    __slots__ = ("count", "digest", "group_id", "left")

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.digest = self.count = 0
        self.left: Iterator[tuple[TopicPartition, OffsetAndMetadata]] | None = None


class GroupDigests:
    """The digests of one shard's groups, updated at each request."""

    __slots__ = (
        "_changed",
        "_containers",
        "_groups",
        "_is_asked",
        "_known",
        "_large",
        "_owners",
        "_registry",
        "_tables",
        "_total",
    )

    def __init__(self, groups: Groups, registry: SnapshotRegistry) -> None:
        self._groups = groups
        self._tables = frozenset(id(table) for table in groups.tables)
        self._registry = registry
        self._is_asked = False
        # Groups that were not hashed, or whose durable state has changed since.
        self._changed: set[str] = set()
        self._known: dict[str, int] = {}
        # The group that is being hashed in several steps.
        self._large: _LargeGroup | None = None
        # The containers that were hashed for each group, and the group of each container. Checkpointed groups have none.
        self._containers: dict[str, list[object]] = {}
        self._owners: dict[object, str] = {}
        self._total = 0

    def ask(self, committed_offset: int, max_items: int, with_groups: bool) -> StateDigest | None:
        """Return the digest as of the high watermark, with ``with_groups`` including the digest of each group with state.

        Return None if more than about ``max_items`` items are left to hash: call again.
        """
        if not self._is_asked:
            self._is_asked = True
            self._changed.update(self._groups.ids_at(committed_offset))
            self._registry.on_committed = self._note
            # A group that no longer rests has a new container, whose changes are not tracked yet.
            self._groups.offsets.on_entered = self._changed.add
            self._groups.offsets.on_rested = self._release
        changed = self._changed
        while changed or self._large is not None:
            if max_items <= 0:
                return None
            if self._large is None:
                group_id = changed.pop()
                if self._groups.offsets.count(group_id) <= max(max_items, _MANY_OFFSETS):
                    max_items -= self._hash(group_id, committed_offset)
                    continue
                self._large = _LargeGroup(group_id)
            max_items -= self._go_on(self._large, committed_offset, max_items)
        groups = {group_id: digest_text(digest) for group_id, digest in self._known.items()} if with_groups else {}
        return StateDigest(committed_offset, digest_text(self._total), groups)

    def _note(self, changes: Mapping[Any, Mapping[Any, Any]]) -> None:
        for container, keys in changes.items():
            if id(container) in self._tables:
                self._changed.update(keys)
            elif container in self._owners:
                self._changed.add(self._owners[container])

    def _go_on(self, large: _LargeGroup, committed_offset: int, most: int) -> int:
        """Read or hash the next offsets of a large group, about ``most``. Return their number."""
        groups, group_id = self._groups, large.group_id
        if large.left is None:
            if groups.offsets.prepare(group_id, most):
                # Changes after the copy mark the group again.
                self._changed.discard(group_id)
                self._track(group_id, committed_offset)
                large.digest, large.count = _digest_of_rest(groups, group_id, committed_offset)
                offsets = groups.offsets.of_group_at(group_id, committed_offset)
                large.left = iter({} if offsets is None else offsets.copy_at(committed_offset).items())
            return most
        digest, count = offsets_digest(group_id, islice(large.left, most))
        large.digest += digest
        large.count += count
        if count == most:
            return count
        self._large = None
        if group_id in self._changed:
            self._changed.discard(group_id)
            return self._hash(group_id, committed_offset)
        self._put(group_id, large.digest, large.count)
        return count + 1

    def _hash(self, group_id: str, committed_offset: int) -> int:
        self._track(group_id, committed_offset)
        digest, count = group_digest(self._groups, group_id, committed_offset)
        self._put(group_id, digest, count)
        return count + 1

    def _put(self, group_id: str, digest: int, count: int) -> None:
        self._total += digest - self._known.pop(group_id, 0)
        if count:
            self._known[group_id] = digest

    def _release(self, group_id: str, offsets: GroupOffsets) -> None:
        """Forget the container of offsets that come to rest. The digest stays the same; the next change tracks the group anew."""
        container = offsets.container
        if self._owners.pop(container, None) is not None:
            self._containers[group_id] = [each for each in self._containers[group_id] if each is not container]

    def _track(self, group_id: str, committed_offset: int) -> None:
        """Mark the group when one of its present containers changes."""
        groups = self._groups
        for container in self._containers.pop(group_id, ()):
            del self._owners[container]
        offsets = groups.offsets.by_group.get_at(group_id, committed_offset)
        pending = groups.pending.by_group.get_at(group_id, committed_offset)
        containers = [found for each in groups.types.values() for found in each.digest_containers(group_id, committed_offset)]
        if offsets is not None:
            containers.append(offsets.container)
        if pending is not None:
            containers.append(pending)
        if containers:
            self._containers[group_id] = containers
            self._owners.update(dict.fromkeys(containers, group_id))
