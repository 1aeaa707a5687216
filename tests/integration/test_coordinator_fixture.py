"""The server for tests, as ``Coordinator`` shows it: what it knows, its time, its faults, and that it is gone afterwards."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from msgspec import Struct
from msgspec.structs import asdict

from coordinator_server.server.apis.table import ROWS
from coordinator_server.testing import Coordinator, FixtureError, ServerEnded, TopicPartition, forks
from protocol.api import APIS
from protocol.codec import encode
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from protocol.messages.consumer_protocol import ConsumerProtocolAssignment
from protocol.messages.consumer_protocol import TopicPartition as Assigned
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from tests.support.api_requests import request_of
from tests.support.client import Client, Closed
from tests.support.eventually import eventually
from tests.support.members import form_group, subscription
from tests.support.processes import is_alive
from tests.support.simple_requests import commit_alone, committed, must_commit

DAY_S = 86_400
ORDERS = {"orders": 3}


@pytest.fixture
def coordinator() -> Iterator[Coordinator]:
    with Coordinator(topics=ORDERS) as started:
        yield started


@pytest.fixture
def durable() -> Iterator[Coordinator]:
    with Coordinator(topics=ORDERS, durable=True) as started:
        yield started


def address(coordinator: Coordinator) -> tuple[str, int]:
    return coordinator.host, coordinator.port


# What it is.


def test_clients_reach_it_over_tcp(coordinator: Coordinator) -> None:
    with Client(address(coordinator)) as client:
        must_commit(client, "readers", "orders", {0: 5, 2: 7})

    assert coordinator.bootstrap_servers == f"127.0.0.1:{coordinator.port}"
    assert coordinator.committed("readers") == {("orders", 0): 5, TopicPartition("orders", 2): 7}
    assert coordinator.committed("nobody") == {}


def test_close_ends_process_port_and_files() -> None:
    """Process, port and files, also with clients that are still connected."""
    with Coordinator(topics=ORDERS, durable=True) as started, Client(address(started)) as client:
        must_commit(client, "readers", "orders", {0: 5})
        pid, data_dir = started.pid, started._data_dir
        assert is_alive(pid)
        started.close()
        assert client.is_closed()

    assert not is_alive(pid)
    assert data_dir is not None
    assert not data_dir.exists()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address(started), timeout=5)
    with pytest.raises(FixtureError, match="closed"):
        started.groups()


def test_servers_of_two_tests_share_no_state() -> None:
    with Coordinator(topics=ORDERS) as one, Coordinator(topics=ORDERS) as other:
        with Client(address(one)) as client:
            must_commit(client, "readers", "orders", {0: 5})

        assert one.port != other.port
        assert one.cluster_id != other.cluster_id
        assert (one.committed("readers"), other.committed("readers")) == ({("orders", 0): 5}, {})


def test_topics_are_created(coordinator: Coordinator) -> None:
    coordinator.create_topic("payments", 2)
    with Client(address(coordinator)) as client:
        errors = commit_alone(client, "readers", "payments", {1: 5, 2: 5})

    assert errors == {1: ErrorCode.NONE, 2: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    with pytest.raises(FixtureError, match=r"topic payments: .*exists"):
        coordinator.create_topic("payments")


def test_groups_are_seen_with_their_members(coordinator: Coordinator) -> None:
    """With generation and, for consumers, partitions."""
    [first] = form_group(address(coordinator), "orders", 1)
    first.start_join()
    first.finish_join()
    assignment = ConsumerProtocolAssignment(assigned_partitions=[Assigned("orders", [2, 0])])
    first.sync({first.member_id: b"\0\0" + encode(assignment, 0)})

    [group] = coordinator.groups()
    assert group == coordinator.group("orders")
    assert (group.group_id, group.state, group.generation_id) == ("orders", "Stable", 2)
    assert (group.protocol_type, group.protocol_name) == ("consumer", "range")
    [member] = group.members
    assert (member.member_id, member.client_id, member.client_host) == (first.member_id, "tests", "/127.0.0.1")
    assert member.assignment == {"orders": [0, 2]}
    with pytest.raises(FixtureError, match="there is no group 'other'; there are: orders"):
        coordinator.group("other")


def heartbeat(
    client: Client, member_id: str, epoch: int, topics: list[str] | None = None, instance_id: str | None = None
) -> ConsumerGroupHeartbeatResponse:
    """Of a member of the consumer protocol in the group ``new``; with ``topics`` it joins."""
    joins = topics is not None
    request = ConsumerGroupHeartbeatRequest(
        "new", member_id, epoch, instance_id, None, 60_000 if joins else -1, topics, None, None, [] if joins else None
    )
    return client.ask(request, 1, ConsumerGroupHeartbeatResponse)


def test_groups_of_the_consumer_protocol_are_seen_and_their_members_fenced(coordinator: Coordinator) -> None:
    """With epochs. Each epoch and each session that expires has a line in the log."""
    with Client(address(coordinator)) as client:
        assert heartbeat(client, "a", 0, ["orders"], "static").member_epoch == 2
        assert heartbeat(client, "b", 0, ["orders"]).member_epoch == 3
        group = coordinator.group("new")
        assert (group.state, group.generation_id, group.protocol_type, group.protocol_name) == (
            "Reconciling",
            3,
            "consumer",
            "uniform",
        )
        [first, second] = sorted(group.members)
        assert (first.member_id, first.group_instance_id, first.client_host) == ("a", "static", "/127.0.0.1")
        assert (first.assignment, second.assignment) == ({"orders": [0, 1, 2]}, {})

        coordinator.fence("static")
        assert heartbeat(client, "a", 2).error_code == ErrorCode.UNKNOWN_MEMBER_ID
        assert heartbeat(client, "b", 3).member_epoch == 4
        coordinator.rebalance("new")
        assert heartbeat(client, "b", 4).member_epoch == coordinator.group("new").generation_id == 5
        assert coordinator.group("new").members[0].assignment == {"orders": [0, 1, 2]}

        coordinator.advance(46)
        group = coordinator.group("new")
        assert (group.state, group.members) == ("Empty", [])
        with pytest.raises(FixtureError, match="group new has no members"):
            coordinator.rebalance("new")
    told = [
        re.sub(r" +", " ", line).split("] ", 1)[1].strip() for line in coordinator.log().splitlines() if "group_id=new" in line
    ]
    assert told == [
        "rebalanced epoch=2 group_id=new members=1 reasons=['member-joined a']",
        "rebalanced epoch=3 group_id=new members=2 reasons=['member-joined b']",
        "rebalanced epoch=4 group_id=new members=1 reasons=['member-left a']",
        "rebalanced epoch=5 group_id=new members=1 reasons=['topics-changed']",
        "session-expired client_host=/127.0.0.1 group_id=new member_id=b session_timeout_ms=45000",
        "rebalanced epoch=6 group_id=new members=0 reasons=['session-timeout b']",
    ]


def test_a_property_that_does_not_exist_is_said() -> None:
    with pytest.raises(FixtureError, match=r"unknown property group\.max\.sise; did you mean group\.max\.size\?"):
        Coordinator({"group.max.sise": 3})
    with pytest.raises(FixtureError, match="one loop"):
        Coordinator({"loops": 2})


def test_properties_may_have_pythons_types() -> None:
    with Coordinator({"auto.create.topics.enable": False, "group.max.size": 1}) as started, Client(address(started)) as client:
        assert commit_alone(client, "readers", "unknown", {0: 1}) == {0: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


async def test_the_fixture_can_be_used_from_a_coroutine(coordinator: Coordinator) -> None:
    """Its calls take no turn of the test's loop, and clients on that loop are served."""
    _, writer = await asyncio.open_connection(*address(coordinator))
    coordinator.advance(1)
    assert coordinator.groups() == []
    writer.close()
    await writer.wait_closed()


