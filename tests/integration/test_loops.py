"""Several loops as one server: who answers what, who dies, who is started again, and what is there then."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.server.supervisor.rules import DELAYS_S
from protocol.error_codes import ErrorCode
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchResponse
from tests.support.client import Client, Closed
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.members import form_group
from tests.support.ports import free_port
from tests.support.processes import is_alive
from tests.support.server import Server
from tests.support.simple_requests import commit_alone, committed, create_topic, describe_group, must_commit, topic_of
from tests.support.strace import failing, needs_strace

TOPICS = {"topics": "orders:6"}


@pytest.fixture(scope="module")
def trio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Three loops that nobody harms."""
    with Server(tmp_path_factory.mktemp("trio"), TOPICS, loops=3) as server:
        yield server


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Two loops for tests that kill what they like, and leave both serving."""
    with Server(tmp_path_factory.mktemp("pair"), TOPICS, loops=2) as server:
        yield server


@pytest.fixture
def doomed(tmp_path: Path) -> Iterator[Server]:
    """Two loops for a test that ends them."""
    with Server(tmp_path, TOPICS, loops=2) as server:
        yield server


def loop_of(group_id: str, loops: int) -> int:
    return partition_for(group_id, 50) % loops


def group_at(loop: int, loops: int, prefix: str = "group") -> str:
    """A group whose shard this loop owns."""
    return next(name for name in (f"{prefix}-{number}" for number in range(1000)) if loop_of(name, loops) == loop)


def find_coordinator(client: Client, group_id: str, version: int = 4) -> tuple[int, int]:
    if version < 4:
        old = client.ask(FindCoordinatorRequest(key=group_id), version, FindCoordinatorResponse)
        return old.node_id, old.port
    [found] = client.ask(FindCoordinatorRequest(coordinator_keys=[group_id]), version, FindCoordinatorResponse).coordinators
    return found.node_id, found.port


def _has_no_offsets(client: Client, group: str) -> bool:
    return committed(client, group) == {}


def test_a_deleted_topic_takes_its_offsets_from_the_groups_of_all_loops(trio: Server) -> None:
    """Whichever loop is asked: none of them knows the topic when the answer leaves,
    and each takes the offsets of its own groups away.
    """
    groups = [group_at(loop, 3, "deletion") for loop in range(3)]
    for asked in range(3):
        for loop, group in enumerate(groups):
            with Client(trio.addresses[loop]) as client:
                if loop == 0:
                    assert create_topic(client, "passing", 1).error_code == ErrorCode.NONE
                must_commit(client, group, "passing", {0: 5})
        with Client(trio.addresses[asked]) as client:
            request = DeleteTopicsRequest([DeleteTopicState("passing")], timeout_ms=10_000)
            [told] = client.ask(request, 6, DeleteTopicsResponse).responses
        assert told.error_code == ErrorCode.NONE

        for loop, group in enumerate(groups):
            with Client(trio.addresses[loop]) as client:
                gone = topic_of(client, "passing", is_created=False).error_code
                assert gone == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                eventually(partial(_has_no_offsets, client, group))


@pytest.mark.parametrize("version", [2, 4])
def test_every_loop_sends_a_client_to_the_owner(trio: Server, version: int) -> None:
    """FindCoordinator says the same wherever it is asked; the owner has the next node id and the next port."""
    groups = [f"group-{number}" for number in range(30)]
    answers = []
    for address in trio.addresses:
        with Client(address) as client:
            answers.append([find_coordinator(client, group, version) for group in groups])

    assert answers[0] == [(1 + loop_of(group, 3), trio.ports[loop_of(group, 3)]) for group in groups]
    assert answers[1:] == [answers[0]] * 2


def test_every_loop_names_all_nodes(trio: Server) -> None:
    """Metadata and DescribeCluster of each loop agree, loop 0 is the controller, and partitions are led by all."""
    seen = []
    for address in trio.addresses:
        with Client(address) as client:
            metadata = client.ask(MetadataRequest(topics=[MetadataRequestTopic(name="orders")]), 12, MetadataResponse)
            cluster = client.ask(DescribeClusterRequest(), 2, DescribeClusterResponse)
        brokers = [(each.node_id, each.host, each.port) for each in metadata.brokers]
        assert [(each.broker_id, each.host, each.port) for each in cluster.brokers] == brokers
        assert (cluster.controller_id, metadata.controller_id, cluster.cluster_id) == (1, 1, metadata.cluster_id)
        seen.append((brokers, [each.leader_id for each in metadata.topics[0].partitions]))

    assert seen[0] == ([(1 + loop, trio.host, port) for loop, port in enumerate(trio.ports)], [1, 2, 3, 1, 2, 3])
    assert seen[1:] == [seen[0]] * 2


def test_a_request_at_the_wrong_loop_is_refused(trio: Server) -> None:
    """NOT_COORDINATOR, in every API's own way; nothing is written."""
    group = group_at(1, 3, "wrong")
    with Client(trio.addresses[0]) as client:
        join = JoinGroupRequest(group_id=group, session_timeout_ms=10_000, rebalance_timeout_ms=10_000, protocol_type="consumer")
        join.protocols = [JoinGroupRequestProtocol(name="range", metadata=b"")]
        answers = {
            "join": client.ask(join, 9, JoinGroupResponse).error_code,
            "heartbeat": client.ask(HeartbeatRequest(group_id=group, member_id="m"), 4, HeartbeatResponse).error_code,
            "commit": commit_alone(client, group, "orders", {0: 1})[0],
            "describe": describe_group(client, group).error_code,
            "delete offset": delete_offset(client, group, "orders"),
        }
        fetch = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=None)])
        answers["fetch"] = client.ask(fetch, 9, OffsetFetchResponse).groups[0].error_code

    with Client(trio.addresses[1]) as owner:
        assert committed(owner, group) == {}
    assert answers == dict.fromkeys(answers, ErrorCode.NOT_COORDINATOR)


