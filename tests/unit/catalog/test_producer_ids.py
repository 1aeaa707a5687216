"""Blocks of producer ids: no id is given out twice, whatever is not durable, compacted or asked for by another loop."""

from __future__ import annotations

import pytest

from coordinator_server.catalog.producer_ids import BLOCK, LAST_ID, ids_of
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import LATEST
from coordinator_server.server.cluster.operations import FORWARDED
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.cluster_metadata import ProducerIdsRecord
from tests.support.catalog import Catalog


@pytest.fixture
def catalog() -> Catalog:
    return Catalog()


def allocated(catalog: Catalog, node_id: int) -> range:
    return ids_of(catalog.run(CatalogShard.allocate_producer_ids, ProducerIdsRecord(node_id), ProducerIdsRecord))


def test_each_block_begins_where_the_last_one_ended(catalog: Catalog) -> None:
    blocks = [allocated(catalog, node) for node in (1, 2, 1)]

    assert blocks == [range(BLOCK), range(BLOCK, 2 * BLOCK), range(2 * BLOCK, 3 * BLOCK)]
    assert catalog.shard.next_producer_id(LATEST) == 3 * BLOCK
    assert [record.key for record in catalog.records] == [
        ProducerIdsRecord(node, -1, (place + 1) * BLOCK) for place, node in enumerate((1, 2, 1))
    ]


def test_a_block_that_was_not_written_is_given_out_later(catalog: Catalog) -> None:
    allocated(catalog, 1)
    catalog.registry.snapshot(1)
    lost = allocated(catalog, 1)
    before = catalog.shard.next_producer_id(1)
    catalog.registry.revert_to(1)

    assert before == lost.start
    assert allocated(catalog, 2) == lost


def test_no_producer_id_exceeds_int64(catalog: Catalog) -> None:
    """No id is above what Kafka's int64 holds."""
    catalog.shard.replay(0, CoordinatorRecord(ProducerIdsRecord(1, next_producer_id=LAST_ID - BLOCK), None))
    last = allocated(catalog, 1)

    assert last == range(LAST_ID - BLOCK, LAST_ID)
    with pytest.raises(CoordinatorError) as refused:
        allocated(catalog, 1)
    assert refused.value.error is ErrorCode.UNKNOWN_SERVER_ERROR


def test_the_digest_covers_the_next_id(catalog: Catalog) -> None:
    found = {catalog.shard.digest(LATEST).digest}
    for _ in range(3):
        allocated(catalog, 1)
        found.add(catalog.shard.digest(LATEST).digest)

    assert len(found) == 4


def test_other_loops_ask_loop_0(catalog: Catalog) -> None:
    """The request and the block are carried whole."""
    row = FORWARDED["allocate-producer-ids"]
    request, block = ProducerIdsRecord(7), ProducerIdsRecord(7, -1, 5 * BLOCK)

    assert row.decode_request(row.encode_request(request)) == request
    assert row.decode_response(row.encode_response(block)) == block
