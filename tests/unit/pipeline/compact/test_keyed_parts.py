"""KeyedCompaction of batches that begin before the offset from which they are wanted: behind the end of a layer."""

from __future__ import annotations

import pytest

from coordinator_server.pipeline.compact.keyed import KeyedCompaction
from coordinator_server.pipeline.compact.supported import Unsupported
from coordinator_server.pipeline.layer.batches import LayerRecord
from coordinator_server.pipeline.rules import GROUP_RECORDS
from protocol.record_batch import iter_batches
from tests.support.kafka_partition import COMMIT, marker, of_transaction, plain
from tests.support.segments import offset_key, offset_value

PAIRS = [(offset_key("group", "orders", partition), offset_value(5)) for partition in range(3)]


def added(data: bytes, from_offset: int) -> tuple[int, list[int]]:
    """How many records count, and the offsets of those that are kept."""
    compaction, batches = KeyedCompaction(GROUP_RECORDS), list(iter_batches(data))
    count = sum(compaction.add(data, position, header, from_offset) for position, header in batches)
    kept = compaction.kept(None)
    items = [item for position, header in batches for item in kept.of_batch(data, position, header, from_offset)]
    return count, [item.record.offset for item in items if isinstance(item, LayerRecord)]


@pytest.mark.parametrize(("from_offset", "kept"), [(0, [0, 1, 2]), (1, [1, 2]), (2, [2]), (3, []), (4, [])])
def test_the_records_of_a_plain_batch_from_an_offset_on(from_offset: int, kept: list[int]) -> None:
    assert added(plain(0, *PAIRS), from_offset) == (len(kept), kept)


def test_a_transaction_is_whole_or_not_there() -> None:
    """A layer never ends in the middle of a batch of one."""
    log = of_transaction(0, 7, *PAIRS) + marker(3, 7, COMMIT)

    assert added(log, 0) == (4, [0, 1, 2])
    assert added(log, 3) == (1, [])
    with pytest.raises(Unsupported, match="in the middle"):
        added(log, 1)
