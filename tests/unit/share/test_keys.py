"""Names of share partitions: as FindCoordinator has them, and in the keys of records."""

from __future__ import annotations

import pytest

from protocol.share_partition_names import SharePartitionKey, coordinator_key, key_of, name_of, parse_coordinator_key, topic_id_of

ID = "AAECAwQFBgcICQoLDA0ODw"
KEY = SharePartitionKey("g", bytes(range(16)), 3)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (f"g:{ID}:3", KEY),
        (f"g:{ID}==:3", KEY),
        (f"g:{ID}:+3", KEY),
        (f"g:{ID}:003:", KEY),
        (f"a:b::{ID}:-1", KEY._replace(group_id="a:b:", partition=-1)),
    ],
)
def test_a_key_is_read_from_the_right(text: str, key: SharePartitionKey) -> None:
    """As Kafka's SharePartitionKey: a group id may have colons, and the form that selects the partition has no second spelling."""
    assert parse_coordinator_key(text) == key
    assert parse_coordinator_key(coordinator_key(key)) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "g",
        f"g:{ID}",
        f":{ID}:3",
        f" \t:{ID}:3",
        "g:short:3",
        f"g:{ID}A:3",
        f"g:{ID[:-1]}+:3",
        f"g:{ID}:",
        f"g:{ID}:x",
        f"g:{ID}:2147483648",
    ],
)
def test_what_is_no_share_partition(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_coordinator_key(text)


def test_a_name_has_the_whole_key() -> None:
    for key in (KEY, KEY._replace(group_id="größe", partition=-(1 << 31)), KEY._replace(group_id="")):
        assert key_of(name_of(key)) == key
        assert topic_id_of(name_of(key)) == key.topic_id
