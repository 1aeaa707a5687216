"""What is there after the server stopped or was killed, and who may start it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coordinator_server.pipeline.input.data_dir import offline_store
from protocol.error_codes import ErrorCode
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.members import Member, form_group, join_all, share_of
from tests.support.server import Server
from tests.support.simple_requests import commit_alone, committed, create_topic, describe_group, must_commit, topic_of

END: dict[str, Callable[[Server], object]] = {"stopped": Server.stop, "killed": Server.kill}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """With a topic `orders` of six partitions, declared."""
    with Server(tmp_path, {"topics": "orders:6"}) as server:
        yield server


@pytest.fixture(params=list(END))
def restart(request: pytest.FixtureRequest, server: Server) -> Callable[[], None]:
    """Ends the server one way or the other, and starts it again."""

    def again() -> None:
        END[request.param](server)
        server.start()

    return again


def test_positions_survive(server: Server, restart: Callable[[], None]) -> None:
    """Every acknowledged position is there, the last one of each partition."""
    with Client(server.address) as client:
        for number in range(50):
            group = f"group-{number}"
            must_commit(client, group, "orders", {0: number, 1: number})
            assert commit_alone(client, group, "orders", {1: number + 1000}) == {1: ErrorCode.NONE}

    restart()

    with Client(server.address) as client:
        seen = {number: committed(client, f"group-{number}") for number in range(50)}
    assert seen == {number: {("orders", 0): number, ("orders", 1): number + 1000} for number in range(50)}


@pytest.mark.parametrize("loops", [1, 2])
def test_a_start_waits_for_a_job_that_has_the_log(tmp_path: Path, loops: int) -> None:
    """It says for which process; a compaction seals a log that no server has."""
    with Server(tmp_path, loops=loops) as server:
        assert server.stop() == 0
        with offline_store(server.data_dir, "seal"):
            server.launch()
            eventually(lambda: "waiting" in server.log())
        server.await_ready()

        assert f"in use by process {os.getpid()}, a job (seal)" in server.log()


@pytest.mark.parametrize("linger_ms", [0, 20])
def test_positions_survive_whatever_batches_wait_for(tmp_path: Path, linger_ms: int) -> None:
    """Each operation a batch of its own, and batches that are held: acknowledged is acknowledged, and SIGTERM waits for nothing."""
    overrides = {"topics": "orders:6", "group.coordinator.append.linger.ms": linger_ms}
    with Server(tmp_path, overrides) as server:
        with Client(server.address) as client:
            waits = []
            for number in range(20):
                started = time.monotonic()
                assert commit_alone(client, f"group-{number}", "orders", {0: number}) == {0: ErrorCode.NONE}
                waits.append(time.monotonic() - started)
            # A single client waits for the linger each time; without one for the disk alone, which is quicker once at least.
            assert (min(waits) >= 0.020) == (linger_ms == 20)
        server.kill()
        server.start()
        with Client(server.address) as client:
            assert [committed(client, f"group-{number}") for number in range(20)] == [{("orders", 0): n} for n in range(20)]
        assert server.stop() == 0


def test_topics_keep_their_ids(server: Server, restart: Callable[[], None]) -> None:
    """A topic is the same topic after a restart: name, id, partitions; the cluster too."""
    with Client(server.address) as client:
        declared, used = topic_of(client, "orders"), topic_of(client, "used")
        made = create_topic(client, "made", 3)
    cluster_id = server.cluster_id

    restart()

    with Client(server.address) as client:
        again = {name: topic_of(client, name, is_created=False) for name in ("orders", "used", "made")}
    assert {name: topic.topic_id for name, topic in again.items()} == {
        "orders": declared.topic_id,
        "used": used.topic_id,
        "made": made.topic_id,
    }
    assert [len(topic.partitions) for topic in again.values()] == [6, 1, 3]
    assert server.cluster_id == cluster_id


def test_members_go_on_in_their_generation(server: Server, restart: Callable[[], None]) -> None:
    """A stable group is stable after a restart: members heartbeat, commit and rebalance on as if nothing had happened."""
    members = form_group(server.address, "workers", 3)
    generation = members[0].generation_id

    restart()

    for member in members:
        member.reconnect()
        assert member.heartbeat() == ErrorCode.NONE
        assert member.sync() == ErrorCode.NONE
        assert member.assignment == share_of(member)
        assert member.commit("orders", {0: 5}) == {0: ErrorCode.NONE}
    group = describe_group(members[0].client, "workers")
    assert (group.group_state, len(group.members)) == ("Stable", 3)
    assert members.pop().leave() == ErrorCode.NONE
    for member in members:
        member.await_rebalance()
    join_all(members)
    assert members[0].generation_id == generation + 1


def test_members_that_are_gone_expire_after_a_restart(server: Server, restart: Callable[[], None]) -> None:
    """Sessions start afresh with the server; a member that does not come back is out when its own ends."""
    survivor = form_with_one_that_dies(server, session_timeout_ms=1500)

    restart()

    survivor.reconnect()
    survivor.await_rebalance()
    join_all([survivor])
    assert survivor.roster == [survivor.member_id]


def test_a_stopped_process_evicts_nobody(server: Server) -> None:
    """Time in which the server did not run counts against no session: SIGSTOP for four of them, and then a second time."""
    members = form_group(server.address, "workers", 2, session_timeout_ms=1500)

    for seconds in (6, 2):
        stand_still(server, seconds)
        # It has noticed, and run what was due by then: timers come two turns of the loop later, and a turn is an answer at least.
        with Client(server.address) as client:
            for _ in range(3):
                topic_of(client, "orders")

        assert [member.heartbeat() for member in members] == [ErrorCode.NONE, ErrorCode.NONE]


def test_a_member_that_is_gone_when_a_stopped_process_goes_on_is_out_a_session_later(server: Server) -> None:
    """And nobody else is."""
    survivor = form_with_one_that_dies(server, session_timeout_ms=1000)

    stand_still(server, 2)

    survivor.await_rebalance()
    join_all([survivor])
    assert survivor.roster == [survivor.member_id]


def stand_still(server: Server, seconds: float) -> None:
    """Stop the process for that long; returns when it goes on and has said that it noticed."""
    noticed = server.log().count("loop-stood-still")
    server.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    server.send_signal(signal.SIGCONT)
    eventually(lambda: server.log().count("loop-stood-still") > noticed)


def form_with_one_that_dies(server: Server, session_timeout_ms: int) -> Member:
    """A stable group of two, one of which is never heard of again. The other one's session lasts."""
    [survivor] = form_group(server.address, "workers", 1)
    lost = Member(server.address, "workers", session_timeout_ms=session_timeout_ms)
    join_all([survivor], [lost])
    lost.client.close()
    return survivor


