"""Plans for blast, the load generator: which connection sends which frames, and what must come back."""

from __future__ import annotations

import contextlib
import json
import shutil
import struct
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

from bench.targets import BUILD, Address
from protocol.fields import Message, uuid_text
from protocol.messages import initialize_share_group_state, read_share_group_state, write_share_group_state
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from protocol.messages.initialize_share_group_state import (
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    InitializeStateData,
)
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics
from protocol.messages.read_share_group_state import ReadShareGroupStateRequest, ReadStateData
from protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    Topology,
)
from protocol.messages.write_share_group_state import StateBatch, WriteShareGroupStateRequest, WriteStateData
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.members import Member, join_all
from tests.support.server import ROOT
from tests.support.simple_requests import coordinator, make_topic, topic_of

TOPIC = "load"
PARTITIONS = 100
# Of the first member of a consumer group whose topic exists.
FIRST_EPOCH = 2
# Of the state and of the leader of a share partition.
SHARE_EPOCH = 1
SESSION_TIMEOUT_MS = 1_800_000
# The type of a group in requests about settings.
GROUP_RESOURCE = 32
ENTRY = struct.Struct("<IIII")


class Measured(TypedDict):
    """What blast prints."""

    per_second: float
    p50_ms: float
    p99_ms: float
    p999_ms: float
    longest_ms: float
    answers: int
    wrong: int
    retries: int


Requests = list[tuple[Message, int]]
"""Requests with their versions."""


def heartbeats(member: Member) -> Requests:
    request = HeartbeatRequest(group_id=member.group_id, generation_id=member.generation_id, member_id=member.member_id)
    return [(request, 4)]


def consumer_heartbeats(member: Member) -> Requests:
    """A steady member of a consumer group (KIP-848); ``join_consumer_group`` goes before it."""
    return [(ConsumerGroupHeartbeatRequest(_consumer_group(member), member.member_id, FIRST_EPOCH), 1)]


def join_consumer_group(member: Member) -> Address:
    """Have the member join a group of its own, or join it again: its session may have ended since. Return where the group lives."""
    with Client(member.address) as client:
        home = coordinator(client, _consumer_group(member))
    with Client(home, client_id="bench") as client:
        _join_consumer_group(client, member)
    return home


def _join_consumer_group(client: Client, member: Member) -> None:
    request = ConsumerGroupHeartbeatRequest(
        _consumer_group(member),
        member.member_id,
        0,
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=[TOPIC],
        topic_partitions=[],
    )
    answer = client.ask(request, 1, ConsumerGroupHeartbeatResponse)
    if answer.member_epoch != FIRST_EPOCH:
        # It is a new member of an old group.
        client.ask(
            ConsumerGroupHeartbeatRequest(_consumer_group(member), member.member_id, -1), 1, ConsumerGroupHeartbeatResponse
        )
        client.ask(DeleteGroupsRequest([_consumer_group(member)]), 2, DeleteGroupsResponse)
        answer = client.ask(request, 1, ConsumerGroupHeartbeatResponse)
    assert answer.member_epoch == FIRST_EPOCH, answer


def _consumer_group(member: Member) -> str:
    return f"{member.group_id}-consumer"


def streams_heartbeats(member: Member) -> Requests:
    """A steady member of a streams group (KIP-1071), with a task for each partition; ``join_streams_group`` goes before it."""
    return [(StreamsGroupHeartbeatRequest(_streams_group(member), member.member_id, FIRST_EPOCH), 0)]


def join_streams_group(member: Member) -> Address:
    """Have the member join a group of its own, which waits for nobody else. Return where the group lives."""
    with Client(member.address) as client:
        home = coordinator(client, _streams_group(member))
        configs = [AlterableConfig("streams.initial.rebalance.delay.ms", 0, "0")]
        resource = AlterConfigsResource(GROUP_RESOURCE, _streams_group(member), configs)
        answer = client.ask(IncrementalAlterConfigsRequest([resource]), 1, IncrementalAlterConfigsResponse)
        assert not answer.responses[0].error_code, answer
    with Client(home, client_id="bench") as client:
        # A broker takes a moment to know a setting.
        eventually(lambda: _join_streams_group(client, member))
    return home


def _join_streams_group(client: Client, member: Member) -> bool:
    """Return whether the member of a new group has its tasks at once. Otherwise the group is gone."""
    group_id, member_id = _streams_group(member), member.member_id
    topology = Topology(0, [Subtopology("0", [TOPIC])])
    request = StreamsGroupHeartbeatRequest(
        group_id,
        member_id,
        rebalance_timeout_ms=60_000,
        topology=topology,
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        process_id=member_id,
    )
    answer = client.ask(request, 0, StreamsGroupHeartbeatResponse)
    if answer.member_epoch == FIRST_EPOCH and answer.active_tasks:
        return True
    client.ask(StreamsGroupHeartbeatRequest(group_id, member_id, -1), 0, StreamsGroupHeartbeatResponse)
    client.ask(DeleteGroupsRequest([group_id]), 2, DeleteGroupsResponse)
    return False


