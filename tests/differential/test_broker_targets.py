"""The targets in the log of a real broker, computed again by our assignors from the records before them.

So the order of members, names and partitions is that of a running coordinator, also in groups of hundreds of members.
"""

from __future__ import annotations

import random
import uuid
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.catalog.topics import Topic
from coordinator_server.group.assign.altered import read_target
from coordinator_server.group.assign.assignors import ASSIGNORS
from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.assign.target import change_targets
from coordinator_server.group.consumer.group import ConsumerGroup, consumer_groups
from coordinator_server.group.consumer.member import ConsumerGroupMember
from coordinator_server.group.consumer.subscriptions import is_homogeneous, regexes_after, topics_after
from coordinator_server.group.consumer.target_spec import group_spec
from coordinator_server.machine.timeline import SnapshotRegistry
from protocol.coordinator_records import GROUP_SERDE
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from protocol.messages.consumer_group_records import (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMetadataKey,
)
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.record_batch import iter_batches, iter_records
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.kafka_broker import KafkaBroker
from tests.support.simple_requests import make_topic

PARTITIONS = {"a": 7, "b": 40, "c": 3, "d": 100, "e": 16}
# By group: its assignor, whether its members subscribe alike, and its largest number of members.
GROUPS = {"alike": ("uniform", True, 150), "unlike": ("uniform", False, 60), "ranges": ("range", True, 60)}
STEPS = 250
# Of a coordinator that loads or is not there yet.
RETRIABLE = (14, 15, 16)
# Records of some types, whose keys and values have the fields of their type.
Batch = list[Any]
ProducerRecord = list[tuple[str, list[tuple[bytes, list[int]]]]]


class Topics:
    """What ``group_spec`` needs of a context."""

    assignors = ASSIGNORS

    def __init__(self, ids: dict[str, bytes]) -> None:
        self._ids = ids

    @property
    def topics(self) -> Topics:
        return self

    def topic(self, name: str) -> Topic:
        return Topic(name, self._ids[name], PARTITIONS[name])


def live(client: Client, group_id: str, rng: random.Random) -> None:
    """Let random members join, change, leave and return as static members."""
    assignor, is_alike, most = GROUPS[group_id]
    members: dict[str, tuple[int, str | None]] = {}
    away: list[str] = []

    def beat(member_id: str, epoch: int, instance: str | None, names: list[str] | None) -> ConsumerGroupHeartbeatResponse:
        joins = epoch == 0
        request = ConsumerGroupHeartbeatRequest(
            group_id,
            member_id,
            epoch,
            instance,
            None,
            300_000 if joins else -1,
            names,
            None,
            assignor if joins else None,
            [] if joins else None,
        )
        return eventually(
            lambda: (
                answer if (answer := client.ask(request, 1, ConsumerGroupHeartbeatResponse)).error_code not in RETRIABLE else None
            )
        )  # type: ignore[return-value]

    def names() -> list[str]:
        return list(PARTITIONS) if is_alike else rng.sample(list(PARTITIONS), rng.randint(1, len(PARTITIONS)))

    for step in range(STEPS):
        chance = rng.random()
        if not members or (chance < (0.75 if step < STEPS * 0.6 else 0.3) and len(members) < most):
            instance = away.pop() if away and rng.random() < 0.6 else f"host-{step}" if rng.random() < 0.3 else None
            member_id = str(uuid.UUID(int=rng.getrandbits(128)))
            members[member_id] = beat(member_id, 0, instance, names()).member_epoch, instance
            continue
        member_id = rng.choice(list(members))
        epoch, instance = members[member_id]
        if chance < 0.85:
            answer = beat(member_id, epoch, instance, names() if rng.random() < 0.4 else None)
            assert answer.error_code == 0, answer
            members[member_id] = answer.member_epoch, instance
        else:
            del members[member_id]
            is_static = instance is not None and rng.random() < 0.7
            beat(member_id, -2 if is_static else -1, instance, None)
            if is_static and instance is not None:
                away.append(instance)


