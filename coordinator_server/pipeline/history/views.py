"""Views of the tables as Arrow tables, for pandas and whatever else reads Arrow: the same as ``view_sql.py`` in SQL.

    from coordinator_server.pipeline.history.views import current_offsets
    current_offsets("history").to_pandas()

A group is in one shard, so the shard groups are read one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from numpy.typing import NDArray
from pyarrow.fs import FileSelector, FileSystem, FileType, LocalFileSystem

from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.history.lag_rows import LAG_SCHEMA, by_partition, lag_of
from coordinator_server.pipeline.history.tables import END_OFFSETS, SCHEMAS, TIME
from coordinator_server.pipeline.history.view_sql import utc
from coordinator_server.pipeline.history.waits import WAITS_SCHEMA, of_reconciliations
from coordinator_server.pipeline.locations import Url, open_url, parse_location

Ints = NDArray[np.int64]
Tables = dict[str, pa.Table]

_OFFSET: Final = ["group_id", "topic", "partition"]
_CHANGE: Final = [*_OFFSET, "time", "log_offset"]
_OF_OFFSETS: Final = ("commits", "deletions", "markers")
_SHARD_GROUP: Final = "shard_group="
# A shard and a position in it as one number: a shard has far fewer than 2**48 records.
_POSITION_BITS: Final = 48
_PLAIN, _COMMITTED, _ABORTED, _OPEN = range(4)


def current_offsets(directory: str | Path, at: datetime | str | None = None) -> pa.Table:
    """Return the committed offsets as the server answers them: one row of ``commits`` for each group, topic and partition.

    ``directory`` is that of the tables, or its URL. With ``at`` only what was appended until then counts; a time without a zone is
    UTC. Raises CannotRun if there are no tables.
    """
    return _view(directory, at, _current).sort_by([(name, "ascending") for name in _OFFSET])


def pending_offsets(directory: str | Path, at: datetime | str | None = None) -> pa.Table:
    """Return the offsets of open transactions: one row of ``commits`` for each group, topic, partition and producer.

    Parameters and errors are those of ``current_offsets``.
    """
    return _view(directory, at, _pending).sort_by([(name, "ascending") for name in (*_OFFSET, "producer_id")])


def waits(directory: str | Path, at: datetime | str | None = None) -> pa.Table:
    """Return who waited for whom in consumer groups: one row for each member, epoch, partition and holder of that partition.

    Parameters and errors are those of ``current_offsets``.
    """
    found = [of_reconciliations(tables["reconciliations"]) for tables in _shard_groups(directory, at, ["reconciliations"])]
    order = ("group_id", "log_offset", "member_id", "topic_id", "partition", "holder")
    return pa.concat_tables([WAITS_SCHEMA.empty_table(), *found]).sort_by([(name, "ascending") for name in order])


def lag(directory: str | Path, at: datetime | str | None = None) -> pa.Table:
    """Return how far groups were behind: one row for each change of an offset, or of an end that was sampled while it was there.

    Parameters and errors are those of ``current_offsets``.
    """
    ends = by_partition(_read_all(directory, END_OFFSETS, at))
    found = [
        lag_of(_counting(tables).select([*_CHANGE, "offset"]), _deleted_offsets(tables).select(_CHANGE), ends)
        for tables in _shard_groups(directory, at, _OF_OFFSETS)
    ]
    # Rows of one time stay in their order.
    return pa.concat_tables([LAG_SCHEMA.empty_table(), *found]).sort_by([(name, "ascending") for name in (*_OFFSET, "time")])


def _view(directory: str | Path, at: datetime | str | None, rows_of: Callable[[Tables], pa.Table]) -> pa.Table:
    return pa.concat_tables(
        [SCHEMAS["commits"].empty_table(), *(rows_of(tables) for tables in _shard_groups(directory, at, _OF_OFFSETS))]
    )


def _shard_groups(directory: str | Path, at: datetime | str | None, wanted: Sequence[str]) -> Iterator[Tables]:
    files, root = _tables_in(directory)
    found = files.get_file_info(FileSelector(f"{root}/{wanted[0]}", allow_not_found=True))
    for name in sorted(each.base_name for each in found if each.base_name.startswith(_SHARD_GROUP)):
        yield {table: _read(files, f"{root}/{table}/{name}", table, at) for table in wanted}


def _read_all(directory: str | Path, table: str, at: datetime | str | None) -> pa.Table:
    files, root = _tables_in(directory)
    return _read(files, f"{root}/{table}", table, at)


def _tables_in(directory: str | Path) -> tuple[FileSystem, str]:
    """Return the file system of the tables, and the path in it. Raises CannotRun."""
    where = parse_location(str(directory))
    files, root = open_url(where) if isinstance(where, Url) else (LocalFileSystem(), str(where.absolute()))
    if files.get_file_info(root).type != FileType.Directory:
        raise CannotRun(f"{where} has no history: check the directory, or write it with coordinator-server history --out")
    return files, root


def _read(files: FileSystem, folder: str, table: str, at: datetime | str | None) -> pa.Table:
    schema = SCHEMAS[table]
    if files.get_file_info(folder).type != FileType.Directory:
        return schema.empty_table()
    until = None if at is None else ds.field("time") <= pa.scalar(utc(at), TIME)
    return ds.dataset(folder, schema=schema, format="parquet", filesystem=files).to_table(filter=until)


def _current(tables: Tables) -> pa.Table:
    commits = tables["commits"]
    columns = [*_OFFSET, "shard", "log_offset"]
    changes = pa.concat_tables([_counting(tables).select(columns), _deleted_offsets(tables).select(columns)])
    newest = changes.group_by([*_OFFSET, "shard"]).aggregate([("log_offset", "max")])
    return _at_positions(commits, newest["shard"], newest["log_offset_max"])


def _pending(tables: Tables) -> pa.Table:
    commits = tables["commits"]
    opened = commits.filter(pa.array(_states(commits, tables["markers"]) == _OPEN))
    newest = opened.group_by([*_OFFSET, "shard", "producer_id"]).aggregate([("log_offset", "max")])
    deleted = _deleted_offsets(tables).group_by(_OFFSET).aggregate([("log_offset", "max")]).rename_columns([*_OFFSET, "deleted"])
    found = newest.join(deleted, _OFFSET, join_type="left outer")
    is_left = pc.less(pc.fill_null(found["deleted"], -1), found["log_offset_max"])
    found = found.filter(is_left)
    return _at_positions(commits, found["shard"], found["log_offset_max"])


def _counting(tables: Tables) -> pa.Table:
    """Return the commits that count: plain ones, and those of transactions that were committed."""
    commits = tables["commits"]
    return commits.filter(pa.array(np.isin(_states(commits, tables["markers"]), (_PLAIN, _COMMITTED))))


def _deleted_offsets(tables: Tables) -> pa.Table:
    """Return the deletions of offsets, without those of the groups themselves."""
    return tables["deletions"].filter(pc.is_valid(tables["deletions"]["topic"]))


def _at_positions(commits: pa.Table, shards: pa.ChunkedArray, offsets: pa.ChunkedArray) -> pa.Table:
    """Return the commits at the positions."""
    return commits.filter(pa.array(np.isin(_positions(commits["shard"], commits["log_offset"]), _positions(shards, offsets))))


def _positions(shards: pa.ChunkedArray, offsets: pa.ChunkedArray) -> Ints:
    return (_ints(shards) << _POSITION_BITS) | _ints(offsets)


def _states(commits: pa.Table, markers: pa.Table) -> NDArray[np.int8]:
    """Return of each commit whether it is plain, or how its transaction ended: that is what its producer's next marker says."""
    states = np.full(commits.num_rows, _PLAIN, np.int8)
    rows = np.flatnonzero(commits["producer_id"].is_valid().to_numpy())
    written = commits.select(["shard", "producer_id", "log_offset"]).take(pa.array(rows))
    both = pa.concat_tables([written, markers.select(["shard", "producer_id", "log_offset"])])
    is_commit = _ints(pc.equal(markers["outcome"], "committed"))
    outcomes = np.concatenate([np.full(len(rows), _OPEN), np.where(is_commit, _COMMITTED, _ABORTED)])
    order = np.lexsort([_ints(both[name]) for name in ("log_offset", "producer_id", "shard")])
    producers = np.stack([_ints(both[name])[order] for name in ("shard", "producer_id")])
    # Number of the next marker in that order, if it is of the same producer.
    numbers = np.where(order >= len(rows), np.arange(len(order)), len(order))
    following = np.minimum.accumulate(numbers[::-1])[::-1]
    exists = following < len(order)
    exists[exists] = (producers[:, exists] == producers[:, following[exists]]).all(axis=0)
    ended = np.full(len(order), _OPEN)
    ended[exists] = outcomes[order[following[exists]]]
    is_written = order < len(rows)
    states[rows[order[is_written]]] = ended[is_written]
    return states


def _ints(column: pa.ChunkedArray) -> Ints:
    return np.asarray(column.to_numpy(), np.int64)
