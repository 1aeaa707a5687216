"""The state of shards as of an offset, rebuilt from the log by the server's own ``GroupShard.replay``.

Only durable bytes are read. Without a server the log is recovered under its lock and read to the end. Beside a running server the
sealed segments are read, and ``seen_to`` tells how far that is. As of OFFSET means: after the records before that offset.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from msgspec import Struct

from coordinator_server.catalog.shard import TOPIC as CATALOG_TOPIC
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.config import Config
from coordinator_server.group.shard import GroupShard
from coordinator_server.log.errors import DamagedLog, LockedLog
from coordinator_server.log.layers import newest_valid_layer
from coordinator_server.log.store import ShardId
from coordinator_server.machine.digest import StateDigest, digest_text
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.pipeline.changes import Change, LastChanges
from coordinator_server.pipeline.errors import CannotRun, CannotSeal
from coordinator_server.pipeline.plan import (
    GROUPS_TOPIC,
    Source,
    offset_at,
    read_batches,
    segment_bases,
    shard_directories,
    sources,
)
from coordinator_server.pipeline.sealed import is_served, offline_store
from coordinator_server.runtime.loader import BatchReplay
from protocol.codec import decoder
from protocol.coordinator_records import CLUSTER_METADATA_SERDE, GROUP_SERDE
from protocol.errors import DecodeError
from protocol.messages.consumer_protocol import ConsumerProtocolAssignment

CONSUMER: Final = "consumer"
_VERSION_BYTES: Final = 2


class Member(Struct):
    """A member, and the partitions it was assigned where the protocol is the consumers' own."""

    member_id: str
    client_id: str
    client_host: str
    session_timeout_ms: int
    assignment: dict[str, list[int]] | None
    group_instance_id: str | None = None


class Offset(Struct):
    """A committed position."""

    topic: str
    partition: int
    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    # Who committed it, where that was asked for and the log tells.
    changed: Change | None = None


class Group(Struct):
    """One group. A classic one without a generation is a simple one: offsets only."""

    group_id: str
    type: str = "classic"
    generation: int | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str | None = None
    members: list[Member] = []
    offsets: list[Offset] = []
    # Of a type that is not served: the hash of each record, by its name.
    records: dict[str, str] = {}
    # Of the group's state, as the running server would tell it.
    digest: str = ""
    # Who made the present generation and why, where that was asked for and the log tells.
    changed: Change | None = None


class ShardState(Struct):
    """The groups, or the topics, of a shard after the records before ``seen_to``; ``is_whole`` unless a running server may have more."""

    shard: str
    seen_to: int
    is_whole: bool
    groups: list[Group]
    topics: dict[str, int] = {}  # partitions by name
    digest: str = ""


class Moment(NamedTuple):
    """Milliseconds since 1970: after all records that stand before the first one that was appended later."""

    ms: int


class NoTime:
    """Clock and timers of a state machine in which nothing happens but replay."""

    def wall_ms(self) -> int:
        return 0

    def now_ms(self) -> int:
        return 0

    def schedule(self, key: Hashable, delay_ms: int, operation: Any, /, retry_ms: int = 0) -> None:
        raise AssertionError("replay arms no timer")

    def cancel(self, key: Hashable, /) -> None:
        """There is none."""

    def is_scheduled(self, key: Hashable, /) -> bool:
        return False


def replay(
    data_dir: Path,
    shards: Sequence[str] = (),
    at: int | Moment | None = None,
    *,
    with_topics: bool = False,
    with_changes: bool = False,
) -> Iterator[ShardState]:
    """The state of the named shards, or of all groups that have a log and perhaps of the topics, shard by shard.

    With changes each group and offset says who made it so.
    """
    changes = LastChanges() if with_changes else None
    chosen = _choose(data_dir, shards, (GROUPS_TOPIC, CATALOG_TOPIC) if with_topics else (GROUPS_TOPIC,))
    if is_served(data_dir):
        for path in chosen:
            yield _replay_sealed(path, at, changes)
        return
    try:
        with offline_store(data_dir) as (store, _):
            for path in chosen:
                topic, _, number = path.name.rpartition("-")
                shard = ShardId(topic, int(number))
                end = store.end_offset(shard)
                upto = end if at is None else min(_offset(path, at, end), end)
                newest = newest_valid_layer(path)
                if newest is not None and upto < newest.to_offset:
                    yield _replay_files(path, upto, changes, is_whole=True)
                else:
                    yield _state(path, store.read(shard, 0), upto, changes, is_whole=True)
    except LockedLog as error:
        raise CannotSeal(f"{error}; it does not answer: is it starting or stopping? Try again") from error


def replay_batches(batches: Iterable[bytes], upto: int | None = None) -> GroupShard:
    """A shard that has replayed the records of batches, those before ``upto``. Raises DecodeError."""
    shard = empty_shard()
    replay = BatchReplay(GROUP_SERDE, shard).replay
    for batch in batches:
        replay(batch, LATEST if upto is None else upto)
    return shard


def empty_shard() -> GroupShard:
    """A shard to replay into; nothing else happens in it."""
    nothing = NoTime()
    return GroupShard(config=Config(), registry=SnapshotRegistry(), timer=nothing, clock=nothing, new_id=_no_id)


