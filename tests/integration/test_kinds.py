"""Kinds that begin with their first use, in a whole server: those that only tests have (tests/toy), and transactions.

From the first use to a start after kill -9, with one loop and with two.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.config import Config
from coordinator_server.kinds import TRANSACTIONS, Kind, partition_counts
from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic
from protocol.messages.metadata import MetadataRequest, MetadataResponse, MetadataResponseTopic
from protocol.record_batch import iter_batches, iter_records
from tests.leases.rows import LEASES
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.simple_requests import create_topic, topic_of
from tests.toy.records import AddedKey, TotalKey
from tests.toy.rows import ENVIRONMENT, FOLDED, KEYED, PARTITIONS

KINDS = [KEYED, FOLDED]
ALL = [*KINDS, LEASES, TRANSACTIONS]
EACH = pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.topic)
NAMES = [f"name-{number}" for number in range(20)]
READ_COMMITTED = 1
LATEST = -1

Start = Callable[..., Server]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a server that has the toys."""
    servers: list[Server] = []

    def start(loops: int = 1, directory: Path = tmp_path, **overrides: object) -> Server:
        directory.mkdir(exist_ok=True)
        server = Server(directory, {"topics": "orders:6"} | overrides, loops=loops)
        server.environment = ENVIRONMENT
        servers.append(server)
        return server.start()

    yield start
    for server in servers:
        server.__exit__()


def find(address: tuple[str, int], kind: Kind, *names: str) -> list[tuple[int, int]]:
    """Error and node of each key's coordinator."""
    assert kind.key_type is not None
    with Client(address) as client:
        request = FindCoordinatorRequest(key_type=kind.key_type, coordinator_keys=list(names))
        answer = client.ask(request, 4, FindCoordinatorResponse)
    return [(each.error_code, each.node_id) for each in answer.coordinators]


def use(server: Server, kind: Kind) -> None:
    """For the first time, perhaps; until its shards are there."""
    assert find(server.address, kind, NAMES[0])[0][0] == ErrorCode.NONE
    eventually(lambda: {shards(server, kind).get(name) for name in all_shards(kind)} == {"active"})


def all_shards(kind: Kind) -> list[str]:
    return [f"{kind.topic}-{partition}" for partition in range(partitions(kind))]


def partitions(kind: Kind) -> int:
    return partition_counts(Config().log)[kind.topic] if isinstance(kind.partitions, str) else kind.partitions


def shards(server: Server, kind: Kind) -> dict[str, str]:
    """The state of each shard, by name."""
    answer = server.control(op="shards")["shards"]
    return {name: each["state"] for name, each in answer.items() if name.startswith(f"{kind.topic}-")}


def directories(server: Server, kind: Kind) -> set[str]:
    return {path.name for path in server.data_dir.glob(f"{kind.topic}-*")}


def add(server: Server, kind: Kind, name: str, **fields: Any) -> Any:
    """What the total of a name is then."""
    answer = server.control(op=kind.topic, shards=[f"{kind.topic}-{partition_for(name, PARTITIONS)}"], name=name, **fields)
    assert answer["ok"], answer
    return answer["totals"][name]


def digests(server: Server, kind: Kind) -> dict[str, Any]:
    answer = server.control(op="digest", shards=all_shards(kind), parts=True)
    assert answer["ok"], answer
    return dict(answer["shards"])


def listed(address: tuple[str, int]) -> list[MetadataResponseTopic]:
    with Client(address) as client:
        return client.ask(MetadataRequest(topics=None), 12, MetadataResponse).topics


def in_use(address: tuple[str, int]) -> list[MetadataResponseTopic]:
    return [topic for topic in listed(address) if topic.name in {kind.topic for kind in ALL}]


def read(address: tuple[str, int], kind: Kind, topic_id: bytes, partition: int) -> list[tuple[str, str]]:
    """Type and name of every record that a consumer gets of a partition, and that it gets to the end."""
    asked = ListOffsetsTopic(kind.topic, [ListOffsetsPartition(partition, timestamp=LATEST)])
    with Client(address) as client:
        ends = client.ask(ListOffsetsRequest(-1, READ_COMMITTED, [asked]), 10, ListOffsetsResponse)
        request = FetchRequest(
            min_bytes=1,
            isolation_level=READ_COMMITTED,
            topics=[FetchTopic("", topic_id, [FetchPartition(partition, partition_max_bytes=1 << 20)])],
        )
        answer = client.ask(request, 13, FetchResponse)
    [data] = answer.responses[0].partitions
    assert data.error_code == ErrorCode.NONE
    raw = data.records or b""
    found = [
        kind.serde.decode(record.key, record.value)
        for position, header in iter_batches(raw)
        for record in iter_records(raw, position, header)
    ]
    assert len(found) == ends.topics[0].partitions[0].offset == data.last_stable_offset
    told = []
    for record in found:
        assert record is not None
        assert isinstance(record.key, TotalKey | AddedKey)
        told.append((type(record.key).__name__, record.key.name))
    return told


