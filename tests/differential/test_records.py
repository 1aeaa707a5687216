"""The comparison of logs leaves no record out."""

from __future__ import annotations

import pytest

from coordinator_server.kinds import GROUPS, SHARE_STATE, TRANSACTIONS
from protocol.coordinator_records import KeyedSerde
from protocol.fields import Message
from tests.differential.records import owner_of


def keys_of(*serdes: object) -> list[type[Message]]:
    return [key for serde in serdes if isinstance(serde, KeyedSerde) for key, _ in serde.types.values()]


@pytest.mark.parametrize("key", keys_of(GROUPS.serde, SHARE_STATE.serde, TRANSACTIONS.serde), ids=lambda key: key.__name__)
def test_every_record_key_names_its_group(key: type[Message]) -> None:
    """Kafka calls it ``group`` in some keys, and ``group_id`` in most."""
    named = {name: "readers" for name in key.__struct_fields__ if name in ("group", "group_id", "transactional_id")}

    assert owner_of(key(**named)) == "readers"


def test_no_kind_is_without_keys() -> None:
    assert len(keys_of(GROUPS.serde, SHARE_STATE.serde, TRANSACTIONS.serde)) > 20
