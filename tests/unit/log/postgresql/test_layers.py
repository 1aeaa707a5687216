"""Layers in a database: a shard that is taken begins with the newest one, and publication is fenced."""

from __future__ import annotations

from contextlib import closing

import pytest

from coordinator_server.log.errors import DamagedLog, Fenced, LockedLog, LogError, Unavailable
from coordinator_server.log.opening import job_shard, store_upkeep
from coordinator_server.log.postgresql import upkeep
from coordinator_server.log.postgresql.job_log import JobLog
from coordinator_server.log.shards import Append, Ownership
from coordinator_server.log.store_paths import split_path
from tests.support.job_subjects import SHARD, PostgresqlDatabase
from tests.support.log import batch, values
from tests.support.log_subjects import submit
from tests.support.stored_layers import append, attempt, log_of, publish, reopened


def test_a_shard_that_is_taken_begins_with_its_newest_layer(subject: PostgresqlDatabase) -> None:
    """Only what comes after it is read of the log; without the database, as a load does."""
    append(subject, 3)
    assert publish(subject, 2, kept=b"old")
    assert publish(subject, 3)
    append(subject, 2)

    store = reopened(subject, 1)
    subject.node.proxy.is_away = True

    assert store.compacted_to(SHARD) == 3
    checkpoint = store.checkpoint(SHARD)
    assert (checkpoint.to_offset, checkpoint.block("group")) == (3, b"kept")
    assert values(checkpoint.all_batches()) == [b"kept"]
    assert values(store.read(SHARD, 3)) == [b"3", b"4"]
    assert values(store.read(SHARD, 0)) == [b"kept", b"3", b"4"]
    assert store.end_offset(SHARD) == 5


def test_all_of_a_shard_may_be_in_its_layer(subject: PostgresqlDatabase) -> None:
    """Its end has the time of the last batch, although no row is read, or none is left."""
    end = append(subject, 3)
    assert publish(subject, end)
    store = reopened(subject, 1)
    assert (values(store.read(SHARD, end)), store.end_offset(SHARD), store.end_time(SHARD)) == ([], end, 1_700_000_000_000)

    subject.node.sql("TRUNCATE log")
    subject.node.sql("UPDATE shard SET log_start = next_offset")
    store = reopened(subject, 2)
    assert (values(store.read(SHARD, end)), store.end_offset(SHARD), store.end_time(SHARD)) == ([], end, 1_700_000_000_000)


def test_a_layer_may_end_in_the_middle_of_a_row(subject: PostgresqlDatabase) -> None:
    data = batch(0, b"0") + batch(1, b"1") + batch(2, b"2")
    assert submit(subject.node, Append(SHARD, 0, 0, data)) == {}
    assert publish(subject, 2)

    store = reopened(subject, 1)

    assert values(store.read(SHARD, store.checkpoint(SHARD).to_offset)) == [b"2"]
    assert values(store.read(SHARD, 0)) == [b"kept", b"2"]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE object SET data = set_byte(data, 70, 1) WHERE name LIKE '0%'",
        "UPDATE object SET data = substring(data FROM 2) WHERE name = 'groups.index'",
        "DELETE FROM object WHERE name = 'groups.data'",
    ],
)
def test_in_place_of_a_damaged_layer_an_older_one_or_the_whole_log_is_loaded(subject: PostgresqlDatabase, damage: str) -> None:
    """The damage is told once, when the checkpoint is asked for; without the rows it is an error."""
    append(subject, 3)
    assert publish(subject, 3)
    subject.node.sql(damage)

    store = reopened(subject, 1)
    with pytest.raises(DamagedLog):
        store.checkpoint(SHARD)
    assert (store.compacted_to(SHARD), values(store.read(SHARD, 0))) == (0, [b"0", b"1", b"2"])

    subject.node.sql("UPDATE shard SET log_start = 1")
    with pytest.raises(DamagedLog):
        reopened(subject, 2)


