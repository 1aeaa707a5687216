"""We read Kafka: what a real broker's groups answered before it was stopped, this server answers after an import.

And back again.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from coordinator_server.pipeline.files.kafka.files import CLEAN_SHUTDOWN
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.share_group_describe import ShareGroupDescribeRequest, ShareGroupDescribeResponse
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.kafka_broker import KafkaBroker
from tests.support.kafka_history import LONG_SESSION_MS, answers, await_groups
from tests.support.kafka_log import KafkaLog, kept_log, make_log
from tests.support.members import form_group, join_all, subscription
from tests.support.producer import Producer
from tests.support.server import Server
from tests.support.simple_requests import commit_alone, committed, make_topic

PARTITIONS = {
    "offsets.topic.num.partitions": 5,
    "transaction.state.log.num.partitions": 1,
    "share.coordinator.state.topic.num.partitions": 1,
}


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return run_command(*words)


def import_log(log_dir: Path, data_dir: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return command("import", "--from", str(log_dir), "--data-dir", str(data_dir), *words)


def export(data_dir: Path, log_dir: Path) -> None:
    done = command("export", "--data-dir", str(data_dir), "--to", str(log_dir))
    assert done.returncode == 0, done.stderr


def told(server: Server) -> dict[str, Any]:
    with Client(server.address) as client:
        found: dict[str, Any] = json.loads(json.dumps(answers(client)))
    return found


def serve_import(log: KafkaLog, directory: Path) -> Server:
    directory.mkdir(parents=True)
    server = Server(directory, PARTITIONS)
    done = import_log(log.log_dir, server.data_dir)
    assert done.returncode == 0, done.stderr
    assert "the transaction of producer" in done.stderr
    return server


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> KafkaLog:
    return kept_log(tmp_path_factory.mktemp("kept"))


@pytest.fixture
def server(kept: KafkaLog, tmp_path: Path) -> Iterator[Server]:
    with serve_import(kept, tmp_path / "server") as running:
        yield running


def test_the_kept_log_is_answered_as_kafka_did(kept: KafkaLog, server: Server) -> None:
    """ListGroups, DescribeGroups, OffsetFetch of every group, topics with their ids."""
    assert told(server) == kept.answers
    server.kill()
    server.start()
    assert told(server) == kept.answers


def test_compaction_keeps_what_was_imported(server: Server) -> None:
    """Groups of all types, through a layer of our own and a start from it."""
    for number in range(12):
        with Client(server.address) as client:
            assert commit_alone(client, f"simple-{number}", "orders", {0: 5}) == {0: ErrorCode.NONE}
    before = told(server)
    done = command("compact", "--engine", "python", "--json", "--data-dir", str(server.data_dir))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["left_alone"] == []
    server.kill()
    server.start()

    assert told(server) == before
    with Client(server.address) as client:
        assert commit_alone(client, "share-crew", "orders", {3: 99}) == {3: ErrorCode.GROUP_ID_NOT_FOUND}
        assert commit_alone(client, "consumer-crew", "orders", {3: 99}) == {3: ErrorCode.UNKNOWN_MEMBER_ID}


def test_verify_proves_imported_groups(server: Server) -> None:
    """All ways to their records have one digest, which says something of each group, also where one was taken over since."""
    data_dir = str(server.data_dir)
    form_group(server.address, "consumer-left", 1, session_timeout_ms=LONG_SESSION_MS)
    assert command("compact", "--engine", "python", "--data-dir", data_dir).returncode == 0

    verified = command("verify", "--engine", "python", "--data-dir", data_dir)
    shown = command("replay", "--json", "--data-dir", data_dir)

    assert (verified.returncode, "and the server agree on" in verified.stdout) == (0, True), verified.stdout + verified.stderr
    groups = {group["group"]: group for state in json.loads(shown.stdout) for group in state["groups"]}
    assert groups["streams-crew"]["type"] == "streams"
    assert groups["streams-crew"]["records"]
    assert int(groups["streams-crew"]["digest"], 16)
    assert (groups["consumer-left"]["type"], groups["consumer-left"]["records"]) == ("classic", {})


def test_offsets_under_imported_members_are_not_restored(server: Server) -> None:
    """The refusal says what to do."""
    moment = datetime.now(UTC).isoformat()

    for group_id, reason in (
        ("consumer-crew", "group consumer-crew has members: stop them first"),
        ("streams-crew", "group streams-crew has members: stop them first"),
    ):
        done = command("groups", "restore", group_id, "--at", moment, "--execute", "--data-dir", str(server.data_dir))
        assert done.returncode == 1
        assert f"NON_EMPTY_GROUP: {reason}" in done.stderr


def test_classic_joins_and_commits_leave_groups_of_other_types_alone(server: Server) -> None:
    """A classic join to one that has members, or to a share group, gets Kafka's error; so does a commit."""
    with Client(server.address) as client:
        for group_id in ("streams-crew", "share-crew"):
            join = JoinGroupRequest(group_id, 10_000, 10_000, protocol_type="consumer")
            join.protocols = [JoinGroupRequestProtocol("range", subscription("orders"))]
            answer = client.ask(join, 9, JoinGroupResponse)
            assert ErrorCode(answer.error_code) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        assert commit_alone(client, "share-crew", "orders", {3: 99}) == {3: ErrorCode.GROUP_ID_NOT_FOUND}


