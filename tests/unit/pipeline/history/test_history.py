"""The history: columns and single records say the same; every record is there once, whatever is interrupted."""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import InputFile
from coordinator_server.log.layers.layer import newest_valid_layer
from coordinator_server.log.storage import LocalStorage
from coordinator_server.machine.provenance import (
    Attribution,
    Origin,
    Reason,
    because,
    operation_headers,
    read_provenance,
    request_origin,
)
from coordinator_server.offsets.attribution import speaking_for
from coordinator_server.pipeline.compact.run import compact, plans, run_python
from coordinator_server.pipeline.errors import Busy, CannotRun, PipelineError
from coordinator_server.pipeline.history import extract, output
from coordinator_server.pipeline.history import run as job
from coordinator_server.pipeline.history.extract import tables_of
from coordinator_server.pipeline.history.new_records import Gap, new_records
from coordinator_server.pipeline.history.rows import UNKNOWN, operation_of
from coordinator_server.pipeline.history.tables import SCHEMAS
from coordinator_server.pipeline.input.columns import Irregular
from coordinator_server.pipeline.input.topic_names import NO_NAMES
from coordinator_server.pipeline.progress import Progress
from protocol.batch_builder import BatchBuilder
from protocol.codec import encode
from protocol.control_records import end_transaction_marker
from protocol.messages.group_records import OffsetCommitValue
from protocol.record_batch import Record, read_headers
from tests.support.segments import (
    START_MS,
    Batch,
    append_segments,
    coordinator_log,
    group_key,
    group_value,
    offset_key,
    offset_value,
    write_meta,
    write_segments,
)

CLUSTER = "AAAAAAAAAAAAAAAAAAAAAQ"
ORIGIN = request_origin(8, 9, "client-1", "10.0.0.7", "User:jo")
NOTHING_SAID = Attribution(0, b"")
BY_REQUEST = operation_headers(ORIGIN, speaking_for("member-1", None))
AN_INSTANCE = speaking_for("", "instance-1")
assert AN_INSTANCE is not None
BY_LEAVING = operation_headers(ORIGIN, AN_INSTANCE.followed_by(because(Reason("member-left", "member-1", "bye"))))


def headers(encoded: bytes) -> tuple[tuple[str, bytes | None], ...]:
    return read_headers(encoded, 0, len(encoded))[0]


def value_4(offset: int, metadata: str, topic_id: bytes = bytes(16)) -> bytes:
    return struct.pack(">h", 4) + encode(OffsetCommitValue(offset, 7, metadata, START_MS + 5, -1, topic_id), 4)


def mixed_log(seed: int, batches: int = 60) -> Iterator[Batch]:
    """Every version and length of what a plain log holds, with and without provenance."""
    rng = random.Random(seed)
    offset, now = 0, START_MS
    for number in range(batches):
        records = []
        for _ in range(rng.randint(1, 12)):
            group, topic = rng.choice(("g", "", "zażółć" * 20)), rng.choice(("orders", "", "t" * 249))
            metadata = rng.choice(("", "note", "x" * 126, "y" * 127, "z" * 128, "ü" * 3000))
            key = offset_key(group, topic, rng.choice((0, 1, 2**31 - 1)))
            expiring = struct.pack(">hq", 1, 5) + struct.pack(">h", 0) + struct.pack(">qq", START_MS, START_MS + 9)
            key, value = rng.choice(
                [
                    (key, offset_value(offset, metadata)),
                    (key, value_4(offset, metadata)),
                    (key, value_4(2**63 - 1, metadata, rng.randbytes(16))),
                    (key, expiring),
                    (key, None),
                    (group_key(group), group_value(number, ["client-1-000001"])),
                    (group_key(group), None),
                    (struct.pack(">h", 99) + b"other", b"\0\0what"),
                ]
            )
            who = rng.choice([(), (), headers(BY_REQUEST), headers(BY_LEAVING), (("theirs", None),)])
            records.append(Record(offset, now, key, value, who))
            offset += 1
            now += rng.choice((0, 0, 1))
        yield Batch(tuple(records))