def test_each_loop_lists_its_own_groups(trio: Server) -> None:
    """As brokers do: a client that wants all asks all."""
    names = {loop: group_at(loop, 3, "listed") for loop in range(3)}
    for loop, name in names.items():
        with Client(trio.addresses[loop]) as client:
            assert commit_alone(client, name, "orders", {0: 1}) == {0: ErrorCode.NONE}

    listed = []
    for address in trio.addresses:
        with Client(address) as client:
            groups = client.ask(ListGroupsRequest(), 5, ListGroupsResponse).groups
            listed.append([each.group_id for each in groups if each.group_id.startswith("listed")])

    assert listed == [[names[loop]] for loop in range(3)]


@pytest.mark.parametrize("loop", range(3))
@pytest.mark.parametrize("is_automatic", [False, True], ids=["created", "first-use"])
def test_a_topic_is_seen_by_all_before_its_answer(trio: Server, loop: int, is_automatic: bool) -> None:
    """Whichever loop it is made through: who has the answer may ask any loop at once, by name or id, and commit there."""
    clients = [Client(address) for address in trio.addresses]
    for number in range(20):
        name = f"made-{loop}-{is_automatic}-{number}"
        if is_automatic:
            topic_id = topic_of(clients[loop], name).topic_id
        else:
            made = create_topic(clients[loop], name, 1)
            assert made.error_code == ErrorCode.NONE
            topic_id = made.topic_id
        seen = [topic_of(client, name, is_created=False) for client in clients]
        assert [(each.error_code, each.topic_id, len(each.partitions)) for each in seen] == [(0, topic_id, 1)] * 3
        for owner, client in enumerate(clients):
            assert commit_alone(client, group_at(owner, 3, "seen"), name, {0: number}) == {0: ErrorCode.NONE}
    for client in clients:
        client.close()


def test_what_loop_0_refuses_is_refused_everywhere(trio: Server) -> None:
    """With its error and its words."""
    answers = []
    for address in trio.addresses:
        with Client(address) as client:
            twice = [create_topic(client, "only-once", 1).error_code for _ in range(2)]
            bad = create_topic(client, "not/a/name", 1)
            answers.append((twice[1], bad.error_code, bad.error_message))

    assert answers == [answers[0]] * 3
    assert answers[0][:2] == (ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.INVALID_TOPIC_EXCEPTION)


