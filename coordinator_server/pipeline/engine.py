"""Compaction of one shard: the last record of every key, in one new layer.

What it keeps: per key the record with the highest offset, with its offset, timestamp, headers and leader epoch; tombstones too, unless their
timestamp is before the cutoff. How it cuts batches is in batches.py. All of that follows from the records alone: same records, same bytes, whatever
files they came in.

An engine is what reads and writes: ``PythonEngine`` here, record by record, is the reference; ``vectors.VectorEngine`` does the same to
whole columns. ``compact_shard`` puts either between the plan and the gate: an attempt is finished only when what was
written, read back from its files, says the same as the input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from msgspec import Struct

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.layers import LayerAttempt, Summary
from coordinator_server.pipeline.batches import Kept, cut, encode_batch
from coordinator_server.pipeline.checkpoint import add_checkpoint
from coordinator_server.pipeline.digest import Digest, digest_of
from coordinator_server.pipeline.errors import CannotCompact, GateClosed
from coordinator_server.pipeline.plan import ShardPlan, Source, input_entries, read_batches, sources
from protocol.errors import DecodeError
from protocol.record_batch import BatchHeader, Record, iter_records


class Written(NamedTuple):
    """What an engine has read and written; ``digest`` is that of the records the input says should be there."""

    records_in: int
    records: int
    tombstones: int
    digest: Digest


class Engine(Protocol):
    """Two steps of compaction that there is more than one way to do."""

    def write(self, inputs: Sequence[Source], cutoff_ms: int | None, attempt: LayerAttempt, /) -> Written:
        """Append what remains of the inputs to the attempt."""

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
    try:
        with LayerAttempt(Path(plan.directory), plan.to_offset) as attempt:
            written = engine.write(inputs, cutoff_ms, attempt)
            attempt.close()
            found = engine.digest([attempt.path / entry.name for entry in attempt.entries])
            if found != written.digest:
                raise GateClosed(
                    f"{plan.shard}: the input has {written.digest.count} keys with digest {written.digest}, "
                    f"the output {found.count} with {found}; nothing is published. Please report this"
                )
            no_checkpoint = add_checkpoint(attempt) if plan.has_groups else ""
            summary = Summary(written.records, written.tombstones, cutoff_ms, str(found))
            attempt.finish(summary, input_entries(layer, inputs))
    except CannotCompact as error:
        return ShardResult(plan.directory, plan.to_offset, left_alone=str(error))
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


class PythonEngine:
    """The reference: one record after the other into a dict."""

    def write(self, inputs: Sequence[Source], cutoff_ms: int | None, attempt: LayerAttempt, /) -> Written:
        latest: dict[bytes, Kept] = {}
        records_in = 0
        for source in inputs:
            for key, kept in _read(source):
                latest[key] = kept
                records_in += 1
        staying = {key: kept for key, kept in latest.items() if _stays(kept.record, cutoff_ms)}
        expected = digest_of((key, kept.record.value) for key, kept in staying.items())
        for batch in cut(sorted(staying.values(), key=lambda kept: kept.record.offset)):
            attempt.append(batch[0].record.offset, encode_batch(batch))
        tombstones = sum(kept.record.value is None for kept in staying.values())
        return Written(records_in, len(staying), tombstones, expected)

    def digest(self, paths: Sequence[Path], /) -> Digest:
        whole = (Source(str(path), 0, 2**63 - 1, is_dense=False) for path in paths)
        return digest_of((key, kept.record.value) for source in whole for key, kept in _read(source))


def _read(source: Source) -> Iterator[tuple[bytes, Kept]]:
    for data, position, header in read_batches(source):
        if header.attributes:
            raise _cannot(source, position, _kind(header))
        try:
            for record in iter_records(data, position, header):
                if record.key is None:
                    raise _cannot(source, position, "records without a key cannot be compacted")
                if record.offset >= source.from_offset:
                    yield record.key, Kept(record, header.leader_epoch)
        except DecodeError as error:
            raise DamagedLog(source.path, position if error.position is None else error.position, error.reason) from error


def _cannot(source: Source, position: int, why: str) -> CannotCompact:
    path = Path(source.path)
    return CannotCompact(f"{path.parent.name}/{path.name} at byte {position}: {why}; the shard is left as it is")


def _kind(header: BatchHeader) -> str:
    if header.is_control or header.is_transactional:
        return "transactional records are not compacted by this version"
    if header.compression:
        return "compressed batches are not compacted by this version"
    return f"batches with attributes {header.attributes:#x} are not compacted by this version"


def _stays(record: Record, cutoff_ms: int | None) -> bool:
    return record.value is not None or cutoff_ms is None or record.timestamp >= cutoff_ms
