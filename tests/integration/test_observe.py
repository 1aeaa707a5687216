"""``coordinator-server observe`` follows a server of ours as it would a broker: the same bytes, through every kill."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coordinator_server.kinds import CATALOG
from coordinator_server.log.opening import job_shards
from coordinator_server.observe.cluster import TOPICS
from coordinator_server.observe.facts import read_facts
from coordinator_server.pipeline.input.data_dir import ask_server, durable
from coordinator_server.pipeline.input.files import batches_before
from protocol.acl_codes import Operation, ResourceType
from tests.support.client import Client
from tests.support.command_forks import Forked, fork_command, run_command
from tests.support.control import ask_control
from tests.support.eventually import eventually
from tests.support.guarded import AUTHORITY, Guarded
from tests.support.members import form_group
from tests.support.server import Server
from tests.support.simple_requests import committed, make_topic, must_commit, topic_of

GROUP = "readers"
PARTITIONS = {"offsets.topic.num.partitions": 3, "transaction.state.log.num.partitions": 2}
Log = dict[str, list[bytes]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("server"), PARTITIONS) as server:
        with Client(server.address) as client:
            make_topic(client, "orders", 4)
        yield server


def log_of(data_dir: Path) -> Log:
    """The batches of every shard but the catalog's, in order."""
    ends = durable(data_dir)
    return {
        shard.name: [
            data[position : position + header.size]
            for data, position, header in batches_before(shard.whole(ends[shard.name])[1], ends[shard.name])
        ]
        for shard in job_shards(data_dir)
        if not shard.name.startswith(CATALOG.topic)
    }


def observe(server: Server, observed: Path, *words: str | Path, code: int = 0) -> str:
    """Read everything that is there, and end. What it said on stderr."""
    done = run_command("observe", "--bootstrap", server.bootstrap, "--data-dir", observed, "--once", *words)
    assert done.returncode == code, done.stderr
    return done.stderr


def follow(server: Server, observed: Path, *more: str) -> Forked:
    words = ["observe", "--bootstrap", server.bootstrap, "--data-dir", str(observed), "--log-level", "warning", *more]
    words += ["--end-offsets-interval", "0.2"]
    with (observed.parent / "observe.log").open("ab") as stderr:
        return fork_command(words, os.environ, stderr)


def scraped(url: str) -> str:
    with urllib.request.urlopen(url) as found:
        text: str = found.read().decode()
        return text


def answer(*words: object) -> Any:
    done = run_command(*map(str, words), "-o", "json")
    assert done.returncode == 0, done.stderr
    return msgspec.json.decode(done.stdout)


def topics(data_dir: Path) -> dict[str, Any]:
    [catalog] = [each for each in answer("replay", "--data-dir", data_dir) if each["shard"].startswith(CATALOG.topic)]
    return {name: count for name, count in catalog["topics"].items() if not name.startswith("__")}


def test_the_log_is_the_clusters_byte_for_byte_through_every_kill(server: Server, tmp_path: Path) -> None:
    """Groups work on meanwhile. What is asked of the directory is answered as the server's own is."""
    observed, stop, rng = tmp_path / "data", threading.Event(), random.Random(7)

    def work() -> None:
        members = form_group(server.address, GROUP, 2)
        number = 0
        while not stop.is_set():
            number += 1
            members[number % 2].commit("orders", {number % 4: number})
        for member in members:
            member.leave()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for _ in range(2):
            running = follow(server, observed)
            eventually((observed / "control.sock").exists)
            time.sleep(rng.uniform(0, 0.2))
            running.kill()
            running.wait(10)
    finally:
        stop.set()
        worker.join()
    observe(server, observed)

    assert log_of(observed) == log_of(server.data_dir)
    assert topics(observed) == topics(server.data_dir)
    for action in ("why", "what-if"):
        words = ("groups", action, GROUP, "--data-dir")
        assert answer(*words, observed) == answer(*words, server.data_dir)
    facts = read_facts(observed)
    assert [each.missing for each in facts.shards.values()] == [0] * 3
    check_promoted(server, observed)


