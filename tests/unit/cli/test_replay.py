"""``coordinator-server replay``: the state of a log as text, line by line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from coordinator_server.cli import main
from coordinator_server.cli import replay as command
from coordinator_server.log.local import LocalLogStore
from coordinator_server.log.meta import read_meta
from coordinator_server.log.storage import LocalStorage
from coordinator_server.pipeline.replay.shard_states import ShardState
from protocol.coordinator_records import CLUSTER_METADATA_SERDE, CoordinatorRecord
from protocol.messages.cluster_metadata import PartitionRecord, TopicRecord
from protocol.record_batch import Record
from tests.support.kind_logs import batches_of
from tests.support.segments import (
    START_MS,
    Batch,
    group_key,
    group_value,
    offset_key,
    offset_value,
    write_meta,
    write_segments,
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A group with members and one without, and a topic."""
    rows = [
        (group_key("readers"), group_value(3, ["client-0-aa", "client-1-bb"])),
        (offset_key("readers", "orders", 1), offset_value(7, "a note")),
        (offset_key("readers", "orders", 0), offset_value(12345, "x" * 61)),
        (offset_key("alone", "bills", 10), offset_value(5, "y" * 60)),
    ]
    write_meta(tmp_path)
    batch = Batch(tuple(Record(number, START_MS, key, value) for number, (key, value) in enumerate(rows)))
    write_segments(tmp_path / "__consumer_offsets-7", [batch])
    topic_id = bytes(range(16))
    messages = [TopicRecord("orders", topic_id), PartitionRecord(0, topic_id), PartitionRecord(1, topic_id)]
    records = [CoordinatorRecord(message, None) for message in messages]
    write_segments(tmp_path / "__cluster_metadata-0", batches_of(CLUSTER_METADATA_SERDE, records))
    return tmp_path


def shown(data: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["replay", "--data-dir", str(data), *words]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out.splitlines()


@pytest.mark.parametrize("words", [["replay"], ["compact", "--engine", "python"], ["groups", "why", "readers"]])
def test_scripts_do_not_wait(data: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    """With --no-wait a log in use is a failure at once."""
    store = LocalLogStore.open(data, post=lambda call: None, node_id=read_meta(LocalStorage(), str(data)).node_id)

    assert main([*words, "--data-dir", str(data), "--no-wait"]) == 1

    store.close()
    assert capsys.readouterr().err.endswith("; try again\n")


def test_groups_and_topics_are_shown(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Long metadata is cut."""
    assert shown(data, capsys) == [
        "__cluster_metadata-0, before offset 3",
        "  topic orders: partitions 2",
        "__consumer_offsets-7, before offset 4",
        "  group alone: offsets only",
        "    topic  partition  offset  metadata",
        f"    bills  10         5       {'y' * 60}",
        "  group readers: generation 3, consumer/range, members 2",
        "    member client-0-aa (leader) at /127.0.0.1: orders 0",
        "    member client-1-bb at /127.0.0.1: orders 1",
        "    topic   partition  offset  metadata",
        f"    orders  0          12345   {'x' * 59}…",
        "    orders  1          7       a note",
    ]


def test_the_state_before_an_offset_is_shown(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table without rows has no heading."""
    assert shown(data, capsys, "--shard", "__consumer_offsets-7", "--at", "1") == [
        "__consumer_offsets-7, before offset 1",
        "  group readers: generation 3, consumer/range, members 2",
        "    member client-0-aa (leader) at /127.0.0.1: orders 0",
        "    member client-1-bb at /127.0.0.1: orders 1",
    ]


def test_a_replay_without_records_says_so_on_stderr(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On stderr: the answer is empty."""
    for words in (["--at", "2001-01-01"], ["--shard", "__consumer_offsets-7", "--at", "0"]):
        assert main(["replay", "--data-dir", str(data), *words]) == 0
        assert capsys.readouterr() == ("", "coordinator-server: the log has nothing of this\n")


def test_digests_are_those_of_the_state(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of each shard, and of each of its groups."""
    states = json.loads("".join(shown(data, capsys, "--json")))
    topics, groups = states

    assert shown(data, capsys, "--digest") == [
        f"{topics['digest']}  __cluster_metadata-0, before offset 3",
        f"{groups['digest']}  __consumer_offsets-7, before offset 4",
        *(f"{group['digest']}    group {group['group']}" for group in groups["groups"]),
    ]
    assert [group["group"] for group in groups["groups"]] == ["alone", "readers"]


def test_a_member_without_partitions_and_one_of_another_protocol(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Assignments are read only where they are in the consumers' format."""
    value = group_value(3, ["client-0-aa", "client-1-bb"])
    of_first, of_second = (b"\0\0\0\1\0\6orders\0\0\0\1" + number.to_bytes(4) for number in range(2))
    assert (value.count(of_first), value.count(of_second)) == (1, 1)
    nothing = b"\0\0\0\0" + bytes(len(of_first) - 4)
    value = value.replace(of_first, nothing).replace(of_second, of_second.replace(b"\0\6", b"\x7f\6"))
    write_meta(tmp_path)
    write_segments(tmp_path / "__consumer_offsets-7", [Batch((Record(0, START_MS, group_key("g"), value),))])

    assert shown(tmp_path, capsys)[2:] == [
        "    member client-0-aa (leader) at /127.0.0.1: no partitions",
        "    member client-1-bb at /127.0.0.1: assignment in the members' own format",
    ]


@pytest.mark.parametrize(("count", "said"), [(3, "-3 from 0)"), (4, "-3 from 0 and 1 more shards)")])
def test_some_of_the_shards_that_a_server_still_writes_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, count: int, said: str
) -> None:
    """The first three; of those that are known to their end, none."""
    write_meta(tmp_path)
    states = [
        ShardState(shard=f"__consumer_offsets-{number}", seen_to=0, is_whole=False, noun="group")
        for number in range(1, count + 1)
    ]
    monkeypatch.setattr(command, "replay", lambda *_, **__: [*states, replace(states[0], shard="whole-0", is_whole=True)])

    assert main(["replay", "--no-seal", "--data-dir", str(tmp_path)]) == 0

    assert said in capsys.readouterr().err
    assert main(["replay", "--no-seal", "--data-dir", str(tmp_path), "--json"]) == 0
    assert said in capsys.readouterr().err
