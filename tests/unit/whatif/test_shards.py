"""All groups of a shard: the rows of each, and who would gain most."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from coordinator_server.client.consumer.assignors import RangeAssignor
from coordinator_server.whatif.shards import AS_IT_WAS, Row, decoded, most_to_gain, rows_of, tasks_of, work
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from tests.support.group_lives import GROUP, ClassicGroup, Consumer
from tests.support.life_directory import SHARD, write_life


def lived(data: Path, skipped: int = 0) -> int:
    """Two members, one of which restarts, without the first generations; the end of the shard."""
    group = ClassicGroup(1, RangeAssignor(), is_alike=True, with_static=False)
    group.members = [Consumer(group, f"worker-{number}", group.lives.wants) for number in range(2)]
    group.settle()
    group.restart_of(0, away_ms=3_000)
    group.settle()
    first = group.lives.life().generations[skipped].offset
    group.lives.records = [record for record in group.lives.records if record.offset >= first]
    return write_life(data, group.lives)


def test_a_group_has_a_row_as_it_was_and_one_for_each_rule_that_saves_something(tmp_path: Path) -> None:
    end = lived(tmp_path / "data")
    [task] = tasks_of(tmp_path / "data")
    result, records = work(task)
    first, *others = decoded([result])

    assert (records, task.upto) == (end, end)
    assert (first.group, first.shard, first.rule, first.assignors) == (GROUP, SHARD, AS_IT_WAS, "range")
    assert (first.generations, first.reproduced, first.missing, first.rebalances) == (3, 3, 0, 3)
    assert (first.text, first.saved_rebalances, first.saved_needless, first.saved_standstill_ms) == ("", 0, 0, 0)
    assert {row.rule for row in others} >= {"static members", "uniform"}
    assert all("would have saved" in row.text for row in others)
    assert all(row.saved_rebalances > 0 or row.saved_needless > 0 or (row.saved_standstill_ms or 0) > 0 for row in others)


def test_a_group_in_a_format_of_its_own_has_no_row(tmp_path: Path) -> None:
    group = ClassicGroup(1, RangeAssignor(), is_alike=True, with_static=False)
    group.members = [Consumer(group, "worker", group.lives.wants)]
    group.settle()
    [record, *_] = group.lives.records
    members = [MemberMetadata("m", None, "c", "/h", 1, 1, b"", b"")]
    other = GroupMetadataValue("connect", 1, "p", "m", -1, members)
    group.lives.records.append(record._replace(key=GroupMetadataKey("connect"), value=other))
    write_life(tmp_path / "data", group.lives)
    [task] = tasks_of(tmp_path / "data")

    assert {row.group for row in rows_of(task)[0]} == {GROUP}


def test_generations_of_which_a_cluster_has_removed_the_records_are_missing(tmp_path: Path) -> None:
    """The first record is of the second generation, and the shard lacks records before it."""
    data = tmp_path / "data"
    end = lived(data, skipped=1)
    [task] = tasks_of(data)

    assert rows_of(task)[0][0].missing == 0
    [task] = tasks_of(data, removed_to={SHARD: end})
    assert rows_of(task)[0][0].missing == 1


def test_the_best_rule_of_each_group_counts() -> None:
    """Standstill first, then rebalances, then moves."""

    def row(group: str, rule: str, *saved: int | None) -> Row:
        empty = dict.fromkeys(("rebalances", "moved", "needless", "imbalance", "stopped", "standstill_ms"), 0)
        names = {"shard": "s", "assignors": "range", "certainty": "known"}
        counts = dict.fromkeys(("first_ms", "last_ms", "generations", "reproduced", "missing"), 0)
        made = Row(group=group, rule=rule, **names, **counts, **empty)  # type: ignore[arg-type]  # mypy sees one type for all
        standstill_ms, rebalances, moves = saved
        return replace(made, saved_standstill_ms=standstill_ms, saved_rebalances=rebalances, saved_needless=moves)

    rows = [
        row("a", AS_IT_WAS, 0, 0, 0),
        row("a", "static members", 100, 2, 0),
        row("a", "uniform", 100, 0, 9),
        row("b", "uniform", 900, 0, 0),
        row("c", "uniform", None, 0, 5),
        row("d", "uniform", None, 0, 4),
        row("e", AS_IT_WAS, 0, 0, 0),
    ]

    assert [(each.group, each.rule) for each in most_to_gain(rows, 2)] == [("b", "uniform"), ("a", "static members")]
    assert [each.group for each in most_to_gain(rows, 20)] == ["b", "a", "c", "d"]