def _streams_group(member: Member) -> str:
    return f"{member.group_id}-streams"


def commits(partitions: int) -> Callable[[Member], Requests]:
    """Four requests in turn, so that no two commits in a row are the same."""

    def requests(member: Member) -> Requests:
        return [(_commit(member, partitions, offset), 8) for offset in range(1000, 1004)]

    return requests


def _commit(member: Member, partitions: int, offset: int) -> OffsetCommitRequest:
    rows = [OffsetCommitRequestPartition(partition_index=one, committed_offset=offset) for one in range(partitions)]
    return OffsetCommitRequest(
        group_id=member.group_id,
        generation_id_or_member_epoch=member.generation_id,
        member_id=member.member_id,
        topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=rows)],
    )


def fetches(partitions: int) -> Callable[[Member], Requests]:
    def requests(member: Member) -> Requests:
        topic = OffsetFetchRequestTopics(name=TOPIC, partition_indexes=list(range(partitions)))
        return [(OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=member.group_id, topics=[topic])]), 8)]

    return requests


def share_writes(batches: int) -> Callable[[Member], Requests]:
    """Four requests in turn, each with so many batches of a record, every second record, in different delivery states."""

    def requests(member: Member) -> Requests:
        return [(_share_write(member, batches, delivery_state), 1) for delivery_state in (0, 2, 0, 4)]

    return requests


def _share_write(member: Member, batches: int, delivery_state: int) -> WriteShareGroupStateRequest:
    written = [StateBatch(2 * number, 2 * number, delivery_state, 1) for number in range(batches)]
    partition = write_share_group_state.PartitionData(0, SHARE_EPOCH, SHARE_EPOCH, 0, batches, written)
    return WriteShareGroupStateRequest(member.group_id, [WriteStateData(TOPIC_IDS[member.address], [partition])])


def share_reads(member: Member) -> Requests:
    """By the leader that is known, of 20 batches."""
    partition = read_share_group_state.PartitionData(0, SHARE_EPOCH)
    return [(ReadShareGroupStateRequest(member.group_id, [ReadStateData(TOPIC_IDS[member.address], [partition])]), 0)]


TOPIC_IDS: dict[Address, bytes] = {}
"""Of the topic, by server."""


def initialize_share_state(member: Member) -> Address:
    """Have the group's state of a share partition anew, with 20 batches. Return where it lives."""
    with Client(member.address, client_id="bench") as client:
        topic_id = TOPIC_IDS[member.address] = topic_of(client, TOPIC, is_created=False).topic_id
        finding = FindCoordinatorRequest(key_type=2, coordinator_keys=[f"{member.group_id}:{uuid_text(topic_id)}:0"])
        homes: list[Address] = []

        def is_found() -> bool:
            [found] = client.ask(finding, 6, FindCoordinatorResponse).coordinators
            homes.append((found.host, found.port))
            return found.error_code == 0

        eventually(is_found)
    data = [InitializeStateData(topic_id, [initialize_share_group_state.PartitionData(0, SHARE_EPOCH, 0)])]
    request = InitializeShareGroupStateRequest(member.group_id, data)
    with Client(homes[-1], client_id="bench") as client:
        # The coordinator may take a moment to be there.
        eventually(lambda: not client.ask(request, 0, InitializeShareGroupStateResponse).results[0].partitions[0].error_code)
        for each, version in [*share_reads(member), *share_writes(20)(member)]:
            client.call(each, version)
    return homes[-1]


SCENARIOS: dict[str, Callable[[Member], Requests]] = {
    "heartbeat": heartbeats,
    "consumer heartbeat": consumer_heartbeats,
    "streams heartbeat": streams_heartbeats,
    "commit 1": commits(1),
    "commit 10": commits(10),
    "commit 100": commits(100),
    "fetch 10": fetches(10),
    "share write 1": share_writes(1),
    "share write 20": share_writes(20),
    "share read": share_reads,
}


# What goes before a scenario: returns where its requests go.
PREPARATIONS: dict[str, Callable[[Member], Address]] = {
    "consumer heartbeat": join_consumer_group,
    "streams heartbeat": join_streams_group,
    **dict.fromkeys(("share write 1", "share write 20", "share read"), initialize_share_state),
}