@pytest.mark.parametrize("loops", [1, 2])
def test_an_unused_kind_is_not_there(start: Start, loops: int) -> None:
    """No shard, no directory, no topic; another start changes nothing of that."""
    server = start(loops)
    with Client(server.address) as client:
        assert topic_of(client, KEYED.topic).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert server.stop() == 0
    server.start()

    for kind in ALL:
        assert (shards(server, kind), directories(server, kind)) == ({}, set())
    assert {topic.name for topic in listed(server.address)} == {"orders", "__consumer_offsets"}
    assert not server.control(op="digest", shards=[all_shards(KEYED)[0]])["ok"]


@EACH
@pytest.mark.parametrize("loops", [1, 2])
def test_the_first_use_of_a_kind_creates_its_topic_at_all_loops(start: Start, loops: int, kind: Kind) -> None:
    """One kind, at all loops, whichever is asked; each key's coordinator is the loop that owns its shard.

    No other kind is touched.
    """
    server = start(loops)
    use(server, kind)

    nodes = [1 + partition_for(name, partitions(kind)) % loops for name in NAMES]
    for address in server.addresses:
        assert find(address, kind, *NAMES) == [(ErrorCode.NONE, node) for node in nodes]
        [topic] = in_use(address)
        assert (topic.name, topic.is_internal, len(topic.partitions)) == (kind.topic, True, partitions(kind))
    # A shard gets its directory with its first record.
    assert directories(server, kind) == set()
    assert [shards(server, other) for other in ALL if other is not kind] == [{}] * (len(ALL) - 1)


def test_concurrent_first_uses_of_a_kind_create_one_topic(start: Start) -> None:
    """There is one topic."""
    server = start(3)
    with ThreadPoolExecutor() as pool:
        asked = [pool.submit(find, address, kind, *NAMES) for kind in ALL for address in server.addresses * 3]
        assert {error for each in asked for error, _ in each.result()} == {ErrorCode.NONE}

    for address in server.addresses:
        assert [(topic.name, len(topic.partitions)) for topic in in_use(address)] == [
            (kind.topic, partitions(kind)) for kind in (FOLDED, KEYED, LEASES, TRANSACTIONS)
        ]


@pytest.mark.parametrize("loops", [1, 2])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.topic)
def test_what_was_answered_survives_kill_9(start: Start, kind: Kind, loops: int) -> None:
    """And SIGTERM, and a start with another number of loops: the state, its digests, and the records that a consumer reads."""
    server = start(loops)
    use(server, kind)
    for amount, name in enumerate([*NAMES, *NAMES]):
        add(server, kind, name, amount=amount)
    add(server, kind, NAMES[0], amount=None)
    before = digests(server, kind)
    server.kill()
    server.start()

    totals = {name: 20 + 2 * number for number, name in enumerate(NAMES)} | {NAMES[0]: None}
    assert {name: add(server, kind, name) for name in NAMES} == totals
    assert digests(server, kind) == before
    assert {name for shard in before.values() for name in shard["parts"]} == set(NAMES[1:])
    assert directories(server, kind) == {f"{kind.topic}-{partition_for(name, PARTITIONS)}" for name in NAMES}
    assert server.stop() == 0
    server.loops, server.port = 3 - loops, 0
    server.start()
    assert digests(server, kind) == before
    with Client(server.address) as client:
        topic_id = topic_of(client, kind.topic).topic_id
    for number in range(PARTITIONS):
        here = [name for name in NAMES if partition_for(name, PARTITIONS) == number]
        written = [("AddedKey" if kind is FOLDED else "TotalKey", name) for name in here * 2]
        forgotten = [("TotalKey", name) for name in here[:1] if name == NAMES[0]]
        assert read(server.addresses[number % server.loops], kind, topic_id, number) == written + forgotten


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.topic)
def test_compaction_keeps_the_state_of_a_folded_kind(start: Start, kind: Kind) -> None:
    """A layer of each shard that was written to, and a tail: the same totals and digests after kill -9."""
    server = start(**{"log.cleaner.backoff.ms": 20, "log.cleaner.min.bytes": 1})
    use(server, kind)
    for name in [*NAMES, *NAMES]:
        add(server, kind, name, amount=5)
    add(server, kind, NAMES[0], amount=None)
    eventually(
        lambda: all(list(server.data_dir.glob(f"{name}/layer-*")) for name in directories(server, kind)), describe=server.log
    )
    for name in NAMES:
        add(server, kind, name, amount=1)
    before = digests(server, kind)
    server.kill()
    server.start()

    assert digests(server, kind) == before
    assert {name: add(server, kind, name) for name in NAMES} == dict.fromkeys(NAMES, 11) | {NAMES[0]: 1}
    assert "not-cleaned" not in server.log()