def test_members_of_a_consumer_group_of_kafka_go_on_here(server: Server, tmp_path: Path) -> None:
    """With epoch and partitions that Kafka gave: described, in heartbeats, in commits; and told by `groups at`,
    `groups why` and the history.
    """
    group_id, member_id = "consumer-crew", str(uuid.UUID(int=len("consumer-crew")))
    with Client(server.address) as client:
        request = ConsumerGroupDescribeRequest([group_id])
        [group] = client.ask(request, 1, ConsumerGroupDescribeResponse).groups
        [member] = group.members
        assert (group.group_state, group.assignor_name, member.member_id) == ("Stable", "uniform", member_id)
        assert (group.group_epoch, group.assignment_epoch) == (member.member_epoch, member.member_epoch) == (2, 2)
        [has], [target] = member.assignment.topic_partitions, member.target_assignment.topic_partitions
        assert (
            (has.topic_name, has.partitions)
            == (target.topic_name, target.partitions)
            == ("orders", [*range(len(has.partitions))])
        )

        beat = client.ask(ConsumerGroupHeartbeatRequest(group_id, member_id, 2), 1, ConsumerGroupHeartbeatResponse)
        assert (beat.error_code, beat.member_epoch, beat.assignment) == (ErrorCode.NONE, 2, None)
        for epoch, error in ((2, ErrorCode.NONE), (3, ErrorCode.STALE_MEMBER_EPOCH)):
            topic = OffsetCommitRequestTopic(name="orders", partitions=[OffsetCommitRequestPartition(3, 99)])
            answer = client.ask(OffsetCommitRequest(group_id, epoch, member_id, topics=[topic]), 9, OffsetCommitResponse)
            assert answer.topics[0].partitions[0].error_code == error
        assert commit_alone(client, group_id, "orders", {3: 77}) == {3: ErrorCode.UNKNOWN_MEMBER_ID}
        assert committed(client, group_id) == {("orders", 3): 99}

    out = tmp_path / "history"
    done = command("history", "--engine", "python", "--data-dir", str(server.data_dir), "--out", str(out))
    assert done.returncode == 0, done.stderr
    steps = [each for each in pq.read_table(out / "reconciliations").to_pylist() if each["group_id"] == group_id]
    states = [(each["member_id"], each["what"], each["state"], each["member_epoch"]) for each in steps]
    assert states == [(member_id, "target", None, None), (member_id, "assigned", "Stable", 2)]
    assert [{each["topic"] for each in step["partitions"]} for step in steps] == [{"orders"}] * 2
    why = command("groups", "why", group_id, "--data-dir", str(server.data_dir)).stdout
    at = command("groups", "at", group_id, datetime.now(UTC).isoformat(), "--data-dir", str(server.data_dir)).stdout
    assert re.search(rf"{member_id} of tests at \S+ in epoch 2: gets orders-0, orders-1", why), why
    assert "group consumer-crew: epoch 2, Stable, members 1" in at
    assert f"member {member_id} of " in at


def test_members_of_a_share_group_of_kafka_go_on_here(server: Server) -> None:
    """With the epoch that Kafka gave, also after a kill: described, and in heartbeats. Its session begins with our first start."""
    for _ in range(2):
        with Client(server.address) as client:
            [group] = client.ask(ShareGroupDescribeRequest(["share-crew"]), 1, ShareGroupDescribeResponse).groups
            [member] = group.members
            beat = ShareGroupHeartbeatRequest("share-crew", member.member_id, member.member_epoch)
            answer = client.ask(beat, 1, ShareGroupHeartbeatResponse)
        assert (group.group_state, group.assignor_name, member.member_id) == ("Stable", "simple", str(uuid.UUID(int=1)))
        assert member.subscribed_topic_names == ["orders"]
        assert answer.error_code == ErrorCode.NONE
        assert answer.member_epoch >= member.member_epoch >= 1
        server.kill()
        server.start()
    why = command("groups", "why", "share-crew", "--data-dir", str(server.data_dir)).stdout
    assert re.search(rf"{uuid.UUID(int=1)} of tests at \S+ in epoch ", why), why


def test_an_empty_consumer_group_becomes_a_classic_one(server: Server) -> None:
    """As in Kafka: its records get tombstones, its offsets stay; a restart knows the same."""
    form_group(server.address, "consumer-left", 2, session_timeout_ms=LONG_SESSION_MS)

    for _ in range(2):
        found = told(server)
        assert found["groups"]["consumer-left"] == ["consumer", "Stable", "classic"]
        assert found["offsets"]["consumer-left"] == [0, [["orders", 3, 33, -1, "", 0]]]
        server.kill()
        server.start()


