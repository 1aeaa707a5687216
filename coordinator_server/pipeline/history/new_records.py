"""The records of each shard that are new since the last run of the history.

If retention has removed a segment before a run has read it, the run reads what a layer has kept of it, and reports the gap.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from coordinator_server.kinds import GROUPS, TRANSACTIONS, topic_of
from coordinator_server.log.jobs import InputFile, JobShard
from coordinator_server.log.opening import job_shards
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.input.data_dir import durable
from coordinator_server.pipeline.input.retries import ONCE, Retries
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD
from coordinator_server.pipeline.rules import rule_of


class Gap(Struct, frozen=True):
    """A range of offsets that was compacted before it was read."""

    shard: str
    from_offset: int
    to_offset: int


class FilePart(Struct, frozen=True):
    """The records of a file before an offset."""

    file: InputFile
    before: int


class NewRecords(Struct, frozen=True):
    """The new records of one shard.

    Of a shard of transactional ids: ``durable_groups`` has the partitions of the groups' log, and how far each is durable.
    Of a shard of groups: ``catalog_to`` is how far the catalog is durable.
    """

    directory: str
    parts: tuple[FilePart, ...]
    to_offset: int
    gap: Gap | None = None
    durable_groups: tuple[tuple[int, int], ...] = ()
    catalog_to: int = 0

    @property
    def name(self) -> str:
        return Path(self.directory).name

    @property
    def number(self) -> int:
        return int(self.name.rpartition("-")[2])


def durable_in_order(data_dir: Path, positions: Mapping[str, int], retries: Retries = ONCE) -> dict[str, int]:
    """Return the offset up to which each shard is durable and can be read: transactional ids no later than groups.

    So all that a completed transaction wrote can be read, too, with several loops as well.
    """
    first = durable(data_dir, retries)
    ids = {name: end for name, end in first.items() if topic_of(name) == TRANSACTIONS.topic}
    return durable(data_dir, retries) | ids if any(end > positions.get(name, 0) for name, end in ids.items()) else first


def new_records(data_dir: Path, ends: Mapping[str, int], positions: Mapping[str, int]) -> list[NewRecords]:
    """Return the records of each shard from ``positions`` to ``ends``. Raises CannotRun if no layer has those that were removed."""
    found = []
    catalog_to = ends.get(CATALOG_SHARD, 0)
    groups = tuple((int(name.rpartition("-")[2]), end) for name, end in ends.items() if topic_of(name) == GROUPS.topic)
    for shard in job_shards(data_dir):
        if rule_of(shard.name).tables and shard.name in ends:
            of_shard = _new_of_shard(shard, positions.get(shard.name, 0), ends[shard.name])
            if of_shard is not None:
                is_of_ids = topic_of(shard.name) == TRANSACTIONS.topic
                found.append(replace(of_shard, durable_groups=groups) if is_of_ids else replace(of_shard, catalog_to=catalog_to))
    return found


def _new_of_shard(shard: JobShard, position: int, end: int) -> NewRecords | None:
    if position >= end:
        return None
    kept = [FilePart(file, min(file.to_offset, end)) for file in shard.since(position, end)]
    first = kept[0].file.begin if kept else end
    if first <= position:
        return NewRecords(shard.place, tuple(kept), end)
    layer = shard.newest_layer()
    if layer is None or layer.to_offset < first:
        raise CannotRun(f"{shard.name}: offsets {position} to {first} are gone, and no layer has what was kept of them")
    of_layer = [FilePart(InputFile(str(file), position, layer.to_offset, is_dense=False), first) for file in layer.files()]
    return NewRecords(shard.place, (*of_layer, *kept), end, Gap(shard.name, position, first))
