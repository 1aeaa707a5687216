"""Messages to the shards that keep the states of share partitions: the requests of Kafka's group coordinator to its ``Persister``.

A message is about share partitions of one group that one shard of ``__share_group_state`` owns. Its number is
the destination of ``Outbox.send``. An answer has one item for each partition of the message, in its order. An error of one
partition does not affect the others.

    initialize-states   a state without batches, which replaces an older one. Errors: FENCED_STATE_EPOCH,
                        UNKNOWN_TOPIC_OR_PARTITION, INVALID_REQUEST. A message that repeats one, before anybody has read or
                        written the state, changes nothing.
    delete-states       no state. A state that does not exist is deleted. A topic that does not exist has no states any more:
                        NONE, too.
    summarize-states    where each share partition starts. Changes nothing.

So all three may be sent again, as ``machine/outbox.py`` demands. ``__share_group_state`` comes into use with the first message.

A handler of a request may send the same messages through ``node.courier.carry``, without an intent.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from coordinator_server.kinds import SHARE_STATE
from coordinator_server.machine.outbox import Effect


class StateStart(Struct, frozen=True, array_like=True):
    """A share partition to initialize. ``start_offset`` is -1 if its leader shall choose one."""

    topic_id: bytes
    partition: int
    state_epoch: int
    start_offset: int


class StatesToInitialize(Struct, frozen=True):
    """Share partitions of a group, in one shard."""

    group_id: str
    partitions: list[StateStart]


class StatesOfGroup(Struct, frozen=True):
    """Share partitions of a group, in one shard: topic ids and partitions."""

    group_id: str
    partitions: list[tuple[bytes, int]]


class StateSummary(Struct, frozen=True, array_like=True):
    """An error, or where a share partition starts: -1 until a start is chosen.

    ``delivery_complete_count`` is the number of records beyond the start offset that need no further delivery, or -1 if unknown.
    """

    error: int
    state_epoch: int = 0
    leader_epoch: int = 0
    start_offset: int = -1
    delivery_complete_count: int = -1


INITIALIZE_STATES: Final = Effect(SHARE_STATE.topic, "initialize-states", StatesToInitialize, list[int])
DELETE_STATES: Final = Effect(SHARE_STATE.topic, "delete-states", StatesOfGroup, list[int])
SUMMARIZE_STATES: Final = Effect(SHARE_STATE.topic, "summarize-states", StatesOfGroup, list[StateSummary])