def replay_catalog(batches: Iterable[bytes], upto: int | None = None) -> CatalogShard:
    """The same for the topics."""
    shard = CatalogShard(config=Config(), registry=SnapshotRegistry(), timer=NoTime(), new_topic_id=_no_id)
    replay = BatchReplay(CLUSTER_METADATA_SERDE, shard).replay
    for batch in batches:
        replay(batch, LATEST if upto is None else upto)
    return shard


def digest_of(shard: GroupShard) -> StateDigest:
    """What a shard's groups come to."""
    found = shard.digest(LATEST, LATEST)
    assert found is not None
    return found


def groups_of(shard: GroupShard, changes: LastChanges | None = None) -> list[Group]:
    """Everything a shard's hard state says, by group id."""
    groups = {group_id: Group(group_id) for group_id in shard.groups.offsets.groups_at(LATEST)}
    for group_id, stored in shard.groups.classic.stored.items():
        value = stored.value
        group = groups.setdefault(group_id, Group(group_id))
        group.generation, group.protocol_type = value.generation, value.protocol_type
        group.protocol, group.leader = value.protocol, value.leader
        group.members = [_member(value.protocol_type, member) for member in value.members]
        if changes is not None:
            group.changed = changes.of_group(group_id, stored.end_offset - 1)
    for group_id, group_type in shard.groups.others.items():
        group = groups.setdefault(group_id, Group(group_id))
        group.type = group_type.name
        group.records = {name: digest_text(item) for name, item in sorted(group_type.digest_items(group_id, LATEST).items())}
    for group_id in shard.groups.offsets.groups_at(LATEST):
        offsets = shard.groups.offsets.of_group_at(group_id, LATEST)
        for (topic, partition), found in sorted(offsets.items() if offsets is not None else ()):
            offset = Offset(
                topic, partition, found.committed_offset, found.leader_epoch, found.metadata, found.commit_timestamp_ms
            )
            if changes is not None:
                offset.changed = changes.of_offset(group_id, topic, partition, found.record_offset)
            groups[group_id].offsets.append(offset)
    for group_id, digest in digest_of(shard).parts.items():
        # A group of which there are open transactions only is not one yet.
        if group_id in groups:
            groups[group_id].digest = digest
    return [groups[group_id] for group_id in sorted(groups)]


def _choose(data_dir: Path, shards: Sequence[str], topics: Sequence[str]) -> list[Path]:
    kinds = (GROUPS_TOPIC, CATALOG_TOPIC)
    found = {path.name: path for path in shard_directories(data_dir) if path.name.rpartition("-")[0] in kinds}
    for name in shards:
        if name not in found:
            raise CannotRun(f"{data_dir} has no shard {name}; shards are named like {GROUPS_TOPIC}-7")
    return [found[name] for name in shards or found if shards or name.rpartition("-")[0] in topics]


def _offset(shard_dir: Path, at: int | Moment, upto: int) -> int:
    return offset_at(shard_dir, at.ms, upto) if isinstance(at, Moment) else at


def _replay_sealed(shard_dir: Path, when: int | Moment | None, changes: LastChanges | None) -> ShardState:
    bases = segment_bases(shard_dir)
    sealed_to = bases[-1] if bases else 0
    at = None if when is None else _offset(shard_dir, when, sealed_to)
    if at is not None and at <= sealed_to:
        return _replay_files(shard_dir, at, changes, is_whole=True)
    return _replay_files(shard_dir, sealed_to, changes, is_whole=False)


def _replay_files(shard_dir: Path, upto: int, changes: LastChanges | None, *, is_whole: bool) -> ShardState:
    batches = (batch for source in sources(shard_dir, upto)[1] for batch in _batches(source))
    return _state(shard_dir, batches, upto, changes, is_whole=is_whole)


def _batches(source: Source) -> Iterator[bytes]:
    for data, position, header in read_batches(source):
        yield data[position : position + header.size]


def _state(shard_dir: Path, batches: Iterable[bytes], upto: int, changes: LastChanges | None, *, is_whole: bool) -> ShardState:
    try:
        if shard_dir.name.rpartition("-")[0] == CATALOG_TOPIC:
            catalog = replay_catalog(batches, upto)
            topics = {topic.name: topic.partitions for topic in catalog.all_topics(LATEST)}
            return ShardState(shard_dir.name, upto, is_whole, [], topics, catalog.digest(LATEST)[1])
        shard = replay_batches(batches if changes is None else changes.watch(batches, upto), upto)
    except DecodeError as error:
        raise DamagedLog(str(shard_dir), 0, f"a record that cannot be read: {error}") from error
    return ShardState(shard_dir.name, upto, is_whole, groups_of(shard, changes), digest=digest_of(shard).digest)


def _member(protocol_type: str | None, member: Any) -> Member:
    assignment = assigned_partitions(member.assignment) if protocol_type == CONSUMER else None
    who = (member.member_id, member.client_id, member.client_host)
    return Member(*who, member.session_timeout, assignment, member.group_instance_id)


def assigned_partitions(data: bytes) -> dict[str, list[int]] | None:
    """Partitions by topic; None for bytes that are none of the consumers' own."""
    if not data:
        return {}
    try:
        version = min(int.from_bytes(data[:_VERSION_BYTES], signed=True), ConsumerProtocolAssignment.kafka.versions.high)
        message, _ = decoder(ConsumerProtocolAssignment, version)(data, _VERSION_BYTES)
    except (DecodeError, KeyError, ValueError):
        return None
    return {topic.topic: sorted(topic.partitions) for topic in message.assigned_partitions}


def _no_id() -> NoReturn:
    raise AssertionError("replay makes no ids")
