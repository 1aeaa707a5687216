"""What the history says of consumer groups: epochs, members, steps of members, and who waited for whom."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

from coordinator_server.log.jobs import InputFile
from coordinator_server.pipeline.history import extract
from coordinator_server.pipeline.history.extract import tables_of
from coordinator_server.pipeline.history.view_sql import WAITS, view_sql
from coordinator_server.pipeline.history.views import waits
from coordinator_server.pipeline.input.columns import Irregular
from coordinator_server.pipeline.input.topic_names import NO_NAMES
from protocol.fields import uuid_text
from protocol.record_batch import Record
from tests.support.consumer_history import history_of
from tests.support.consumer_records import ORDERS, current, group_epoch, member, random_steps, rebalance
from tests.support.segments import START_MS, Batch, offset_key, offset_value, write_segments
from tests.support.server import ROOT
from tests.support.share_group_records import share_epoch, share_gone, shared_work
from tests.support.streams_beats import streams_life

DOC = (ROOT / "docs/history.md").read_text()


def rows(out: Path, query: str) -> list[tuple[Any, ...]]:
    return duckdb.execute(query.replace("from '", f"from '{out}/")).fetchall()


def test_epochs_are_generations(tmp_path: Path) -> None:
    """That of the group when it rises, that of the assignment when it is complete; the deletion of the group is a deletion."""
    out = history_of(tmp_path, [*rebalance("g"), [group_epoch("g", None)]])

    found = rows(out, "select generation, assignment_epoch, group_type from 'generations/**/*.parquet' order by log_offset")

    assert found == [
        (2, None, "consumer"),
        (None, 2, "consumer"),
        (3, None, "consumer"),
        (None, 3, "consumer"),
        (4, None, "consumer"),
    ]
    assert rows(out, "select group_id, topic from 'deletions/**/*.parquet'") == [("g", None)]


def test_members_are_as_they_subscribe(tmp_path: Path) -> None:
    out = history_of(tmp_path, rebalance("g"))

    found = rows(
        out,
        "select member_id, client_host, topics, topic_regex, rack_id, assignor, rebalance_timeout_ms from 'members/**/*.parquet'",
    )

    assert found == [(name, "/10.0.0.7", ["orders"], None, "rack-1", "range", 45_000) for name in "ab"]


def test_a_share_group_has_the_same_rows(tmp_path: Path) -> None:
    """Epochs, members, their steps and assignments, and its deletion; in both ways of reading a log."""
    out = history_of(tmp_path, [*shared_work("s"), [*share_gone("s", "b"), share_epoch("s", None)]])

    epochs = rows(
        out, "select generation, assignment_epoch, group_type, protocol_type from 'generations/**/*.parquet' order by log_offset"
    )
    assert epochs == [
        (generation, assigned, "share", "share")
        for generation, assigned in [(1, None), (None, 1), (2, None), (None, 2), (3, None), (None, 3)]
    ]
    joined = rows(
        out, "select member_id, client_id, client_host, topics, rack_id, session_timeout_ms from 'members/**/*.parquet'"
    )
    assert joined == [(name, f"client of {name}", "/10.0.0.7", ["orders"], "rack-1", None) for name in "ab"]
    query = (
        "select member_id, what, state, member_epoch, len(partitions), len(revoking)"
        " from 'reconciliations/**/*.parquet' order by log_offset"
    )
    assert rows(out, query) == [
        ("a", "target", None, None, 2, 0),
        ("a", "assigned", "Stable", 1, 2, 0),
        ("a", "target", None, None, 2, 0),
        ("b", "target", None, None, 1, 0),
        ("b", "assigned", "Stable", 2, 1, 0),
        ("a", "assigned", "Stable", 2, 2, 0),
        ("a", "left", None, None, 0, 0),
        ("b", "assigned", "Stable", 3, 1, 0),
        ("b", "left", None, None, 0, 0),
    ]
    assert rows(out, "select distinct topic, partition, topic_id from 'assignments/**/*.parquet' order by partition") == [
        ("orders", 0, uuid_text(ORDERS)),
        ("orders", 1, uuid_text(ORDERS)),
    ]
    assert rows(out, "select group_id, topic from 'deletions/**/*.parquet'") == [("s", None)]
    assert waits(out).num_rows == 0


def test_a_member_of_the_classic_protocol_has_its_session_timeout(tmp_path: Path) -> None:
    """The others have that of their group."""
    out = history_of(tmp_path, [[member("g", "c", is_classic=True), member("g", "n")]])

    found = rows(out, "select member_id, session_timeout_ms from 'members/**/*.parquet' order by log_offset")

    assert found == [("c", 30_000), ("n", None)]


def test_steps_of_members_name_topics_that_the_catalog_ever_had(tmp_path: Path) -> None:
    """What a member has, what it must give up, and in which epoch it got each partition."""
    out = history_of(tmp_path, rebalance("g"))

    found = rows(
        out,
        "select member_id, what, state, member_epoch,"
        " [p.topic || '-' || p.partition || '@' || coalesce(p.epoch, 0) for p in partitions],"
        " [p.partition for p in revoking] from 'reconciliations/**/*.parquet' order by log_offset",
    )

    assert found == [
        ("a", "target", None, None, ["orders-0@0", "orders-1@0"], []),
        ("a", "assigned", "Stable", 2, ["orders-0@2", "orders-1@2"], []),
        ("a", "target", None, None, ["orders-0@0"], []),
        ("b", "target", None, None, ["orders-1@0"], []),
        ("b", "assigned", "UnreleasedPartitions", 3, [], []),
        ("a", "assigned", "UnrevokedPartitions", 2, ["orders-0@2"], [1]),
        ("a", "assigned", "Stable", 3, ["orders-0@3"], []),
        ("b", "assigned", "Stable", 3, ["orders-1@3"], []),
        ("a", "left", None, None, [], []),
    ]
    assigned = rows(out, "select member_id, generation, topic, partition from 'assignments/**/*.parquet'")
    first = [("a", 2, "orders", 0), ("a", 2, "orders", 1)]
    assert sorted(assigned) == sorted([*first, ("a", 2, "orders", 0), ("a", 3, "orders", 0), ("b", 3, "orders", 1)])


def test_a_member_waits_for_the_one_that_has_its_partition(tmp_path: Path) -> None:
    """From its record until the holder has given it up, however many steps that takes."""
    [wait] = waits(history_of(tmp_path, rebalance("g"))).to_pylist()

    assert (wait["member_id"], wait["holder"], wait["topic"], wait["partition"], wait["member_epoch"]) == (
        "b",
        "a",
        "orders",
        1,
        3,
    )
    assert wait["topic_id"] == uuid_text(ORDERS)
    assert [wait[name].timestamp() * 1000 - START_MS for name in ("since", "until")] == [1000, 3000]


@pytest.mark.parametrize("seed", range(6))
def test_waits_in_sql_are_those_of_python(tmp_path: Path, seed: int) -> None:
    """Whatever members do, also if it makes no sense."""
    out = history_of(tmp_path, [*([each] for each in random_steps(seed, 150)), *rebalance("z")[:2]])

    found = duckdb.connect().query(view_sql(WAITS, str(out))).to_arrow_table()

    expected = waits(out)
    assert expected.num_rows > 10
    assert None in expected["until"].to_pylist()
    assert found.column_names == expected.column_names
    assert pa.Table.from_pylist(found.to_pylist(), expected.schema).to_pylist() == expected.to_pylist()
    assert {each["topic"] for each in expected.to_pylist()} == {"orders", None}


def test_the_queries_of_the_documentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they are printed there, with the same answers but for the times."""
    history_of(tmp_path, rebalance("shipments")).rename(tmp_path / "history")
    monkeypatch.chdir(tmp_path)
    section = DOC.partition("## Questions about consumer groups")[2].partition("## The tables")[0]
    python, sql = (re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL) for language in ("python", "sql"))
    scope: dict[str, pd.DataFrame] = {}

    exec(python[0], scope)
    steps = duckdb.execute(sql[0]).fetchall()

    [wait] = scope["found"][["member_epoch", "member_id", "topic", "partition", "holder"]].itertuples(index=False)
    assert tuple(wait) == (3, "b", "orders", 1, "a")
    assert scope["found"].waited.item().total_seconds() == 2
    printed = [line.split()[2:] for line in section.partition("```\n\n    time ")[2].splitlines()[1:7]]
    told = [[each[1], *map(str, filter(None, each[2:5])), f"[{', '.join(each[5])}]", f"[{', '.join(each[6])}]"] for each in steps]
    assert [" ".join(words) for words in printed] == [" ".join(words) for words in told]


