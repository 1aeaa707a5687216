"""Ours against Kafka's share coordinator: the same state after the same records, in each of many random logs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import asdict

from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.share.shard import ShareShard
from protocol.coordinator_records import SHARE_SERDE
from tests.support.golden import SHARE_LOGS, STORED_SHARE_STATES, UPDATES_PER_SNAPSHOT, run_share_states, stored_lines
from tests.support.kafka_jars import kafka_jars


def states_of(shard: ShareShard) -> dict[str, Any]:
    """As the stored lines have them."""
    found = {}
    for key, state in shard.share_partitions(LATEST):
        plain = asdict(state)
        del plain["rows"]
        plain["state_batches"] = [list(batch) for batch in state.state_batches]
        found[key.group_id] = plain | {"group_id": key.group_id}
    return found


def test_the_same_states_after_the_same_records() -> None:
    """Epochs, offsets, batches one by one, fences, and the count of updates."""
    lines = [json.loads(line) for line in stored_lines(STORED_SHARE_STATES).splitlines()]
    for line in lines:
        shard = ShareShard(registry=SnapshotRegistry(), updates_per_snapshot=UPDATES_PER_SNAPSHOT)
        for offset, (key, value) in enumerate(line["records"]):
            record = SHARE_SERDE.decode(bytes.fromhex(key), None if value is None else bytes.fromhex(value))
            assert record is not None
            shard.replay(offset, record)

        assert states_of(shard) == {state["group_id"]: state for state in line["states"]}, line["records"]
    assert len(lines) == SHARE_LOGS


@pytest.mark.interop
def test_the_stored_states_are_what_kafka_says() -> None:
    """Made anew by Kafka's classes, every line is the stored one."""
    assert run_share_states(kafka_jars()) == stored_lines(STORED_SHARE_STATES), "make golden stores what Kafka's classes say now"