def set_up(address: Address, count: int) -> list[Member]:
    """A topic and that many groups of one member, with something committed for every partition. A member knows its coordinator."""
    with Client(address) as client:
        make_topic(client, TOPIC, PARTITIONS)
        return [_settled_member(client, f"load-{number}") for number in range(count)]


def _settled_member(client: Client, group_id: str) -> Member:
    home = coordinator(client, group_id)
    member = Member(home, group_id, join_version=5, session_timeout_ms=SESSION_TIMEOUT_MS)
    eventually(lambda: not _first_join(member))
    assert set(member.commit(TOPIC, dict.fromkeys(range(PARTITIONS), 1000), 8).values()) == {0}
    member.client.close()
    return member


def _first_join(member: Member) -> str | None:
    """Join alone; what stood in the way: a broker's coordinator takes a moment to be there."""
    try:
        join_all([], [member])
    except AssertionError as not_yet:
        member.reconnect()
        member.member_id = ""
        return str(not_yet) or "not yet"
    return None


def plan(members: Sequence[Member], scenario: str) -> bytes:
    """Each request is asked once now: its answer is what every later one is compared with."""
    prepare = PREPARATIONS.get(scenario)
    homes = [member.address if prepare is None else prepare(member) for member in members]
    return plan_of([(home, SCENARIOS[scenario](member)) for member, home in zip(members, homes, strict=True)])


def plan_of(connections: Sequence[tuple[Address, Requests]]) -> bytes:
    """Return the plan of connections, each with its server and its requests. Each request is asked once."""
    entries = bytearray()
    with contextlib.ExitStack() as stack:
        clients: dict[Address, Client] = {}
        for number, (home, requests) in enumerate(connections):
            client = clients.get(home) or clients.setdefault(home, stack.enter_context(Client(home, client_id="bench")))
            for request, version in requests:
                frame = client.frame(request, version)
                client.send_bytes(frame)
                answer = client.receive_frame()[4:]
                entries += ENTRY.pack(number, home[1], len(frame), len(answer)) + frame + answer
    return bytes(entries)


def sent_to(plan: bytes, port: int) -> bytes:
    """The same plan for a server that listens on one port and gives every request the first answer of the plan."""
    answer = answer_of(plan)
    entries, position = bytearray(), 0
    while position < len(plan):
        number, _, request_size, answer_size = ENTRY.unpack_from(plan, position)
        request_end = position + ENTRY.size + request_size
        entries += ENTRY.pack(number, port, request_size, len(answer)) + plan[position + ENTRY.size : request_end] + answer
        position = request_end + answer_size
    return bytes(entries)


def moved(plan: bytes, ports: Mapping[int, int]) -> bytes:
    """The same plan for other ports of the same servers."""
    entries, position = bytearray(plan), 0
    while position < len(plan):
        number, port, request_size, answer_size = ENTRY.unpack_from(plan, position)
        ENTRY.pack_into(entries, position, number, ports[port], request_size, answer_size)
        position += ENTRY.size + request_size + answer_size
    return bytes(entries)


def answer_of(plan: bytes) -> bytes:
    """The first answer of a plan, for a server that always says the same."""
    _, _, request_size, answer_size = ENTRY.unpack_from(plan)
    start = ENTRY.size + request_size
    return plan[start : start + answer_size]


def blast(  # noqa: PLR0913 - what the load generator takes
    connections: int,
    window: int,
    plan: bytes,
    warm_s: float,
    seconds: float,
    steps: int = 0,
    *,
    every_s: float = 0,
    has_tls: bool = False,
) -> Measured:
    """One run of the load generator. With ``steps`` the requests of a connection are cycles of so many.

    With ``every_s`` each connection sends a request every so many seconds, and not as many as it can.
    """
    arguments = [str(each) for each in (connections, window, warm_s, seconds, steps, every_s)]
    done = subprocess.run([compiled(has_tls=has_tls), *arguments], input=plan, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr.decode().strip())
    measured: Measured = json.loads(done.stdout)
    return measured


def compiled(*, has_tls: bool = False) -> str:
    """The load generator, compiled when it is not there or older than its source."""
    source, binary = ROOT / "bench" / "blast.c", BUILD / ("blast-tls" if has_tls else "blast")
    words = ["-DTLS", "-lssl", "-lcrypto"] if has_tls else []
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        compiler = shutil.which("cc")
        if compiler is None:
            raise SystemExit("the load generator is compiled on first use; install a C compiler: apt-get install gcc libc6-dev")
        BUILD.mkdir(exist_ok=True)
        subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-o", str(binary), str(source), *words], check=True)
    return str(binary)
