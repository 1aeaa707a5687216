"""``log verify``: every file is read, damage is told where it is and with what it means, and what a crash leaves is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from coordinator_server.config import Config
from coordinator_server.kinds import GROUPS, KINDS, Kind, partition_counts
from coordinator_server.log.errors import DamagedLog, LogError
from coordinator_server.log.file_names import layer_offsets
from coordinator_server.log.jobs import Block, LayerSummary, in_order
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.layers.checkpoint import DATA, INDEX, REST
from coordinator_server.log.layers.layer import open_layer
from coordinator_server.log.repair.check import check
from coordinator_server.log.repair.findings import Finding, Report
from coordinator_server.log.repair.salvage import Hole, salvage
from coordinator_server.log.shards import Append, ShardId
from protocol.batch_builder import BatchBuilder
from protocol.record_batch import Record, read_header
from tests.support.kind_logs import LOGS
from tests.support.log import values
from tests.support.log_dir import BEGINS, COUNT, IN_JOURNAL, SHARDS, expected, open_store, record_batch
from tests.support.segments import coordinator_log

WRITTEN = COUNT - IN_JOURNAL
BATCH = len(record_batch(SHARDS[0], 0))


def segment(data: Path, base: int, partition: int = 0) -> Path:
    return data / str(SHARDS[partition]) / f"{base:020d}.log"


def flip(path: Path, *positions: int) -> None:
    content = bytearray(path.read_bytes())
    for position in positions:
        content[position] ^= 1
    path.write_bytes(content)


def kinds(report: Report) -> list[tuple[str, int, str]]:
    return [(Path(each.path).name, each.position, each.kind) for each in report.damage]


def read(data: Path) -> list[list[bytes | None]]:
    store = open_store(data)
    try:
        return [values(store.read(each, 0)) for each in SHARDS]
    finally:
        store.close()


def tree(data: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in data.rglob("*") if path.is_file()}


def test_a_killed_server_leaves_no_damage(data: Path) -> None:
    """And looking changes nothing."""
    before = tree(data)
    report = check(str(data))

    assert report.damage == []
    assert not report.is_served
    assert report.files == len(
        [path for path in data.rglob("*") if path.is_file() and path.suffix != ".marks" and path.name != ".lock"]
    )
    assert report.records == 4 + 2 * WRITTEN
    assert tree(data) == before


def test_the_template_has_all_there_is(data: Path) -> None:
    """Else the tests around it would prove little."""
    names = {path.name for path in data.rglob("*")}
    assert {segment(data, base).name for base in BEGINS} <= names
    assert {f"{0:020d}.marks", "manifest.json", "meta.properties"} <= names
    assert read(data) == [expected(each) for each in SHARDS]


Damage = Callable[[Path], object]
CASES: list[tuple[str, Damage, list[tuple[str, int, str]]]] = [
    (
        "a segment that history needs",
        lambda data: flip(segment(data, 4), BATCH + 70),
        [(f"{4:020d}.log", BATCH, "segment")],
    ),
    ("the active segment", lambda data: flip(segment(data, 7), 70), [(f"{7:020d}.log", 0, "segment")]),
    (
        "two places",
        lambda data: flip(segment(data, 4), 70, 2 * BATCH + 70),
        [(f"{4:020d}.log", 0, "segment"), (f"{4:020d}.log", 2 * BATCH, "segment")],
    ),
    ("what a layer stands for", lambda data: flip(segment(data, 2), 70), [(f"{2:020d}.log", 0, "history")]),
    ("a segment that is gone", lambda data: segment(data, 4).unlink(), [(f"{2:020d}.log", 2 * BATCH, "segment")]),
    ("the layer", lambda data: flip(next(data.rglob("layer-*/*.log")), 70), [(f"{0:020d}.log", 0, "layer")]),
    ("the checkpoint", lambda data: flip(next(data.rglob("groups.data")), 3), [("groups.data", 0, "checkpoint")]),
    ("the manifest", lambda data: flip(next(data.rglob("manifest.json")), 3), [("manifest.json", 0, "layer")]),
    ("meta.properties", lambda data: flip(data / "meta.properties", 8), [("meta.properties", 0, "meta")]),
    ("login.key", lambda data: (data / "login.key").write_bytes(b"short"), [("login.key", 0, "login key")]),
]


@pytest.mark.parametrize(("damage", "found"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_log_verify_names_file_and_position_of_damage(data: Path, damage: Damage, found: list[tuple[str, int, str]]) -> None:
    """By file and position, with what it means and what to do."""
    damage(data)
    report = check(str(data))

    assert [each for each in kinds(report) if each[2] != "start"] == found
    assert all(each.means and each.action for each in report.damage)


def test_a_damaged_batch_in_a_layer_that_is_as_its_manifest_says_is_told(data: Path) -> None:
    """Compaction wrote what was damaged in its memory, and the checksum of that."""
    layer = open_layer(data / str(SHARDS[0]), layer_offsets(data / str(SHARDS[0]))[0])
    batches = list(layer.read())
    shutil.rmtree(layer.path)
    with LayerAttempt(layer.path.parent, layer.to_offset) as attempt:
        for each in batches:
            attempt.append(read_header(each).base_offset, each[:-1], bytes([each[-1] ^ 1]))
        publish(attempt.finish(LayerSummary(0, 0, None, ""), ()), layer.path.parent, layer.to_offset)

    found = [(damage.kind, damage.position) for damage in check(str(data)).damage]
    assert found[0] == ("layer", 0)


@pytest.mark.parametrize(("name", "position", "told"), [(DATA, 5, 4), (INDEX, 20, 0), (REST, 70, 0)])
def test_damage_to_a_checkpoint_is_told(data: Path, name: str, position: int, told: int) -> None:
    """Of a block, with where it begins; the layer is as good as it was."""
    layer = open_layer(data / str(SHARDS[0]), layer_offsets(data / str(SHARDS[0]))[0])
    batches = list(layer.read())
    shutil.rmtree(layer.path)
    with LayerAttempt(layer.path.parent, layer.to_offset) as attempt:
        for each in batches:
            attempt.append(read_header(each).base_offset, each)
        attempt.close()
        attempt.add_checkpoint(in_order(Block(group, b"abcd", 1, (0, -1)) for group in ("g", "h")), batches[:1])
        publish(attempt.finish(LayerSummary(0, 0, None, ""), ()), layer.path.parent, layer.to_offset)
    assert check(str(data)).damage == []

    flip(layer.path / name, position)

    assert kinds(check(str(data))) == [(name, told, "checkpoint")]


def test_a_damaged_frame_before_others(data: Path) -> None:
    """The journal's file, and where in it the frame begins."""
    path = next(path for path in data.rglob("*.journal") if b"jFrm" in path.read_bytes())
    position = path.read_bytes().find(b"jFrm")
    flip(path, position + 40, position + 41)

    assert kinds(check(str(data)))[0] == (path.name, position, "journal")


