"""The state of shards as of an offset or a time, rebuilt from the log by the ``replay`` of their state machines.

Only durable records are read. If no server runs, the log is recovered under the server's lock and read to its end. A running server
is asked how far each shard is durable, and ``seen_to`` is its answer. The state as of OFFSET has the records before that offset.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from coordinator_server.kinds import GROUPS
from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import InputFile, JobShard
from coordinator_server.log.opening import job_shards
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import LogStore
from coordinator_server.log.store_paths import is_store
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.input.data_dir import durable, open_unless_served
from coordinator_server.pipeline.input.files import offset_at, read_batches
from coordinator_server.pipeline.input.retries import ONCE, Retries
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD, TopicNames
from coordinator_server.pipeline.rules import rule_of
from coordinator_server.pipeline.states.changes import LastChanges
from coordinator_server.pipeline.states.shown_group import Group
from coordinator_server.pipeline.states.state import replay_into
from protocol.errors import DecodeError


class ShardState(Struct, kw_only=True):
    """The state of a shard after the records before ``seen_to``. ``is_whole`` is false if a running server may have more records.

    The fields of its kind are filled: ``groups``, ``topics`` (number of partitions by name), or ``contents`` by part and key.
    """

    shard: str
    seen_to: int
    is_whole: bool
    noun: str
    groups: list[Group] = []
    topics: dict[str, int] = {}
    contents: dict[str, dict[str, Any]] = {}
    digest: str = ""


class Moment(NamedTuple):
    """A time in milliseconds since 1970. The state has all records before the first one that was appended later."""

    ms: int


class _Using(NamedTuple):
    """What a state is shown with."""

    changes: LastChanges | None
    names: TopicNames


def replay(
    data_dir: Path,
    shards: Sequence[str] = (),
    at: int | Moment | None = None,
    *,
    with_changes: bool = False,
    sealed_only: bool = False,
    retries: Retries = ONCE,
) -> Iterator[ShardState]:
    """Replay the named shards, or all that have a log. ``with_changes`` adds to each group and offset who changed it last.

    With ``sealed_only``, the records that a running server has not sealed are left out.
    """
    chosen = _choose(data_dir, shards)
    with ExitStack() as stack:
        store = retries.run(partial(open_unless_served, stack, data_dir, "replay"))
        if store is not None:
            ends = {shard.name: store.end_offset(_shard_id(shard)) for shard in job_shards(data_dir)}
        elif sealed_only:
            ends = {shard.name: shard.sealed_to() for shard in job_shards(data_dir)}
        else:
            ends = durable(data_dir, retries)
        using = _Using(LastChanges() if with_changes else None, TopicNames(data_dir, ends.get(CATALOG_SHARD, 0)))
        for shard in chosen:
            yield _replay(store, shard, at, ends.get(shard.name, 0), using)


def _choose(data_dir: Path, shards: Sequence[str]) -> list[JobShard]:
    found = {shard.name: shard for shard in job_shards(data_dir)}
    for name in shards:
        if name not in found:
            raise CannotRun(f"{data_dir} has no shard {name}; shards are named like {GROUPS.topic}-7")
    return [found[name] for name in shards or found]


def _replay(store: LogStore | None, shard: JobShard, at: int | Moment | None, end: int, using: _Using) -> ShardState:
    """Replay a shard that is read up to ``end``: that is all if no server has the log, or all see the same rows."""
    upto = offset_at(shard, at.ms, end) if isinstance(at, Moment) else at
    is_whole = store is not None or is_store(shard.place) or (upto is not None and upto <= end)
    upto = end if upto is None else min(upto, end)
    if store is None or upto < shard.compacted_to():
        return _replay_files(shard, upto, using, is_whole=is_whole)
    return _state(shard, store.read(_shard_id(shard), 0), upto, using, is_whole=True)


def _shard_id(shard: JobShard) -> ShardId:
    topic, _, number = shard.name.rpartition("-")
    return ShardId(topic, int(number))


def _replay_files(shard: JobShard, upto: int, using: _Using, *, is_whole: bool) -> ShardState:
    batches = (batch for file in shard.compacted(upto)[1] for batch in _batches(file))
    return _state(shard, batches, upto, using, is_whole=is_whole)


def _batches(file: InputFile) -> Iterator[bytes]:
    for data, position, header in read_batches(file):
        yield data[position : position + header.size]


def _state(shard: JobShard, batches: Iterable[bytes], upto: int, using: _Using, *, is_whole: bool) -> ShardState:
    try:
        batches = batches if using.changes is None else using.changes.watch(batches, upto)
        state = replay_into(rule_of(shard.name).state(), batches, upto)
    except DecodeError as error:
        raise DamagedLog(shard.place, 0, f"a record that cannot be read: {error}") from error
    return ShardState(
        shard=shard.name,
        seen_to=upto,
        is_whole=is_whole,
        noun=state.noun,
        digest=state.digest().digest,
        **state.shown(using.changes, using.names),
    )