def read_log(directory: Path) -> list[Batch]:
    """The records of consumer groups in one partition, by batch.

    A client that waits for its answers gets a batch for each change.
    """
    data = b"".join(path.read_bytes() for path in sorted(directory.glob("*.log")))
    types = consumer_groups(SnapshotRegistry()).replay
    log: list[Batch] = []
    for position, header in iter_batches(data):
        decoded = [GROUP_SERDE.decode(record.key, record.value) for record in iter_records(data, position, header)]
        log.append([record for record in decoded if record is not None and type(record.key) in types])
    return log


def expected(group: ConsumerGroup, batch: Batch, topics: Topics) -> ProducerRecord:
    """The targets that the batch should have: of a member that replaces a static one, then those that change."""
    joined = [each for each in batch if isinstance(each.key, ConsumerGroupMemberMetadataKey) and each.value is not None]
    gone = [each for each in batch if isinstance(each.key, ConsumerGroupMemberMetadataKey) and each.value is None]
    before, after = ConsumerGroupMemberMetadataValue(), ConsumerGroupMemberMetadataValue()
    members = len(group.members)
    if not joined and not members:
        return []
    # Which one asked does not matter if it is as it was.
    updated = next(iter(group.members.values()), ConsumerGroupMember(""))
    if joined:
        key, after = joined[-1].key, joined[-1].value
        old = group.members.get(gone[0].key.member_id if gone else key.member_id)
        before = before if old is None else old.metadata
        members += old is None
        updated = (group.members.get(key.member_id) or ConsumerGroupMember(key.member_id)).with_metadata(after)
    is_alike = is_homogeneous(regexes_after(group, before, after), topics_after(group, before, after), members)
    assignor = ASSIGNORS[GROUPS[group.group_id][0]]
    changed = change_targets(assignor, group_spec(topics, group, is_alike, updated))  # type: ignore[arg-type]
    inherited: list[tuple[str, Partitions]] = []
    if gone:
        inherited = [(joined[-1].key.member_id, read_target(group.target(gone[0].key.member_id)))]
    return [(member_id, list(target.items())) for member_id, target in [*inherited, *changed]]


@pytest.mark.live
def test_its_targets_are_ours(tmp_path: Path) -> None:
    seed = random.SystemRandom().getrandbits(32)
    at_once = {"group.consumer.assignment.interval.ms": 0, "group.consumer.min.assignment.interval.ms": 0}
    with KafkaBroker(tmp_path) as broker:
        broker.start(at_once)
        with broker.client() as client:
            topics = Topics({name: make_topic(client, name, count) for name, count in PARTITIONS.items()})
            asked = FindCoordinatorRequest(key_type=0, coordinator_keys=list(GROUPS))
            eventually(lambda: not client.ask(asked, 4, FindCoordinatorResponse).coordinators[0].error_code)
            for group_id in GROUPS:
                live(client, group_id, random.Random(f"{seed}/{group_id}"))
    compared = 0
    for directory in sorted(broker.log_dir.glob("__consumer_offsets-*")):
        groups = consumer_groups(SnapshotRegistry())
        for batch in read_log(directory):
            if any(isinstance(each.key, ConsumerGroupTargetAssignmentMetadataKey) and each.value for each in batch):
                group_id = batch[0].key.group_id
                group = groups.by_id.get(group_id) or groups.absent(group_id)
                written = [
                    (each.key.member_id, [(topic.topic_id, list(topic.partitions)) for topic in each.value.topic_partitions])
                    for each in batch
                    if isinstance(each.key, ConsumerGroupTargetAssignmentMemberKey) and each.value is not None
                ]
                assert written == expected(group, batch, topics), f"seed {seed}"
                compared += 1
            for record in batch:
                groups.replay[type(record.key)](0, record.key, record.value)
    assert compared > 100
