"""The share partitions of one group over time, read from the log: the state of each, which deliveries are not settled, and why.

The share partitions of a group are in all shards of ``__share_group_state``. Only batches that contain the group's id are decoded.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, NoReturn

from msgspec import Struct

from coordinator_server.kinds import SHARE_STATE, topic_of
from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import InputFile, JobShard, Layer, ShardInput
from coordinator_server.log.opening import job_shards
from coordinator_server.machine.provenance import Provenance, attributed
from coordinator_server.machine.timeline import LATEST
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.files import batches_before, first_after, records_of, stands_for_lost
from coordinator_server.pipeline.input.topic_names import TopicNames
from coordinator_server.pipeline.states.changes import Change, change_of
from coordinator_server.pipeline.states.share_steps import (
    DELIVERY_STATES,
    UNKNOWN_STATE,
    ShareStep,
    ShareStepKind,
    ShareSteps,
    Unsettled,
    counts_of,
    unsettled_after,
)
from coordinator_server.share.share_partition import SharePartition
from coordinator_server.share.state_batches import NO_START_OFFSET, StateBatch
from protocol.coordinator_records import SHARE_SERDE
from protocol.errors import DecodeError
from protocol.fields import uuid_text
from protocol.record_batch import BatchHeader
from protocol.share_partition_names import SharePartitionKey


class Chosen(NamedTuple):
    """The share partitions that are asked for: of a group, or of one topic of it, or one partition."""

    group_id: str
    topic: str | None = None
    partition: int | None = None


class UnsettledBatch(Struct):
    """Consecutive records that were delivered, and neither acknowledged nor rejected since. Times are milliseconds.

    With ``is_earlier`` they are unsettled since ``since_ms`` or earlier: the history begins there.
    """

    first_offset: int
    last_offset: int
    deliveries: int
    since_ms: int
    last_ms: int
    is_earlier: bool


class SharePartitionAt(Struct):
    """A share partition at a moment.

    Numbers are of records from the start offset on; ``start_offset`` is -1 if there is none yet.
    """

    topic: str | None
    topic_id: str
    partition: int
    start_offset: int
    in_flight: int
    acknowledged: int
    archived: int
    delivery_complete: int
    state_epoch: int
    leader_epoch: int
    snapshot_epoch: int
    changed_ms: int
    unsettled: list[UnsettledBatch]
    shard: str


class SettledBatch(Struct):
    """What a record says of consecutive records: what became of their delivery, and how often they were delivered."""

    first_offset: int
    last_offset: int
    state: str
    deliveries: int


class ShareEvent(Struct, omit_defaults=True):
    """One change of a share partition. ``start_offset`` and the epochs are set if they have changed."""

    at_ms: int
    what: str
    topic: str | None
    topic_id: str
    partition: int
    start_offset: int | None = None
    state_epoch: int | None = None
    leader_epoch: int | None = None
    batches: list[SettledBatch] = []
    by: Change | None = None


class _Found(NamedTuple):
    offset: int
    at_ms: int
    step: ShareStep
    by: Provenance | None


class _Lost(NamedTuple):
    """What was known until here is not any longer: salvage has not found the records before an offset. A layer follows."""

    to_offset: int


class ShareLog:
    """The log of share partitions up to ``ends``, which has the end of each shard."""

    def __init__(self, data_dir: Path, ends: Mapping[str, int], names: TopicNames) -> None:
        self._shards = [shard for shard in job_shards(data_dir) if topic_of(shard.name) == SHARE_STATE.topic]
        self._ends = ends
        self._names = names
        # By shard: the end of records that salvage has not found, if no layer is behind them. Known after a question.
        self.lost: dict[str, int] = {}

    def partitions_at(self, chosen: Chosen, at_ms: int | None = None) -> list[SharePartitionAt]:
        """Return the share partitions as of the end of the log, or after all records before the first one after ``at_ms``.

        Raises PipelineError if there is none, CannotRun for a moment before the history.
        """
        found: list[SharePartitionAt] = []
        for shard in self._shards:
            states: dict[SharePartitionKey, tuple[SharePartition, int]] = {}
            unsettled: dict[SharePartitionKey, list[Unsettled]] = {}
            for each in self._steps(shard, chosen, at_ms):
                if isinstance(each, _Lost):
                    states, unsettled = {}, {}
                    continue
                key, after = each.step.key, each.step.after
                unsettled[key] = unsettled_after(unsettled.get(key, ()), each.step, each.at_ms)
                if after is None:
                    states.pop(key, None)
                else:
                    states[key] = after, each.at_ms
            found += (self._partition_at(shard, key, *state, unsettled[key]) for key, state in states.items())
        if not found:
            self._refuse(chosen, at_ms)
        return sorted(found, key=lambda each: (each.topic or each.topic_id, each.partition))

    def events(self, chosen: Chosen, record_offset: int | None = None) -> list[ShareEvent]:
        """Return the changes in the order of time; with ``record_offset`` those that say something of this record of a partition.

        Raises PipelineError if there is none.
        """
        found = [each for shard in self._shards for each in self._steps(shard, chosen) if isinstance(each, _Found)]
        if not found:
            self._refuse(chosen)
        events = (self._event(each) for each in sorted(found, key=lambda each: each.at_ms) if _says(each.step, record_offset))
        return [event for event in events if event is not None]

    def _steps(self, shard: JobShard, chosen: Chosen, at_ms: int | None = None) -> Iterator[_Found | _Lost]:
        upto = self._ends.get(shard.name, 0)
        layer, files = shard.whole(upto)
        try:
            lost_to = yield from self._steps_of(shard, (layer, files), (chosen, at_ms, upto))
            behind = shard.behind_loss(lost_to, upto) if lost_to else None
            if lost_to and behind is None:
                self.lost[shard.name] = lost_to
            if behind is not None:
                yield _Lost(lost_to)
                yield from self._steps_of(shard, behind, (chosen, at_ms, upto))
        except DecodeError as error:
            raise DamagedLog(shard.name, 0, f"a record that cannot be read: {error}") from error

    def _steps_of(
        self, shard: JobShard, source: ShardInput, wanted: tuple[Chosen, int | None, int]
    ) -> Generator[_Found, None, int]:
        """Yield the steps in some files of a shard.

        Return the end of the last records that salvage has not found; 0 if none is lost.
        """
        (layer, files), (chosen, at_ms, upto) = source, wanted
        steps, group_id, is_mentioned, lost_to = ShareSteps(), chosen.group_id.encode(), False, 0
        for file in files:
            for data, position, header in batches_before([file], upto):
                end = LATEST if at_ms is None else first_after(data, position, header, at_ms)
                if stands_for_lost(header, layer):
                    lost_to = header.next_offset
                if not header.is_control and _mentions(group_id, data, position, header):
                    is_mentioned = True
                    yield from self._steps_in((data, position, header), file, steps, (chosen, upto if end is None else end))
                if end not in (None, LATEST):
                    if is_mentioned:
                        _check_moment(shard, layer, end)
                    return lost_to
        return lost_to

    def _steps_in(
        self, batch: tuple[bytes, int, BatchHeader], file: InputFile, steps: ShareSteps, wanted: tuple[Chosen, int]
    ) -> Iterator[_Found]:
        chosen, end = wanted
        for record, by in attributed(records_of(*batch)):
            if not file.from_offset <= record.offset < end:
                continue
            decoded = SHARE_SERDE.decode(record.key, record.value)
            step = None if decoded is None else steps.add(record.offset, decoded, is_kept=not file.is_dense)
            if step is not None and self._is_chosen(chosen, step.key):
                yield _Found(record.offset, record.timestamp, step, by)

    def _is_chosen(self, chosen: Chosen, key: SharePartitionKey) -> bool:
        return (
            key.group_id == chosen.group_id
            and chosen.partition in (None, key.partition)
            and chosen.topic in (None, self._names.get(key.topic_id), uuid_text(key.topic_id))
        )

    def _partition_at(
        self, shard: JobShard, key: SharePartitionKey, state: SharePartition, changed_ms: int, unsettled: list[Unsettled]
    ) -> SharePartitionAt:
        counts = counts_of(state)
        return SharePartitionAt(
            self._names.get(key.topic_id),
            uuid_text(key.topic_id),
            key.partition,
            state.start_offset,
            counts.in_flight,
            counts.acknowledged,
            counts.archived,
            state.delivery_complete_count,
            state.state_epoch,
            state.leader_epoch,
            state.snapshot_epoch,
            changed_ms,
            [UnsettledBatch(*each) for each in unsettled],
            shard.name,
        )

    def _event(self, found: _Found) -> ShareEvent | None:
        """Return the event of a step; None if it changes nothing: a snapshot of what is known."""
        step, before, after = found.step, found.step.before, found.step.after
        by = None if found.by is None else change_of(found.offset, found.at_ms, found.by)
        names = (self._names.get(step.key.topic_id), uuid_text(step.key.topic_id), step.key.partition)
        event = ShareEvent(found.at_ms, step.kind.value, *names, by=by)
        if after is None:
            return event
        is_whole = before is None or step.kind is ShareStepKind.INITIALIZED
        for name in ("start_offset", "state_epoch", "leader_epoch"):
            if before is None or is_whole or getattr(after, name) != getattr(before, name):
                setattr(event, name, getattr(after, name))
        known = () if before is None else before.state_batches
        event.batches = [_shown(each) for each in step.batches if is_whole or not _is_known(each, known)]
        changed = (
            event.batches or event.start_offset is not None or event.state_epoch is not None or event.leader_epoch is not None
        )
        return event if changed else None

    def _refuse(self, chosen: Chosen, at_ms: int | None = None) -> NoReturn:
        """Raise PipelineError: say what is not there."""
        group_id, topic, partition = chosen
        when = "" if at_ms is None else " at that time"
        if topic is not None and self._has(Chosen(group_id), at_ms):
            what = topic if partition is None else f"{topic}-{partition}"
            raise PipelineError(f"group {group_id} has no share partition {what}{when}")
        raise PipelineError(
            f"the log of {SHARE_STATE.topic} has no share partition of group {group_id}{when}: either no share group of this id "
            "was "
            "served here, or none of its topics is initialized ('coordinator-server groups at' shows what the group is)"
        )

    def _has(self, chosen: Chosen, at_ms: int | None) -> bool:
        return any(isinstance(each, _Found) for shard in self._shards for each in self._steps(shard, chosen, at_ms))


def _check_moment(shard: JobShard, layer: Layer | None, offset: int | None) -> None:
    if layer is not None and offset is not None and offset < layer.to_offset:
        raise CannotRun(
            f"the history of {shard.name} begins at offset {layer.to_offset}: what was before is kept compacted only"
            " (log.history.retention.ms says how long segments are kept)"
        )


def _says(step: ShareStep, record_offset: int | None) -> bool:
    """Return whether a step says something of a record of its partition: its delivery, or that the start offset has passed it."""
    if record_offset is None or step.after is None or step.kind is ShareStepKind.INITIALIZED:
        return True
    if any(each.first_offset <= record_offset <= each.last_offset for each in step.batches):
        return True
    before = NO_START_OFFSET if step.before is None else step.before.start_offset
    return before <= record_offset < step.after.start_offset


def _is_known(batch: StateBatch, known: tuple[StateBatch, ...]) -> bool:
    """Return whether one of the known batches says the same of all records of a batch."""
    return any(
        each.first_offset <= batch.first_offset and batch.last_offset <= each.last_offset and each[2:] == batch[2:]
        for each in known
    )


def _shown(batch: StateBatch) -> SettledBatch:
    state = DELIVERY_STATES.get(batch.delivery_state, UNKNOWN_STATE)
    return SettledBatch(batch.first_offset, batch.last_offset, state, batch.delivery_count)


def _mentions(group_id: bytes, data: bytes, position: int, header: BatchHeader) -> bool:
    """Return whether the batch contains the group's id, or may, because it is compressed."""
    return bool(header.compression) or data.find(group_id, position, position + header.size) >= 0