def test_large_assignments_are_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as fit into memory at a time, in both ways of reading; no record is lost between them."""
    pairs = [current("g", f"m-{number}", 1, {ORDERS: range(50)}) for number in range(20)]
    pairs += [(offset_key("g", "t", number), offset_value(number)) for number in range(20)]
    records = [Record(number, START_MS, *each) for number, each in enumerate(pairs)]
    end = write_segments(tmp_path, [Batch((each,)) for each in records], 1)
    source = InputFile(str(tmp_path / f"{0:020d}.log"), 0, end, is_dense=True)

    def pieces() -> list[tuple[int, int]]:
        found = list(tables_of(3, source, end, NO_NAMES))
        whole = [each for _, tables in found for each in tables["reconciliations"]["member_id"].to_pylist()]
        assert whole == [f"m-{number}" for number in range(20)]
        assert sum(len(tables["commits"]) for _, tables in found) == 20
        return [(count, len(tables["assignments"])) for count, tables in found if count]

    assert pieces() == [(40, 1000)]
    # A record has some 450 bytes.
    monkeypatch.setattr(extract, "VALUE_BYTES_AT_ONCE", 2048)
    assert [rows for _, rows in pieces()] == [200, 200, 200, 200, 200]
    monkeypatch.setattr(extract, "VALUE_BYTES_AT_ONCE", 1)
    assert [count for count, _ in pieces()] == [1] * 20 + [20]
    monkeypatch.setattr(extract, "VALUE_BYTES_AT_ONCE", 2048)
    monkeypatch.setattr(extract, "columns_of", refuse)
    assert [rows for _, rows in pieces()][:4] == [250, 250, 250, 250]


def refuse(*_: object) -> None:
    raise Irregular("as if")


def test_a_streams_group_has_tasks_in_place_of_partitions(tmp_path: Path) -> None:
    """With a text and without a topic id; nobody waits. The topics of its members are those of the group's topology."""
    out = history_of(tmp_path, streams_life())

    assert rows(out, "select distinct group_type, protocol_type from 'generations/**/*.parquet'") == [("streams", "streams")]
    assert rows(out, "select distinct member_id, topics from 'members/**/*.parquet' order by member_id") == [("a", []), ("b", [])]
    steps = rows(out, "select member_id, what, state, partitions from 'reconciliations/**/*.parquet' order by log_offset")
    assert [(each[0], each[2]) for each in steps if each[1] == "assigned"][:3] == [
        ("a", "Stable"),
        ("b", "UnreleasedTasks"),
        ("a", "UnrevokedTasks"),
    ]
    last = [each[3] for each in steps if each[:2] == ("b", "assigned")][-1]
    assert [(each["topic_id"], each["topic"], each["partition"]) for each in last] == [
        (None, "task 0", 1),
        (None, "standby task 0", 0),
    ]
    assert rows(out, "select topic, topic_id from 'assignments/**/*.parquet' where topic_id is not null") == []
    assert duckdb.execute(view_sql(WAITS, str(out))).fetchall() == []
    assert waits(str(out)).num_rows == 0
