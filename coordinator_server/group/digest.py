"""The digest of each group's hard state and of all groups of a shard, as of the high watermark.

A group's digest is the sum over its items: the records that its type defines as hard state, its offsets, and the offsets of
open transactions. A shard's digest is the sum over its groups.

Until the first request nothing is stored and writes have no extra cost. The first request hashes every group, in steps. After
that, each batch that becomes durable marks the groups whose containers it changed, and the next request hashes only those.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator_server.group.registry import Groups
from coordinator_server.machine.digest import StateDigest, digest_text
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.offsets.digest import offsets_digest


def group_digest(groups: Groups, group_id: str, committed_offset: int) -> tuple[int, int]:
    """Return the sum over a group's items as of ``committed_offset``, and the number of items."""
    items = [item for each in groups.types.values() for item in each.digest_items(group_id, committed_offset).values()]
    offsets = groups.offsets.of_group_at(group_id, committed_offset)
    parts = [] if offsets is None else [offsets_digest(group_id, offsets.items_at(committed_offset))]
    for producer_id, pending in groups.pending.of_group_at(group_id, committed_offset):
        parts.append(offsets_digest(group_id, pending.items_at(committed_offset), producer_id))
    return sum(items) + sum(part for part, _ in parts), len(items) + sum(count for _, count in parts)


class GroupDigests:
    """The digests of one shard's groups, updated at each request."""

    __slots__ = ("_changed", "_containers", "_groups", "_is_asked", "_known", "_owners", "_registry", "_tables", "_total")

    def __init__(self, groups: Groups, registry: SnapshotRegistry) -> None:
        self._groups = groups
        self._tables = frozenset(id(table) for table in groups.tables)
        self._registry = registry
        self._is_asked = False
        # Groups that were not hashed, or whose durable state has changed since.
        self._changed: set[str] = set()
        self._known: dict[str, int] = {}
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
            # A group read from the checkpoint has a new container, whose changes are not tracked yet.
            self._groups.offsets.on_entered = self._changed.add
        changed = self._changed
        while changed:
            if max_items <= 0:
                return None
            max_items -= self._hash(changed.pop(), committed_offset)
        groups = {group_id: digest_text(digest) for group_id, digest in self._known.items()} if with_groups else {}
        return StateDigest(committed_offset, digest_text(self._total), groups)

    def _note(self, changes: Mapping[Any, Mapping[Any, Any]]) -> None:
        for container, keys in changes.items():
            if id(container) in self._tables:
                self._changed.update(keys)
            elif container in self._owners:
                self._changed.add(self._owners[container])

    def _hash(self, group_id: str, committed_offset: int) -> int:
        groups = self._groups
        for container in self._containers.pop(group_id, ()):
            del self._owners[container]
        digest, count = group_digest(groups, group_id, committed_offset)
        self._total += digest - self._known.pop(group_id, 0)
        if count:
            self._known[group_id] = digest
        offsets = groups.offsets.by_group.get_at(group_id, committed_offset)
        pending = groups.pending.by_group.get_at(group_id, committed_offset)
        containers = [found for each in groups.types.values() for found in each.digest_containers(group_id, committed_offset)]
        if offsets is not None:
            containers += offsets.containers
        if pending is not None:
            containers.append(pending)
        if containers:
            self._containers[group_id] = containers
            self._owners.update(dict.fromkeys(containers, group_id))
        return count + 1