def test_a_bit_of_a_frame_is_put_right(data: Path) -> None:
    """Its checksum tells which it is: that is worth a note."""
    path = next(path for path in data.rglob("*.journal") if b"jFrm" in path.read_bytes())
    flip(path, path.read_bytes().find(b"jFrm") + 40)
    report = check(str(data))

    assert report.damage == []
    assert [note.path for note in report.notes] == [str(path)]
    assert read(data) == [expected(each) for each in SHARDS]


def test_damage_that_only_a_start_finds(data: Path) -> None:
    """A start is tried on a copy in memory."""
    for path in data.rglob("*.journal"):
        content = path.read_bytes()
        path.write_bytes(content[:512] + bytes(len(content) - 512))
    os.truncate(segment(data, 7), BATCH)
    report = check(str(data))

    assert report.damage
    with pytest.raises(DamagedLog):
        read(data)


def test_log_verify_finds_records_that_cannot_be_decoded(tmp_path: Path) -> None:
    """Its checksum holds, but nobody can read it."""
    builder = BatchBuilder(0, 0)
    builder.append(b"\0\1 an offset's key that ends too soon", b"")
    store = open_store(tmp_path)
    store.submit([Append(SHARDS[0], 0, 0, builder.finish())], lambda _error: None)
    store.close()

    assert (f"{0:020d}.log", 0, "record") in kinds(check(str(tmp_path)))


def test_what_a_crash_leaves_is_noted(data: Path) -> None:
    """It needs nobody's attention."""
    (data / str(SHARDS[0]) / ".layer-attempt-1").mkdir()
    flip(segment(data, 0).with_suffix(".marks"), 30)
    with segment(data, 7).open("ab") as file:
        file.write(bytes(1000))
    report = check(str(data))

    assert report.damage == []
    assert {Path(note.path).name for note in report.notes} == {".layer-attempt-1", f"{0:020d}.marks", f"{7:020d}.log"}
    assert read(data) == [expected(each) for each in SHARDS]


def test_beside_a_running_server(data: Path) -> None:
    """The open end is the server's; everything before it is checked."""
    store = open_store(data)
    report = check(str(data))
    assert report.is_served
    assert report.damage == []
    flip(segment(data, 4), 70)

    assert kinds(check(str(data))) == [(f"{4:020d}.log", 0, "segment")]
    with pytest.raises(LogError, match="a server runs"):
        salvage(str(data), str(data.with_name("out")))
    store.close()