def test_control_asks_all_loops(trio: Server) -> None:
    """One answer for the whole: every shard with records is sealed, whoever owns it."""
    names = [group_at(loop, 3, "sealed") for loop in range(3)]
    for loop, name in enumerate(names):
        with Client(trio.addresses[loop]) as client:
            must_commit(client, name, "orders", {0: 1})

    answer = trio.control(op="seal")

    assert answer["ok"]
    assert {"__cluster_metadata-0", *(f"__consumer_offsets-{partition_for(name, 50)}" for name in names)} <= set(answer["shards"])
    whole = trio.control(op="digest")
    some = trio.control(op="digest", shards=["__consumer_offsets-1", "__consumer_offsets-2", "__cluster_metadata-0"])
    assert len(whole["shards"]) == 51
    assert some["shards"] == {name: whole["shards"][name] for name in some["shards"]}
    assert (len(some["shards"]), some["format"]) == (3, whole["format"])
    assert trio.control(op="nothing")["error"].startswith("unknown op; there are: ")


def test_compaction_beside_several_loops(pair: Server) -> None:
    """Layers of all shards are published while the loops serve, and a start loads them."""
    groups = [f"group-{number}" for number in range(40)]
    clients = [Client(address) for address in pair.addresses]
    for offset in range(3):
        for group in groups:
            must_commit(clients[loop_of(group, 2)], group, "orders", {0: offset})
    words = ["compact", "--engine", "python", "--data-dir", str(pair.data_dir)]

    done = run_command(*words)

    assert done.returncode == 0, done.stderr
    assert len(list(pair.data_dir.glob("__consumer_offsets-*/layer-*"))) == len({partition_for(group, 50) for group in groups})
    for group in groups:
        must_commit(clients[loop_of(group, 2)], group, "orders", {1: 7})
    pair.kill()
    pair.start()
    for group in groups:
        with Client(pair.addresses[loop_of(group, 2)]) as client:
            assert committed(client, group) == {("orders", 0): 2, ("orders", 1): 7}


def topics_at(address: tuple[str, int]) -> dict[str | None, int]:
    """Partitions by name, as a loop knows them."""
    with Client(address) as client:
        topics = client.ask(MetadataRequest(topics=None), 12, MetadataResponse).topics
    return {topic.name: len(topic.partitions) for topic in topics if not topic.is_internal}


def test_loops_begin_on_a_compacted_catalog(doomed: Server) -> None:
    """No record of it tells of the topic that went, nor stands at its end. One loop begins alone, then all do."""
    with Client(doomed.addresses[1]) as client:
        assert [create_topic(client, name, 2).error_code for name in ("bills", "passing")] == [ErrorCode.NONE] * 2
        request = DeleteTopicsRequest([DeleteTopicState("passing")], timeout_ms=10_000)
        assert client.ask(request, 6, DeleteTopicsResponse).responses[0].error_code == ErrorCode.NONE
    words = ["compact", "--engine", "python", "--data-dir", str(doomed.data_dir)]
    done = run_command(*words)
    assert done.returncode == 0, done.stderr
    assert list(doomed.data_dir.glob("__cluster_metadata-0/layer-*"))

    os.kill(doomed.loop_pids()[1], signal.SIGKILL)
    assert [topics_at(address) for address in doomed.addresses] == [{"orders": 6, "bills": 2}] * 2
    with Client(doomed.addresses[1]) as client:
        assert create_topic(client, "parcels", 1).error_code == ErrorCode.NONE
    doomed.kill()
    doomed.start()

    assert [topics_at(address) for address in doomed.addresses] == [{"orders": 6, "bills": 2, "parcels": 1}] * 2


