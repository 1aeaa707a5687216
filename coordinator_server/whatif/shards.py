"""All groups of a shard, for a job: a row for each group as it was, and one for each rule that would have saved something.

The job runs in this process, or as tasks on Spark: a task is a shard, and its rows are JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from coordinator_server.kinds import GROUPS, topic_of
from coordinator_server.log.opening import input_bytes, job_shard, job_shards
from coordinator_server.pipeline.input.data_dir import durable
from coordinator_server.pipeline.input.files import batches_before
from coordinator_server.pipeline.input.retries import ONCE, Retries
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD
from coordinator_server.pipeline.replay.group_timeline import unreadable
from coordinator_server.whatif.advice import Saving, advise
from coordinator_server.whatif.figures import Certainty, Cost, total
from coordinator_server.whatif.life import Life
from coordinator_server.whatif.reader import LifeReader
from coordinator_server.whatif.topics import read_topics
from coordinator_server.whatif.verdict import assignors_of, missing_of, period_of, was
from protocol.errors import DecodeError

AS_IT_WAS: Final = "as it was"


class WhatIfTask(Struct, frozen=True):
    """A shard, how far it is durable, and how far the catalog is. ``size`` are the bytes to read.

    Records before ``removed_to`` are those that another cluster has left of more.
    """

    directory: str
    upto: int
    catalog_to: int
    size: int
    removed_to: int = 0


class Row(Struct, frozen=True):
    """A group under a rule. Fields of figures that are unknown are None; ``saved_…`` are 0 in the row of a group as it was."""

    group: str
    shard: str
    assignors: str
    first_ms: int
    last_ms: int
    generations: int
    reproduced: int
    missing: int
    rule: str
    certainty: str
    rebalances: int | None
    moved: int | None
    needless: int | None
    imbalance: int | None
    stopped: int | None
    standstill_ms: int | None
    saved_rebalances: int = 0
    saved_needless: int = 0
    saved_standstill_ms: int | None = 0
    text: str = ""


def tasks_of(data_dir: Path, retries: Retries = ONCE, removed_to: Mapping[str, int] | None = None) -> list[WhatIfTask]:
    """Return a task for each shard of groups that has records. Raises PipelineError, LogError."""
    removed_to = {} if removed_to is None else removed_to
    ends = durable(data_dir, retries)
    catalog_to = ends.get(CATALOG_SHARD, 0)
    found = []
    for shard in job_shards(data_dir):
        upto = ends.get(shard.name, 0)
        if topic_of(shard.name) == GROUPS.topic and upto:
            size = sum(input_bytes(file.path) for file in shard.whole(upto)[1])
            found.append(WhatIfTask(str(shard.place), upto, catalog_to, size, removed_to.get(shard.name, 0)))
    return found


def work(task: WhatIfTask) -> tuple[bytes, int]:
    """Do a task. Return the encoded rows, and the number of records that were read. Raises DamagedLog."""
    rows, records = rows_of(task)
    return msgspec.json.encode(rows), records


def decoded(results: Iterable[bytes]) -> list[Row]:
    """Return the rows of many tasks, by group."""
    rows = [row for each in results for row in msgspec.json.decode(each, type=list[Row])]
    return sorted(rows, key=lambda row: (row.group, row.shard, row.rule != AS_IT_WAS, -(row.saved_standstill_ms or 0), row.rule))


def rows_of(task: WhatIfTask) -> tuple[list[Row], int]:
    """Return the rows of a shard, and the number of records that were read. Raises DamagedLog."""
    shard = job_shard(Path(task.directory))
    layer, files = shard.whole(task.upto)
    reader = LifeReader(read_topics(Path(task.directory).parent, task.catalog_to))
    try:
        reader.add(batches_before(files, task.upto), task.upto)
    except DecodeError as error:
        raise unreadable(shard.name, error) from error
    lives = reader.lives(max(task.removed_to, 0 if layer is None else layer.to_offset))
    return [row for life in lives.values() for row in _rows(shard.name, life)], reader.records


def _rows(shard: str, life: Life) -> list[Row]:
    period = period_of(life, None, None)
    generations = period.generations
    if not generations:
        return []
    before, found = total(each.cost for each in was(period)), period.reproduced
    row = Row(
        group=life.group_id,
        shard=shard,
        assignors=", ".join(assignors_of(generations)),
        first_ms=generations[0].at_ms,
        last_ms=generations[-1].at_ms,
        generations=found.generations,
        reproduced=found.same,
        missing=sum(each.last - each.first + 1 for each in missing_of(life, generations)),
        rule=AS_IT_WAS,
        certainty=Certainty.KNOWN,
        **_figures(before),
    )
    return [row, *(_row_of_saving(row, saving) for saving in advise(period, before))]


def _row_of_saving(row: Row, saving: Saving) -> Row:
    return replace(
        row,
        rule=saving.rule,
        certainty=saving.certainty,
        **_figures(saving.cost),
        saved_rebalances=saving.rebalances,
        saved_needless=saving.needless,
        saved_standstill_ms=saving.standstill_ms,
        text=saving.text,
    )


def _figures(cost: Cost) -> dict[str, Any]:
    return {name: getattr(cost, name).value for name in Cost.__struct_fields__}


def most_to_gain(rows: Sequence[Row], most: int) -> list[Row]:
    """Return the best rule of each group, of the groups that would gain most: standstill, then rebalances, then moves."""
    best: dict[str, Row] = {}
    for row in rows:
        if row.rule != AS_IT_WAS and (row.group not in best or _gain(row) > _gain(best[row.group])):
            best[row.group] = row
    return sorted(best.values(), key=_gain, reverse=True)[:most]


def _gain(row: Row) -> tuple[int, int, int]:
    return row.saved_standstill_ms or 0, row.saved_rebalances, row.saved_needless
