"""The daemon removes what compaction made superfluous, and nobody notices."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from protocol.error_codes import ErrorCode
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.simple_requests import commit_alone, committed, make_topic, topic_of

GROUPS = [f"readers-{number}" for number in range(5)]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return run_command(*words)


def test_history_without_length(tmp_path: Path) -> None:
    """Segments that a layer stands for go, and so do the layers before the newest; positions stay,
    over restarts too, and all that is left is whole.
    """
    overrides = {"topics": "orders:6", "log.history.retention.ms": 0, "log.retention.check.interval.ms": 200}
    with Server(tmp_path, overrides) as server:
        for round_ in range(3):
            with Client(server.address) as client:
                for offset in range(10):
                    for group in GROUPS:
                        assert commit_alone(client, group, "orders", {0: 10 * round_ + offset}) == {0: ErrorCode.NONE}
            compacted = run("compact", "--engine", "python", "--data-dir", str(server.data_dir))
            assert compacted.returncode == 0, compacted.stderr
            # The journal's head names the segments that a start needs; it is written anew at a start.
            server.kill()
            server.start()
            eventually(lambda: is_bare(server.data_dir), describe=lambda: sorted(server.data_dir.glob("__consumer*/*")))
        verified = run("log", "verify", "--data-dir", str(server.data_dir))
        assert verified.returncode == 0, verified.stdout
        assert "while a server runs" in verified.stdout
        server.kill()
        server.start()
        with Client(server.address) as client:
            assert [committed(client, group) for group in GROUPS] == [{("orders", 0): 29}] * len(GROUPS)
        assert "history-removed" in server.log()


def is_bare(data_dir: Path) -> bool:
    """Every shard has one layer, and only the segments after it."""
    shards = [path for path in data_dir.glob("__consumer_offsets-*") if any(path.iterdir())]
    layers = [list(path.glob("layer-*")) for path in shards]
    return bool(shards) and all(
        len(found) == 1 and all(int(segment.stem) >= int(found[0].name[6:]) for segment in path.glob("*.log"))
        for path, found in zip(shards, layers, strict=True)
    )


def test_the_catalog_is_rebuilt_from_its_layer(tmp_path: Path) -> None:
    """Its segments are gone, with every record of topics that went; topics, their ids and their settings are what they were."""
    overrides = {"topics": "orders:6", "log.history.retention.ms": 0, "log.retention.check.interval.ms": 200}
    with Server(tmp_path, overrides) as server:
        catalog = server.data_dir / "__cluster_metadata-0"
        with Client(server.address) as client:
            for number in range(20):
                make_topic(client, f"passing-{number}", 3)
                request = DeleteTopicsRequest([DeleteTopicState(f"passing-{number}")], timeout_ms=10_000)
                assert client.ask(request, 6, DeleteTopicsResponse).responses[0].error_code == ErrorCode.NONE
            topic_id = make_topic(client, "stays", 2)
            setting = AlterableConfig("retention.ms", 0, "1234")
            altered = IncrementalAlterConfigsRequest([AlterConfigsResource(2, "stays", [setting])])
            assert client.ask(altered, 1, IncrementalAlterConfigsResponse).responses[0].error_code == ErrorCode.NONE
        [digest] = server.control(op="digest", shards=[catalog.name])["shards"].values()
        compacted = run("compact", "--engine", "python", "--data-dir", str(server.data_dir), "--json")
        assert compacted.returncode == 0, compacted.stderr
        [layer] = [layer for layer in json.loads(compacted.stdout)["layers"] if layer["shard"] == catalog.name]
        assert (layer["records"], layer["records_in"] > 100) == (1 + 6 + 1 + 2 + 1, True)
        server.kill()
        server.start()
        eventually(lambda: not list(catalog.glob(f"{0:020d}.log")), describe=lambda: sorted(catalog.glob("*")))
        server.kill()
        server.start()

        assert list(server.control(op="digest", shards=[catalog.name])["shards"].values()) == [digest]
        with Client(server.address) as client:
            assert topic_of(client, "stays", is_created=False).topic_id == topic_id
            assert topic_of(client, "passing-3", is_created=False).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            make_topic(client, "new", 1)
        for words in (("log", "verify"), ("verify", "--engine", "python")):
            verified = run(*words, "--data-dir", str(server.data_dir))
            assert verified.returncode == 0, verified.stdout + verified.stderr
        assert "agree on 3 topics in 1 shard " in verified.stdout
