"""``coordinator-server share``: where share partitions stand, which batch is stuck and since when, and every change."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.cli import main
from coordinator_server.log.repair.salvage import salvage
from coordinator_server.machine.provenance import Provenance
from coordinator_server.pipeline.states.changes import operation_name
from protocol.fields import uuid_text
from tests.support.share_logs import JOBS, SHARD, ShareLog, compact, write_properties

INITIALIZE = f"{operation_name(Provenance('', 83, 0))} of coordinator at 10.0.0.1"
WRITE = f"{operation_name(Provenance('', 85, 1))} of broker-1 at 10.0.0.2"
AT = [f"2025-11-24T16:00:{second:02d}.000Z" for second in range(10)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Records 12-14 come back again and again; the start offset passes 11; the last write is of another group."""
    log = ShareLog()
    log.snapshot(0, 10)
    log.update(1, -1, [(10, 11, 2, 1), (12, 14, 0, 1), (15, 15, 4, 1)])
    log.update(2, 12, [(12, 13, 0, 2)], leader_epoch=5)
    log.update(3, -1, [(12, 13, 0, 3)], leader_epoch=5)
    log.snapshot(4, 12, [(12, 13, 0, 3), (14, 14, 0, 1), (15, 15, 4, 1)], epochs=(1, 1, 5))
    log.snapshot(5, 0, name="others")
    write_properties(tmp_path)
    log.write(tmp_path / SHARD)
    return tmp_path


def shown(data: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["share", *words, "--data-dir", str(data)]) == 0
    return capsys.readouterr().out.splitlines()


