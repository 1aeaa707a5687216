"""Compaction of one shard into one new layer, by the rule of its kind (``rules.py``).

A keyed log keeps the record with the highest offset of each key, with its offset, timestamp, headers and leader epoch. Tombstones
are kept until their timestamp is before the cutoff. ``keyed.py`` says what happens to transactions, ``folded.py`` what a folded log
keeps, and ``layer/batches.py`` how batches are cut. The output depends on the records alone: the same records give the same bytes,
whatever files they were in.

An engine reads and writes the records. ``PythonEngine`` does it record by record and is the reference; ``VectorEngine``
(``vector_engine.py``) does the same to whole columns. ``compact_shard`` checks the result of either: an attempt is finished only if
its records, read back from its files, are those that the input requires.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from struct import Struct as Layout
from typing import Final, NamedTuple, Protocol

from msgspec import Struct

from coordinator_server.log.jobs import InputFile, Layer, LayerAttempt, LayerSummary
from coordinator_server.log.opening import input_bytes, job_shard
from coordinator_server.pipeline.compact.folded import check_fold, fold_records
from coordinator_server.pipeline.compact.keyed import Kept, KeyedCompaction
from coordinator_server.pipeline.compact.last_places import MOST_BYTES
from coordinator_server.pipeline.compact.plan import ShardPlan
from coordinator_server.pipeline.compact.supported import errors_at
from coordinator_server.pipeline.errors import CannotCompact, GateClosed, PipelineError
from coordinator_server.pipeline.input.files import read_windows, records_of
from coordinator_server.pipeline.layer.batches import LayerBatch, LayerRecord, lay_out
from coordinator_server.pipeline.layer.record_digest import RecordDigest
from coordinator_server.pipeline.rules import Folded, Keyed, Rule, rule_of
from protocol.record_batch import NO_PRODUCER_ID, BatchHeader, read_header

_OF_PRODUCER: Final = Layout(">qhih")


class EngineResult(NamedTuple):
    """Counts of what an engine has read and written.

    ``digest`` is computed from the input: the digest that the output must have.
    """

    records_in: int
    records: int
    tombstones: int
    digest: RecordDigest


class Engine(Protocol):
    """The steps of compaction that have several implementations."""

    def write(self, keyed: Keyed, inputs: Sequence[InputFile], cutoff_ms: int | None, attempt: LayerAttempt, /) -> EngineResult:
        """Append the records that a keyed log keeps of the inputs to the attempt."""

    def digest(self, paths: Sequence[Path], /) -> RecordDigest:
        """Read files and return the digest of their records."""

    def for_checkpoint(self, layer: Layer, /) -> Iterable[tuple[bytes, BatchHeader]]:
        """Read the batches that a checkpoint is made from: all, or all but markers that a later one of their producer follows."""


class ShardResult(Struct, frozen=True):
    """The outcome for one shard.

    ``attempt`` is the directory to publish; if it is empty, ``left_alone`` says why, or the shard has more keys than a task may
    hold (``has_too_many_keys``) and is left to many. ``no_checkpoint`` says why the layer has none.
    """

    directory: str
    to_offset: int
    records_in: int = 0
    bytes_in: int = 0
    records: int = 0
    tombstones: int = 0
    bytes_out: int = 0
    digest: str = ""
    attempt: str = ""
    left_alone: str = ""
    no_checkpoint: str = ""
    has_too_many_keys: bool = False

    @property
    def shard(self) -> str:
        return Path(self.directory).name


def compact_shard(plan: ShardPlan, cutoff_ms: int | None, engine: Engine) -> ShardResult:
    """Write a finished attempt for the shard. The attempt is removed if that fails."""
    shard = job_shard(plan.directory)
    source = shard.compacted(plan.to_offset)
    inputs = source[1]
    rule = rule_of(plan.shard)
    try:
        with shard.new_layer(plan.to_offset) as attempt:
            written = _write(rule, inputs, cutoff_ms, attempt, engine)
            no_checkpoint = (
                rule.checkpoint(attempt, written.records, engine.for_checkpoint) if rule.checkpoint is not None else ""
            )
            summary = LayerSummary(written.records, written.tombstones, cutoff_ms, str(written.digest))
            attempt.finish(summary, shard.entries(source))
    except CannotCompact as error:
        return ShardResult(plan.directory, plan.to_offset, left_alone=str(error))
    except OSError as error:
        raise PipelineError(f"{plan.directory}: {error.strerror or error}; nothing is published, run it again") from error
    return ShardResult(
        plan.directory,
        plan.to_offset,
        records_in=written.records_in,
        bytes_in=sum(input_bytes(file.path) for file in inputs),
        records=summary.records,
        tombstones=summary.tombstones,
        bytes_out=attempt.size,
        digest=summary.digest,
        attempt=str(attempt.path),
        no_checkpoint=no_checkpoint,
    )


def _write(rule: Rule, inputs: Sequence[InputFile], cutoff_ms: int | None, attempt: LayerAttempt, engine: Engine) -> EngineResult:
    """Write the records of the layer, read them back and compare. Raises GateClosed if they differ from what the inputs require."""
    match rule.compaction:
        case Keyed() as keyed:
            written = engine.write(keyed, inputs, cutoff_ms, attempt)
            attempt.close()
        case Folded() as folded:
            kept = fold_records(rule, folded, inputs, cutoff_ms)
            written = _append(kept.records_in, kept.kept, attempt)
            attempt.close()
            check_fold(rule, kept, attempt.preview())
    found = engine.digest(attempt.preview().files())
    if found != written.digest:
        raise GateClosed(
            f"{attempt.path.parent.name}: the input has {written.digest.count} records to keep with digest {written.digest}, "
            f"the output {found.count} with {found}; nothing is published. Please report this"
        )
    return written


class PythonEngine:
    """The reference: it reads the records one by one, twice, and holds none (``keyed.py``).

    It needs less than 300 MB for any keyed shard. ``key_bytes`` of it are for keys: what does not fit is in temporary files.
    """

    def __init__(self, key_bytes: int = MOST_BYTES) -> None:
        self._key_bytes = key_bytes

    def write(self, keyed: Keyed, inputs: Sequence[InputFile], cutoff_ms: int | None, attempt: LayerAttempt, /) -> EngineResult:
        compaction = KeyedCompaction(keyed, attempt.path, self._key_bytes)
        records_in = 0
        for file in inputs:
            for data, position, header, at in read_windows(file):
                with errors_at(file.path, at):
                    records_in += compaction.add(data, position, header, file.from_offset)
        return _append(records_in, _kept_of(inputs, compaction.kept(cutoff_ms)), attempt)

    def digest(self, paths: Sequence[Path], /) -> RecordDigest:
        found = RecordDigest()
        for path in paths:
            file = InputFile(str(path), 0, 2**63 - 1, is_dense=False)
            for data, position, header, at in read_windows(file):
                with errors_at(file.path, at):
                    add_batch(found, data, position, header)
        return found

    def for_checkpoint(self, layer: Layer, /) -> Iterable[tuple[bytes, BatchHeader]]:
        return layer.read_with_headers()


def _kept_of(inputs: Sequence[InputFile], kept: Kept) -> Iterator[LayerRecord | LayerBatch]:
    for file in inputs:
        for data, position, header, at in read_windows(file):
            with errors_at(file.path, at):
                found = kept.of_batch(data, position, header, file.from_offset)
            yield from found


def _append(records_in: int, items: Iterable[LayerRecord | LayerBatch], attempt: LayerAttempt) -> EngineResult:
    """Write what is kept, in offset order, and compute its digest from what is given, not from what is written."""
    expected, tombstones = RecordDigest(), 0

    def counted() -> Iterator[LayerRecord | LayerBatch]:
        nonlocal tombstones
        for item in items:
            if isinstance(item, LayerBatch):
                add_batch(expected, item.data, 0, read_header(item.data))
            else:
                expected.add(item.record.key or b"", item.record.value)
                tombstones += item.record.value is None
            yield item

    for batch in lay_out(counted()):
        attempt.append(batch.base_offset, batch.data)
    return EngineResult(records_in, expected.count, tombstones, expected)


def add_batch(digest: RecordDigest, data: bytes, position: int, header: BatchHeader) -> None:
    """Add the records of a batch.

    Those of a transaction are hashed with the producer fields of their batch, since these change their meaning.
    """
    batch = b""
    if header.producer_id != NO_PRODUCER_ID:
        batch = _OF_PRODUCER.pack(header.producer_id, header.producer_epoch, header.base_sequence, header.attributes)
    for record in records_of(data, position, header):
        digest.add(batch + (record.key or b""), record.value)
