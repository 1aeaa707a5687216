"""What compaction keeps of a folded log: records that replay to the same state as all records of the shard.

The inputs are read twice: once to replay them, once for timestamp, headers and leader epoch at the offsets of the kept records.
The result depends on the records alone, so every engine gets the same. A task holds the state in memory, not the log. The gate:
the digest of the output, replayed, equals the digest of the input's state.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from coordinator_server.log.jobs import InputFile, Layer
from coordinator_server.pipeline.compact.keyed import is_kept
from coordinator_server.pipeline.compact.supported import Unsupported, check_header, errors_at
from coordinator_server.pipeline.errors import GateClosed
from coordinator_server.pipeline.input.files import read_windows, records_of
from coordinator_server.pipeline.layer.batches import LayerRecord
from coordinator_server.pipeline.rules import Fold, Folded, Rule
from coordinator_server.pipeline.states.state import replay_into
from protocol.coordinator_records import RecordSerde
from protocol.errors import DecodeError
from protocol.record_batch import BatchHeader, Record


class FoldedRecords(NamedTuple):
    """The number of records read, the records to keep in offset order, and the digest of the state."""

    records_in: int
    kept: list[LayerRecord]
    digest: str


class _KeyValue(NamedTuple):
    key: bytes | None
    value: bytes | None


def fold_records(rule: Rule, folded: Folded, inputs: Sequence[InputFile], cutoff_ms: int | None) -> FoldedRecords:
    """Fold the inputs.

    Raises CannotCompact for records that are not supported, GateClosed for a kept record with an impossible offset.
    """
    state, serde = rule.state(), rule.kind.serde
    fold = folded.fold(state)
    records_in = 0
    for file in inputs:
        for data, position, header, at in read_windows(file):
            with errors_at(file.path, at):
                records_in += _replay(fold, serde, _records(data, position, header, file.from_offset))
    folded_to: dict[int, _KeyValue] = {}
    for offset, record in fold.records():
        if offset in folded_to:
            raise GateClosed(f"two records were folded to offset {offset} of {rule.kind.topic}. Please report this")
        folded_to[offset] = _KeyValue(serde.encode_key(record), serde.encode_value(record))
    kept = list(_with_input_fields(folded_to, inputs))
    if len(kept) != len(folded_to):
        raise GateClosed(f"records were folded to offsets of {rule.kind.topic} that have no record. Please report this")
    return FoldedRecords(records_in, [each for each in kept if is_kept(each.record, cutoff_ms)], state.digest().digest)


def check_fold(rule: Rule, folded: FoldedRecords, layer: Layer) -> None:
    """Replay the layer and compare digests. Raises GateClosed."""
    found = replay_into(rule.state(), (batch for batch, _ in layer.read_with_headers())).digest().digest
    if found != folded.digest:
        raise GateClosed(
            f"{rule.kind.topic}: the input has a state with digest {folded.digest}, the output one with {found}; "
            "nothing is published. Please report this"
        )


def _records(
    data: bytes, position: int, header: BatchHeader, from_offset: int, *, with_headers: bool = False
) -> Iterator[Record]:
    if header.next_offset > from_offset:
        check_header(header, has_transactions=False)
        for record in records_of(data, position, header, with_headers=with_headers):
            if record.offset >= from_offset:
                yield record


def _replay(fold: Fold, serde: RecordSerde, records: Iterator[Record]) -> int:
    count = 0
    for record in records:
        count += 1
        try:
            decoded = serde.decode(record.key, record.value)
        except DecodeError as why:
            raise Unsupported(f"records that cannot be read ({why})") from why
        if decoded is None:
            raise Unsupported("records of types that are not known")
        fold.add(record.offset, decoded)
    return count


def _with_input_fields(folded_to: dict[int, _KeyValue], inputs: Sequence[InputFile]) -> Iterator[LayerRecord]:
    """Return the kept records in offset order, with timestamp, headers and leader epoch of the input records at their offsets."""
    offsets = sorted(folded_to)
    for file in inputs:
        for data, position, header, _ in read_windows(file):
            next_one = bisect_left(offsets, max(header.base_offset, file.from_offset))
            if next_one == len(offsets) or offsets[next_one] >= header.next_offset:
                continue
            for record in _records(data, position, header, file.from_offset, with_headers=True):
                if record.offset in folded_to:
                    record.key, record.value = folded_to[record.offset]
                    yield LayerRecord(record, header.leader_epoch)