def test_another_number_of_loops_keeps_all_data(tmp_path: Path) -> None:
    """1 → 3 → 2 → 1, killed or stopped in between: positions, topics and members are there, wherever their shard went."""
    groups = [f"group-{number}" for number in range(20)]
    expected: dict[str, dict[tuple[str, int], int]] = {group: {} for group in groups}
    server = Server(tmp_path, TOPICS)
    server.start()
    members = form_group(server.address, "workers", 2)
    for round_, loops in enumerate((1, 3, 2, 1)):
        if round_:
            if round_ % 2:
                assert server.stop() == 0
            else:
                server.kill()
            server.loops, server.port = loops, 0
            server.start()
        for group in groups:
            with Client(server.addresses[loop_of(group, loops)]) as client:
                assert committed(client, group) == expected[group]
                must_commit(client, group, "orders", {round_: round_ + 100})
                expected[group]["orders", round_] = round_ + 100
        for member in members:
            member.address = server.addresses[loop_of("workers", loops)]
            member.reconnect()
            assert member.heartbeat() == ErrorCode.NONE
        with Client(server.addresses[-1]) as client:
            assert topic_of(client, f"made-{round_}").error_code == ErrorCode.NONE
            known = client.ask(MetadataRequest(topics=None), 12, MetadataResponse).topics
        assert {each.name for each in known if not each.is_internal} == {
            "orders",
            *(f"made-{number}" for number in range(round_ + 1)),
        }
    assert server.stop() == 0


class Committer(threading.Thread):
    """Commits rising offsets to one loop's group, over as many connections as it takes, and remembers what was acknowledged."""

    def __init__(self, address: tuple[str, int], group: str) -> None:
        super().__init__(daemon=True)
        self.group = group
        self.acked = self.sent = -1
        self.is_over = threading.Event()
        self._address = address

    def run(self) -> None:
        while not self.is_over.is_set():
            try:
                with Client(self._address, timeout_s=10) as client:
                    while not self.is_over.is_set():
                        self.sent += 1
                        answer = commit_alone(client, self.group, "orders", {0: self.sent})
                        if answer == {0: ErrorCode.NONE}:
                            self.acked = self.sent
            except (Closed, ConnectionError):
                continue


def wait_for_progress(committers: list[Committer]) -> None:
    """Until each has had another commit acknowledged."""
    before = [committer.acked for committer in committers]
    eventually(lambda: all(each.acked > was for each, was in zip(committers, before, strict=True)))


def wait_until_restarted(server: Server, loop: int, pid: int) -> None:
    """Until the loop serves in another process than this one."""

    def is_back() -> bool:
        each = server.control(op="loops")["loops"][loop]
        return each["pid"] != pid and each["stage"] == "serving"

    eventually(is_back)


def test_a_loop_that_is_killed_comes_back_with_all_it_acknowledged(pair: Server) -> None:
    """Under commits, each loop in turn; the other one goes on, and the killed one's clients are served on the same port."""
    groups = [group_at(loop, 2) for loop in range(2)]
    committers = [Committer(address, group) for address, group in zip(pair.addresses, groups, strict=True)]
    for committer in committers:
        committer.start()
    for victim in (1, 0, 1):
        wait_for_progress(committers)
        pids = pair.loop_pids()
        os.kill(pids[victim], signal.SIGKILL)
        went_on = committers[1 - victim].acked
        wait_until_restarted(pair, victim, pids[victim])
        assert pair.loop_pids()[1 - victim] == pids[1 - victim]
        assert committers[1 - victim].acked > went_on
    wait_for_progress(committers)
    for committer in committers:
        committer.is_over.set()
    for committer in committers:
        committer.join(30)

    for committer, address in zip(committers, pair.addresses, strict=True):
        with Client(address) as client:
            stored = committed(client, committer.group)["orders", 0]
        assert committer.acked <= stored <= committer.sent


def test_what_is_made_while_a_loop_is_dead_is_there_when_it_serves(pair: Server) -> None:
    """The dead loop holds up nobody, and serves after it has caught up."""
    with Client(pair.addresses[0]) as client:
        os.kill(pair.loop_pids()[1], signal.SIGKILL)
        made = [create_topic(client, f"made-{number}", 1).error_code for number in range(5)]
    with Client(pair.addresses[1]) as other:
        seen = [topic_of(other, f"made-{number}", is_created=False).error_code for number in range(5)]

    assert made == seen == [ErrorCode.NONE] * 5


