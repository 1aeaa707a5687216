"""What the topics come to."""

from __future__ import annotations

import hashlib
import struct
from itertools import permutations

import pytest

from coordinator_server.catalog.digest import catalog_digest
from coordinator_server.catalog.topics import Topic

ORDERS, PAYMENTS = Topic("orders", b"o" * 16, 6), Topic("payments", b"p" * 16, 3)


def test_a_topic_by_hand() -> None:
    """Key length, Kafka's TopicRecord without its frame, and the number of partitions."""
    key = b"\x07orders" + b"o" * 16 + b"\0"

    expected = hashlib.blake2b(struct.pack(">I", len(key)) + key + struct.pack(">i", 6), digest_size=16).hexdigest()

    assert catalog_digest([ORDERS]) == expected


def test_the_catalog_digest_does_not_depend_on_the_order_of_records() -> None:
    assert len({catalog_digest(topics) for topics in permutations([ORDERS, PAYMENTS])}) == 1
    assert catalog_digest([]) == "0" * 32


@pytest.mark.parametrize("other", [Topic("Orders", b"o" * 16, 6), Topic("orders", b"x" * 16, 6), Topic("orders", b"o" * 16, 7)])
def test_name_id_and_partitions_count(other: Topic) -> None:
    assert catalog_digest([other, PAYMENTS]) != catalog_digest([ORDERS, PAYMENTS])
