"""The state of share partitions moves from a Kafka broker to this server and back, and both go on with it in the same way: with
``--live`` (Java and Maven)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec
import pytest

from protocol.error_codes import ErrorCode
from protocol.fields import Message, uuid_text
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from tests.interop.test_dump_log import dump, listed
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.kafka_broker import KafkaBroker
from tests.support.server import ROOT, Server
from tests.support.share_state import TopicIdPartition, deletion, initialization, reading, results_of, summarizing, writing
from tests.support.simple_requests import coordinator, make_topic

pytestmark = pytest.mark.live

PROPERTIES: Final[Mapping[str, object]] = {
    "share.coordinator.state.topic.num.partitions": 3,
    "share.coordinator.snapshot.update.records.per.snapshot": 3,
}
GROUPS: Final = ("workers", "others")
PARTITIONS: Final = 3
READS_AT: Final = 3
"""A leader that reads has an epoch so much above that of the writes before. A read raises the epoch that later writes need."""


def command(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "coordinator_server", *words], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def await_coordinators(client: Client, topic_id: bytes) -> None:
    """Until every share partition has one: a broker makes its topic when it is first asked."""
    keys = [f"{group}:{uuid_text(topic_id)}:{number}" for group in GROUPS for number in range(PARTITIONS)]
    request = FindCoordinatorRequest(key_type=2, coordinator_keys=keys)

    def are_there() -> bool:
        found = client.ask(request, 6, FindCoordinatorResponse).coordinators
        return {each.error_code for each in found} == {ErrorCode.NONE}

    eventually(are_there)
    answered = {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE}
    where = [(topic_id, number) for number in range(PARTITIONS)]
    eventually(lambda: not any(set(errors(client.call(summarizing(group, where), 0))) & answered for group in GROUPS))


def errors(answer: Message) -> list[int]:
    return [each.error_code for each in results_of(answer).values()]


def life(seed: int, topic_id: bytes, count: int, leader_epoch: int) -> list[tuple[Message, int]]:
    """Requests of leaders and of a group coordinator: share partitions begin, are written, begin anew and go; some are refused."""
    rng = Random(seed)
    found: list[tuple[Message, int]] = []
    for _ in range(count):
        group, where = rng.choice(GROUPS), [(topic_id, rng.randrange(PARTITIONS))]
        kind = rng.random()
        if kind < 0.2:
            found.append((initialization(group, where, rng.randrange(1, 4), rng.randrange(10)), 0))
        elif kind < 0.25:
            found.append((deletion(group, where), 0))
        else:
            batches = [_batch(rng) for _ in range(rng.randrange(4))]
            epochs = {
                "state_epoch": rng.randrange(1, 4),
                "leader_epoch": leader_epoch + rng.randrange(-1, 3),
                "delivery_complete_count": rng.randrange(5),
            }
            request = writing(group, where, *batches, start_offset=rng.choice((-1, -1, rng.randrange(30))), **epochs)
            found.append((request, rng.randrange(2)))
    return found


def _batch(rng: Random) -> tuple[int, int, int, int]:
    first = rng.randrange(40)
    return first, first + rng.randrange(6), rng.randrange(1, 5), rng.choice((0, 2, 4))


def live(client: Client, requests: list[tuple[Message, int]]) -> list[Any]:
    """The answers: results without the texts of errors."""
    return [_plain(client.call(request, version)) for request, version in requests]


def state(client: Client, topic_id: bytes, leader_epoch: int) -> dict[str, Any]:
    """All that a coordinator says of every share partition: with a read, which a leader makes, and a summary."""
    where = [(topic_id, number) for number in range(PARTITIONS)]
    asked = {
        group: (client.call(reading(group, where, leader_epoch + READS_AT), 0), client.call(summarizing(group, where), 1))
        for group in GROUPS
    }
    return {f"{group} {number}": _plain(answer) for group, answers in asked.items() for number, answer in enumerate(answers)}


def _plain(answer: Message) -> Any:
    found: dict[TopicIdPartition, Any] = {key: msgspec.to_builtins(each) for key, each in results_of(answer).items()}
    for each in found.values():
        each.pop("error_message")
    return {str(number): each for (_, number), each in sorted(found.items())}


def test_share_state_there_and_back(tmp_path: Path) -> None:
    """Imported, it is as the broker said. Both then get the same requests: their answers and states are equal, although ours is
    compacted, killed and started in between. Exported, a broker says of it what we said; and its own tool reads our log."""
    (tmp_path / "server").mkdir()
    with KafkaBroker(tmp_path / "kafka") as broker:
        topic_id, before = first_life(broker)
        server = Server(tmp_path / "server", {**PROPERTIES, "offsets.topic.num.partitions": 5})
        command("import", "--from", str(broker.log_dir), "--data-dir", str(server.data_dir))
        broker.start(PROPERTIES)
        with server, broker.client() as theirs:
            await_coordinators(theirs, topic_id)
            assert state(theirs, topic_id, 1) == before
            for epoch in (10, 20, 30):
                said = lived_alike(server, theirs, topic_id, epoch)
            assert "the server agree on" in command("verify", "--engine", "python", "--data-dir", str(server.data_dir))
            assert server.stop() == 0
        broker.stop()
        command("export", "--data-dir", str(server.data_dir), "--to", str(broker.log_dir))
        assert_dumped(broker)
        broker.start(PROPERTIES)
        with broker.client() as theirs:
            await_coordinators(theirs, topic_id)
            assert state(theirs, topic_id, 30) == said


def first_life(broker: KafkaBroker) -> tuple[bytes, dict[str, Any]]:
    """The id of the topic, and what the broker said in the end. It is stopped."""
    broker.start(PROPERTIES)
    with broker.client() as client:
        topic_id = make_topic(client, "jobs", PARTITIONS)
        coordinator(client, "any")
        await_coordinators(client, topic_id)
        live(client, [(initialization(group, [(topic_id, 0)]), 0) for group in GROUPS])
        live(client, life(1, topic_id, 60, 1))
        said = state(client, topic_id, 1)
    broker.stop()
    return topic_id, said


def lived_alike(server: Server, theirs: Client, topic_id: bytes, epoch: int) -> dict[str, Any]:
    """Write to both, compact ours, write to both, kill ours and start it: what both say."""
    with Client(server.address) as ours:
        await_coordinators(ours, topic_id)
        for seed, count in ((epoch, 40), (epoch + 1, 10)):
            requests = life(seed, topic_id, count, epoch)
            assert live(ours, requests) == live(theirs, requests)
            if seed == epoch:
                command("compact", "--engine", "python", "--data-dir", str(server.data_dir))
    server.kill()
    server.start()
    with Client(server.address) as ours:
        await_coordinators(ours, topic_id)
        said = state(ours, topic_id, epoch)
    assert said == state(theirs, topic_id, epoch)
    return said


def assert_dumped(broker: KafkaBroker) -> None:
    """Kafka's tool reads every record of the log that replaced the broker's."""
    files = [path for path in broker.log_dir.glob("__share_group_state-*/*.log") if path.stat().st_size]
    output = dump(*files, decoder="--share-group-state-decoder")
    assert files
    assert "isvalid: false" not in output
    assert {key["type"] for _, _, key, _ in listed(output)} == {"0", "1"}
