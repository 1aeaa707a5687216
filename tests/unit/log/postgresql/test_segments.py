"""Rows that are kept move to an object store: readers find the same, whatever is moved meanwhile and wherever a process dies."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.log.jobs import JobShard
from coordinator_server.log.opening import input_file, job_shard
from coordinator_server.log.postgresql import moves
from coordinator_server.log.postgresql.address import Address
from coordinator_server.log.postgresql.job_log import JobLog
from coordinator_server.log.postgresql.job_shard import PostgresqlJobShard
from coordinator_server.log.postgresql.objects import Objects
from coordinator_server.log.postgresql.removal import Removal
from coordinator_server.log.postgresql.segments import kept_rows, read_kept
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import FOREVER, History
from coordinator_server.log.store_paths import split_path
from coordinator_server.pipeline.files.store import pull
from tests.support.eventually import eventually
from tests.support.job_subjects import SHARD, PostgresqlDatabase
from tests.support.log import values
from tests.support.moved_history import MOVED, SHARDS, folders, segments, whole
from tests.support.stored_layers import LATER, LONG, NOW, OTHER, append, keep_in, log_of, publish, remove, reopened, rows


def test_history_moves_and_readers_find_the_same(subject: PostgresqlDatabase, files: Objects, tmp_path: Path) -> None:
    """Jobs, a backup, a copy in a directory, and a node."""
    job = job_shard(subject.path / str(SHARD))
    before = whole(subject), [saved(job, history) for history in (True, False)], pulled(subject, tmp_path / "before")

    moved = remove(subject, MOVED, LATER)

    assert {(each.shard, tuple(each.moved), tuple(each.segments)) for each in moved} == {
        (shard, (0, 2, 4), ()) for shard in SHARDS
    }
    assert rows(subject) == [(3, 6)]
    assert segments(subject) == [(0, 2), (2, 4), (4, 6)]
    assert len(folders(subject, files)) == 6
    assert (whole(subject), [saved(job, history) for history in (True, False)]) == before[:2]
    assert pulled(subject, tmp_path / "after") == before[2]
    assert job.sealed_to(5) == 4
    assert list(job.segment_sizes()) == [f"{base:020d}.log" for base in (0, 2, 4, 6)]
    assert sum(job.segment_sizes().values()) == len(before[0])
    store = reopened(subject, 1)
    assert values(store.read(SHARD, 0)) == [b"2", b"6"]
    for at in range(7):
        assert values(store.read(OTHER, at)) == [b"%d" % each for each in range(at, 7)]
    # Nothing is left to do.
    assert not remove(subject, MOVED, LATER)


def saved(job: JobShard, with_history: bool) -> dict[str, bytes]:
    """What a backup has of a shard: layers, and the records of segments, which may be cut elsewhere."""
    found = {each.entry.name: each.read() for each in job.saved(7, {}, with_history=with_history)}
    return {name: data for name, data in found.items() if "/layer-" in name} | {
        "": b"".join(found[name] for name in sorted(found) if "/layer-" not in name)
    }


def pulled(subject: PostgresqlDatabase, directory: Path) -> str:
    return pull(Address(log_of(subject)._address.url), directory, node_id=1).digest


@pytest.mark.parametrize(
    "history", [LONG, History(FOREVER), History(FOREVER, local_ms=10**13), History(FOREVER, local_bytes=1 << 20)]
)
def test_what_is_young_enough_stays(subject: PostgresqlDatabase, files: Objects, history: History) -> None:
    assert not [each for each in remove(subject, history, NOW + 10**12) if each.moved]
    assert len(rows(subject)) == 7
    assert folders(subject, files) == []


def test_what_is_much_moves(subject: PostgresqlDatabase, files: Objects) -> None:
    """And eras are closed so much earlier that they can."""
    [size, *_] = [row["size"] for row in subject.node.sql("SELECT octet_length(data) AS size FROM log LIMIT 1")]
    remove(subject, History(FOREVER, local_bytes=2 * size), NOW)
    assert segments(subject) == [(0, 2), (2, 4)]
    append(subject, 1)
    assert [era for era, _ in rows(subject)] == [2, 2, 3, 4]
    remove(subject, History(FOREVER, local_ms=4), NOW + 1)
    remove(subject, History(FOREVER, local_ms=4), NOW + 1)
    append(subject, 1)
    assert [era for era, _ in rows(subject)] == [2, 2, 3, 4, 5]


def test_a_check_moves_for_a_while(subject: PostgresqlDatabase, files: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the next one goes on: nobody compacts meanwhile."""
    before = whole(subject)
    monkeypatch.setattr(moves, "MOVING_S", 0.0)
    monkeypatch.setattr(moves, "SEGMENT_BYTES", 1)
    counts = []
    for _ in range(12):
        remove(subject, MOVED, LATER)
        counts.append(len(folders(subject, files)))

    assert counts == list(range(1, 13))
    remove(subject, MOVED, LATER)
    assert (rows(subject), segments(subject)) == ([(3, 6)], [(each, each + 1) for each in range(6)])
    assert whole(subject) == before


