"""A folded log of the catalog: the same catalog, wherever the fold was made, and no record of what is gone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from operator import itemgetter

from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.catalog.alter_configs import ResourceType
from coordinator_server.catalog.fold import CatalogFold
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.config import Config
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.pipeline.states.state import NoTime, no_id
from protocol.coordinator_records import CoordinatorRecord
from protocol.fields import Message
from protocol.messages.cluster_metadata import (
    ConfigRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from tests.support.kind_logs import family_record

NAMES = ("orders", "bills", "parcels")
Placed = tuple[int, CoordinatorRecord]

steps = st.lists(
    st.tuples(
        st.sampled_from(("create", "grow", "again", "remove", "set", "unset", "group", "ids", "family")), st.sampled_from(NAMES)
    ),
    max_size=40,
)


def log_of(chosen: Sequence[tuple[str, str]]) -> list[Placed]:
    """The records of a script, as far as it makes sense: topics that are there grow, change and go."""
    messages: list[Message] = []
    live: dict[str, tuple[bytes, int]] = {}
    for number, (step, name) in enumerate(chosen):
        topic_id, partitions = live.get(name, (number.to_bytes(16, "big"), 0))
        match step:
            case "create" if name not in live:
                live[name] = (topic_id, 2)
                messages += [TopicRecord(name, topic_id), PartitionRecord(0, topic_id), PartitionRecord(1, topic_id)]
            case "grow" if name in live:
                live[name] = (topic_id, partitions + 1)
                messages.append(PartitionRecord(partitions, topic_id))
            case "again" if name in live:
                messages.append(PartitionRecord(partitions - 1, topic_id, leader=number))
            case "remove" if name in live:
                del live[name]
                messages.append(RemoveTopicRecord(topic_id))
            case "set" | "unset" if name in live:
                value = str(number) if step == "set" else None
                messages.append(ConfigRecord(ResourceType.TOPIC, name, "retention.ms", value))
            case "group":
                value = str(number) if number % 3 else None
                messages.append(ConfigRecord(ResourceType.GROUP, name, "consumer.session.timeout.ms", value))
            case "ids":
                messages.append(ProducerIdsRecord(number, next_producer_id=1_000 * (number + 1)))
            case "family":
                messages.append(family_record(random.Random(number * len(NAMES) + NAMES.index(name))))
    return [(offset, CoordinatorRecord(message, None)) for offset, message in enumerate(messages)]


def replayed(log: Sequence[Placed]) -> tuple[str, list[Placed]]:
    """The digest of the catalog that a log comes to, and what a fold makes of the log."""
    shard = CatalogShard(config=Config(), registry=SnapshotRegistry(), timer=NoTime(), new_topic_id=no_id)
    fold = CatalogFold(shard)
    for offset, record in log:
        fold.add(offset, record)
    return shard.digest(LATEST)[1], sorted(fold.records(), key=itemgetter(0))


def folded(log: Sequence[Placed]) -> list[Placed]:
    return replayed(log)[1]


@given(steps, st.data())
def test_a_folded_log_comes_to_the_same_catalog(chosen: list[tuple[str, str]], data: st.DataObject) -> None:
    """Records stay what they were and where they were. Folded in the middle and read on, the log comes to the same fold."""
    log = log_of(chosen)
    kept = folded(log)

    assert replayed(kept)[0] == replayed(log)[0]
    assert [log[offset] for offset, _ in kept] == kept
    assert folded(kept) == kept
    cut = data.draw(st.integers(0, len(log)))
    assert folded([*folded(log[:cut]), *log[cut:]]) == kept


def test_a_folded_catalog_has_no_records_of_deleted_topics() -> None:
    """Neither its records, nor the one that removed it, nor its settings; of what is there only the last of each."""
    log = log_of(
        [("create", "orders"), ("set", "orders"), ("create", "bills"), ("set", "bills"), ("remove", "orders"), ("set", "bills")]
    )

    assert [type(record.key).__name__ for _, record in folded(log)] == ["TopicRecord", *["PartitionRecord"] * 2, "ConfigRecord"]
    assert folded(log)[-1] == log[-1]


def test_a_setting_that_was_removed_leaves_nothing() -> None:
    """Neither its values nor the record that removed it, whether it comes again or not."""
    log = log_of([("create", "orders"), ("set", "orders"), ("unset", "orders")])
    again = log_of([("create", "orders"), ("set", "orders"), ("unset", "orders"), ("set", "orders")])

    assert folded(log) == log[:3]
    assert folded(again) == [*again[:3], again[-1]]


def test_the_last_block_of_producer_ids_stays() -> None:
    """Without it the ids would be given out again."""
    log = log_of([("ids", ""), ("ids", ""), ("create", "orders")])

    assert folded(log) == log[1:]
    assert replayed(log[1:])[0] == replayed(log)[0] != replayed(log[2:])[0]