def test_members_of_kafka_go_on_here(kept: KafkaLog, server: Server) -> None:
    """A member with the id and generation that Kafka gave it commits and leaves."""
    [state, *_, members] = kept.answers["described"]["stable-crew"]
    assert state == 0
    with Client(server.address) as client:
        for member_id, *_ in members:
            topic = OffsetCommitRequestTopic(name="orders", partitions=[OffsetCommitRequestPartition(0, 1234)])
            request = OffsetCommitRequest("stable-crew", 2, member_id, topics=[topic])
            answer = client.ask(request, 9, OffsetCommitResponse)
            assert [one.error_code for one in answer.topics[0].partitions] == [ErrorCode.NONE]


def test_transactional_ids_of_kafka_go_on_here(server: Server) -> None:
    """The open transaction is aborted, and its producer goes on with the next epoch.

    New producers get ids far above the broker's.
    """
    with Producer(server.address, "producer-open") as producer:
        aborted = producer.until("CompleteAbort")
        answer = producer.init()
        assert (answer.error, answer.producer_id, answer.epoch) == (0, aborted.producer_id, aborted.producer_epoch + 1)
        assert producer.commit("txn-open", "orders", {2: 777}) == {ErrorCode.NONE}
        assert producer.end().error == ErrorCode.NONE
        producer.until("CompleteCommit")
    with Producer(server.address, "new") as producer:
        assert producer.init().producer_id > aborted.producer_id + 999_999_999
    with Client(server.address) as client:
        assert committed(client, "txn-open")[("orders", 2)] == 777


@pytest.mark.slow
def test_a_fresh_log_there_and_back(tmp_path: Path) -> None:
    """The log of a broker that was killed is imported and served; groups go on here; the same broker,
    given our shards, answers what we did.
    """
    with KafkaBroker(tmp_path / "kafka") as broker:
        log = make_log(broker, is_killed=True)
        assert not (log.log_dir / CLEAN_SHUTDOWN).exists()
        with serve_import(log, tmp_path / "server") as server:
            assert told(server) == log.answers
            with Client(server.address) as client:
                assert set(commit_alone(client, "simple-1", "orders", {0: 31337, 2: 4}).values()) == {ErrorCode.NONE}
                assert set(commit_alone(client, "ours", "payments", {0: 3, 1: 4}).values()) == {ErrorCode.NONE}
            _crew = form_group(server.address, "our-crew", 3, session_timeout_ms=LONG_SESSION_MS)
            ours = told(server)
            assert server.stop() == 0
        export(server.data_dir, broker.log_dir)
        broker.start()
        with broker.client() as client:
            await_groups(client, ours["groups"])
            theirs = json.loads(json.dumps(answers(client)))
    assert theirs == ours


@pytest.mark.slow
def test_kafka_serves_our_groups(tmp_path: Path) -> None:
    """Some shards as plain segments, some as a layer and the segments after it; the server was killed,
    so the journal has the end.
    """
    (tmp_path / "server").mkdir()
    with (
        Server(tmp_path / "server", {**PARTITIONS, "offsets.topic.segment.bytes": 4096}) as server,
        Client(server.address) as client,
    ):
        make_topic(client, "orders", 6)
        crew = form_group(server.address, "crew", 2, session_timeout_ms=LONG_SESSION_MS)
        for round_number in range(8):
            for number in range(15):
                offsets = {partition: 100 * round_number + partition for partition in range(6)}
                assert set(commit_alone(client, f"simple-{number}", "orders", offsets).values()) == {ErrorCode.NONE}
            assert set(crew[0].commit("orders", {0: round_number}).values()) == {ErrorCode.NONE}
            if round_number == 5:
                done = command("compact", "--engine", "python", "--data-dir", str(server.data_dir))
                assert done.returncode == 0, done.stderr
        join_all(crew)
        ours = told(server)
        server.kill()
    layers = {path.parent.name for path in server.data_dir.glob("__consumer_offsets-*/layer-*")}
    assert len(layers) == PARTITIONS["offsets.topic.num.partitions"]
    with KafkaBroker(tmp_path / "kafka") as broker:
        broker.start()
        with broker.client() as other:
            make_topic(other, "orders", 6)
            await_groups(other, ["crew"])
            eventually(lambda: len(list(broker.log_dir.glob("__consumer_offsets-*"))) == len(layers))
        broker.stop()
        for number in (0, 3):
            for layer in (server.data_dir / f"__consumer_offsets-{number}").glob("layer-*"):
                shutil.rmtree(layer)
        export(server.data_dir, broker.log_dir)
        broker.start()
        with broker.client() as other:
            await_groups(other, ours["groups"])
            theirs = json.loads(json.dumps(answers(other)))
    for what in ("groups", "described", "offsets"):
        assert theirs[what] == ours[what]
