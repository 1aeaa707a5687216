"""``coordinator-server observe`` on a real broker whose cleaner is eager, with ``--live`` (Java and Maven).

Killed at random moments, it has each record that is in the broker's log, and each commit of the ledger, once.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from coordinator_server.observe.facts import read_facts
from protocol.coordinator_records import GROUP_SERDE
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from tests.support.client import Client
from tests.support.command_forks import Forked, fork_command, run_command
from tests.support.kafka_broker import KafkaBroker
from tests.support.kafka_history import FIRST_START, SECOND_START, answers, first_life, roll, second_life
from tests.support.observed import is_marker, ours, theirs
from tests.support.server import Server
from tests.support.simple_requests import must_commit

pytestmark = pytest.mark.live

TOPICS: Final = ("__consumer_offsets", "__transaction_state", "__share_group_state")
LEDGER: Final = "ledger"
ROUNDS: Final = 12
PARTITIONS: Final = {
    "offsets.topic.num.partitions": 5,
    "transaction.state.log.num.partitions": 1,
    "share.coordinator.state.topic.num.partitions": 1,
}


def follow(broker: KafkaBroker, observed: Path, *words: str) -> Forked:
    bootstrap = ":".join(map(str, broker.address))
    command = ["observe", "--bootstrap", bootstrap, "--data-dir", str(observed), "--log-level", "warning", *words]
    with (observed.parent / "observe.log").open("ab") as stderr:
        return fork_command(command, os.environ, stderr)


def committed(data_dir: Path) -> list[int]:
    """What the ledger's group has committed, in the order of the log."""
    found = []
    groups = [records for shard, records in ours(data_dir).items() if shard.startswith(TOPICS[0])]
    for record in (each for records in groups for each in records.values() if not is_marker(each)):
        decoded = GROUP_SERDE.decode(record.key, record.value)
        match decoded and (decoded.key, decoded.value):
            case OffsetCommitKey(group=group), OffsetCommitValue(offset=offset) if group == LEDGER:
                found.append(offset)
    return found


class Follower(threading.Thread):
    """Starts the command again and again, and kills it after a random time."""

    def __init__(self, broker: KafkaBroker, observed: Path) -> None:
        super().__init__()
        self.kills = 0
        self._broker, self._observed = broker, observed
        self._stopping = threading.Event()
        self._rng = random.Random(11)

    def run(self) -> None:
        while not self._stopping.is_set():
            running = follow(self._broker, self._observed)
            self._stopping.wait(self._rng.uniform(0.3, 3))
            running.kill()
            running.wait(10)
            self.kills += 1

    def stop(self) -> None:
        self._stopping.set()
        self.join()


def read_all(broker: KafkaBroker, observed: Path) -> str:
    running = follow(broker, observed, "--once")
    said = running.read_all(60)
    assert running.wait(60) == 0, (observed.parent / "observe.log").read_text()
    return said


def offsets_of(observed: Path) -> dict[str, Any]:
    done = run_command("replay", "--data-dir", observed, "--json")
    assert done.returncode == 0, done.stderr
    return {
        group["group"]: sorted([each["topic"], each["partition"], each["offset"]] for each in group["offsets"])
        for shard in msgspec.json.decode(done.stdout)
        for group in shard.get("groups", ())
        if group["offsets"]
    }


def test_each_record_of_an_eagerly_cleaned_log_is_here_once(tmp_path: Path) -> None:
    observed, ledger = tmp_path / "data", list[int]()
    broker = KafkaBroker(tmp_path / "kafka")
    with broker.start(FIRST_START), broker.client() as client:
        _staying = first_life(broker.address)
        follower = Follower(broker, observed)
        follower.start()
        for number in range(ROUNDS):
            must_commit(client, LEDGER, "orders", {0: 1000 + number})
            ledger.append(1000 + number)
            roll(client, number)
            time.sleep(0.4)
        follower.stop()
        read_all(broker, observed)
        broker.stop()
        _compare(observed, broker)
        # The cleaner may have been quicker than a follower that is dead half of the time; what is young is never gone.
        found = committed(observed)
        assert found == sorted(set(found))
        assert found[-1] == ledger[-1]
        assert follower.kills >= 3

    with broker.start(SECOND_START), broker.client() as client:
        running = follow(broker, observed)
        assert "observing" in running.stdout.readline()
        second_life(broker.address)
        for number in range(50):
            must_commit(client, LEDGER, "orders", {1: 5000 + number})
        told = answers(client)
        running.kill()
        running.wait(10)
        read_all(broker, observed)
        broker.stop()
        _compare(observed, broker)
    commits = [each for each in committed(observed) if each >= 5000]
    assert commits == [5000 + number for number in range(50)], "each commit that was read live, once"
    _same_offsets(told, offsets_of(observed))
    assert sum(each.missing for each in read_facts(observed).shards.values()) > 0
    _check_promoted(observed, told)


def _check_promoted(observed: Path, told: Mapping[str, Any]) -> None:
    """A server goes on where the broker has stopped: what that answered, this answers, of offsets, topics and classic groups."""
    busy = run_command("promote", "--data-dir", observed, "--execute")
    assert (busy.returncode, "have members" in busy.stderr) == (1, True)
    done = run_command("promote", "--data-dir", observed, "--execute", "--yes")
    assert done.returncode == 0, done.stderr
    with Server(observed.parent, PARTITIONS) as server, server_client(server) as client:
        ours = answers(client)
        must_commit(client, LEDGER, "orders", {2: 1})
    assert ours["topics"] == told["topics"]
    for group, (_, offsets) in told["offsets"].items():
        assert ours["offsets"].get(group, [0, []])[1] == offsets, group
    for group, described in told["described"].items():
        if told["groups"][group][2] == "classic":
            assert ours["described"][group] == described, group


def server_client(server: Server) -> Client:
    return Client(server.address, timeout_s=60)


def _compare(observed: Path, broker: KafkaBroker) -> None:
    """Each record of the broker's log is ours, at its offset."""
    mine = ours(observed)
    for shard, records in theirs(broker.log_dir).items():
        assert records.items() <= mine.get(shard, {}).items(), shard


def _same_offsets(told: Mapping[str, Any], replayed: Mapping[str, Any]) -> None:
    for group, (_, offsets) in told["offsets"].items():
        expected = sorted([topic, partition, offset] for topic, partition, offset, *_rest in offsets)
        assert replayed.get(group, []) == expected, group
