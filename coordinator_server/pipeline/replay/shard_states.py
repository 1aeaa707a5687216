"""The state of shards as of an offset or a time, rebuilt from the log by the ``replay`` of their state machines.

Only durable records are read. If no server runs, the log is recovered under the server's lock and read to its end. Beside a running
server only the sealed segments are read, and ``seen_to`` is where they end. The state as of OFFSET has the records before that offset.
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
from coordinator_server.log.layers.layer import newest_valid_layer
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import LogStore
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.input.files import InputFile, compacted_input, offset_at, read_batches
from coordinator_server.pipeline.input.retries import ONCE, Retries
from coordinator_server.pipeline.input.sealing import open_unless_served
from coordinator_server.pipeline.input.shards import segment_bases, shard_directories
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
    retries: Retries = ONCE,
) -> Iterator[ShardState]:
    """Replay the named shards, or all that have a log. ``with_changes`` adds to each group and offset who changed it last."""
    chosen = _choose(data_dir, shards)
    with ExitStack() as stack:
        store = retries.run(partial(open_unless_served, stack, data_dir, "replay"))
        catalog = data_dir / CATALOG_SHARD
        names = TopicNames(data_dir, _sealed_to(catalog) if store is None else store.end_offset(_shard_id(catalog)))
        using = _Using(LastChanges() if with_changes else None, names)
        for path in chosen:
            yield _replay_sealed(path, at, using) if store is None else _replay_all(store, path, at, using)


def _choose(data_dir: Path, shards: Sequence[str]) -> list[Path]:
    found = {path.name: path for path in shard_directories(data_dir)}
    for name in shards:
        if name not in found:
            raise CannotRun(f"{data_dir} has no shard {name}; shards are named like {GROUPS.topic}-7")
    return [found[name] for name in shards or found]


def _offset(shard_dir: Path, at: int | Moment, upto: int) -> int:
    return offset_at(shard_dir, at.ms, upto) if isinstance(at, Moment) else at


def _replay_all(store: LogStore, shard_dir: Path, at: int | Moment | None, using: _Using) -> ShardState:
    shard = _shard_id(shard_dir)
    end = store.end_offset(shard)
    upto = end if at is None else min(_offset(shard_dir, at, end), end)
    newest = newest_valid_layer(shard_dir)
    if newest is not None and upto < newest.to_offset:
        return _replay_files(shard_dir, upto, using, is_whole=True)
    return _state(shard_dir, store.read(shard, 0), upto, using, is_whole=True)


def _replay_sealed(shard_dir: Path, when: int | Moment | None, using: _Using) -> ShardState:
    sealed_to = _sealed_to(shard_dir)
    at = None if when is None else _offset(shard_dir, when, sealed_to)
    if at is not None and at <= sealed_to:
        return _replay_files(shard_dir, at, using, is_whole=True)
    return _replay_files(shard_dir, sealed_to, using, is_whole=False)


def _sealed_to(shard_dir: Path) -> int:
    bases = segment_bases(shard_dir) if shard_dir.is_dir() else []
    return bases[-1] if bases else 0


def _shard_id(shard_dir: Path) -> ShardId:
    topic, _, number = shard_dir.name.rpartition("-")
    return ShardId(topic, int(number))


def _replay_files(shard_dir: Path, upto: int, using: _Using, *, is_whole: bool) -> ShardState:
    batches = (batch for file in compacted_input(shard_dir, upto)[1] for batch in _batches(file))
    return _state(shard_dir, batches, upto, using, is_whole=is_whole)


def _batches(file: InputFile) -> Iterator[bytes]:
    for data, position, header in read_batches(file):
        yield data[position : position + header.size]


def _state(shard_dir: Path, batches: Iterable[bytes], upto: int, using: _Using, *, is_whole: bool) -> ShardState:
    try:
        batches = batches if using.changes is None else using.changes.watch(batches, upto)
        state = replay_into(rule_of(shard_dir.name).state(), batches, upto)
    except DecodeError as error:
        raise DamagedLog(str(shard_dir), 0, f"a record that cannot be read: {error}") from error
    return ShardState(
        shard=shard_dir.name,
        seen_to=upto,
        is_whole=is_whole,
        noun=state.noun,
        digest=state.digest().digest,
        **state.shown(using.changes, using.names),
    )
