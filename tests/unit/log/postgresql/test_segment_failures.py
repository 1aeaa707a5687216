"""What is moved to an object store is neither lost nor left, whoever dies, is fenced, or does not answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.log.errors import DamagedLog, Fenced, LogError, Unavailable
from coordinator_server.log.opening import input_file, job_shard
from coordinator_server.log.postgresql.moves import Moves
from coordinator_server.log.postgresql.objects import Objects, Unanswered
from coordinator_server.log.postgresql.removal import Removal
from coordinator_server.log.postgresql.segments import segments_of
from coordinator_server.log.store import History
from tests.support.job_subjects import SHARD, PostgresqlDatabase
from tests.support.log import values
from tests.support.moved_history import MOVED, SHARDS, folders, segments, whole
from tests.support.stored_layers import LATER, OTHER, append, log_of, publish, remove, reopened, rows


def next_process(subject: PostgresqlDatabase) -> None:
    """Let this process be the next one that has claimed."""
    subject.node.sql("UPDATE upkeep SET term = term + 1")
    log_of(subject).upkeep.term += 1


def test_while_the_object_store_is_away_rows_stay(
    subject: PostgresqlDatabase, files: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What needs no object store is done meanwhile."""
    before = whole(subject)
    with monkeypatch.context() as away:
        away.setattr(Objects, "put", refusing("written"))
        with pytest.raises(Unanswered, match="cannot be written"):
            remove(subject, MOVED, LATER)
        assert len(rows(subject)) == 7
        assert [each.moved for each in told(subject, MOVED)] == []
        for shard in SHARDS:
            assert publish(subject, 7, shard)
        assert {tuple(each.layers) for each in told(subject, MOVED)} == {(6,)}
    remove(subject, MOVED, LATER)
    assert whole(subject) == before

    with monkeypatch.context() as away:
        away.setattr(Objects, "remove", refusing("removed"))
        with pytest.raises(Unanswered, match="cannot be removed"):
            remove(subject, History(0), LATER)
        assert len(folders(subject, files)) == 6
        assert job_shard(subject.path / str(SHARD)).whole(7)[0] is not None
    remove(subject, History(0), LATER)
    # The oldest layer that is left ends at 2.
    assert len(folders(subject, files)) == 4


def refusing(what: str) -> Callable[..., None]:
    def refuse(*_: Any) -> None:
        raise Unanswered(f"s3://bucket cannot be {what}: timeout")

    return refuse


def told(subject: PostgresqlDatabase, history: History) -> list[Any]:
    """What a check tells that fails."""
    removed: list[Any] = []
    with pytest.raises(LogError):
        Removal(log_of(subject), history, LATER).run(removed.append)
    return removed


class Died(BaseException):
    """The process was killed."""


@pytest.mark.parametrize(
    ("owner", "step"),
    [(Objects, "put"), (Moves, "_write"), (Removal, "_empty"), (Moves, "hide"), (Objects, "remove")],
    ids=["file", "row", "emptied", "hidden", "removed"],
)
def test_a_process_dies_after_a_step(
    subject: PostgresqlDatabase, files: Objects, monkeypatch: pytest.MonkeyPatch, owner: type, step: str
) -> None:
    """After its first, and one more, in a process of its own. The last one leaves nothing of those before, and the same log."""
    before = {shard: whole(subject, shard) for shard in SHARDS}
    real, count = getattr(owner, step), 0

    def dying(*arguments: Any) -> Any:
        nonlocal count
        count += 1
        done = real(*arguments)
        if count in (1, 3):
            raise Died
        return done

    monkeypatch.setattr(owner, step, dying)

    def until_it_lives(history: History) -> None:
        for _ in range(4):
            next_process(subject)
            try:
                remove(subject, history, LATER)
            except Died:
                continue
            if history is MOVED:
                assert {shard: whole(subject, shard) for shard in SHARDS} == before

    until_it_lives(MOVED)
    assert rows(subject) == [(3, 6)]
    assert len(folders(subject, files)) == len(segments(subject)) + len(segments(subject, OTHER)) == 6
    until_it_lives(History(0))
    assert (folders(subject, files), segments(subject)) == ([], [])
    assert values(reopened(subject, 1).read(SHARD, 0)) == [b"2", b"6"]