def test_nothing_moves_without_an_object_store_or_a_layer(subject: PostgresqlDatabase, tmp_path: Path) -> None:
    for _ in range(2):
        append(subject, 1)
        remove(subject, LONG, NOW)
        remove(subject, LONG, NOW + LONG.history_ms // 4)
    assert publish(subject, 2)
    remove(subject, MOVED, LATER)
    assert len(rows(subject)) == 2

    subject.node.sql("DELETE FROM layer")
    keep_in(subject, f"file://{tmp_path}/objects")
    remove(subject, MOVED, LATER)
    assert len(rows(subject)) == 2


def test_history_that_is_not_kept_any_more_goes_from_there(subject: PostgresqlDatabase, files: Objects) -> None:
    """With the layer before it, as if it were here. Rows that are not kept do not move first."""
    remove(subject, MOVED, LATER)
    for shard in SHARDS:
        append(subject, 1, shard)
        assert publish(subject, 8, shard, b"new")

    removed = remove(subject, History(1, local_ms=0), LATER)

    assert {(each.shard, tuple(each.segments), tuple(each.moved)) for each in removed if each.segments} == {
        (shard, (0, 2, 4), ()) for shard in SHARDS
    }
    assert segments(subject) == []
    assert folders(subject, files) == []
    layer, found = job_shard(subject.path / str(SHARD)).whole(8)
    assert layer is not None
    assert (layer.to_offset, [each.begin for each in found if each.is_dense]) == (6, [6])


def test_readers_that_began_before_go_on(subject: PostgresqlDatabase, files: Objects) -> None:
    """A plan of files, a fetch, and a snapshot: each has rows, or the segment that they are in."""
    job = job_shard(subject.path / str(SHARD))
    before = whole(subject)
    _, planned = job.whole(7)
    log_of(subject).copies.keep_only(SHARD, None)
    fetched = subject.node.store.read(OTHER, 0)
    assert next(fetched)
    node = subject.node

    async def snapshot() -> list[int]:
        async with node.store._loading.snapshot() as read:
            await read("SELECT 1")
            with pytest.raises(AssertionError):
                # It waits for who reads: the files are written, and the rows are there.
                await node.loop.run_in_executor(None, lambda: _all_moved(subject))
            return [
                row.base_offset async for row in kept_rows(read, node.store._loads._segments, SHARD, node.store.sids[SHARD], 0, 7)
            ]

    assert node.loop.run_until_complete(snapshot()) == list(range(7))
    assert (len(rows(subject)), segments(subject)) == (7, [(0, 2)])
    assert whole(subject) == before
    _all_moved(subject)

    assert b"".join(input_file(each.path).read_bytes() for each in planned) == before
    assert values(fetched) == [b"%d" % each for each in range(1, 7)]


def _all_moved(subject: PostgresqlDatabase) -> None:
    remove(subject, MOVED, LATER)
    assert len(rows(subject)) == 1


def test_readers_find_all_of_it_while_it_is_moved(subject: PostgresqlDatabase, tmp_path: Path) -> None:
    """Again and again, by a plan of files and row by row, from a process of their own."""
    keep_in(subject, f"file://{tmp_path}/objects")
    log, sid = JobLog(split_path(subject.path)[0]), subject.node.store.sids[SHARD]
    job, stop, ends = PostgresqlJobShard(log, SHARD), threading.Event(), list[int]()

    def read() -> None:
        while not stop.is_set():
            end = job.sealed_to()
            layer, planned = job.whole(end)
            files = b"".join(job.bring(Path(each.path).name).read_bytes() for each in planned)
            by_rows = b"".join(row.data for row in read_kept(log.reader, log.segments, SHARD, sid, 0, end))
            assert layer is None
            assert values([files]) == values([by_rows]) == [b"%d" % each for each in range(end)]
            ends.append(end)
            log.copies.keep_only(SHARD, None)

    with closing(log), ThreadPoolExecutor(1) as threads:
        reading = threads.submit(read)
        for number in range(8):
            assert publish(subject, append(subject, 2))
            # A check that meets the reader moves nothing: the next one does.
            remove(subject, MOVED, NOW + number)
        eventually(lambda: len(ends) > 3 or reading.done())
        stop.set()
        reading.result()
    assert len(segments(subject)) > 3
    assert len(set(ends)) > 1


@pytest.mark.parametrize(("shard", "moved"), [(SHARD, [(0, 2), (2, 4), (4, 6), (6, 7)]), (ShardId(SHARD.topic, 9), [(0, 1)])])
def test_a_row_that_came_late_moves_too(
    subject: PostgresqlDatabase, files: Objects, monkeypatch: pytest.MonkeyPatch, shard: ShardId, moved: list[tuple[int, int]]
) -> None:
    """It is found under the lock, and is a segment of its own; also the only one that its shard has in the era."""
    end, empty, sid = moved[-1][1], Removal._empty, subject.node.store.sids[shard]
    append(subject, end - subject.node.store.end_offset(shard), shard)
    assert publish(subject, end, shard)
    before = whole(subject, shard)

    def late(self: Removal, *arguments: Any) -> bool:
        subject.node.sql("UPDATE log SET era = 2 WHERE sid = $1 AND era = 3", sid)
        return empty(self, *arguments)

    with monkeypatch.context() as context:
        context.setattr(Removal, "_empty", late)
        remove(subject, MOVED, LATER)
    assert {row["era"] for row in subject.node.sql("SELECT era FROM log WHERE sid = $1", sid)} == {2}
    remove(subject, MOVED, LATER)

    assert segments(subject, shard) == moved
    assert whole(subject, shard) == before
    assert values(reopened(subject, 1, shard).read(shard, 0)) == [b"kept"]


def test_a_reader_comes_back_to_where_it_was(
    subject: PostgresqlDatabase, files: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file is brought once, and not read from its beginning each time."""
    remove(subject, MOVED, LATER)
    log, sid = log_of(subject), subject.node.store.sids[SHARD]
    monkeypatch.setattr("coordinator_server.log.postgresql.segments._ROW_BYTES", 1)
    brought: list[int] = []
    read = Objects.read

    def counted(self: Objects, folder: str, name: str) -> Any:
        brought.append(int(name[:20]))
        return read(self, folder, name)

    monkeypatch.setattr(Objects, "read", counted)
    copied = [log.reader.run(lambda session: log.segments.copy(session.read, SHARD, sid, at)) for at in (0, 1, 0)]  # noqa: B023
    assert brought == [0]
    stored = copied[0]
    assert stored is not None
    for begin in (0, 1, 1, 0):
        assert [row.base_offset for row in log.segments.rows(SHARD, stored, begin, 2)] == list(range(begin, 2))
        assert [offset for offset, _ in log.segments._last.values()] == [1]
    assert [row.base_offset for row in log.segments.rows(SHARD, stored, 0, 1)] == [0]