def test_a_loop_that_hangs_is_killed_and_started_again(tmp_path: Path) -> None:
    """The others go on meanwhile; when all stand still together, as with the machine, nobody hangs."""
    with Server(tmp_path, {**TOPICS, "loops.hung.after.ms": 3000}, loops=2) as server:
        pids = server.loop_pids()
        groups = [group_at(loop, 2) for loop in range(2)]
        with Client(server.addresses[0]) as other, Client(server.addresses[1]) as client:
            assert commit_alone(client, groups[1], "orders", {0: 7}) == {0: ErrorCode.NONE}
            everybody = [server.pid, *pids]
            for pid in everybody:
                os.kill(pid, signal.SIGSTOP)
            time.sleep(4)
            for pid in everybody:
                os.kill(pid, signal.SIGCONT)
            for address in server.addresses:
                with Client(address) as again:
                    assert topic_of(again, "orders").error_code == ErrorCode.NONE
            assert server.loop_pids() == pids
            assert "loop-hangs" not in server.log()

            os.kill(pids[1], signal.SIGSTOP)
            committing = itertools.count()

            def is_back() -> bool:
                assert commit_alone(other, groups[0], "orders", {0: next(committing)}) == {0: ErrorCode.NONE}
                each = server.control(op="loops")["loops"][1]
                return each["pid"] != pids[1] and each["stage"] == "serving"

            eventually(is_back)
        [line] = [line for line in server.log().splitlines() if "loop-hangs" in line]
        assert str(pids[1]) in line
        assert server.loop_pids()[0] == pids[0]
        with Client(server.addresses[1]) as client:
            assert committed(client, groups[1]) == {("orders", 0): 7}