@EACH
def test_clients_cannot_change_its_topic(start: Start, kind: Kind) -> None:
    """Before its first use and after it, by name and by id."""
    server = start()
    with Client(server.address) as client:
        for is_used in (False, True):
            if is_used:
                use(server, kind)
                topic = topic_of(client, kind.topic)
                by_id = DeleteTopicsRequest(topics=[DeleteTopicState(None, topic.topic_id)])
                [deleted] = client.ask(by_id, 6, DeleteTopicsResponse).responses
                assert deleted.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
            by_name = DeleteTopicsRequest(topics=[DeleteTopicState(kind.topic)])
            [deleted] = client.ask(by_name, 6, DeleteTopicsResponse).responses
            growth = CreatePartitionsRequest([CreatePartitionsTopic(kind.topic, 9, None)], timeout_ms=1000)
            [grown] = client.ask(growth, 3, CreatePartitionsResponse).results
            codes = [deleted.error_code, grown.error_code, create_topic(client, kind.topic, partitions(kind)).error_code]
            assert codes == [ErrorCode.INVALID_TOPIC_EXCEPTION] * 3
    assert [len(topic.partitions) for topic in listed(server.address) if topic.name == kind.topic] == [partitions(kind)]


@pytest.mark.parametrize("loops", [1, 2])
def test_a_directory_puts_a_kind_to_use(start: Start, tmp_path: Path, loops: int) -> None:
    """An import brings directories, and the catalog learns of them at the start."""
    there = start(1, tmp_path / "there")
    use(there, FOLDED)
    for name in NAMES:
        add(there, FOLDED, name, amount=3)
    assert there.stop() == 0
    here = start(loops, tmp_path / "here")
    assert here.stop() == 0
    for name in directories(there, FOLDED):
        shutil.copytree(there.data_dir / name, here.data_dir / name)
    here.start()

    assert {add(here, FOLDED, name) for name in NAMES} == {3}
    for address in here.addresses:
        assert [topic.name for topic in in_use(address)] == [FOLDED.topic]


def test_a_loop_that_was_dead_learns_of_it(start: Start) -> None:
    """It is started again, and loads its shards."""
    server = start(2)
    use(server, KEYED)
    name = next(name for name in NAMES if partition_for(name, PARTITIONS) % 2 == 1)
    add(server, KEYED, name, amount=1)
    pid = server.loop_pids()[1]
    os.kill(pid, signal.SIGKILL)
    eventually(partial(_is_back, server, pid))

    assert add(server, KEYED, name, amount=1) == 2


def _is_back(server: Server, pid: int) -> bool:
    loops = server.control(op="loops")["loops"]
    return loops[1]["pid"] != pid and loops[1]["stage"] == "serving"


@pytest.mark.parametrize("key_type", [44, -1])
def test_what_is_not_served_is_refused_as_ever(start: Start, key_type: int) -> None:
    """And no topic is made for it."""
    server = start()
    with Client(server.address) as client:
        answer = client.ask(FindCoordinatorRequest("some", key_type), 3, FindCoordinatorResponse)

    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert answer.error_message == f"no coordinator is served here for key type {key_type}"
    assert {topic.name for topic in listed(server.address)} == {"orders", "__consumer_offsets"}


def test_without_a_controller_clients_are_to_ask_again(start: Start) -> None:
    """Nobody can make the topic meanwhile; it is there once the controller is."""
    server = start(2)
    os.kill(server.loop_pids()[0], signal.SIGKILL)
    there = server.addresses[1]

    assert find(there, KEYED, NAMES[0])[0][0] == ErrorCode.COORDINATOR_NOT_AVAILABLE
    eventually(lambda: find(there, KEYED, NAMES[0])[0][0] == ErrorCode.NONE)
