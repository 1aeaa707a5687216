"""``coordinator-server topics`` and ``groups`` about a running server: one server for the file, and names of each test's own."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator

import pytest

from coordinator_server.cli import main
from coordinator_server.cli.live import ENTER, HOME, LEAVE
from coordinator_server.testing import Coordinator
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from tests.support.client import Client
from tests.support.cluster_commands import Command, join_consumer, join_share, join_streams
from tests.support.members import form_group
from tests.support.ports import free_port
from tests.support.simple_requests import must_commit


@pytest.fixture(scope="module")
def server() -> Iterator[Coordinator]:
    with Coordinator(topics={"orders": 3}) as server:
        yield server


@pytest.fixture
def ask(server: Coordinator, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(server.bootstrap_servers, capsys)


@pytest.fixture
def client(server: Coordinator) -> Iterator[Client]:
    with Client((server.host, server.port)) as client:
        yield client


def test_topics_from_their_creation_to_their_end(ask: Command) -> None:
    """Nothing changes without --execute; the preview says what would happen."""
    preview = ask("topics", "create", "a", "b", "--partitions", "2")
    names = [each["topic"] for each in ask.rows("topics", "list")]
    created = ask("topics", "create", "a", "b", "--partitions", "2", "--execute")
    grown = ask.rows("topics", "grow", "a", "--partitions", "5", "--execute")
    listed = {each["topic"]: each["partitions"] for each in ask.rows("topics", "list")}
    described = ask("topics", "describe", "b").lines
    deleted = ask.rows("topics", "delete", "a", "b", "--execute")

    assert preview.lines == [
        ["topic", "partitions", "outcome"],
        ["a", "2", "would", "be", "created"],
        ["b", "2", "would", "be", "created"],
    ]
    assert "--execute makes the change" in preview.err
    assert "a" not in names
    assert (created.code, created.lines[1], created.err) == (0, ["a", "2", "created"], "")
    assert grown == [{"topic": "a", "before": 2, "after": 5, "outcome": "grown", "error": None}]
    assert (listed["a"], listed["b"]) == (5, 2)
    assert [line[:3] for line in described] == [["topic", "partition", "leader"], ["b", "0", "1"], ["b", "1", "1"]]
    assert [each["outcome"] for each in deleted] == ["deleted", "deleted"]
    assert ask("topics", "describe", "a").err == "coordinator-server: there is no topic a\n"


def test_a_refused_change_is_exit_code_1_and_has_the_reason(ask: Command) -> None:
    """One row says which change, also if others succeed."""
    done = ask("topics", "grow", "orders", "--partitions", "2", "-o", "json")
    missing = ask("topics", "delete", "nothing", "--execute", "-o", "json")

    assert done.code == missing.code == 1
    assert done.rows[0]["outcome"] == missing.rows[0]["outcome"] == "refused"
    assert "INVALID_PARTITIONS" in done.rows[0]["error"]
    assert "there is no topic nothing" in missing.rows[0]["error"]


def test_internal_topics_are_listed_on_demand(ask: Command) -> None:
    assert "__consumer_offsets" not in ask("topics", "list").out
    assert "__consumer_offsets" in ask("topics", "list", "--internal").out


def test_groups_of_every_type(ask: Command, server: Coordinator, client: Client) -> None:
    """Lists with filters, descriptions and members are the same command for all of them."""
    for each in form_group((server.host, server.port), "of-classic", 2):
        each.client.close()
    join_consumer(client, "of-consumer", "m1", "orders", range(3))
    join_share(client, "of-share", "s1", "orders")
    join_streams(client, "of-streams", "t1", "orders")
    must_commit(client, "only-offsets", "orders", {0: 5})

    types = {each["group"]: (each["type"], each["state"]) for each in ask.rows("groups", "list")}
    described = {
        each["group"]: each for each in ask.rows("groups", "describe", "of-classic", "of-consumer", "of-share", "of-streams")
    }
    members = ask.rows("groups", "members", "of-consumer", "of-share", "of-streams", "--verbose")

    assert types == {
        "of-classic": ("classic", "Stable"),
        "of-consumer": ("consumer", "Stable"),
        "of-share": ("share", "Stable"),
        "of-streams": ("streams", "Stable"),
        "only-offsets": ("classic", "Empty"),
    }
    assert [each["group"] for each in ask.rows("groups", "list", "--type", "share")] == ["of-share"]
    assert [each["group"] for each in ask.rows("groups", "list", "--state", "empty")] == ["only-offsets"]
    assert [described[each]["members"] for each in sorted(described)] == [2, 1, 1, 1]
    assert (described["of-consumer"]["epoch"], described["of-classic"]["epoch"]) == (2, None)
    assert described["of-consumer"]["address"] == server.bootstrap_servers
    assert [(each["member"], each["assignment"], each["host"]) for each in members] == [
        ("m1", {"orders": [0, 1, 2]}, "127.0.0.1"),
        ("s1", {"orders": [0, 1, 2]}, "127.0.0.1"),
        ("t1", {"task 0": [0, 1, 2]}, "127.0.0.1"),
    ]
    assert (members[0]["epoch"], members[0]["target"], members[0]["protocol"]) == (2, {"orders": [0, 1, 2]}, "consumer")


def test_offsets_have_their_owner(ask: Command, client: Client) -> None:
    """Partitions that are assigned and not committed are there, too; a topic without messages has no lag."""
    epoch = join_consumer(client, "owned", "m1", "orders", range(3))
    must_commit(client, "loose", "orders", {1: 7})

    owned = ask.rows("groups", "offsets", "owned")
    loose = ask("groups", "offsets", "loose", "-o", "csv").out.splitlines()

    assert epoch > 0
    assert [(each["partition"], each["offset"], each["member"]) for each in owned] == [(n, None, "m1") for n in range(3)]
    assert loose == ["group,topic,partition,offset,lag,leader_epoch,member,client_id,host", "loose,orders,1,7,,,,,"]


def test_a_group_that_does_not_exist_is_exit_code_1(ask: Command) -> None:
    for action in ("describe", "members", "offsets"):
        done = ask("groups", action, "nobody")

        assert (done.code, done.out, done.err) == (1, "", "coordinator-server: there is no group nobody\n")


def test_settings_of_a_group_from_their_start_to_their_end(ask: Command) -> None:
    """The preview asks the server, which refuses what is out of bounds; taken back, the property counts again."""
    where = ("group", "settings-of-mine")
    name = "consumer.session.timeout.ms"

    wrong = ask("configs", "set", *where, f"{name}=1")
    preview = ask.rows("configs", "set", *where, f"{name}=50000")
    none = [each["name"] for each in ask.rows("configs", "describe", *where)]
    done = ask.rows("configs", "set", *where, f"{name}=50000", "--execute")
    described = {each["name"]: (each["value"], each["source"]) for each in ask.rows("configs", "describe", *where)}
    [back] = ask.rows("configs", "unset", *where, name, "--execute")
    values = {each["name"]: (each["value"], each["source"]) for each in ask.rows("configs", "describe", *where, "--all")}

    assert (wrong.code, name in wrong.out) == (1, True)
    assert name not in none
    assert [each["outcome"] for each in (*preview, *done)] == ["would be set", "set"]
    assert described[name] == ("50000", "group")
    assert (back["before"], back["after"], back["outcome"]) == ("50000", None, "taken back")
    assert values[name] == ("45000", "default")


def test_a_server_and_topics_have_settings(ask: Command) -> None:
    ask("topics", "create", "settled", "--config", "retention.ms=77", "--execute")

    of_topic = {each["name"]: (each["value"], each["source"]) for each in ask.rows("configs", "describe", "topic", "settled")}
    of_server = {each["name"]: each["value"] for each in ask.rows("configs", "describe", "broker", "1")}
    listed = ask.rows("configs", "list")

    assert of_topic["retention.ms"] == ("77", "topic")
    assert of_server["group.initial.rebalance.delay.ms"] == "0"
    assert {"kind": "topic", "name": "settled"} in listed
    assert {"kind": "broker", "name": "1"} in listed
    assert ask("configs", "describe", "topic", "nothing").code == 1


def test_health_is_a_row_for_each_server(ask: Command, server: Coordinator) -> None:
    [row] = ask.rows("health")

    assert (row["node"], row["address"], row["state"], row["is_controller"]) == (1, server.bootstrap_servers, "serving", True)


def test_the_doctor_explains_a_group_that_is_stuck(ask: Command, client: Client) -> None:
    """Who has not given up what; the group is in order again when that member is gone."""
    join_consumer(client, "stuck", "holder", "orders", range(3))
    first = ConsumerGroupHeartbeatRequest("stuck", "late", 0, subscribed_topic_names=["orders"], rebalance_timeout_ms=60_000)
    first.topic_partitions = []
    client.ask(first, 1, ConsumerGroupHeartbeatResponse)

    stuck = ask("doctor", "--watch", "0.1", "-o", "json")
    ask("groups", "evict", "stuck", "--all", "--execute")
    after = ask("doctor", "--watch", "0.1", "--all")

    [finding] = stuck.rows
    assert (stuck.code, finding["severity"], finding["check"]) == (1, "problem", "groups")
    assert "group stuck does not settle: holder of tests at 127.0.0.1 has not given up orders" in finding["what"]
    assert "groups evict stuck --member ID" in finding["action"]
    assert "1 group not settled: looking again in 0.1 s (--watch)" in stuck.err
    assert (after.code, "ok: groups: " in after.out, "looking again" in after.err) == (0, True, False)


def test_the_doctor_says_that_nobody_answers(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--bootstrap", f"127.0.0.1:{free_port()}"]

    assert main(["doctor", *words]) == main(["health", *words]) == 1
    assert "problem: servers: no server could be reached" in capsys.readouterr().out


def test_top_shows_how_fast_groups_commit(ask: Command, client: Client) -> None:
    """Elsewhere than on a terminal it is one picture, or as many as are asked for. A request counts once, however far it moves."""
    must_commit(client, "moving", "orders", {0: 5, 1: 7})
    stopped, sent = threading.Event(), 0

    def commit() -> None:
        nonlocal sent
        while not stopped.is_set():
            sent += 1
            must_commit(client, "moving", "orders", {0: 1000 * sent, 1: 0})

    thread = threading.Thread(target=commit)
    thread.start()
    begun_s, before = time.monotonic(), sent
    rows = ask.rows("top", "moving", "--interval", "0.5")
    made, took_s = sent - before, time.monotonic() - begun_s
    stopped.set()
    thread.join()
    once = ask("top", "moving", "--interval", "0.05", "--data-dir", ".")

    [rate] = [each["commits_per_s"] for each in rows if each["group"] == "moving"]
    assert 0 < rate < 20 * made / took_s
    assert ["moving", "classic", "Empty", "0", "0", "-", "0.0"] in once.lines
    assert once.out.startswith("node 1 at ")
    assert "refused commits are not shown: no server runs on ." in once.out


def test_top_on_a_terminal_ends_with_a_key(server: Coordinator) -> None:
    """It draws over its last picture, and leaves the terminal as it was."""
    screen, keyboard = pty.openpty()
    before = termios.tcgetattr(keyboard)
    words = [sys.executable, "-m", "coordinator_server", "top", "--interval", "0.1", "--bootstrap", server.bootstrap_servers]
    with subprocess.Popen(words, stdin=keyboard, stdout=keyboard, stderr=subprocess.PIPE) as process:
        drawn = b""
        while drawn.count(HOME.encode()) < 2:
            drawn += os.read(screen, 4096)
        os.write(screen, b"q")
        while LEAVE.encode() not in drawn:
            drawn += os.read(screen, 4096)

    assert process.returncode == 0
    assert drawn.startswith(ENTER.encode())
    assert b"node 1 at " in drawn
    assert termios.tcgetattr(keyboard) == before
    os.close(screen)
    os.close(keyboard)


def test_lines_of_json_are_one_row_each(ask: Command, client: Client) -> None:
    must_commit(client, "l1", "orders", {0: 1})
    must_commit(client, "l2", "orders", {0: 1})

    lines = ask("groups", "list", "-o", "jsonl").out.splitlines()

    assert {"l1", "l2"} <= {json.loads(line)["group"] for line in lines}


def test_a_server_that_is_not_there_is_exit_code_1_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    address = f"127.0.0.1:{free_port()}"
    assert main(["groups", "list", "--bootstrap", address]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{address} could not be reached: Connection refused; is a server running there?\n" in err


@pytest.mark.parametrize("words", [["--bootstrap", "nowhere:port"], ["--command-config", "/does/not/exist.properties"]])
def test_a_wrong_address_or_file_is_exit_code_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topics", "list", *words]) == 2
    assert capsys.readouterr().out == ""