def test_what_a_start_does_not_need_does_not_stop_it(data: Path) -> None:
    """The records of a layer whose checkpoint is whole, and the segments before it."""
    for base in (0, 2):
        segment(data, base).unlink()
    flip(next(data.rglob("layer-*/[0-9]*.log")), 70)
    report = check(str(data))
    store = open_store(data)
    checkpoint = store.checkpoint(SHARDS[0])
    assert checkpoint is not None
    tail = values(store.read(SHARDS[0], checkpoint.to_offset))
    checkpoint.close()
    store.close()

    assert tail == expected(SHARDS[0])[checkpoint.to_offset :]
    assert [each.kind for each in report.damage] == ["layer", "not needed"]
    assert not any("does not start" in each.means for each in report.damage)


def test_no_data_directory(tmp_path: Path) -> None:
    """A path that was mistyped is not a log that is whole."""
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(LogError, match="no data directory"):
            check(str(path))


def salvaged(data: Path) -> tuple[list[list[bytes | None]], list[Hole]]:
    """What the new directory holds, and what is said to be missing."""
    out = data.with_name("saved")
    before = tree(data)
    report = salvage(str(data), str(out))
    assert tree(data) == before
    assert check(str(out)).damage == []
    return read(out), report.holes


def without(*offsets: int) -> list[bytes | None]:
    return [value for offset, value in enumerate(expected(SHARDS[0])) if offset not in offsets]


def test_salvage_of_an_undamaged_directory_starts(data: Path) -> None:
    """A copy that starts, with everything; identity included."""
    assert salvaged(data) == ([expected(each) for each in SHARDS], [])
    assert (data.with_name("saved") / "meta.properties").read_bytes() == (data / "meta.properties").read_bytes()


def test_salvage_leaves_out_what_is_damaged(data: Path) -> None:
    """Every other record keeps its offset."""
    shutil.rmtree(data / "journal")
    flip(segment(data, 4), BATCH + 70)
    found, holes = salvaged(data)

    assert found[0] == without(5, *range(WRITTEN, COUNT))
    assert holes == [Hole(str(SHARDS[0]), 5, 6)]
    store = open_store(data.with_name("saved"))
    assert [store.end_offset(each) for each in SHARDS] == [WRITTEN, WRITTEN]
    store.close()


def test_salvage_takes_from_the_layer_what_the_segments_lost(data: Path) -> None:
    """And the other way round."""
    flip(segment(data, 0), 70)
    assert salvaged(data) == ([expected(each) for each in SHARDS], [])
    shutil.rmtree(data.with_name("saved"))
    shutil.copy(segment(data, 2), segment(data, 0).with_suffix(".aside"))
    flip(segment(data, 0), 70)
    flip(next(data.rglob("layer-*/*.log")), 70)
    assert salvaged(data) == ([expected(each) for each in SHARDS], [])


def test_salvage_takes_from_a_damaged_layer_what_nothing_else_has(data: Path) -> None:
    """What is whole in it is better than nothing."""
    shutil.rmtree(data / "journal")
    segment(data, 0).unlink()
    segment(data, 2).unlink()
    flip(next(data.rglob("layer-*/*.log")), 2 * BATCH + 70)

    found, holes = salvaged(data)
    assert found[0] == without(2, *range(WRITTEN, COUNT))
    assert holes == [Hole(str(SHARDS[0]), 2, 3)]


def test_salvage_takes_from_the_journal_what_the_segments_lost(data: Path) -> None:
    """Also what is in frames of an earlier use: its own checksum and its offset say what it is."""
    os.truncate(segment(data, 7), 0)
    flip(segment(data, 4), BATCH + 70)

    assert salvaged(data) == ([expected(each) for each in SHARDS], [])


def test_salvage_reads_the_end_of_a_shard_from_the_journal_head(data: Path) -> None:
    """The journal's head says how far the shard went: offsets that were given out are not given out again."""
    os.truncate(segment(data, 7), 0)
    for path in data.rglob("*.journal"):
        content = path.read_bytes()
        path.write_bytes(content[:512] + bytes(len(content) - 512))
    found, holes = salvaged(data)

    assert found[0] == without(*range(7, COUNT))
    assert holes == [Hole(str(SHARDS[0]), 7, COUNT - 5)]


def test_salvage_mends_what_its_place_tells(data: Path) -> None:
    """An offset or a magic that rotted is covered by no checksum, and needs none."""
    flip(segment(data, 4), 6)
    flip(segment(data, 4), BATCH + 16)

    assert salvaged(data) == ([expected(each) for each in SHARDS], [])


def test_salvage_with_a_journal_that_is_gone(data: Path) -> None:
    """What the segments have."""
    shutil.rmtree(data / "journal")
    found, _ = salvaged(data)

    assert found[0] == expected(SHARDS[0])[:WRITTEN]


