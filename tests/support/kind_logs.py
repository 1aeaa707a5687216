"""Logs of the kinds that are not of groups: random records that a coordinator might have written, in batches.

Everything follows from a seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator

from protocol.coordinator_records import (
    CLUSTER_METADATA_SERDE,
    SHARE_SERDE,
    TRANSACTION_SERDE,
    CoordinatorRecord,
    RecordSerde,
)
from protocol.fields import Message
from protocol.messages.cluster_metadata import (
    AccessControlEntryRecord,
    ClientQuotaRecord,
    ConfigRecord,
    EntityData,
    PartitionRecord,
    ProducerIdsRecord,
    RemoveAccessControlEntryRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UserScramCredentialRecord,
)
from protocol.messages.share_records import (
    ShareSnapshotKey,
    ShareSnapshotValue,
    ShareUpdateKey,
    ShareUpdateValue,
    StateBatch,
)
from protocol.messages.transaction_records import TransactionLogKey, TransactionLogValue
from protocol.record_batch import Record
from tests.support.segments import PROVENANCE, START_MS, Batch

TOPIC_ID = b"0123456789abcdef"


def batches_of(
    serde: RecordSerde, records: Iterable[CoordinatorRecord], first_offset: int = 0, size: int = 4, epoch: int = 0
) -> list[Batch]:
    """Batches of so many records, a second apart; the first of each has headers."""
    encoded = [(serde.encode_key(record), serde.encode_value(record)) for record in records]
    found = []
    for start in range(0, len(encoded), size):
        first = first_offset + start
        placed = (
            Record(first + number, START_MS + 1000 * first, key, value, PROVENANCE if number == 0 else ())
            for number, (key, value) in enumerate(encoded[start : start + size])
        )
        found.append(Batch(tuple(placed), epoch))
    return found


def share_log(seed: int, count: int, first_offset: int = 0) -> list[Batch]:
    """Snapshots, updates and tombstones of a few share partitions."""
    rng = random.Random(seed)
    return batches_of(SHARE_SERDE, (_share_record(rng) for _ in range(count)), first_offset)


def _share_record(rng: random.Random) -> CoordinatorRecord:
    key = (f"group-{rng.randrange(4)}", TOPIC_ID, rng.randrange(3))
    firsts = [rng.randrange(40) for _ in range(rng.randrange(4))]
    batches = [StateBatch(first, first + rng.randrange(6), rng.choice((0, 2, 4)), rng.randrange(1, 4)) for first in firsts]
    kind = rng.random()
    if kind < 0.1:
        return CoordinatorRecord(ShareSnapshotKey(*key), None)
    if kind < 0.3:
        snapshot = ShareSnapshotValue(rng.randrange(4), rng.randrange(3), rng.randrange(3), 0, 0, 5, 6, batches)
        return CoordinatorRecord(ShareSnapshotKey(*key), snapshot)
    return CoordinatorRecord(ShareUpdateKey(*key), ShareUpdateValue(0, rng.randrange(3), rng.choice((-1, 3)), 1, batches))


def catalog_log(seed: int, count: int, first_offset: int = 0) -> list[Batch]:
    """Topics that come, grow, change and go, and users, ACLs and quotas."""
    rng, of_families = random.Random(seed), random.Random(seed)
    messages: list[Message] = []
    live: dict[str, tuple[bytes, int]] = {}
    while len(messages) < count:
        if len(messages) % 17 == 16:
            messages.append(ProducerIdsRecord(1, next_producer_id=1_000 * len(messages)))
        if of_families.random() < 0.7:
            messages.append(family_record(of_families))
        name = f"topic-{seed}-{rng.randrange(5)}"
        if name not in live:
            live[name] = (rng.randbytes(16), 2)
            messages += [TopicRecord(name, live[name][0]), *(PartitionRecord(each, live[name][0]) for each in range(2))]
            continue
        topic_id, partitions = live[name]
        step = rng.random()
        if step < 0.4:
            live[name] = (topic_id, partitions + 1)
            messages.append(PartitionRecord(partitions, topic_id))
        elif step < 0.7:
            del live[name]
            messages.append(RemoveTopicRecord(topic_id))
        else:
            messages.append(ConfigRecord(2, name, "retention.ms", rng.choice((None, "1000", "2000"))))
    return batches_of(CLUSTER_METADATA_SERDE, (CoordinatorRecord(message, None) for message in messages[:count]), first_offset)


def family_record(rng: random.Random) -> Message:
    """Something about one of few users, ACLs or quotas; also a removal of what is not there."""
    name, mechanism, acl = f"user-{rng.randrange(2)}", rng.choice((1, 2)), bytes(15) + bytes((rng.randrange(2),))
    entity = [EntityData("user", rng.choice((name, None)))]
    return rng.choice(
        (
            UserScramCredentialRecord(name, mechanism, rng.randbytes(8), rng.randbytes(32), rng.randbytes(32), 4096),
            RemoveUserScramCredentialRecord(name, mechanism),
            AccessControlEntryRecord(acl, 2, "orders", 3, f"User:{name}", "*", rng.randrange(3, 9), 3),
            RemoveAccessControlEntryRecord(acl),
            ClientQuotaRecord(entity, "request_percentage", float(rng.randrange(100)), rng.random() < 0.3),
        )
    )


def transaction_log(seed: int, count: int, first_offset: int = 0) -> list[Batch]:
    """States of a few transactional ids, written over and over, and deleted now and then."""
    rng = random.Random(seed)

    def records() -> Iterator[CoordinatorRecord]:
        for _ in range(count):
            value = TransactionLogValue(
                producer_id=rng.randrange(9), producer_epoch=rng.randrange(3), transaction_status=rng.randrange(5)
            )
            key = TransactionLogKey(f"transfers-{rng.randrange(6)}")
            yield CoordinatorRecord(key, None if rng.random() < 0.2 else value, 1)

    return batches_of(TRANSACTION_SERDE, records(), first_offset)


LOGS: dict[str, Callable[[int, int, int], list[Batch]]] = {
    "__cluster_metadata": catalog_log,
    "__transaction_state": transaction_log,
    "__share_group_state": share_log,
}
"""A log by topic, from a seed, a number of records and the offset of the first."""