def test_without_loop_0_the_others_go_on_with_what_they_know(pair: Server) -> None:
    """Commits are taken; what cannot be known is not denied, and changes are refused at once,
    all with errors that clients retry.
    """
    group, pid = group_at(1, 2), pair.loop_pids()[0]
    with Client(pair.addresses[1]) as client:
        # Nobody starts it again until the supervisor goes on.
        pair.send_signal(signal.SIGSTOP)
        try:
            os.kill(pid, signal.SIGKILL)
            eventually(lambda: create_topic(client, "absent", 1).error_code == ErrorCode.NOT_CONTROLLER)
            assert commit_alone(client, group, "orders", {0: 1}) == {0: ErrorCode.NONE}
            assert commit_alone(client, group, "absent", {0: 1}) == {0: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
            assert delete_offset(client, group, "absent") == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            assert topic_of(client, "orders").error_code == ErrorCode.NONE
            seen = [topic_of(client, "absent", is_created=each).error_code for each in (False, True)]
            assert seen == [ErrorCode.LEADER_NOT_AVAILABLE] * 2
        finally:
            pair.send_signal(signal.SIGCONT)
        eventually(lambda: topic_of(client, "absent").error_code == ErrorCode.NONE)
        assert commit_alone(client, group, "absent", {0: 1}) == {0: ErrorCode.NONE}


def test_sigterm_ends_all_loops_in_good_order(pair: Server) -> None:
    """Exit code 0, nobody is left, and what was acknowledged is there."""
    with Client(pair.addresses[1]) as client:
        must_commit(client, group_at(1, 2), "orders", {0: 5})
    pids = pair.loop_pids()

    assert pair.stop() == 0

    assert not [pid for pid in pids if is_alive(pid)]
    assert not [name for name in ("control.sock", "cluster.sock") if (pair.data_dir / name).exists()]
    pair.start()
    with Client(pair.addresses[1]) as client:
        assert committed(client, group_at(1, 2))["orders", 0] == 5


def test_no_loop_outlives_its_supervisor(pair: Server) -> None:
    """kill -9 of the supervisor takes all with it; the next start has the directory at once."""
    pids = pair.loop_pids()
    with Client(pair.addresses[1]) as client:
        must_commit(client, group_at(1, 2), "orders", {0: 6})

    pair.kill()
    pair.start()

    assert not [pid for pid in pids if is_alive(pid)]
    with Client(pair.addresses[1]) as client:
        assert committed(client, group_at(1, 2))["orders", 0] == 6


# The kernel closes its descriptors in their order.
ORPHAN = """
import fcntl, os, socket, sys, time
while True:
    try:
        listener = socket.create_server(("127.0.0.1", int(sys.argv[2])))
        break
    except OSError:
        time.sleep(0.01)  # the loops that were killed have it for a moment
lock = open(sys.argv[1], "r+b")
fcntl.flock(lock, fcntl.LOCK_EX)
print("ready", flush=True)
time.sleep(3)
os._exit(0)
"""


def test_a_start_waits_for_the_ports_of_what_a_killed_server_left_behind(tmp_path: Path) -> None:
    """A loop has its ports and its lock already when its supervisor is killed, and does not know it yet."""
    server = Server(tmp_path, TOPICS, loops=2)
    server.port = free_port()
    with server:
        server.kill()
        orphan = [sys.executable, "-c", ORPHAN, str(server.data_dir / ".lock"), str(server.port)]
        with subprocess.Popen(orphan, stdout=subprocess.PIPE) as left_behind:
            assert left_behind.stdout is not None
            assert left_behind.stdout.readline() == b"ready\n"
            server.start()

        assert server.address == ("127.0.0.1", server.port)


def test_a_second_server_is_refused(pair: Server) -> None:
    """The holder that is named is the supervisor."""
    other = Server(pair.data_dir.parent, TOPICS, loops=2)

    refused = other.run_to_end()

    assert refused.returncode == 1
    assert f"in use by process {pair.pid}" in refused.stderr


def test_a_port_in_the_way_is_named(tmp_path: Path) -> None:
    """Before anything starts, with what to do."""
    server = Server(tmp_path, TOPICS, loops=2)
    server.port = free_port()
    with socket.create_server(("127.0.0.1", server.port + 1)):
        refused = server.run_to_end()

    assert refused.returncode == 1
    assert f"cannot listen on 127.0.0.1:{server.port + 1}" in refused.stderr
    assert "--listen" in refused.stderr
    assert not server.data_dir.exists()


def test_a_loop_that_keeps_dying_ends_the_server(doomed: Server) -> None:
    """After so many deaths within a minute nobody believes in the next start: exit code 1, and all are gone."""
    killed: set[int] = set()

    def kill_again() -> bool:
        try:
            each = doomed.control(op="loops")["loops"][1]
        except (OSError, ValueError):
            return True
        if each["pid"] not in killed:
            killed.add(each["pid"])
            os.kill(each["pid"], signal.SIGKILL)
        return False

    eventually(kill_again)

    assert doomed.wait() == 1
    assert len(killed) == len(DELAYS_S) + 1
    assert '"action": "the server ends"' in doomed.log()


@needs_strace
def test_a_loop_whose_disk_fails_ends_the_server(doomed: Server, tmp_path: Path) -> None:
    """A sync that failed says that nothing is known of what was written: no answer, no other start, one exit code that is not 0."""
    group, pids = group_at(1, 2), doomed.loop_pids()
    broken = failing(pids[1], "io_submit,fdatasync", "EIO", tmp_path / "strace.out")
    with Client(doomed.addresses[1]) as client, broken, pytest.raises(ConnectionError):
        must_commit(client, group, "orders", {0: 1})

    assert doomed.wait() == 1
    assert not [pid for pid in pids if is_alive(pid)]
    assert '"event": "log-failed", "loop": 1' in doomed.log()
    assert doomed.log().count('"event": "loop-started"') == 2


def delete_offset(client: Client, group_id: str, topic: str) -> int:
    """OffsetDelete of partition 0; the error of the whole."""
    wanted = [OffsetDeleteRequestTopic(name=topic, partitions=[OffsetDeleteRequestPartition(partition_index=0)])]
    return client.ask(OffsetDeleteRequest(group_id=group_id, topics=wanted), 0, OffsetDeleteResponse).error_code
