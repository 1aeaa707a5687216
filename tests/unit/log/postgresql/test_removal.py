"""Rows of a database are removed by eras, after layers that stand for them were published, and never else."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.log.errors import DamagedLog, Fenced
from coordinator_server.log.opening import job_shard
from coordinator_server.log.postgresql import removal
from coordinator_server.log.postgresql.removal import Removal
from coordinator_server.log.postgresql.schema import ERAS
from coordinator_server.log.store import FOREVER, History
from tests.support.job_subjects import SHARD, PostgresqlDatabase
from tests.support.log import values
from tests.support.stored_layers import LATER, LONG, NONE, NOW, OTHER, append, eras, log_of, publish, remove, reopened, rows


def test_rows_are_removed_by_eras_when_a_layer_stands_for_them(subject: PostgresqlDatabase) -> None:
    """History stays that is young enough; what is removed is in a layer, and readers go on there."""
    eras(subject, 3)
    assert [era for era, _ in rows(subject)] == [0, 0, 1, 1, 2, 2, 3]

    assert not [each for each in remove(subject, History(FOREVER), LATER) if each.segments]
    removed = remove(subject, NONE, LATER)

    assert {(each.shard, tuple(each.segments)) for each in removed if each.segments} == {(SHARD, (0, 2, 4)), (OTHER, (0, 2, 4))}
    assert rows(subject) == [(3, 6)]
    assert {row["log_start"] for row in subject.node.sql("SELECT log_start FROM shard WHERE next_offset > 0")} == {6}
    store = reopened(subject, 1, SHARD, OTHER)
    assert values(store.read(SHARD, 0)) == [b"2", b"6"]
    layer, files = job_shard(subject.path / str(SHARD)).whole(7)
    assert layer is not None
    assert (layer.to_offset, [file.from_offset for file in files if file.is_dense]) == (6, [6])


def trimming_before_publication(subject: PostgresqlDatabase) -> None:
    """An era has rows that no layer has: nothing of it is removed."""
    for _ in range(3):
        end = append(subject, 1)
        append(subject, 1, OTHER)
        assert publish(subject, end)
        remove(subject, LONG, NOW)
        remove(subject, LONG, NOW + LONG.history_ms // 4)

    remove(subject, NONE, LATER)

    assert len(rows(subject)) == 3
    assert values(reopened(subject, 1, OTHER).read(OTHER, 0)) == [b"0", b"1", b"2"]


def test_rows_that_no_published_layer_has_are_not_removed(subject: PostgresqlDatabase) -> None:
    trimming_before_publication(subject)


def test_removal_before_publication_is_noticed(subject: PostgresqlDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant, which believes that each shard has a layer at its end."""
    monkeypatch.setattr(
        removal, "_UNREPLACED", "SELECT FROM log_{era} WHERE cardinality($1::int[]) + cardinality($2::bigint[]) < 0"
    )
    real = Removal._removable

    def rash(self: Removal, sid: int, start: int, closed: Any) -> Any:
        found = real(self, sid, start, closed)
        return found._replace(segments=[era.rows[sid][0] for era in closed if sid in era.rows], replaced_by=[])

    monkeypatch.setattr(Removal, "_removable", rash)

    with pytest.raises((AssertionError, DamagedLog)):
        trimming_before_publication(subject)


def test_a_row_that_came_late_keeps_its_era(subject: PostgresqlDatabase) -> None:
    """Of a node of an older version, say, which goes on writing to the era that it knows: it is found under the lock."""
    eras(subject, 3)
    sid = subject.node.store.sids[SHARD]
    log = log_of(subject)
    late = Removal(log, NONE, LATER)
    closed = late._eras()[1]
    subject.node.sql("UPDATE log SET era = 0 WHERE sid = $1 AND base_offset = 6", sid)

    assert not late._empty(closed[0], {each: late._removable(each, 0, closed) for each in closed[0].rows})
    assert len(rows(subject)) == 7


def test_an_era_that_somebody_reads_is_left(subject: PostgresqlDatabase) -> None:
    """Whoever loads a shard has all of it; the next check removes it."""
    eras(subject, 3)
    node = subject.node

    async def read() -> None:
        async with node.store._loading.snapshot() as read:
            await read("SELECT 1")
            await node.loop.run_in_executor(None, remove, subject, NONE, LATER)

    node.loop.run_until_complete(read())
    assert len(rows(subject)) == 7
    remove(subject, NONE, LATER)
    assert len(rows(subject)) == 1


def test_nothing_is_removed_for_a_node_of_the_version_before(subject: PostgresqlDatabase) -> None:
    """It could not load a shard without its beginning. After it no node of that version starts."""
    eras(subject, 3)
    subject.node.sql("INSERT INTO node(id, incarnation, listeners, format_max) VALUES (9, 1, '[]', 1)")
    remove(subject, NONE, LATER)
    assert len(rows(subject)) == 7
    assert subject.node.sql("SELECT format FROM meta")[0]["format"] == 1

    subject.node.sql("UPDATE node SET is_dead = true")
    remove(subject, NONE, LATER)
    assert len(rows(subject)) == 1
    assert subject.node.sql("SELECT format FROM meta")[0]["format"] == 2


def test_a_damaged_layer_replaces_nothing(subject: PostgresqlDatabase) -> None:
    eras(subject, 3)
    subject.node.sql("UPDATE object SET data = set_byte(data, 70, 1) WHERE name = '00000000000000000000.log'")

    removed = remove(subject, NONE, LATER)

    assert {each.damage is not None for each in removed} == {True}
    assert len(rows(subject)) == 7


def test_a_removal_under_an_older_term_is_fenced(subject: PostgresqlDatabase) -> None:
    eras(subject, 3)
    subject.node.sql("UPDATE upkeep SET term = term + 1")

    with pytest.raises(Fenced):
        remove(subject, NONE, LATER)
    assert len(rows(subject)) == 7


def test_superseded_layers_go_and_the_ring_goes_round(subject: PostgresqlDatabase) -> None:
    """More eras than there are at a time: nodes write to the present one without being told."""
    for number in range(ERAS + 2):
        end = append(subject, 2)
        assert publish(subject, end - 1, kept=b"%d" % number)
        remove(subject, NONE, NOW + number)

    end = subject.node.store.end_offset(SHARD)
    assert {era for era, _ in rows(subject)} < set(range(ERAS))
    assert len(rows(subject)) <= 8
    assert len(subject.node.sql("SELECT FROM layer")) <= 3
    attempts = [row["attempt"] for row in subject.node.sql("SELECT DISTINCT attempt FROM object")]
    assert len(attempts) <= 3
    assert values(reopened(subject, 1).read(SHARD, 0)) == [b"%d" % (ERAS + 1), b"%d" % (end - 1)]