def test_several_threads_may_use_it(coordinator: Coordinator) -> None:
    """Each gets the answers to its own questions."""
    wrong: list[object] = []

    def create(name: str) -> None:
        for number in range(10):
            coordinator.create_topic(f"{name}-{number}")
            if coordinator.committed(name) != {}:
                wrong.append(name)

    threads = [threading.Thread(target=create, args=(f"t{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


def test_a_server_that_ends_says_why(coordinator: Coordinator) -> None:
    os.kill(coordinator.pid, 9)
    with pytest.raises(ServerEnded, match="exit code -9; its log ends"):
        coordinator.groups()
    with pytest.raises(ServerEnded, match="its log was in its memory"):
        coordinator.restart()
    assert "loaded" in coordinator.log()


def test_the_log_of_a_closed_server_can_be_read() -> None:
    with Coordinator() as started:
        pass

    assert "loaded" in started.log()


def test_a_lost_template_keeps_nobody_from_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The servers that it has started end with their channels, and the next server gets a new one."""
    monkeypatch.setattr(forks, "_templates", {})
    with Coordinator() as started:
        template = forks.template()
        template._process.kill()
        template._process.wait()
        assert started.groups() == []
    eventually(lambda: not is_alive(started.pid))

    with Coordinator() as other:
        assert other.groups() == []
    forks.template().close()


# Time.


def test_sessions_expire_when_time_advances(coordinator: Coordinator) -> None:
    """At once, and not before: 300 s are over after 200 s and 150 s. After 600 s empty groups are looked for, and removed."""
    [member] = form_group(address(coordinator), "orders", 1, session_timeout_ms=300_000)
    coordinator.advance(200)
    assert coordinator.group("orders").state == "Stable"

    coordinator.advance(150)

    assert coordinator.group("orders").state == "Empty"
    assert member.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_heartbeat_counts_for_the_time_after_it(coordinator: Coordinator) -> None:
    [member] = form_group(address(coordinator), "orders", 1, session_timeout_ms=600_000)
    for _ in range(5):
        coordinator.advance(400)
        assert member.heartbeat() == ErrorCode.NONE

    assert coordinator.group("orders").state == "Stable"


def test_offsets_expire_when_time_advances(coordinator: Coordinator) -> None:
    """After their retention, seven days; and also if the members have to expire first."""
    with Client(address(coordinator)) as client:
        must_commit(client, "simple", "orders", {0: 5})
    [member] = form_group(address(coordinator), "orders", 1)
    member.commit("orders", {1: 6})
    coordinator.advance(6 * DAY_S)
    assert coordinator.committed("simple") == {("orders", 0): 5}

    coordinator.advance(2 * DAY_S)

    assert coordinator.committed("simple") == {}
    assert coordinator.committed("orders") == {}
    assert coordinator.groups() == []


def test_advancing_time_keeps_connections(coordinator: Coordinator) -> None:
    """Those of clients with nothing to say for a week."""
    with Client(address(coordinator)) as client:
        must_commit(client, "readers", "orders", {0: 5})
        coordinator.advance(8 * DAY_S)
        must_commit(client, "readers", "orders", {0: 6})

    assert coordinator.committed("readers") == {("orders", 0): 6}


def test_a_long_poll_ends_when_time_advances(coordinator: Coordinator) -> None:
    """A join phase, too, and whatever else the server waits for."""
    first, second = form_group(address(coordinator), "orders", 2, rebalance_timeout_ms=300_000, session_timeout_ms=900_000)
    first.start_join()
    coordinator.advance(301)

    first.finish_join()
    assert first.roster == [first.member_id]
    assert second.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
def test_a_negative_advance_or_delay_is_refused(coordinator: Coordinator, seconds: float) -> None:
    with pytest.raises(FixtureError, match="time does not go back"):
        coordinator.advance(seconds)
    with pytest.raises(FixtureError, match="time does not go back"):
        coordinator.delay("Heartbeat", seconds)


# Faults.


def test_the_next_request_fails(coordinator: Coordinator) -> None:
    """As often as asked for; it has no effect, and the one after it has."""
    [member] = form_group(address(coordinator), "orders", 1)
    coordinator.fail_next("OffsetCommit", "NOT_COORDINATOR", times=2)
    coordinator.fail_next("heartbeat", ErrorCode.REBALANCE_IN_PROGRESS)

    assert member.commit("orders", {0: 5, 1: 5}) == dict.fromkeys((0, 1), ErrorCode.NOT_COORDINATOR)
    assert member.commit("orders", {0: 6}) == {0: ErrorCode.NOT_COORDINATOR}
    assert coordinator.committed("orders") == {}
    assert member.commit("orders", {0: 7}) == {0: ErrorCode.NONE}
    assert coordinator.committed("orders") == {("orders", 0): 7}
    assert member.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert member.heartbeat() == ErrorCode.NONE


def test_requests_of_every_api_can_fail(coordinator: Coordinator) -> None:
    """Each in the form of its API: clients can read it."""

    def errors_in(message: object) -> set[int]:
        if isinstance(message, list):
            return {error for each in message for error in errors_in(each)}
        if not isinstance(message, Struct):
            return set()
        found = {value for name, value in asdict(message).items() if name == "error_code"}
        return found.union(*(errors_in(value) for value in asdict(message).values()))

    without = []
    with Client(address(coordinator)) as client:
        for api in [APIS[row.request.kafka.key] for row in ROWS]:
            coordinator.fail_next(api.name, "UNKNOWN_SERVER_ERROR")
            answer = client.call(request_of(api.name, api.max_version), api.max_version)
            if ErrorCode.UNKNOWN_SERVER_ERROR not in errors_in(answer):
                without.append((api.name, answer))

    assert without == []


def test_the_next_request_of_one_client_fails(coordinator: Coordinator) -> None:
    coordinator.fail_next("OffsetCommit", 15, client_id="second")
    with Client(address(coordinator), "first") as first, Client(address(coordinator), "second") as second:
        assert commit_alone(first, "readers", "orders", {0: 5}) == {0: ErrorCode.NONE}
        assert commit_alone(second, "readers", "orders", {0: 5}) == {0: ErrorCode.COORDINATOR_NOT_AVAILABLE}
        assert commit_alone(second, "readers", "orders", {0: 5}) == {0: ErrorCode.NONE}


def test_an_unknown_name_is_refused_with_the_known_ones(coordinator: Coordinator) -> None:
    with pytest.raises(FixtureError, match=r"no API is named 'Hartbeat' \(did you mean Heartbeat\?\); there are: .*JoinGroup"):
        coordinator.fail_next("Hartbeat", "NOT_COORDINATOR")
    with pytest.raises(FixtureError, match=r"no error is named 'NOT_CORDINATOR'.* such as NOT_COORDINATOR"):
        coordinator.fail_next("Heartbeat", "NOT_CORDINATOR")
    with pytest.raises(FixtureError, match="no error is named 9999"):
        coordinator.fail_next("Heartbeat", 9999)
    with pytest.raises(FixtureError, match="NONE is no error"):
        coordinator.fail_next("Heartbeat", "NONE")
    with pytest.raises(FixtureError, match="at least one"):
        coordinator.fail_next("Heartbeat", 16, times=0)
    with pytest.raises(FixtureError, match="no API is named 'Nothing'; there are"):
        coordinator.delay("Nothing", 1)


def test_faults_are_forgotten_when_asked(coordinator: Coordinator) -> None:
    [member] = form_group(address(coordinator), "orders", 1)
    coordinator.fail_next("Heartbeat", "NOT_COORDINATOR", times=100)
    coordinator.delay("Heartbeat", 3600)
    coordinator.clear_faults()

    assert member.heartbeat() == ErrorCode.NONE


def test_a_delayed_request_waits_for_its_time(coordinator: Coordinator) -> None:
    """The server's time, so ``advance`` brings the answer. Requests behind it on the connection wait, others do not."""
    coordinator.delay("OffsetCommit", 600)
    [member] = form_group(address(coordinator), "orders", 1, session_timeout_ms=1_800_000)
    member.send_commit("orders", {0: 5})
    member.client.send(HeartbeatRequest("orders", member.generation_id, member.member_id), 4)
    with Client(address(coordinator)) as other:
        assert committed(other, "orders") == {}
    assert member.client.is_waiting()

    coordinator.advance(600)

    assert member.receive_commit() == {0: ErrorCode.NONE}
    assert isinstance(member.client.receive(), HeartbeatResponse)
    assert coordinator.committed("orders") == {("orders", 0): 5}


def test_a_delay_is_real_time_for_who_waits(coordinator: Coordinator) -> None:
    """Until it is taken back."""
    coordinator.delay("ApiVersions", 0.2)
    coordinator.delay("OffsetCommit", 0.2)
    with Client(address(coordinator)) as client:
        started = time.monotonic()
        assert commit_alone(client, "readers", "orders", {0: 5}) == {0: ErrorCode.NONE}
        assert time.monotonic() - started >= 0.15
        coordinator.delay("OffsetCommit", 0)
        assert commit_alone(client, "readers", "orders", {0: 6}) == {0: ErrorCode.NONE}


def test_a_client_is_disconnected_by_its_name(coordinator: Coordinator) -> None:
    with Client(address(coordinator), "first") as first, Client(address(coordinator), "second") as second:
        for client in (first, second):
            must_commit(client, "readers", "orders", {0: 5})
        assert coordinator.disconnect("first") == 1

        assert first.is_closed()
        must_commit(second, "readers", "orders", {0: 6})
        with pytest.raises(FixtureError, match="no connection has the client id 'third'; there are: second"):
            coordinator.disconnect("third")


def test_a_fenced_member_is_out(coordinator: Coordinator) -> None:
    """The others rebalance without it."""
    first, second = form_group(address(coordinator), "orders", 2)
    coordinator.fence(second.member_id)

    assert second.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
    first.await_rebalance()
    first.start_join()
    first.finish_join()
    assert first.roster == [first.member_id]
    with pytest.raises(FixtureError, match=f"no member is named 'x'; there are: {first.member_id}"):
        coordinator.fence("x")


def test_a_fenced_static_member_hears_that_it_is_fenced(coordinator: Coordinator) -> None:
    """As if a second process had its instance id. A new one may take it."""

    def join(client: Client, member_id: str) -> JoinGroupResponse:
        protocols = [JoinGroupRequestProtocol("range", subscription("orders"))]
        request = JoinGroupRequest("readers", 30_000, 30_000, member_id, "node-1", "consumer", protocols)
        return client.ask(request, 9, JoinGroupResponse)

    with Client(address(coordinator)) as client:
        joined = join(client, "")
        [group] = coordinator.groups()
        coordinator.fence(group.members[0])
        heartbeat = HeartbeatRequest("readers", joined.generation_id, joined.member_id, "node-1")

        assert client.ask(heartbeat, 4, HeartbeatResponse).error_code == ErrorCode.FENCED_INSTANCE_ID
        assert join(client, joined.member_id).error_code == ErrorCode.FENCED_INSTANCE_ID
        assert join(client, "").error_code == ErrorCode.NONE


def test_a_group_rebalances_when_asked(coordinator: Coordinator) -> None:
    """Its members hear of it with their next heartbeat, and go on in the next generation."""
    members = form_group(address(coordinator), "orders", 2)
    before = coordinator.group("orders").generation_id
    coordinator.rebalance("orders")
    coordinator.rebalance("orders")
    assert coordinator.group("orders").state == "PreparingRebalance"

    assert [member.heartbeat() for member in members] == [ErrorCode.REBALANCE_IN_PROGRESS] * 2
    for member in members:
        member.start_join()
    for member in members:
        member.finish_join()
    assert members[0].generation_id == before + 1


def test_rebalance_refuses_unknown_and_empty_groups(coordinator: Coordinator) -> None:
    with Client(address(coordinator)) as client:
        must_commit(client, "simple", "orders", {0: 5})
    with pytest.raises(FixtureError, match="there is no group other"):
        coordinator.rebalance("other")
    with pytest.raises(FixtureError, match="has no members"):
        coordinator.rebalance("simple")


# Ends and starts.


def test_a_restart_keeps_the_log(coordinator: Coordinator) -> None:
    """Same address, same cluster, same members; connections end, faults too, and time does not go back."""
    [member] = form_group(address(coordinator), "orders", 1, session_timeout_ms=600_000)
    member.commit("orders", {0: 5})
    coordinator.advance(400)
    coordinator.fail_next("Heartbeat", "NOT_COORDINATOR")
    before = coordinator.cluster_id

    coordinator.restart()

    assert member.client.is_closed()
    member.reconnect()
    assert member.heartbeat() == ErrorCode.NONE
    assert coordinator.committed("orders") == {("orders", 0): 5}
    assert coordinator.cluster_id == before
    coordinator.advance(601)
    assert coordinator.group("orders").state == "Empty"


def test_a_killed_server_has_what_it_acknowledged(durable: Coordinator) -> None:
    """After ``restart``: a new process on the same port, whose clock has gone on."""
    [member] = form_group(address(durable), "orders", 1, session_timeout_ms=600_000)
    member.commit("orders", {0: 5})
    pid = durable.pid

    durable.kill()

    assert not is_alive(pid)
    with pytest.raises((Closed, ConnectionError)):
        member.heartbeat()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address(durable), timeout=5)
    for call in (durable.groups, durable.kill):
        with pytest.raises(FixtureError, match=r"is killed.*restart\(\)"):
            call()
    durable.advance(DAY_S)
    durable.restart()
    assert durable.pid != pid
    member.reconnect()
    assert member.heartbeat() == ErrorCode.NONE
    assert durable.committed("orders") == {("orders", 0): 5}
    durable.advance(8 * DAY_S)
    assert durable.committed("orders") == {}


def test_a_closed_server_can_be_neither_killed_nor_restarted() -> None:
    """Whatever its log: the message says that it is closed, not how to kill it."""
    for is_durable in (False, True):
        closed = Coordinator(durable=is_durable)
        closed.close()

        for call in (closed.kill, closed.restart):
            with pytest.raises(FixtureError, match="the server is closed"):
                call()


def test_a_log_in_memory_does_not_survive_a_kill(coordinator: Coordinator) -> None:
    """The message says how to get one that does."""
    with pytest.raises(FixtureError, match="durable=True"):
        coordinator.kill()

    assert coordinator.groups() == []


def test_a_fork_of_the_test_process_keeps_no_server_alive() -> None:
    """It has a copy of every descriptor."""
    started = Coordinator()
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    started.close()

    assert not is_alive(started.pid)
    os.kill(child, 9)
    os.waitpid(child, 0)


def test_a_port_stays_reserved_while_no_server_has_it(durable: Coordinator) -> None:
    """So no client connects to itself, and no other program gets it."""
    durable.kill()
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(address(durable))
    durable.restart()

    assert durable.groups() == []
