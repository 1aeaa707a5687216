"""What the largest single requests of groups take of the loop: milliseconds of processor time, the least of the rounds.

    python -m bench.group_steps [--members 1000] [--topics 5000] [--rounds 5]

`operation` makes the records, `encoding` their bytes, and `replay` changes the state; all three are one step,
between which nobody else is served.

    preparation   the first of the steps that prepare a conversion
    conversion    a member of the consumer protocol joins a classic group, which becomes a consumer group with all of its members
    and back      that member leaves again, and the group is a classic one
    many topics   the first heartbeat of a group names many topics, none of which the server has hashed before
    gets them     the next heartbeat of that member, when a child process has computed its target, and a turn has
                  decoded that: it gets a partition of each topic
    first target  of members that have nothing yet: the largest one that the loop computes itself, half members and half partitions
    many tasks    a member joins a streams group of a hundred processes that have a thousand tasks, and the loop computes the new
                  target of all of them (by default a child process does)
"""

from __future__ import annotations

import argparse
import gc
import itertools
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from coordinator_server.cli.serve import calm_the_collector
from coordinator_server.group.migration.preparation import MEMBERS_PER_STEP
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.block import RecordBlock
from coordinator_server.machine.shard import RequestContext
from protocol.batch_builder import NO_HEADERS, BatchBuilder
from protocol.codec import encode
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from protocol.messages.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicPartition
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from tests.support.configs import config_with
from tests.support.group import FakeReply, GroupLog
from tests.support.heartbeats import config_of
from tests.support.streams_beats import StreamsBeats
from tests.support.streams_beats import config_of as streams_config

TIMEOUT_MS = 60_000
INTERVAL_MS = 5_000
PROCESSES, TASKS = 100, 1_000
_CONTEXT = RequestContext("client", "127.0.0.1", 68, 1)


class Spent(NamedTuple):
    """Milliseconds of the parts of a step."""

    operation: float
    encoding: float
    replay: float


Step = Callable[[GroupShard], Sequence[CoordinatorRecord] | RecordBlock]
"""Runs the operation of a heartbeat. Returns its records."""


def classic_group(members: int, _topics: int) -> tuple[GroupLog, Step]:
    """A shard with a stable classic group, whose members have a partition each."""
    log = GroupLog(config_of())
    log.topics.create(t=members)
    subscription = b"\0\0" + encode(ConsumerProtocolSubscription(["t"]), 0)
    stored = []
    for number in range(members):
        assignment = b"\0\0" + encode(ConsumerProtocolAssignment([TopicPartition("t", [number])]), 0)
        member_id = f"consumer-client-1-00000000-0000-0000-0000-{number:012}"
        stored.append(MemberMetadata(member_id, None, "client", "/127.0.0.1", TIMEOUT_MS, TIMEOUT_MS, subscription, assignment))
    value = GroupMetadataValue("consumer", 5, "range", stored[0].member_id, 0, stored)
    record = CoordinatorRecord(GroupMetadataKey("g"), value)
    log.shard.replay(0, record)
    log.committed.append(record)
    log.shard.groups.classic.find("g")
    return log, joining(["t"])


def preparation(members: int, topics: int) -> tuple[GroupLog, Step]:
    """The same, and the first timer that the heartbeat has armed."""
    log, step = classic_group(members, topics)
    assert step(log.shard) == ()
    return log, lambda _shard: _timer_records(log)


