"""The room of a loop's shards by itself, on a log in memory: what follows the catalog, and what messages find."""

from __future__ import annotations

import pytest

from coordinator_server.kinds import CATALOG, GROUPS, KINDS, TRANSACTIONS
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.outbox import Effect
from coordinator_server.runtime.context import ShardState
from coordinator_server.server.cluster.operations import CREATE_INTERNAL_TOPIC, DECLARE_TOPICS
from coordinator_server.transaction.markers import WRITE_MARKER, Marker
from protocol.error_codes import ErrorCode
from protocol.messages.cluster_metadata import TopicRecord
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from tests.support.rooms import OpenRooms
from tests.support.runtime import Outcome


async def loaded() -> OpenRooms:
    """A loop whose catalog serves."""
    rooms = OpenRooms()
    rooms.hosting.hosted.use(CATALOG.topic)
    await rooms.settle()
    return rooms


async def test_each_kind_has_a_runtime_and_no_shard_is_loaded() -> None:
    rooms = OpenRooms()

    assert list(rooms.hosting.node.runtimes) == list(KINDS)
    assert rooms.hosting.node.runtimes[CATALOG.topic] is rooms.cluster.runtime
    assert rooms.hosting.hosted.progress == []


async def test_a_kind_is_loaded_when_the_catalog_lists_it() -> None:
    rooms = await loaded()
    node, outcome = rooms.hosting.node, Outcome()
    [wanted] = [each for each in node.internal.on_demand() if each.name == TRANSACTIONS.topic]
    assert not rooms.hosting.hosted.is_used(TRANSACTIONS.topic)

    node.catalog.write(CREATE_INTERNAL_TOPIC, node.ourselves, TopicRecord(wanted.name, wanted.topic_id), outcome)
    await rooms.settle()

    assert outcome.answers == 1
    assert rooms.hosting.hosted.is_used(TRANSACTIONS.topic)


async def test_no_shard_answers_while_the_lease_is_over() -> None:
    """A store grants it; without one it does not end. Messages of other shards are compared, too."""
    rooms = await loaded()
    node, outcome = rooms.hosting.node, Outcome()
    assert not rooms.gate.is_limited
    rooms.hosting.lease.renew(rooms.clock.boot_ms(), 10_000)
    rooms.hosting.hosted.use(GROUPS.topic)
    await rooms.settle()
    rooms.clock.suspend(10_000)

    rooms.courier.carry(None, ShardId(GROUPS.topic, 0), WRITE_MARKER, Marker("t", 7, 0, is_commit=True, version=1), outcome)

    assert outcome.error is ErrorCode.NOT_COORDINATOR
    assert {each.state for each in rooms.hosting.hosted.progress} == {ShardState.SUSPENDED}
    with pytest.raises(CoordinatorError, match="NOT_COORDINATOR"):
        node.image.topic("orders")
    rooms.hosting.lease.renew(rooms.clock.boot_ms(), 10_000)
    assert node.image.topic("orders") is None


async def test_a_topic_that_was_found_by_id_is_not_shown_while_the_lease_is_over() -> None:
    """The image remembers it until the catalog changes."""
    rooms = await loaded()
    node, outcome = rooms.hosting.node, Outcome()
    rooms.hosting.lease.renew(rooms.clock.boot_ms(), 10_000)
    node.catalog.write(DECLARE_TOPICS, node.ourselves, CreateTopicsRequest(topics=[CreatableTopic("orders", 3, -1)]), outcome)
    await rooms.settle()
    topic = node.image.topic("orders")
    assert topic is not None
    assert node.image.topic_by_id(topic.topic_id) is topic

    rooms.clock.suspend(10_000)
    rooms.gate.look()

    with pytest.raises(CoordinatorError, match="NOT_COORDINATOR"):
        node.image.topic_by_id(topic.topic_id)


async def test_the_first_message_for_a_kind_creates_its_topic() -> None:
    """Its sender tries again."""
    rooms = await loaded()
    effect, outcomes = Effect(TRANSACTIONS.topic, "any", bytes, bytes), Outcome()

    rooms.courier.carry(None, ShardId(TRANSACTIONS.topic, 0), effect, b"", outcomes)
    await rooms.settle()

    assert outcomes.error == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert rooms.hosting.node.image.topic(TRANSACTIONS.topic) is not None
    assert rooms.hosting.hosted.is_used(TRANSACTIONS.topic)


async def test_groups_see_the_topics_of_the_catalog() -> None:
    rooms = await loaded()
    node, outcome = rooms.hosting.node, Outcome()

    node.catalog.write(DECLARE_TOPICS, node.ourselves, CreateTopicsRequest(topics=[CreatableTopic("orders", 3, -1)]), outcome)
    await rooms.settle()

    topic = node.image.topic("orders")
    assert topic is not None
    assert topic.partitions == 3


async def test_producers_get_ids_from_the_catalog() -> None:
    rooms = await loaded()
    ids = rooms.hosting.node.producer_ids
    told: list[bool] = []
    ids._ask_for_block()
    assert ids.wait(lambda: told.append(True))

    await rooms.settle()

    assert told == [True]
    assert (ids.take(), ids.take()) == (0, 1)


async def test_a_server_with_one_loop_has_the_cleaner() -> None:
    assert OpenRooms(has_cleaner=True).hosting.cleaner is not None
    assert OpenRooms().hosting.cleaner is None


async def test_unloaded_shards_serve_nothing() -> None:
    rooms = await loaded()
    rooms.hosting.hosted.use(GROUPS.topic)
    await rooms.settle()
    assert rooms.hosting.hosted.left_to_load == 0

    rooms.hosting.unload()

    assert rooms.hosting.hosted.progress == []