def both_ways(path: Path, end: int, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    source = InputFile(str(path), 0, end, is_dense=True)
    quick = rows_of([tables for _, tables in tables_of(3, source, end, NO_NAMES)])
    with monkeypatch.context() as patch:
        patch.setattr(extract, "columns_of", refuse)
        pieces = list(tables_of(3, source, end, NO_NAMES))
    assert sum(count for count, _ in pieces) == end
    return quick, rows_of([tables for _, tables in pieces])


def refuse(*_: object) -> Any:
    raise Irregular("as if")


def rows_of(pieces: list[dict[str, pa.Table]]) -> dict[str, list[Any]]:
    """Every table's rows in the order of the log."""
    whole = {name: pa.concat_tables([piece[name] for piece in pieces]) for name in SCHEMAS}
    assert all(whole[name].schema == SCHEMAS[name] for name in SCHEMAS)
    return {name: sorted(table.to_pylist(), key=lambda row: row["log_offset"]) for name, table in whole.items()}


@pytest.mark.parametrize("seed", range(12))
def test_columns_say_what_single_records_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """The quick reader against the reference, over everything that a plain log may hold."""
    end = write_segments(tmp_path, mixed_log(seed), 1)
    monkeypatch.setattr(extract, "ROWS_AT_ONCE", 50)

    quick, slow = both_ways(tmp_path / f"{0:020d}.log", end, monkeypatch)

    assert quick == slow
    assert all(quick[name] for name in SCHEMAS if name in {"commits", "generations", "deletions"})


def test_commits_and_tombstones_of_offsets_are_read_as_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the lengths of their fields: nearly all records of a log are such,
    and one by one they take a hundred times as long.
    """
    key = offset_key("g", "orders", 0)
    values = [
        value
        for length in (0, 1, 7, 8, 126, 127, 128, 200, 3000)
        for value in (
            offset_value(5, "m" * length),
            value_4(5, "m" * length),
            value_4(5, "m" * length, bytes(range(16))),
        )
    ]
    records = [Record(number, START_MS, key, value) for number, value in enumerate([*values, None])]
    end = write_segments(tmp_path, [Batch(tuple(records))], 1)
    monkeypatch.setattr(extract, "add_rows", refuse)

    [(count, tables)] = tables_of(3, InputFile(str(tmp_path / f"{0:020d}.log"), 0, end, is_dense=True), end, NO_NAMES)

    assert (count, len(tables["commits"]), len(tables["deletions"])) == (end, end - 1, 1)


@pytest.mark.parametrize("origin", [ORIGIN, request_origin(8, 9, "", "", "User:jo")])
def test_what_a_request_says_of_its_client_is_in_the_rows(origin: Origin) -> None:
    """Nothing rather than an empty text."""
    found = operation_of(read_provenance(headers(operation_headers(origin, NOTHING_SAID))))

    assert found.who == {
        "operation": "OffsetCommit v9",
        "principal": "User:jo",
        "client_id": "client-1" if origin is ORIGIN else None,
        "client_host": "10.0.0.7" if origin is ORIGIN else None,
        "by_member_id": None,
        "by_instance_id": None,
    }
    assert found.reasons == []
    assert operation_of(None) == UNKNOWN


def test_who_and_why_belong_to_the_whole_operation_and_to_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows in the batch shares the provenance; the next batch does not."""
    first = (
        Record(0, START_MS, offset_key("g", "t", 0), value_4(5, ""), headers(BY_REQUEST)),
        Record(1, START_MS, offset_key("g", "t", 1), value_4(6, "")),
        Record(2, START_MS, group_key("g"), None, headers(BY_LEAVING)),
    )
    second = (Record(3, START_MS, offset_key("g", "t", 0), value_4(7, "")),)
    write_segments(tmp_path, [Batch(first), Batch(second)], 1)

    quick, slow = both_ways(tmp_path / f"{0:020d}.log", 4, monkeypatch)

    assert quick == slow
    assert [row["by_member_id"] for row in quick["commits"]] == ["member-1", "member-1", None]
    assert [row["principal"] for row in quick["commits"]] == ["User:jo", "User:jo", None]
    [deleted] = quick["deletions"]
    assert deleted["reasons"] == [{"why": "member-left", "whom": "member-1", "said": "bye"}]
    assert (deleted["by_instance_id"], deleted["topic"]) == ("instance-1", None)


def test_a_generation_with_its_members_and_assignments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One row for the generation, one for each member, one for each partition that somebody owns."""
    record = Record(0, START_MS, group_key("g"), group_value(4, ["a-1-000001", "b-1-000002"]))
    write_segments(tmp_path, [Batch((record,))], 1)

    quick, _ = both_ways(tmp_path / f"{0:020d}.log", 1, monkeypatch)

    [generation] = quick["generations"]
    assert (generation["generation"], generation["members"], generation["leader"]) == (4, 2, "a-1-000001")
    assert [(row["member_id"], row["topics"]) for row in quick["members"]] == [
        ("a-1-000001", ["orders"]),
        ("b-1-000002", ["orders"]),
    ]
    assert [(row["member_id"], row["topic"], row["partition"]) for row in quick["assignments"]] == [
        ("a-1-000001", "orders", 0),
        ("b-1-000002", "orders", 1),
    ]


def test_commits_of_a_transaction_name_their_producer_and_its_end_is_told(tmp_path: Path) -> None:
    """A file with such batches is read record by record."""
    commit = BatchBuilder(0, START_MS, producer_id=9, producer_epoch=2, attributes=0x10)
    commit.append(offset_key("g", "t", 0), value_4(5, ""))
    marker = BatchBuilder(1, START_MS, producer_id=9, producer_epoch=2, attributes=0x30)
    marker.append(*end_transaction_marker(True, 0))
    path = tmp_path / f"{0:020d}.log"
    path.write_bytes(commit.finish() + marker.finish())

    found = rows_of([tables for _, tables in tables_of(0, InputFile(str(path), 0, 2, is_dense=True), 2, NO_NAMES)])

    assert [row["producer_id"] for row in found["commits"]] == [9]
    assert [(row["producer_id"], row["producer_epoch"], row["outcome"]) for row in found["markers"]] == [(9, 2, "committed")]


# --- runs


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    directory = tmp_path / "data"
    directory.mkdir()
    write_meta(directory)
    for number in (0, 7, 13):
        write_segments(directory / f"__consumer_offsets-{number}", coordinator_log(number, 40))
    return directory


def sealed(data_dir: Path) -> dict[str, int]:
    return {path.name: max(int(each.stem) for each in path.glob("*.log")) for path in data_dir.glob("__consumer_offsets-*")}


def bring_up_to_date(data_dir: Path, out: Path, cluster_id: str = CLUSTER, tasks: int = 1) -> job.HistoryResult:
    with output.open_output(out, cluster_id) as opened:
        found = new_records(data_dir, sealed(data_dir), opened.positions)
        return job.write_history(found, opened, job.run_here, Progress(), tasks)


def tables_in(out: Path) -> dict[str, list[Any]]:
    found = {}
    for name in SCHEMAS:
        files = sorted((out / name).rglob("*.parquet"))
        rows = [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
        found[name] = sorted(rows, key=lambda row: (row["shard"], row["log_offset"], str(row)))
    return found


def grow(data_dir: Path) -> None:
    for number in (0, 7):
        shard = data_dir / f"__consumer_offsets-{number}"
        append_segments(shard, coordinator_log(100 + number, 20, first_offset=sealed(data_dir)[shard.name]))


def test_a_run_adds_what_is_new_and_nothing_twice(data_dir: Path, tmp_path: Path) -> None:
    """Two runs with a log that grew between them say what one run over all of it says."""
    bring_up_to_date(data_dir, tmp_path / "twice", tasks=4)
    again = bring_up_to_date(data_dir, tmp_path / "twice")
    grow(data_dir)
    bring_up_to_date(data_dir, tmp_path / "twice")
    bring_up_to_date(data_dir, tmp_path / "once")

    assert again.files == 0
    assert tables_in(tmp_path / "twice") == tables_in(tmp_path / "once")
    assert len(tables_in(tmp_path / "once")["commits"]) > 1000


def test_tables_are_cut_by_shard_group_and_day(data_dir: Path, tmp_path: Path) -> None:
    """Where a reader with a filter need not look."""
    bring_up_to_date(data_dir, tmp_path / "out")

    groups = {path.name for path in (tmp_path / "out" / "commits").iterdir()}

    assert groups == {"shard_group=0", "shard_group=1"}
    for path in (tmp_path / "out" / "commits").rglob("*.parquet"):
        days = {f"day={row['time']:%Y-%m-%d}" for row in pq.ParquetFile(path).read().to_pylist()}
        assert days == {path.parent.name}


def test_a_run_that_dies_before_its_run_file_has_done_nothing(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files are gone, and the next run reads the same again."""
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(output, "replace_file", die)
        with pytest.raises(OSError, match="died"):
            bring_up_to_date(data_dir, out)
    assert not list(out.rglob("*.parquet"))

    bring_up_to_date(data_dir, out)
    bring_up_to_date(data_dir, tmp_path / "whole")

    assert tables_in(out) == tables_in(tmp_path / "whole")


def test_a_task_that_is_done_twice_counts_once(data_dir: Path, tmp_path: Path) -> None:
    """A task that was given up for lost goes on writing beside the one that replaced it: what it writes is nobody's."""

    def run_twice(tasks: Sequence[job.HistoryTask], progress: Progress) -> Iterator[tuple[output.TableFile, ...]]:
        for task in tasks:
            first, _ = job.write_task(task)
            second, _ = job.write_task(task)
            for path in Path(task.attempt, first[0].part).rglob("*.parquet"):
                path.write_bytes(b"half of it")
            assert [file.path for file in first] == [file.path for file in second]
            yield second

    with output.open_output(tmp_path / "out", CLUSTER) as opened:
        job.write_history(new_records(data_dir, sealed(data_dir), {}), opened, run_twice, Progress(), 4)
    bring_up_to_date(data_dir, tmp_path / "once")

    assert tables_in(tmp_path / "out") == tables_in(tmp_path / "once")


@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_run_that_dies_after_its_run_file_is_finished_by_the_next(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """However many of its files had their place by then."""
    out = tmp_path / "out"
    left = [after]
    rename = os.rename

    def rename_some(path: str, target: str) -> None:
        if path.endswith(".parquet"):
            left[0] -= 1
            if left[0] < 0:
                die()
        rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", rename_some)
        patch.setattr(output, "discard_tree", lambda *_: None)
        with pytest.raises(OSError, match="died"):
            bring_up_to_date(data_dir, out)

    again = bring_up_to_date(data_dir, out)
    bring_up_to_date(data_dir, tmp_path / "whole")

    assert again.files == 0
    assert tables_in(out) == tables_in(tmp_path / "whole")
    assert not list(out.glob("_attempt-*"))


def test_the_names_of_new_directories_are_durable(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the output itself, too, and of those above it. tests/property/test_history_power_loss.py has all that is in it."""
    synced: set[str] = set()
    sync_dir = LocalStorage.sync_dir

    def note(storage: LocalStorage, path: str) -> None:
        synced.add(path)
        sync_dir(storage, path)

    monkeypatch.setattr(LocalStorage, "sync_dir", note)
    bring_up_to_date(data_dir, tmp_path / "a" / "new" / "out")

    assert synced >= {str(tmp_path), str(tmp_path / "a"), str(tmp_path / "a" / "new")}


def test_a_missing_file_of_a_task_is_an_error(data_dir: Path, tmp_path: Path) -> None:
    """The run adds nothing, and its next try has everything."""

    def lose_one(tasks: Sequence[job.HistoryTask], progress: Progress) -> Iterator[tuple[output.TableFile, ...]]:
        for task in tasks:
            files, _ = job.write_task(task)
            Path(task.attempt, files[0].part, files[0].path).unlink()
            yield files

    with (
        pytest.raises(PipelineError, match="is missing: nothing is added"),
        output.open_output(tmp_path / "out", CLUSTER) as opened,
    ):
        job.write_history(new_records(data_dir, sealed(data_dir), {}), opened, lose_one, Progress(), 1)
    bring_up_to_date(data_dir, tmp_path / "out")
    bring_up_to_date(data_dir, tmp_path / "once")

    assert tables_in(tmp_path / "out") == tables_in(tmp_path / "once")


def test_a_missing_file_of_an_unfinished_run_is_an_error(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next run names it, and does not go on as if the rows were there. Files of a finished run are the reader's to remove."""
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(output, "_finish", lambda *_: die())
        patch.setattr(output, "discard_tree", lambda *_: None)
        with pytest.raises(OSError, match="died"):
            bring_up_to_date(data_dir, out)
    lost = min(out.rglob("*.parquet"))
    content = lost.read_bytes()
    lost.unlink()
    with pytest.raises(CannotRun, match=r"\.parquet of run 1 is missing"):
        bring_up_to_date(data_dir, out)
    lost.write_bytes(content)
    bring_up_to_date(data_dir, out)
    bring_up_to_date(data_dir, tmp_path / "once")

    assert tables_in(out) == tables_in(tmp_path / "once")
    min(out.rglob("*.parquet")).unlink()
    bring_up_to_date(data_dir, out)


def test_what_retention_took_is_read_from_the_layer_and_told(data_dir: Path, tmp_path: Path) -> None:
    """The rows that compaction kept, then everything from the first segment that is left on."""
    shard = data_dir / "__consumer_offsets-7"
    compact(plans(data_dir, sealed(data_dir)), None, run_python, Progress())
    layer = newest_valid_layer(shard)
    first, second, *_ = sorted(shard.glob("*.log"))
    first.unlink()

    result = bring_up_to_date(data_dir, tmp_path / "out")

    assert layer is not None
    assert result.gaps == (Gap(shard.name, 0, int(second.stem)),)
    offsets = [row["log_offset"] for rows in tables_in(tmp_path / "out").values() for row in rows if row["shard"] == 7]
    assert min(offsets) < int(second.stem)
    bring_up_to_date(data_dir, tmp_path / "again")
    assert tables_in(tmp_path / "out") == tables_in(tmp_path / "again")


def test_what_is_gone_altogether_is_an_error(data_dir: Path, tmp_path: Path) -> None:
    """Rather than a history with a hole that nobody knows of."""
    min((data_dir / "__consumer_offsets-7").glob("*.log")).unlink()

    with pytest.raises(CannotRun, match="__consumer_offsets-7: offsets 0 to"):
        bring_up_to_date(data_dir, tmp_path / "out")


def test_the_tables_belong_to_one_cluster_and_one_run(data_dir: Path, tmp_path: Path) -> None:
    """Another cluster's log, and a second run at the same time, are refused."""
    bring_up_to_date(data_dir, tmp_path / "out")

    with pytest.raises(CannotRun, match="choose another --out"):
        bring_up_to_date(data_dir, tmp_path / "out", "another")
    with output.open_output(tmp_path / "out", CLUSTER), pytest.raises(Busy):
        bring_up_to_date(data_dir, tmp_path / "out")


def test_a_damaged_segment_stops_the_run_and_adds_nothing(data_dir: Path, tmp_path: Path) -> None:
    """The error names the file."""
    path = min((data_dir / "__consumer_offsets-7").glob("*.log"))
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)

    with pytest.raises(DamagedLog, match=path.name):
        bring_up_to_date(data_dir, tmp_path / "out")

    assert not list((tmp_path / "out").rglob("*.parquet"))


@pytest.mark.parametrize("value", [b"\0\4\1", b"\0\7" + bytes(30)])
def test_a_record_that_cannot_be_read_stops_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: bytes) -> None:
    """Whichever way the file is read; the error names it."""
    record = Record(0, START_MS, offset_key("g", "t", 0), value)
    end = write_segments(tmp_path, [Batch((record,))], 1)
    source = InputFile(str(tmp_path / f"{0:020d}.log"), 0, end, is_dense=True)

    with pytest.raises(DamagedLog, match="a record that cannot be read"):
        list(tables_of(3, source, end, NO_NAMES))
    monkeypatch.setattr(extract, "columns_of", refuse)
    with pytest.raises(DamagedLog, match="a record that cannot be read"):
        list(tables_of(3, source, end, NO_NAMES))


def test_a_damaged_run_file_stops_the_run(data_dir: Path, tmp_path: Path) -> None:
    """Which rows the tables have is not known."""
    out = tmp_path / "out"
    bring_up_to_date(data_dir, out)
    [path] = (out / output.RUNS).glob("*.json")
    path.write_bytes(path.read_bytes()[:-5])

    with pytest.raises(CannotRun, match=f"{path.name} is damaged .*: put it back from a copy"):
        bring_up_to_date(data_dir, out)


def test_an_attempt_that_a_dead_run_left_goes_with_the_next(data_dir: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    bring_up_to_date(data_dir, out)
    left = out / f"{output.ATTEMPT}dead"
    (left / "part").mkdir(parents=True)

    bring_up_to_date(data_dir, out)

    assert not left.exists()


def test_every_column_is_documented() -> None:
    """docs/history.md has a row for each, and for no other."""
    text = (Path(__file__).parents[4] / "docs" / "history.md").read_text()

    for name, schema in SCHEMAS.items():
        section = text.split(f"### {name}\n", 1)[1].split("\n#", 1)[0]
        documented = [
            word for line in section.splitlines() if line.startswith("| `") for word in line.split("|")[1].split("`")[1::2]
        ]
        assert documented == schema.names, name


def die(*_: object) -> None:
    raise OSError("died")