def check_promoted(server: Server, observed: Path) -> None:
    """It becomes a server of the same cluster, topics and offsets. The history stays, and producers get other ids."""
    shown = run_command("promote", "--data-dir", observed)
    assert (shown.returncode, "--execute makes a server" in shown.stderr) == (0, True)
    before = log_of(observed)
    done = run_command("promote", "--data-dir", observed, "--execute")
    assert done.returncode == 0, done.stderr
    assert "not brought: users, ACLs" in done.stderr
    assert "producer ids begin at 1,000,000,000" in done.stderr

    with Server(observed.parent, PARTITIONS) as promoted, Client(promoted.address) as ours, Client(server.address) as theirs:
        assert promoted.cluster_id == server.cluster_id
        assert committed(ours, GROUP) == committed(theirs, GROUP) != {}
        assert topic_of(ours, "orders").topic_id == topic_of(theirs, "orders").topic_id
        must_commit(ours, "after", "orders", {0: 1})
        assert run_command("verify", "--data-dir", observed, "--engine", "python").returncode == 0
    after = log_of(observed)
    assert all(after[shard][: len(batches)] == batches for shard, batches in before.items())


def test_it_is_asked_while_it_follows(server: Server, tmp_path: Path) -> None:
    """A reader gets what was committed just now, and so does Prometheus. SIGTERM stops it in order."""
    observed = tmp_path / "observed"
    running = follow(server, observed, "--metrics", "127.0.0.1:0")
    try:
        with Client(server.address) as client:
            must_commit(client, "live", "orders", {0: 42})
        assert "observing" in running.stdout.readline()
        metrics = running.stdout.readline().removeprefix("metrics: ").strip()
        eventually(lambda: "coordinator_observed_groups_without_partitions" in scraped(metrics))
        eventually(lambda: answer("groups", "why", "live", "--data-dir", observed))
        status = ask_control(observed, op="status")
        assert status["observes"] == server.cluster_id
        assert {each["leader"] for each in status["shards"].values()} == {1}
        # It is known from the first sample on that was taken after the commit was read.
        [lag] = eventually(
            lambda: [each for each in answer("groups", "lag", "live", "--data-dir", observed) if each["lag"] is not None],
        )
        check_beside_the_cluster(server, observed)
        check_what_it_is_asked(observed, tmp_path / "backup")
        top = ("top", "live", "--interval", "0.1", "--data-dir", observed, "--bootstrap", server.bootstrap)
        [row] = eventually(lambda: [row for row in answer(*top) if row["group"] == "live" and row["verdict"]])
        assert (row["lag"], row["verdict"]) == (0, "OK")
        # A topic of ours has no messages.
        assert (lag["topic"], lag["offset"], lag["lag"], lag["verdict"]) == ("orders", 42, 0, "OK")
        running.send_signal(signal.SIGTERM)
        assert running.wait(10) == 0
    finally:
        running.kill()
    assert ask_server(observed, {"op": "status"}) is None
    with Client(server.address) as client:
        must_commit(client, "live", "orders", {0: 43})
    done = run_command("verify", "--data-dir", observed, "--engine", "python", "--bootstrap", server.bootstrap)
    assert (done.returncode, "is 1 record behind the cluster, and nothing follows it" in done.stderr) == (1, True), done.stderr


def check_what_it_is_asked(observed: Path, backup: Path) -> None:
    """Commands that need a server say whom to ask; the others, among them a backup, have nothing to complain of."""
    elsewhere = "no server runs on it, ask that cluster with --bootstrap"
    for words, code, says in (
        (("groups", "why", "live"), 0, ""),
        (("groups", "why", "live", "--follow"), 1, "--bootstrap says where that is"),
        (("groups", "expiring", "live"), 2, elsewhere),
        (("groups", "waiting"), 2, elsewhere),
        (("shards", "list"), 2, elsewhere),
        (("users", "list"), 2, elsewhere),
        (("quotas", "list"), 2, elsewhere),
        (("backup", "--to", str(backup)), 0, ""),
        (("doctor",), 0, ""),
    ):
        done = run_command(*words, "--data-dir", observed)
        assert (done.returncode, bool(done.stderr), says in done.stderr) == (code, bool(says), True), done


