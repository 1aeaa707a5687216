"""Compaction of one shard into one new layer, by the rule of its kind (rules.py).

What a keyed log keeps: per key the record with the highest offset, with its offset, timestamp, headers and leader epoch; tombstones too, unless their
timestamp is before the cutoff; of transactions what standing.py says. What a folded log keeps is in folding.py, how batches are cut in batches.py. All of that
follows from the records alone: same records, same bytes, whatever files they came in.

An engine is what reads and writes: ``PythonEngine`` here, record by record, is the reference; ``vectors.VectorEngine`` does the same to
whole columns. ``compact_shard`` puts either between the plan and the gate: an attempt is finished only when what was
written, read back from its files, says the same as the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from struct import Struct as Layout
from typing import Final, NamedTuple, Protocol

from msgspec import Struct

from coordinator_server.log.layers import LayerAttempt, Summary
from coordinator_server.pipeline.batches import Held, Kept, lay_out
from coordinator_server.pipeline.digest import Digest, digest_of
from coordinator_server.pipeline.errors import CannotCompact, GateClosed, PipelineError
from coordinator_server.pipeline.folding import check_fold, fold_records
from coordinator_server.pipeline.plan import ShardPlan, Source, input_entries, read_batches, sources
from coordinator_server.pipeline.rules import Folded, Keyed, Rule, rule_of
from coordinator_server.pipeline.standing import Standing, named, records_of
from protocol.record_batch import NO_PRODUCER_ID, BatchHeader, read_header

_OF_PRODUCER: Final = Layout(">qhih")


class Written(NamedTuple):
    """What an engine has read and written; ``digest`` is that of the records the input says should be there."""

    records_in: int
    records: int
    tombstones: int
    digest: Digest


class Engine(Protocol):
    """Two steps of compaction that there is more than one way to do."""

    def write(self, keyed: Keyed, inputs: Sequence[Source], cutoff_ms: int | None, attempt: LayerAttempt, /) -> Written:
        """Append what remains of the inputs of a keyed log to the attempt."""

    def digest(self, paths: Sequence[Path], /) -> Digest:
        """Digest the records of files, read from disk."""


class ShardResult(Struct, frozen=True):
    """The outcome for one shard. ``attempt`` is the directory to publish; ``left_alone`` says why there is none,
    ``no_checkpoint`` why it has records only."""

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

    @property
    def shard(self) -> str:
        return Path(self.directory).name


def compact_shard(plan: ShardPlan, cutoff_ms: int | None, engine: Engine) -> ShardResult:
    """Write a finished attempt for the shard; nothing is left behind when that fails."""
    layer, inputs = sources(Path(plan.directory), plan.to_offset)
    rule = rule_of(plan.shard)
    try:
        with LayerAttempt(Path(plan.directory), plan.to_offset) as attempt:
            written = _write(rule, inputs, cutoff_ms, attempt, engine)
            no_checkpoint = rule.checkpoint(attempt, written.records) if rule.checkpoint is not None else ""
            summary = Summary(written.records, written.tombstones, cutoff_ms, str(written.digest))
            attempt.finish(summary, input_entries(layer, inputs))
    except CannotCompact as error:
        return ShardResult(plan.directory, plan.to_offset, left_alone=str(error))
    except OSError as error:
        raise PipelineError(f"{plan.directory}: {error.strerror or error}; nothing is published, run it again") from error
    return ShardResult(
        plan.directory,
        plan.to_offset,
        records_in=written.records_in,
        bytes_in=sum(Path(source.path).stat().st_size for source in inputs),
        records=summary.records,
        tombstones=summary.tombstones,
        bytes_out=sum(entry.size for entry in attempt.entries),
        digest=summary.digest,
        attempt=str(attempt.path),
        no_checkpoint=no_checkpoint,
    )


def _write(rule: Rule, inputs: Sequence[Source], cutoff_ms: int | None, attempt: LayerAttempt, engine: Engine) -> Written:
    """Write the records of the layer, and read them back. Raises GateClosed when they are not what the inputs come to."""
    match rule.compaction:
        case Keyed() as keyed:
            written = engine.write(keyed, inputs, cutoff_ms, attempt)
            attempt.close()
        case Folded() as folded:
            kept = fold_records(rule, folded, inputs, cutoff_ms)
            written = _append(kept.records_in, kept.kept, (), attempt)
            attempt.close()
            check_fold(rule, kept, attempt.preview())
    found = engine.digest([attempt.path / entry.name for entry in attempt.entries])
    if found != written.digest:
        raise GateClosed(
            f"{attempt.path.parent.name}: the input has {written.digest.count} records to keep with digest {written.digest}, "
            f"the output {found.count} with {found}; nothing is published. Please report this"
        )
    return written


class PythonEngine:
    """The reference: one record after the other into a dict."""

    def write(self, keyed: Keyed, inputs: Sequence[Source], cutoff_ms: int | None, attempt: LayerAttempt, /) -> Written:
        standing = Standing(keyed)
        records_in = 0
        for source in inputs:
            for data, position, header in read_batches(source):
                with named(source.path, position):
                    records_in += standing.add(data, position, header, source.from_offset)
        return _append(records_in, standing.plain(cutoff_ms), standing.held(cutoff_ms), attempt)

    def digest(self, paths: Sequence[Path], /) -> Digest:
        found = Digest()
        for path in paths:
            source = Source(str(path), 0, 2**63 - 1, is_dense=False)
            for data, position, header in read_batches(source):
                with named(source.path, position):
                    _add_batch(found, data, position, header)
        return found


def _append(records_in: int, plain: Sequence[Kept], held: Sequence[Held], attempt: LayerAttempt) -> Written:
    expected = digest_of((kept.record.key or b"", kept.record.value) for kept in plain)
    for batch in held:
        _add_batch(expected, batch.data, 0, read_header(batch.data))
    for batch in lay_out(plain, held):
        attempt.append(batch.base_offset, batch.data)
    tombstones = sum(kept.record.value is None for kept in plain)
    return Written(records_in, expected.count, tombstones, expected)


def _add_batch(digest: Digest, data: bytes, position: int, header: BatchHeader) -> None:
    """Records of a transaction are digested with what says so in their batch: as plain ones they would mean something else."""
    batch = b""
    if header.producer_id != NO_PRODUCER_ID:
        batch = _OF_PRODUCER.pack(header.producer_id, header.producer_epoch, header.base_sequence, header.attributes)
    for record in records_of(data, position, header):
        digest.add(batch + (record.key or b""), record.value)
