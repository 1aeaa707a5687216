"""Shards that move between the loops of a server: clients follow, members stay, and nothing acknowledged is lost."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.join_group import JoinGroupResponse
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.members import Member, form_group
from tests.support.server import Server
from tests.support.shard_mover import ShardMover
from tests.support.simple_requests import commit_alone, committed, must_commit

TOPICS = {"topics": "orders:6"}
PAUSE_S = 10.0
"""More than a client needs to find the next owner, on a machine that does other things, too."""
PARTITION = 0


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("pair"), TOPICS, loops=2) as server:
        yield server


def shard_of(group: str) -> str:
    return f"__consumer_offsets-{partition_for(group, 50)}"


def owner_of(server: Server, group: str) -> int:
    loop: int = server.control(op="owners")["owners"][shard_of(group)]["loop"]
    return loop


def move(server: Server, group: str) -> int:
    """Move the shard of a group to the other loop. Return its new owner."""
    to = 1 - owner_of(server, group)
    answer = server.control(op="move-shard", shard=shard_of(group), loop=to)
    assert (answer["ok"], answer["from"], answer["to"]) == (True, 1 - to, to)
    return to


def test_a_moved_group_is_at_its_new_owner_and_nowhere_else(pair: Server) -> None:
    """Every loop sends clients there. Members go on in their generation, positions are there, and parked joins end."""
    group = "moved"
    former = owner_of(pair, group)
    [member] = form_group(pair.addresses[former], group, 1)
    assert member.commit("orders", {0: 7}) == {0: ErrorCode.NONE}
    parked = Member(pair.addresses[former], group)
    parked.start_join()
    to = move(pair, group)

    answer = parked.client.receive()
    assert isinstance(answer, JoinGroupResponse)
    assert answer.error_code == ErrorCode.NOT_COORDINATOR
    assert member.heartbeat() == ErrorCode.NOT_COORDINATOR
    generation = member.generation_id
    member.address = pair.addresses[to]
    member.reconnect()
    assert (member.heartbeat(), member.generation_id) == (ErrorCode.NONE, generation)
    assert member.commit("orders", {0: 8}) == {0: ErrorCode.NONE}
    assert committed(member.client, group) == {("orders", 0): 8}
    for address in pair.addresses:
        with Client(address) as client:
            [found] = client.ask(FindCoordinatorRequest(coordinator_keys=[group]), 4, FindCoordinatorResponse).coordinators
            [topic] = client.ask(MetadataRequest([MetadataRequestTopic(name="__consumer_offsets")]), 9, MetadataResponse).topics
        [leader] = [each for each in topic.partitions if each.partition_index == partition_for(group, 50)]
        assert (found.node_id, leader.leader_id, leader.leader_epoch) == (1 + to, 1 + to, 1)


def test_a_shard_moves_back_and_forth(pair: Server) -> None:
    """Its log goes on where it ended, whoever wrote last."""
    for position in range(6):
        to = move(pair, "restless")
        with Client(pair.addresses[to]) as client:
            assert committed(client, "restless") == ({("orders", 0): position - 1} if position else {})
            must_commit(client, "restless", "orders", {0: position})
        with Client(pair.addresses[1 - to]) as client:
            assert commit_alone(client, "restless", "orders", {0: 99}) == {0: ErrorCode.NOT_COORDINATOR}


def test_the_command_lists_and_moves_shards(pair: Server) -> None:
    """Exit code 1 if one is refused; the others move."""
    group, to = "commanded", 1 - owner_of(pair, "commanded")
    at = ["--data-dir", str(pair.data_dir)]

    done = run_command("shards", "move", "--group", group, "nonsense-1", "--to", str(to), *at, "-o", "csv")
    assert done.returncode == 1
    rows = [line.split(",") for line in done.stdout.splitlines()]
    assert [(row[0], row[2], row[5]) for row in rows[1:]] == [
        ("nonsense-1", str(to), "refused"),
        (shard_of(group), str(to), "moved"),
    ]
    listed = run_command("shards", "list", "--group", group, *at, "-o", "csv")
    assert (listed.returncode, listed.stdout.splitlines()[1:]) == (0, [f"{shard_of(group)},{to},{1 + to},2,active"])
    refused = run_command("shards", "move", "--to", "0", *at)
    assert refused.returncode == 2


def test_the_controller_moves_with_the_catalog(pair: Server) -> None:
    """Changes are made at either loop, before and after, and each loop has all of them when one is answered."""
    made: list[str] = []
    for to in (1, 0, 1, 0):
        answer = pair.control(op="move-shard", shard="__cluster_metadata-0", loop=to)
        assert (answer["ok"], answer["to"]) == (True, to)
        for address in pair.addresses:
            made.append(f"made-{len(made)}")
            # A loop that does not know the new controller yet asks clients to try again.
            errors = [ErrorCode.NOT_CONTROLLER]
            eventually(partial(has_created, address, made[-1], errors))
            assert set(errors) == {ErrorCode.NOT_CONTROLLER, ErrorCode.NONE}
            for other in pair.addresses:
                with Client(other) as client:
                    found = client.ask(MetadataRequest(None), 9, MetadataResponse)
                assert {*made, "orders"} <= {topic.name for topic in found.topics}
                assert found.controller_id == 1 + to


def test_clients_work_while_shards_move(pair: Server) -> None:
    """No synchronous commit fails, no member is put out, transactions commit, and no pause is long."""
    settings = {"bootstrap.servers": pair.bootstrap, "group.id": "travellers", "enable.auto.commit": False}
    assigned: list[int] = []
    consumer = Consumer({**settings, "session.timeout.ms": 10_000, "heartbeat.interval.ms": 200})
    consumer.subscribe(["orders"], on_assign=lambda _, mine: assigned.append(len(mine)))
    producer = Producer({"bootstrap.servers": pair.bootstrap, "transactional.id": "mover"})
    producer.init_transactions(30)
    eventually(lambda: consumer.poll(0.1) is None and bool(assigned))
    position, pauses = 0, []
    ends_s = time.monotonic() + 4
    with ShardMover(
        pair, 0.1, [shard_of("travellers"), shard_of("transacted"), f"__transaction_state-{partition_for('mover', 50)}"]
    ) as mover:
        while time.monotonic() < ends_s:
            position += 1
            began_s = time.monotonic()
            consumer.commit(offsets=[TopicPartition("orders", PARTITION, position)], asynchronous=False)
            producer.begin_transaction()
            producer.send_offsets_to_transaction([TopicPartition("orders", 1, position)], _group("transacted"), 30)
            producer.commit_transaction(30)
            pauses.append(time.monotonic() - began_s)
            consumer.poll(0)

    assert len(mover.moves) >= 3
    assert (assigned, max(pauses) < PAUSE_S) == ([6], True)
    with Client(pair.addresses[owner_of(pair, "travellers")]) as client:
        assert committed(client, "travellers") == {("orders", PARTITION): position}
    with Client(pair.addresses[owner_of(pair, "transacted")]) as client:
        # The transaction is committed before its markers are written.
        eventually(lambda: committed(client, "transacted") == {("orders", 1): position})
    consumer.close()


def test_operations_on_all_shards_find_each_once_while_shards_move(pair: Server) -> None:
    """A backup takes what ``cut`` finds: a shard that no loop had would be missing in it."""
    shards = {shard for shard in pair.control(op="owners")["owners"] if shard.startswith(("__consumer_offsets", "__cluster"))}
    answers = 0
    ends_s = time.monotonic() + 2
    with ShardMover(pair, 0.0) as mover:
        while time.monotonic() < ends_s or len(mover.moves) < 10 or answers < 10:
            answer = pair.control(op="cut")
            assert answer["ok"] or answer["temporary"], answer
            if answer["ok"]:
                answers += 1
                found = [shard for loop in answer["cut"] for shard in loop["shards"] if shard in shards]
                assert sorted(found) == sorted(shards)


def test_nothing_is_lost_by_a_kill_while_shards_move(tmp_path: Path) -> None:
    """Owners are where they were with as many loops; with another number all are distributed anew, in later epochs."""
    groups = [f"group-{number}" for number in range(6)]
    expected = dict.fromkeys(groups, -1)
    with Server(tmp_path, TOPICS, loops=2) as server:
        for _ in range(2):
            with ShardMover(server, 0.0, [shard_of(each) for each in groups]) as mover:
                ends_s = time.monotonic() + 0.7
                while time.monotonic() < ends_s or len(mover.moves) < 5:
                    for group in groups:
                        with Client(server.addresses[owner_of(server, group)]) as client:
                            if commit_alone(client, group, "orders", {0: expected[group] + 1}) == {0: ErrorCode.NONE}:
                                expected[group] += 1
            owners = {group: owner_of(server, group) for group in groups}
            server.kill()
            server.start()
            assert {group: owner_of(server, group) for group in groups} == owners
            assert_kept(expected, positions(server, groups))
        epochs = leader_epochs(server)
        for loops in (3, 1, 2):
            server.kill()
            server.loops, server.port = loops, 0
            server.start()
            earlier, epochs = epochs, leader_epochs(server)
            assert [now - before for now, before in zip(epochs, earlier, strict=True)] == [before > 0 for before in earlier]
        assert {group: owner_of(server, group) for group in groups} == {group: partition_for(group, 50) % 2 for group in groups}
        assert_kept(expected, positions(server, groups))


def test_a_shard_of_a_dead_loop_is_taken(tmp_path: Path) -> None:
    """Between its restarts. What it had acknowledged is at the next owner; when it is back, it has the rest."""
    group = next(name for name in map(str, range(99)) if partition_for(name, 50) % 2)
    other = next(name for name in map(str, range(99)) if partition_for(name, 50) % 2 and shard_of(name) != shard_of(group))
    with Server(tmp_path, TOPICS, loops=2) as server:
        with Client(server.addresses[1]) as client:
            must_commit(client, group, "orders", {0: 41})
            must_commit(client, other, "orders", {0: 42})
        for deaths in range(3):
            eventually(partial(is_up, server, 1, deaths + 1))
            os.kill(server.loop_pids()[1], signal.SIGKILL)
        # It is started again in 0.5 s after the second death, in 1 s after the third.
        eventually(lambda: server.control(op="move-shard", shard=shard_of(group), loop=0)["ok"])
        with Client(server.addresses[0]) as client:
            assert committed(client, group) == {("orders", 0): 41}
            must_commit(client, group, "orders", {0: 43})
        assert "shard-moved" in server.log()
        eventually(lambda: is_up(server, 1, 4))
        assert positions(server, [group, other]) == {group: 43, other: 42}


def leader_epochs(server: Server) -> list[int]:
    """Of the shards of groups, as clients see them."""
    with Client(server.address) as client:
        [topic] = client.ask(MetadataRequest([MetadataRequestTopic(name="__consumer_offsets")]), 9, MetadataResponse).topics
    return [each.leader_epoch for each in topic.partitions]


def has_created(address: tuple[str, int], name: str, errors: list[ErrorCode]) -> bool:
    """Create a topic, and note the error. Return whether that is final."""
    with Client(address) as client:
        create = CreateTopicsRequest(topics=[CreatableTopic(name, 3, 1)], timeout_ms=10_000)
        [created] = client.ask(create, 7, CreateTopicsResponse).topics
    errors.append(ErrorCode(created.error_code))
    return errors[-1] is not ErrorCode.NOT_CONTROLLER


def assert_kept(acknowledged: dict[str, int], found: dict[str, int]) -> None:
    """A commit that was refused by a loop that let go of its shard may have been made, and the next one is the same."""
    assert {group for group in found if not acknowledged[group] <= found[group] <= acknowledged[group] + 1} == set()


def is_up(server: Server, loop: int, starts: int) -> bool:
    described = server.control(op="loops")["loops"][loop]
    return (described["stage"], described["starts"]) == ("serving", starts)


def positions(server: Server, groups: list[str]) -> dict[str, int]:
    found = {}
    for group in groups:
        with Client(server.addresses[owner_of(server, group)]) as client:
            found[group] = committed(client, group).get(("orders", 0), -1)
    return found


def _group(name: str) -> object:
    """The metadata of a group that nobody is a member of."""
    return Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": name}).consumer_group_metadata()