def conversion(members: int, topics: int) -> tuple[GroupLog, Step]:
    """The same, and the last timer, which converts the group."""
    log, step = preparation(members, topics)
    for _ in range(-(-members // MEMBERS_PER_STEP)):
        assert step(log.shard) == ()
    return log, step


def conversion_back(members: int, topics: int) -> tuple[GroupLog, Step]:
    """A shard with the consumer group that a classic one has become."""
    log, _ = classic_group(members, topics)
    log.run(GroupShard.consumer_group_heartbeat, _join(["t"]), version=1)
    log.advance(0)
    request = ConsumerGroupHeartbeatRequest("g", "new", -1)
    return log, lambda shard: GroupShard.consumer_group_heartbeat(shard, _CONTEXT, request, FakeReply(1)).records


def _timer_records(log: GroupLog) -> Sequence[CoordinatorRecord] | RecordBlock:
    due = log.timer.pop_due(log.clock.now_ms())
    assert due is not None
    return due[1]().records


def many_topics(_members: int, topics: int) -> tuple[GroupLog, Step]:
    """A shard without groups, and the names of topics of one partition."""
    log = GroupLog(config_of())
    names = [f"topic-{number:05}" for number in range(topics)]
    log.topics.create(**dict.fromkeys(names, 1))
    return log, joining(names)


def gets_topics(_members: int, topics: int) -> tuple[GroupLog, Step]:
    """The same shard, and the member's next heartbeat."""
    log = GroupLog(config_of(group_consumer_assignment_inline_max_size="0"))
    names = [f"topic-{number:05}" for number in range(topics)]
    log.topics.create(**dict.fromkeys(names, 1))
    epoch = log.run(GroupShard.consumer_group_heartbeat, _join(names), version=1).response.member_epoch
    log.advance(0)
    log.finish_tasks()
    log.advance(0)
    return log, _heartbeat("new", epoch)


def first_target(_members: int, _topics: int) -> tuple[GroupLog, Step]:
    """A shard with a consumer group whose members have joined within the assignment interval."""
    log = GroupLog(config_with())
    half = log.config.consumer.group_consumer_assignment_inline_max_size // 2
    log.topics.create(t=half)
    epoch = 0
    for number in range(half):
        request = ConsumerGroupHeartbeatRequest("g", f"member-{number:04}", 0, None, None, TIMEOUT_MS, ["t"], None, None, [])
        epoch = log.run(GroupShard.consumer_group_heartbeat, request, version=1).response.member_epoch
    log.advance(INTERVAL_MS)
    return log, _heartbeat(f"member-{half - 1:04}", epoch)


def _heartbeat(member_id: str, epoch: int) -> Step:
    request = ConsumerGroupHeartbeatRequest("g", member_id, epoch)
    return lambda shard: GroupShard.consumer_group_heartbeat(shard, _CONTEXT, request, FakeReply(1)).records


def joining(names: Sequence[str]) -> Step:
    """The heartbeat of a member that joins group ``g``."""
    request = _join(names)
    return lambda shard: GroupShard.consumer_group_heartbeat(shard, _CONTEXT, request, FakeReply(1)).records


def _join(names: Sequence[str]) -> ConsumerGroupHeartbeatRequest:
    return ConsumerGroupHeartbeatRequest("g", "new", 0, None, None, TIMEOUT_MS, list(names), None, None, [])


def many_tasks(_members: int, _topics: int) -> tuple[GroupLog, Step]:
    """A shard with a streams group in which every member has its tasks."""
    # A child process computes it with the default.
    beats = StreamsBeats(streams_config(group_streams_assignment_inline_max_size=str(2 * TASKS)), t=TASKS)
    beats.joined(*(f"member-{number:03}" for number in range(PROCESSES)))
    request = StreamsGroupHeartbeatRequest("g", "new", 0, 0, None, None, TIMEOUT_MS, beats.topology, [], [], [], "new")
    context = RequestContext("client", "127.0.0.1", 88, 0)
    return beats.log, lambda shard: GroupShard.streams_group_heartbeat(shard, context, request, FakeReply(0)).records


CASES: dict[str, Callable[[int, int], tuple[GroupLog, Step]]] = {
    "preparation": preparation,
    "conversion": conversion,
    "and back": conversion_back,
    "many topics": many_topics,
    "gets them": gets_topics,
    "first target": first_target,
    "many tasks": many_tasks,
}


def measure(log: GroupLog, step: Step) -> Spent:
    """One heartbeat. What was there before is frozen, as in a server."""
    gc.collect()
    calm_the_collector()
    log.registry.snapshot(log.end_offset)
    times = [time.thread_time()]
    records = step(log.shard)
    times.append(time.thread_time())
    if isinstance(records, RecordBlock):
        records.max_bytes()
        records.write(BatchBuilder(0, 0), NO_HEADERS)
        times.append(time.thread_time())
        records.replay(log.end_offset)
    else:
        for record in records:
            GROUP_SERDE.encode_key(record)
            GROUP_SERDE.encode_value(record)
        times.append(time.thread_time())
        for offset, record in enumerate(records, log.end_offset):
            log.shard.replay(offset, record)
    times.append(time.thread_time())
    return Spent(*((after - before) * 1000 for before, after in itertools.pairwise(times)))


def main() -> None:
    options = _options()
    for name, build in CASES.items():
        spent = [measure(*build(options.members, options.topics)) for _ in range(options.rounds)]
        operation, encoding, replay = (min(each) for each in zip(*spent, strict=True))
        print(f"{name:12} operation {operation:6.1f} ms   encoding {encoding:6.1f} ms   replay {replay:6.1f} ms", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.group_steps", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--members", type=int, default=1000, metavar="N", help="of the classic group (default 1000)")
    parser.add_argument("--topics", type=int, default=5000, metavar="N", help="(default 5000, the limit of a request)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    return parser.parse_args()


if __name__ == "__main__":
    main()