def test_salvage_needs_an_empty_place_and_an_identity(data: Path) -> None:
    """Nothing is ever written over, and nothing is made up."""
    with pytest.raises(LogError, match="not empty"):
        salvage(str(data), str(data))
    (data / "meta.properties").write_bytes(b"version=1\n")
    with pytest.raises(LogError, match=r"meta\.properties"):
        salvage(str(data), str(data.with_name("saved")))


def test_every_kind_of_finding_has_a_meaning_and_an_action() -> None:
    """And what to do."""
    for kind in (
        "meta",
        "login key",
        "journal",
        "segment",
        "not needed",
        "history",
        "checkpoint",
        "layer",
        "record",
        "unread",
        "start",
    ):
        finding = Finding("file", 0, "why", kind)
        assert finding.means
        assert finding.action


# Which directories are the server's, and what is in them.


def a_record(topic: str) -> Record:
    """Of the log of a kind."""
    batches = coordinator_log(1, 1) if topic == GROUPS.topic else LOGS[topic](1, 1, 0)
    return next(iter(batches)).records[0]


def put(data: Path, name: str, key: bytes | None, value: bytes | None) -> None:
    """A directory like a shard's, with one record."""
    builder = BatchBuilder(0, 0)
    builder.append(key, value)
    (data / name).mkdir()
    (data / name / f"{0:020d}.log").write_bytes(builder.finish())


@pytest.mark.parametrize("topic", KINDS)
def test_records_are_read_as_those_of_their_topic(data: Path, topic: str) -> None:
    """Of each internal topic a record that ends too early is told, and a whole one is none."""
    record = a_record(topic)
    number = count - 1 if (count := partition_counts(Config().log)[topic]) > 1 else 0
    for directory in data.glob(f"{topic}-*"):
        shutil.rmtree(directory)
    key, value = record.key, record.value
    put(data, f"{topic}-{number}", key, value)
    assert [each for each in kinds(check(str(data))) if each[2] == "record"] == []
    shutil.rmtree(data / f"{topic}-{number}")
    put(data, f"{topic}-{number}", key[:-1] if key else None, value[:-1] if value else None)

    [damage] = [each for each in check(str(data)).damage if each.kind == "record"]
    assert "in the batch at offset 0" in damage.why


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("__consumer_offset-3", "__consumer_offset is not a topic of this server"),
        ("__consumer_offsets-50", "__consumer_offsets has 50 partitions, 0 to 49"),
        ("__cluster_metadata-1", "__cluster_metadata has 1 partitions, 0 to 0"),
    ],
)
def test_a_log_that_no_server_would_read_is_told(data: Path, name: str, why: str) -> None:
    """A copy that was put back under a wrong name would be missing, and all would seem to be well."""
    put(data, name, b"\0\2", b"")
    report = check(str(data))

    [told] = [each for each in report.damage if each.kind == "unread"]
    assert (told.path, told.why) == (str(data / name), why)


def test_a_topic_that_only_the_journal_has_is_told(tmp_path: Path) -> None:
    """A newer server was killed before its directory had anything."""
    store = open_store(tmp_path / "data")
    shard = ShardId("__queue", 4)
    store.submit([Append(shard, 0, 0, record_batch(shard, 0))], lambda _error: None)
    data = Path(shutil.copytree(tmp_path / "data", tmp_path / "copy"))
    store.close()
    shutil.rmtree(data / str(shard))

    assert kinds(check(str(data))) == [("__queue-4", 0, "unread")]


def test_a_topic_in_use_without_its_number_is_told(data: Path) -> None:
    """No server starts there."""
    (data / "meta.properties").write_bytes(b"version=2\ncluster.id=x\nnode.id=0\n")

    [damage] = check(str(data)).damage
    assert (damage.kind, "offsets.topic.num.partitions=" in damage.why) == ("meta", True)
    with pytest.raises(LogError, match="add the line"):
        open_store(data)


def test_what_only_has_a_name_like_a_shards_is_noted(data: Path) -> None:
    """Directories and files of somebody else, but not the sockets of a server."""
    (data / "backup-2024").mkdir()
    (data / "notes-1").write_bytes(b"call Ada")
    for socket in ("control.sock", "cluster.sock", "loop-3.sock"):
        (data / socket).touch()
    report = check(str(data))

    assert report.damage == []
    assert [(note.path, note.what) for note in report.notes] == [
        (str(data / "backup-2024"), "backup is not a topic of this server; it has no log files"),
        (str(data / "notes-1"), "not a file of the log"),
    ]


def test_a_kind_of_a_newer_version_is_known_by_its_row(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else has to be touched for it to be verified."""
    monkeypatch.setitem(KINDS, "__toy", Kind("__toy", GROUPS.serde, 7))
    put(data, "__toy-6", b"\0\2", None)
    put(data, "__toy-7", b"\0\2\0\0", None)

    assert kinds(check(str(data))) == [(f"{0:020d}.log", 0, "record"), ("__toy-7", 0, "unread")]
