"""``__consumer_offsets`` as a topic: seen, found by offset and time, and read, with the bytes of the log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coordinator_server.runtime.partitioner import partition_for
from protocol.coordinator_records import GROUP_SERDE
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID
from protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from protocol.record_batch import iter_batches, iter_records
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.members import form_group
from tests.support.server import Server
from tests.support.simple_requests import commit_alone, make_topic, must_commit, topic_of

TOPIC = "__consumer_offsets"
FETCH_VERSIONS = range(4, 19)
BY_ID = 13
LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
READ_COMMITTED = 1


def fetching(client: Client, *partitions: FetchPartition, version: int = 12, **fields: Any) -> FetchRequest:
    topic_id = topic_of(client, TOPIC).topic_id if version >= BY_ID else ZERO_UUID
    return FetchRequest(topics=[FetchTopic(TOPIC, topic_id, list(partitions))], **{"min_bytes": 1, **fields})


def fetch(client: Client, *partitions: FetchPartition, version: int = 12, **fields: Any) -> list[PartitionData]:
    answer = client.ask(fetching(client, *partitions, version=version, **fields), version, FetchResponse)
    assert (answer.error_code, answer.session_id) == (ErrorCode.NONE, 0)
    return [data for topic in answer.responses for data in topic.partitions]


def partition(group: str, offset: int = 0, max_bytes: int = 1 << 20) -> FetchPartition:
    return FetchPartition(partition_for(group, 50), fetch_offset=offset, partition_max_bytes=max_bytes)


def commits(data: PartitionData, group: str) -> list[tuple[int, str, int, int]]:
    """Offset in the log, and what was committed, of each record of a group."""
    found = []
    raw = data.records or b""
    for position, header in iter_batches(raw):
        for record in iter_records(raw, position, header):
            decoded = GROUP_SERDE.decode(record.key, record.value)
            match decoded and (decoded.key, decoded.value):
                case OffsetCommitKey(group=who, topic=topic, partition=index), OffsetCommitValue(offset=offset) if who == group:
                    found.append((record.offset, topic, index, offset))
    return found


def list_offset(client: Client, group: str, timestamp: int, version: int = 10, isolation_level: int = 0) -> tuple[int, int, int]:
    asked = ListOffsetsTopic(TOPIC, [ListOffsetsPartition(partition_for(group, 50), timestamp=timestamp)])
    request = ListOffsetsRequest(replica_id=-1, topics=[asked], isolation_level=isolation_level)
    [topic] = client.ask(request, version, ListOffsetsResponse).topics
    [found] = topic.partitions
    return found.error_code, found.offset, found.timestamp


@pytest.fixture
def group(client: Client, fresh_name: str) -> str:
    """Ten commits, a batch each."""
    make_topic(client, fresh_name, 1)
    for offset in range(10):
        must_commit(client, fresh_name, fresh_name, {0: offset})
    return fresh_name


def end_of(client: Client, group: str) -> int:
    return list_offset(client, group, LATEST)[1]


def test_metadata_shows_it_as_internal(client: Client) -> None:
    """By name, by id and among all; with its partitions and their leaders."""
    named = topic_of(client, TOPIC, is_created=False)
    request = MetadataRequest(topics=[MetadataRequestTopic(named.topic_id, None)])
    [by_id] = client.ask(request, 12, MetadataResponse).topics
    every = client.ask(MetadataRequest(topics=None), 12, MetadataResponse)

    assert (named.error_code, named.is_internal, len(named.partitions)) == (ErrorCode.NONE, True, 50)
    assert {one.leader_id for one in named.partitions} == {broker.node_id for broker in every.brokers}
    assert by_id == named
    assert named in every.topics


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_what_is_committed_can_be_fetched(client: Client, group: str, version: int) -> None:
    """From an offset in the middle on, up to the high watermark."""
    end = end_of(client, group)

    [data] = fetch(client, partition(group, end - 4), version=version)

    assert (data.error_code, data.high_watermark, data.last_stable_offset) == (ErrorCode.NONE, end, end)
    assert commits(data, group) == [(end - 4 + one, group, 0, 6 + one) for one in range(4)]


def test_bytes_are_bounded(client: Client, group: str) -> None:
    """By partition and by request; the first batch comes all the same."""
    end = end_of(client, group)
    [one] = fetch(client, partition(group, end - 10, max_bytes=1))
    size = len(one.records or b"")
    [few] = fetch(client, partition(group, end - 10, max_bytes=3 * size + 5))
    [first, second] = fetch(client, partition(group, end - 10), partition(group, end - 10), max_bytes=2 * size)

    assert len(commits(one, group)) == 1
    assert len(commits(few, group)) == 3
    assert (len(commits(first, group)), second.records) == (2, b"")


@pytest.mark.parametrize("offset", [-1, 1 << 40])
def test_fetch_beyond_the_log_is_offset_out_of_range(client: Client, group: str, offset: int) -> None:
    """OFFSET_OUT_OF_RANGE, at once."""
    [data] = fetch(client, partition(group, offset), max_wait_ms=600_000)

    assert (data.error_code, data.high_watermark) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)


@pytest.mark.parametrize(("epoch", "error"), [(1, ErrorCode.UNKNOWN_LEADER_EPOCH), (0, ErrorCode.NONE), (-1, ErrorCode.NONE)])
def test_leader_epochs_are_checked(client: Client, group: str, epoch: int, error: ErrorCode) -> None:
    """There has been one leader, of epoch 0."""
    asked = partition(group)
    asked.current_leader_epoch = epoch

    [data] = fetch(client, asked)

    assert data.error_code == error


def test_a_fetch_at_the_end_waits_for_the_next_commit(client: Client, group: str, address: tuple[str, int]) -> None:
    """The answer comes with the next commit, long before the time is up; what comes behind it on the connection waits, too."""
    end = end_of(client, group)
    client.send(fetching(client, partition(group, end), max_wait_ms=600_000), 12)
    with Client(address) as other:
        must_commit(other, group, group, {0: 77})

        answer = client.receive()

    assert isinstance(answer, FetchResponse)
    [data] = answer.responses[0].partitions
    assert commits(data, group) == [(end, group, 0, 77)]


def test_min_bytes_are_waited_for(client: Client, group: str, address: tuple[str, int]) -> None:
    """One commit is not enough, however long it takes; then enough come together, or the time is up."""
    end = end_of(client, group)
    size = len(fetch(client, partition(group, end - 1))[0].records or b"")
    client.send(fetching(client, partition(group, end - 1), max_wait_ms=600_000, min_bytes=4 * size), 12)
    with Client(address) as other:
        for offset in range(3):
            must_commit(other, group, group, {0: 80 + offset})

        answer = client.receive()

    assert isinstance(answer, FetchResponse)
    assert [one[3] for one in commits(answer.responses[0].partitions[0], group)] == [9, 80, 81, 82]
    [late] = fetch(client, partition(group, end), max_wait_ms=50, min_bytes=1 << 20)
    assert [one[3] for one in commits(late, group)] == [80, 81, 82]


def test_list_offsets_finds_records_by_time(client: Client, group: str) -> None:
    """The first record at or after a time; none after the last; the one with the largest time."""
    _, end, _ = list_offset(client, group, LATEST)
    _, first, first_ms = list_offset(client, group, 0)
    _, latest, latest_ms = list_offset(client, group, MAX_TIMESTAMP)

    assert list_offset(client, group, EARLIEST) == (ErrorCode.NONE, 0, -1)
    assert (first, list_offset(client, group, first_ms)) == (0, (ErrorCode.NONE, 0, first_ms))
    assert latest < end
    assert list_offset(client, group, latest_ms) == (ErrorCode.NONE, latest, latest_ms)
    assert list_offset(client, group, latest_ms + 1) == (ErrorCode.NONE, -1, -1)
    assert list_offset(client, group, MAX_TIMESTAMP, version=6)[0] == ErrorCode.UNSUPPORTED_VERSION
    assert list_offset(client, group, LATEST, isolation_level=READ_COMMITTED) == (ErrorCode.NONE, end, -1)


def test_a_client_that_asks_for_much_and_reads_nothing(client: Client, address: tuple[str, int], fresh_name: str) -> None:
    """Many Fetches at once cost it its own answers, one by one; others are answered meanwhile,
    and it gets all of them in the end.
    """
    make_topic(client, fresh_name, 500)
    for offset in range(25):
        must_commit(client, fresh_name, fresh_name, dict.fromkeys(range(500), offset))
    end = end_of(client, fresh_name)
    count = 60
    with Client(address) as greedy:
        request = fetching(greedy, partition(fresh_name, max_bytes=1 << 30))
        greedy.send_bytes(b"".join(greedy.frame(request, 12) for _ in range(count)))
        [member] = form_group(address, f"{fresh_name}-live", 1)
        beat = HeartbeatRequest(f"{fresh_name}-live", member.generation_id, member.member_id)
        told = [member.client.ask(beat, 4, HeartbeatResponse).error_code for _ in range(50)]
        sizes = set()
        for _ in range(count):
            answer = greedy.receive()
            assert isinstance(answer, FetchResponse)
            [data] = answer.responses[0].partitions
            assert data.high_watermark >= end
            sizes.add(len(data.records or b""))
        member.client.close()

    assert told == [ErrorCode.NONE] * 50
    assert len(sizes) == 1
    assert 500_000 < sizes.pop() <= 1 << 20


def test_it_is_read_through_layers_and_restarts(tmp_path: Path) -> None:
    """What compaction has left, then what came behind it; offsets are what they were."""
    with Server(tmp_path, {"topics": "orders:1", "offsets.topic.num.partitions": "1", "log.cleaner.enable": "false"}) as server:
        with Client(server.address) as client:
            for offset in range(20):
                must_commit(client, "g", "orders", {0: offset})
        assert server.stop() == 0
        done = run_command("compact", "--data-dir", server.data_dir, "--engine", "python")
        assert done.returncode == 0, done.stderr
        server.start()
        with Client(server.address) as client:
            for offset in range(20, 25):
                must_commit(client, "g", "orders", {0: offset})

            [data] = fetch(client, FetchPartition(0, fetch_offset=0, partition_max_bytes=1 << 20))
            [rest] = fetch(client, FetchPartition(0, fetch_offset=20, partition_max_bytes=1 << 20))

    assert commits(data, "g") == [(19, "orders", 0, 19)]
    assert commits(rest, "g") == [(offset, "orders", 0, offset) for offset in range(20, 25)]


def test_every_partition_is_led_by_the_loop_that_owns_it(tmp_path: Path) -> None:
    """The others say NOT_LEADER_OR_FOLLOWER, and who it is."""
    with Server(tmp_path, {"topics": "orders:1"}, loops=2) as server:
        names = [f"g-{number}" for number in range(6)]
        for name in names:
            owner = partition_for(name, 50) % 2
            with Client(server.addresses[owner]) as here, Client(server.addresses[1 - owner]) as there:
                assert commit_alone(here, name, "orders", {0: 5}) == {0: ErrorCode.NONE}
                leader = topic_of(there, TOPIC).partitions
                [found] = fetch(here, partition(name))
                answer = there.ask(fetching(there, partition(name), version=16), 16, FetchResponse)
                [refused] = answer.responses[0].partitions

                assert {one.partition_index: one.leader_id for one in leader}[partition_for(name, 50)] == 1 + owner
                assert commits(found, name)[-1][1:] == ("orders", 0, 5)
                assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
                assert refused.current_leader.leader_id == 1 + owner
                assert [(each.node_id, each.port) for each in answer.node_endpoints] == [(1 + owner, server.addresses[owner][1])]
                assert list_offset(there, name, LATEST)[0] == ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize("version", range(3, 14))
def test_produce_is_refused(client: Client, fresh_name: str, version: int) -> None:
    """With an error that no producer tries again; who wants no answer is hung up on."""
    topic_id = make_topic(client, fresh_name, 1)
    internal = topic_of(client, TOPIC).topic_id
    data = [PartitionProduceData(0, b"")]
    topics = [TopicProduceData(fresh_name, topic_id, data), TopicProduceData(TOPIC, internal, data)]

    answer = client.ask(ProduceRequest(acks=-1, topic_data=topics), version, ProduceResponse)

    errors = [one.error_code for topic in answer.responses for one in topic.partition_responses]
    assert errors == [ErrorCode.POLICY_VIOLATION, ErrorCode.INVALID_TOPIC_EXCEPTION]
    client.send(ProduceRequest(acks=0, topic_data=topics), version)
    assert client.is_closed()