def test_a_copy_that_is_damaged_is_fetched_again(subject: PostgresqlDatabase) -> None:
    append(subject, 2)
    assert publish(subject, 2)
    store = reopened(subject, 1)
    layer = store.checkpoint(SHARD).layer
    with closing(layer.storage.open(str(layer.path / "groups.data"))) as file:
        file.pwrite(b"X", 0)
    outcome: list[LogError | None] = []
    store.forget([SHARD], lambda: None)

    store.acquire(Ownership(SHARD, 1), outcome.append)
    subject.node.run()

    assert outcome == [None]
    assert store.checkpoint(SHARD).block("group") == b"kept"


def test_rows_that_were_removed_are_read_from_the_layer_that_has_them(subject: PostgresqlDatabase) -> None:
    """By an owner that has loaded the shard without it, and by a node that owns nothing."""
    append(subject, 3)
    store = reopened(subject, 1)
    list(store.read(SHARD, 0))
    assert publish(subject, 2)
    subject.node.sql("DELETE FROM log WHERE base_offset < 2")
    subject.node.sql("UPDATE shard SET log_start = 2 WHERE next_offset > 0")
    store.forget([SHARD], lambda: None)

    assert values(store.read(SHARD, 0)) == [b"kept", b"2"]


# Who publishes.


def late_publication(subject: PostgresqlDatabase) -> None:
    """A process that was paused publishes after another one has claimed, and has removed its attempts."""
    append(subject, 2)
    made = attempt(subject, 2)
    late = log_of(subject).upkeep
    term = late.term
    other = JobLog(split_path(subject.path)[0])
    try:
        # Its connection was cut, so its lock is free.
        late.leave()
        other.upkeep.claim()
        late.term = term
        with pytest.raises(Fenced):
            job_shard(subject.path / str(SHARD)).publish(made, 2)
        with pytest.raises(Fenced):
            late.clean(log_of(subject).sids[SHARD])
        assert subject.node.sql("SELECT FROM layer") == []
        assert other.upkeep.clean(other.sids[SHARD]) == 1
    finally:
        other.close()


def test_a_publication_under_an_older_term_is_fenced(subject: PostgresqlDatabase) -> None:
    late_publication(subject)


def test_a_publication_without_its_fence_is_noticed(subject: PostgresqlDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant: the rule above finds it."""
    unfenced = upkeep._PUBLISH.replace("WHERE term = $1::bigint FOR SHARE", "WHERE $1::bigint > 0")
    assert unfenced != upkeep._PUBLISH
    monkeypatch.setattr(upkeep, "_PUBLISH", unfenced)

    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        late_publication(subject)


def test_one_process_at_a_time_makes_layers(subject: PostgresqlDatabase) -> None:
    other = JobLog(split_path(subject.path)[0])
    try:
        with pytest.raises(LockedLog, match=r"process [0-9]+ on .* makes layers"):
            other.upkeep.claim()
    finally:
        other.close()


def test_a_layer_is_not_longer_than_its_shard(subject: PostgresqlDatabase) -> None:
    append(subject, 1)
    with pytest.raises(LogError, match="lost what it acknowledged"):
        publish(subject, 2)


def test_whoever_only_reads_publishes_nothing(subject: PostgresqlDatabase) -> None:
    append(subject, 1)
    made = attempt(subject, 1)
    log_of(subject).upkeep.leave()
    with pytest.raises(Fenced):
        job_shard(subject.path / str(SHARD)).publish(made, 1)
    with store_upkeep(subject.path):
        assert job_shard(subject.path / str(SHARD)).publish(made, 1)


def test_a_layer_that_is_removed_while_it_is_copied_is_no_damage(subject: PostgresqlDatabase) -> None:
    append(subject, 1)
    assert publish(subject, 1)
    job = log_of(subject)
    [stored] = job_shard(subject.path / str(SHARD))._layers()  # type: ignore[attr-defined]
    subject.node.sql("DELETE FROM layer")
    subject.node.sql("DELETE FROM object")

    with pytest.raises(Unavailable, match="meanwhile"):
        job.copy_layer(SHARD, stored)
