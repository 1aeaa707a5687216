"""Compaction by folding: the records of a shard are replayed, and what stays is what says the state that they come to.

Twice through the inputs: once to replay them, once for the time, the headers and the leader epoch of the records at whose offsets something
stays. What stays depends on the records alone, so every engine folds alike; and what a task holds is the state, however long the log.
The gate: the output, replayed, has the digest of the input's state.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from coordinator_server.log.layers import Layer
from coordinator_server.pipeline.batches import Kept
from coordinator_server.pipeline.errors import GateClosed
from coordinator_server.pipeline.plan import Source, read_batches
from coordinator_server.pipeline.rules import Fold, Folded, Rule
from coordinator_server.pipeline.standing import NotUnderstood, check_header, named, records_of, stays
from coordinator_server.pipeline.state import replay_into
from protocol.coordinator_records import RecordSerde
from protocol.errors import DecodeError
from protocol.record_batch import BatchHeader, Record


class FoldedRecords(NamedTuple):
    """How many records there were, those that stay, in offset order, and the digest of the state that both come to."""

    records_in: int
    kept: list[Kept]
    digest: str


class _Said(NamedTuple):
    key: bytes | None
    value: bytes | None


def fold_records(rule: Rule, folded: Folded, inputs: Sequence[Source], cutoff_ms: int | None) -> FoldedRecords:
    """Raises CannotCompact for records that are not understood, GateClosed when one that stays has nowhere to stand."""
    state, serde = rule.state(), rule.kind.serde
    fold = folded.fold(state)
    records_in = 0
    for source in inputs:
        for data, position, header in read_batches(source):
            with named(source.path, position):
                records_in += _replay(fold, serde, _records(data, position, header, source.from_offset))
    said: dict[int, _Said] = {}
    for offset, record in fold.records():
        if offset in said:
            raise GateClosed(f"two records were folded to offset {offset} of {rule.kind.topic}. Please report this")
        said[offset] = _Said(serde.encode_key(record), serde.encode_value(record))
    kept = list(_placed(said, inputs))
    if len(kept) != len(said):
        raise GateClosed(f"records were folded to offsets of {rule.kind.topic} that have no record. Please report this")
    return FoldedRecords(records_in, [each for each in kept if stays(each.record, cutoff_ms)], state.digest().digest)


def check_fold(rule: Rule, folded: FoldedRecords, layer: Layer) -> None:
    """The gate. Raises GateClosed."""
    found = replay_into(rule.state(), layer.read()).digest().digest
    if found != folded.digest:
        raise GateClosed(
            f"{layer.path.parent.name}: the input comes to a state with digest {folded.digest}, the output to one with {found}; "
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
            raise NotUnderstood(f"records that cannot be read ({why})") from why
        if decoded is None:
            raise NotUnderstood("records of types that are not known")
        fold.add(record.offset, decoded)
    return count


def _placed(said: dict[int, _Said], inputs: Sequence[Source]) -> Iterator[Kept]:
    """What was said, with the rest of what the records had at whose offsets it stands."""
    offsets = sorted(said)
    for source in inputs:
        for data, position, header in read_batches(source):
            next_one = bisect_left(offsets, max(header.base_offset, source.from_offset))
            if next_one == len(offsets) or offsets[next_one] >= header.next_offset:
                continue
            for record in _records(data, position, header, source.from_offset, with_headers=True):
                if record.offset in said:
                    record.key, record.value = said[record.offset]
                    yield Kept(record, header.leader_epoch)