def refused(data: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["share", *words, "--data-dir", str(data)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err


def test_describe_says_which_batch_is_stuck(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """How often it was delivered, since when it is not settled, and when it came back last. The worst comes first."""
    assert shown(data, capsys, "describe", "workers") == [
        "group workers: 1 share partition",
        "topic  partition  start  in flight  acknowledged  rejected  most deliveries  changed",
        f"jobs   0          12     3          0             1         3                {AT[4]}",
        "delivered, and neither acknowledged nor rejected:",
        f"  jobs-0: 12-13 delivered 3 times, the last time at {AT[3]}; unsettled since {AT[1]}",
        f"  jobs-0: 14 delivered 1 time; unsettled since {AT[1]}",
    ]


def test_share_describe_prints_all_fields_as_json(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [line] = shown(data, capsys, "describe", "workers", "--json")
    [found] = json.loads(line)

    stuck = found.pop("unsettled")
    assert [(each["first_offset"], each["last_offset"], each["deliveries"], each["is_earlier"]) for each in stuck] == [
        (12, 13, 3, False),
        (14, 14, 1, False),
    ]
    assert stuck[0]["last_ms"] - stuck[0]["since_ms"] == 2000
    assert found.pop("changed_ms") - stuck[0]["since_ms"] == 3000
    assert found == {
        "topic": "jobs",
        "topic_id": uuid_text(JOBS),
        "partition": 0,
        "start_offset": 12,
        "in_flight": 3,
        "acknowledged": 0,
        "archived": 1,
        "delivery_complete": 0,
        "state_epoch": 1,
        "leader_epoch": 5,
        "snapshot_epoch": 1,
        "shard": SHARD,
    }


def test_share_at_shows_the_state_at_an_offset(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The state after all records up to it; before the first one there is none."""
    lines = shown(data, capsys, "at", "workers", "2025-11-24T16:00:01.500Z")

    assert lines[2].split() == ["jobs", "0", "10", "3", "2", "1", "1", AT[1]]
    assert lines[4:] == [f"  jobs-0: 12-14 delivered 1 time; unsettled since {AT[1]}"]
    assert "no share partition of group workers at that time" in refused(data, capsys, "at", "workers", "2025-11-24T15:00Z")


def test_why_tells_every_change(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And who made it. A snapshot that repeats what is known is no change."""
    assert shown(data, capsys, "why", "workers") == [
        f"{AT[0]}  jobs-0: initialized; starts at offset 10; state epoch 1; leader epoch 0 ({INITIALIZE})",
        (
            f"{AT[1]}  jobs-0: 10-11 acknowledged after delivery 1; 12-14 came back after delivery 1; "
            f"15 rejected after delivery 1 ({WRITE})"
        ),
        f"{AT[2]}  jobs-0: starts at offset 12; leader epoch 5; 12-13 came back after delivery 2 ({WRITE})",
        f"{AT[3]}  jobs-0: 12-13 came back after delivery 3 ({WRITE})",
    ]


def test_share_why_shows_the_history_of_a_record(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was said of it, the initialization before, and that the start offset has passed it."""
    lines = shown(data, capsys, "why", "workers", "--topic", "jobs", "--partition", "0", "--offset", "11")

    assert [line.split("  ")[0] for line in lines] == [AT[0], AT[1], AT[2]]
    assert [line.split("  ")[0] for line in shown(data, capsys, "why", "workers", "--offset", "14")] == [AT[0], AT[1]]


def test_share_commands_refuse_unknown_groups_topics_and_partitions(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor one of which the id of a group that is there begins. So is a topic or a partition."""
    for action in ("describe", "why"):
        assert "has no share partition of group work: either no share group of this id" in refused(data, capsys, action, "work")
    assert "group workers has no share partition mail\n" in refused(data, capsys, "describe", "workers", "--topic", "mail")
    words = ("describe", "workers", "--topic", uuid_text(JOBS), "--partition", "7")
    assert f"group workers has no share partition {uuid_text(JOBS)}-7\n" in refused(data, capsys, *words)


def test_a_directory_without_share_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_properties(tmp_path)

    assert "has no share partition of group workers" in refused(tmp_path, capsys, "describe", "workers")


def test_deletion_and_a_new_beginning(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was unsettled before is forgotten."""
    log = ShareLog()
    log._from = log.offset = 6
    log.delete(6)
    log.snapshot(7, 30, epochs=(0, 2, 0))
    log.update(8, -1, [(30, 30, 0, 1)])
    log.write(data / SHARD)

    lines = shown(data, capsys, "why", "workers")
    assert lines[-3:-1] == [
        f"{AT[6]}  jobs-0: deleted",
        f"{AT[7]}  jobs-0: initialized; starts at offset 30; state epoch 2; leader epoch 0 ({INITIALIZE})",
    ]
    assert shown(data, capsys, "describe", "workers")[4:] == [f"  jobs-0: 30 delivered 1 time; unsettled since {AT[8]}"]
    assert "no share partition of group workers at that time" in refused(data, capsys, "at", "workers", "2025-11-24T16:00:06Z")


def test_share_commands_on_a_compacted_history(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a history without its first segments the beginning of what is unsettled is not known, and a moment in it is refused."""
    compact(data / SHARD)
    (data / SHARD / f"{0:020d}.log").unlink()

    assert f"unsettled since {AT[4]} or earlier" in shown(data, capsys, "describe", "workers")[4]
    assert "known from the compacted log" in shown(data, capsys, "why", "workers")[0]
    assert main(["share", "at", "workers", "2025-11-24T16:00:01Z", "--data-dir", str(data)]) == 2
    assert f"the history of {SHARD} begins at offset 6" in capsys.readouterr().err


@pytest.mark.parametrize("has_layer", [True, False])
def test_a_salvaged_history(tmp_path: Path, capsys: pytest.CaptureFixture[str], has_layer: bool) -> None:
    """Behind a lost record the state is that of the layer, as the server has it. Without a layer it is said what is missing."""
    log, shard_dir = ShareLog(), tmp_path / "data" / SHARD
    (tmp_path / "data").mkdir()
    write_properties(tmp_path / "data")
    writes: list[Callable[[], None]] = [
        lambda: log.snapshot(0, 10),
        lambda: log.update(1, -1, [(10, 12, 0, 1)]),
        lambda: log.update(2, 11),
        lambda: log.update(3, -1, [(12, 12, 0, 2)]),
    ]
    for write in writes:
        write()
        log.write(shard_dir)
    if has_layer:
        compact(shard_dir)
    log.update(4, -1, [(13, 13, 0, 1)])
    log.write(shard_dir)
    lost = shard_dir / f"{2:020d}.log"
    lost.write_bytes(lost.read_bytes()[:-3] + b"???")
    salvage(str(tmp_path / "data"), str(tmp_path / "saved"))

    assert main(["share", "describe", "workers", "--data-dir", str(tmp_path / "saved")]) == 0
    printed = capsys.readouterr()

    start = "11" if has_layer else "10"
    assert printed.out.splitlines()[2].split()[:4] == ["jobs", "0", start, "3" if has_layer else "4"]
    assert ("records of __share_group_state-3 before offset 3 were not salvaged" in printed.err) == (not has_layer)


def test_help_has_an_example_of_each_action(capsys: pytest.CaptureFixture[str]) -> None:
    """And says what a record in flight is."""

    def helped(*words: str) -> str:
        with pytest.raises(SystemExit):
            main(["share", *words, "--help"])
        return capsys.readouterr().out

    assert "A record that comes back over and over is stuck" in helped()
    actions: dict[str, Any] = {name: helped(name) for name in ("describe", "at", "why")}
    for name, text in actions.items():
        assert f"coordinator-server share {name} workers" in text