def test_who_was_fenced_between_file_and_row_moves_nothing(
    subject: PostgresqlDatabase, files: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file is not that of the next owner, who removes it; what it writes later, the one after that."""
    before, put = whole(subject), Objects.put

    def fenced(self: Objects, folder: str, path: Path) -> None:
        put(self, folder, path)
        subject.node.sql("UPDATE upkeep SET term = term + 1")

    with monkeypatch.context() as paused:
        paused.setattr(Objects, "put", fenced)
        with pytest.raises(Fenced):
            remove(subject, MOVED, LATER)
    assert (len(folders(subject, files)), segments(subject), len(rows(subject))) == (1, [], 7)
    [orphan] = folders(subject, files)

    log_of(subject).upkeep.term += 1
    remove(subject, MOVED, LATER)

    assert orphan not in folders(subject, files)
    assert len(folders(subject, files)) == 6
    assert whole(subject) == before


def test_a_file_of_a_later_term_is_left(subject: PostgresqlDatabase, files: Objects, tmp_path: Path) -> None:
    (path := tmp_path / "x.log").write_bytes(b"x")
    of_shard = segments_of(subject.node.store.sids[SHARD])
    files.put(f"{of_shard}/99-{0:020d}-{2:020d}", path)
    files.put(f"{of_shard}/0-{0:020d}-{2:020d}", path)

    remove(subject, MOVED, LATER)

    assert [each.rpartition("/")[2][:3] for each in folders(subject, files)].count("99-") == 1
    assert len(folders(subject, files)) == 7


def test_a_node_of_the_version_before_removes_rows_after_segments(subject: PostgresqlDatabase, files: Objects) -> None:
    """It takes up the shard where its rows begin. Segments that do not reach that are not read any more, and go."""
    subject.node.sql("UPDATE era SET closed_ms = closed_ms + 10 * $1::bigint WHERE era = 2", LATER)
    remove(subject, MOVED, LATER)
    assert segments(subject) == [(0, 2), (2, 4)]
    subject.node.sql("TRUNCATE log_2")
    subject.node.sql("DELETE FROM era WHERE era = 2")
    subject.node.sql("UPDATE shard SET log_start = 6 WHERE next_offset > 0")

    layer, found = job_shard(subject.path / str(SHARD)).whole(7)
    assert layer is not None
    assert (layer.to_offset, [each.begin for each in found if each.is_dense]) == (6, [6])
    assert values(reopened(subject, 1).read(OTHER, 0)) == [b"2", b"6"]
    removed = remove(subject, History(1, local_ms=0), LATER)
    assert {tuple(each.segments) for each in removed} == {(0, 2)}
    assert (folders(subject, files), segments(subject)) == ([], [])


def test_damage_there_is_said(subject: PostgresqlDatabase, files: Objects, tmp_path: Path) -> None:
    """By those who read it. A node that takes the shard begins with a layer; one without an intact one, with what is before."""
    remove(subject, MOVED, LATER)
    append(subject, 1)
    subject.node.sql(
        "UPDATE object SET data = set_byte(data, 70, 1) WHERE attempt LIKE (SELECT attempt FROM layer "
        "WHERE to_offset = 6 AND sid = $1) AND name LIKE '%.log'",
        subject.node.store.sids[SHARD],
    )
    assert values(reopened(subject, 1).read(SHARD, 0)) == [b"0", *(b"%d" % each for each in range(2, 8))]

    [damaged, missing, _] = sorted(tmp_path.glob(f"objects/*/{segments_of(subject.node.store.sids[OTHER])}/*/*.log"))
    damaged.write_bytes(b"x" + damaged.read_bytes()[1:])
    missing.unlink()
    with pytest.raises(DamagedLog, match=r"its row states .* bytes with CRC"):
        whole(subject, OTHER)
    with pytest.raises(DamagedLog, match="is missing"):
        values(subject.node.store.read(OTHER, 2))
    assert values(reopened(subject, 2, OTHER).read(OTHER, 0)) == [b"2", b"6"]


def test_a_segment_that_is_removed_meanwhile_is_no_damage(subject: PostgresqlDatabase, files: Objects) -> None:
    remove(subject, MOVED, LATER)
    _, planned = job_shard(subject.path / str(SHARD)).whole(7)
    log_of(subject).copies.keep_only(SHARD, None)
    stored = Moves(log_of(subject), MOVED).stored(History(0), LATER)[subject.node.store.sids[SHARD]][0]
    remove(subject, History(0), LATER)

    with pytest.raises(FileNotFoundError, match="removed meanwhile"):
        input_file(planned[0].path)

    async def nothing() -> list[Any]:
        return []

    copies = log_of(subject).segments
    with pytest.raises(Unavailable, match="removed meanwhile"):
        log_of(subject).reader.run(lambda _: copies.fetch(SHARD, subject.node.store.sids[SHARD], stored, nothing))
