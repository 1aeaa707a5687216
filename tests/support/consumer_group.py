"""A shard with consumer groups (KIP-848) that a test writes record by record."""

from __future__ import annotations

from collections.abc import Iterable

from coordinator_server.config import Config
from protocol.coordinator_records import GROUP_SERDE
from tests.support.consumer_records import Pair
from tests.support.group import GroupLog


def log_of(*pairs: Pair, config: Config | None = None) -> GroupLog:
    """A shard in which these records are durable; topic ``orders`` has the id 1 and 4 partitions, ``payments`` 2 and 4."""
    log = GroupLog(config)
    log.topics.create(orders=4, payments=4)
    write(log, pairs)
    return log


def write(log: GroupLog, pairs: Iterable[Pair]) -> None:
    """Append records that some operation of the group wrote."""
    for key, value in pairs:
        record = GROUP_SERDE.decode(key, value)
        assert record is not None
        log.shard.replay(log.end_offset, record)
        log.committed.append(record)