def check_beside_the_cluster(server: Server, observed: Path) -> None:
    """Verify asks it what it knows of its groups."""
    words = ("verify", "--data-dir", observed, "--engine", "python")
    assert run_command(*words).returncode == 0
    done = run_command(*words, "--bootstrap", server.bootstrap)
    assert (done.returncode, "the full history, the compacted log and the cluster agree on" in done.stdout) == (0, True), done
    found = answer(*words, "--bootstrap", server.bootstrap)
    # The offset of a group, and that it has no members, at least.
    assert sum(each["compared"] or 0 for each in found) >= 2


def test_whose_directory_it_is(server: Server, tmp_path: Path) -> None:
    """A directory follows one cluster, and no server writes in it."""
    observed = tmp_path / "observed"
    with Client(server.address) as client:
        must_commit(client, "once", "orders", {0: 1})
    observe(server, observed)
    # Of what was read in the same run, too.
    assert [each["lag"] for each in answer("groups", "lag", "once", "--data-dir", observed)] == [0]
    meta = observed / "meta.properties"
    lines = [each for each in meta.read_text().splitlines() if not each.startswith("checksum")]

    assert "follows the cluster" in run_command("serve", "--data-dir", observed, "--listen", "127.0.0.1:0").stderr
    assert "is not compacted" in run_command("compact", "--data-dir", observed, "--engine", "python").stderr
    quota = ("quotas", "set", "request_percentage=1", "--user", "a", "--execute", "--data-dir", observed)
    assert "ask that cluster with --bootstrap" in run_command(*quota).stderr
    assert "is in use by process" in observe(server, server.data_dir, code=1)
    beside = run_command("verify", "--data-dir", server.data_dir, "--engine", "python", "--bootstrap", server.bootstrap)
    assert "follows no cluster" in beside.stderr
    meta.write_text("\n".join(each for each in lines if each != "observed=true") + "\n")
    assert "is a server's directory" in observe(server, observed, code=2)
    meta.write_text("\n".join(lines).replace(server.cluster_id, "another") + "\n")
    assert "follows the cluster another" in observe(server, observed, code=2)
    meta.write_text("\n".join(lines).replace("partitions=3", "partitions=4") + "\n")
    assert "__consumer_offsets has 3 partitions, and had 4" in observe(server, observed, code=2)


def test_it_reads_and_no_more(tmp_path: Path) -> None:
    """The ACLs that it asks for are enough; without them it says which they are."""
    with Guarded(tmp_path / "server", properties={"offsets.topic.num.partitions": 2}) as guarded:
        reader = AUTHORITY.issue("reader").write(guarded.keys / "reader.pem")
        properties = tmp_path / "client.properties"
        stores = f"ssl.keystore.location={reader}\nssl.truststore.location={guarded.keys / 'trusted.pem'}\n"
        properties.write_text(f"security.protocol=SSL\nssl.keystore.type=PEM\nssl.truststore.type=PEM\n{stores}")
        words = ("--command-config", properties)

        refused = observe(guarded, tmp_path / "observed", *words, code=1)
        for topic in TOPICS:
            guarded.allow("reader", Operation.READ, ResourceType.TOPIC, topic)
        guarded.allow("reader", Operation.DESCRIBE, ResourceType.TOPIC, "*")
        observe(guarded, tmp_path / "observed", *words)
        there = ("--data-dir", tmp_path / "observed", "--bootstrap", guarded.bootstrap, *words)
        verified = [run_command("verify", "--engine", "python", *there)]
        blind = run_command("top", "--interval", "0.1", *there)
        guarded.allow("reader", Operation.DESCRIBE, ResourceType.GROUP, "*")
        verified.append(run_command("verify", "--engine", "python", *there))

    assert "does not let this user describe" in refused
    assert "--operation Read --topic __consumer_offsets --topic __transaction_state --topic __share_group_state" in refused
    assert [each.returncode for each in verified] == [1, 0]
    # Without it a cluster seems to have no group.
    assert "--operation Describe --group '*'" in verified[0].stderr
    assert "groups are not shown" in blind.stdout
    assert topics(tmp_path / "observed") == {"orders": 1, "secrets": 1, "t": 1}