def test_sigterm_ends_cleanly(server: Server) -> None:
    """Exit code 0, also while clients are connected, and nothing but the ready line on stdout."""
    with Client(server.address) as client:
        topic_of(client, "orders")

        assert server.stop() == 0
        assert client.is_closed()


def test_a_port_that_is_taken_leaves_no_data_directory(server: Server, tmp_path: Path) -> None:
    other = Server(tmp_path / "other")
    other.port = server.port
    ended = other.run_to_end()

    assert ended.returncode == 1
    assert f"cannot listen on 127.0.0.1:{server.port}: " in ended.stderr
    assert not other.data_dir.exists()


def test_one_data_directory_one_server(server: Server) -> None:
    """A second server on it is refused: exit code 1, one line that names the holder."""
    second = server.run_to_end()

    assert second.returncode == 1
    assert second.stdout == ""
    [line] = second.stderr.splitlines()
    assert str(server.pid) in line


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        pytest.param(["--override", "group.max.sise=3"], "group.max.size", id="a property that does not exist"),
        pytest.param(["--override", "num.partitions=many"], "num.partitions", id="a value that does not fit"),
        pytest.param(["--listen", "nowhere"], "nowhere", id="an address that is none"),
    ],
)
def test_wrong_arguments_are_named(tmp_path: Path, arguments: list[str], hint: str) -> None:
    """Exit code 2, and the last line says what to change."""
    done = run_command("serve", "--listen", "127.0.0.1:0", "--data-dir", tmp_path / "data", *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert hint in done.stderr.splitlines()[-1]
