"""The queries of docs/history.md, as they are printed there, over the history of a live server, and compared with its answers.

The server has seen all that changes offsets: commits, restores, deletions of offsets, groups and topics, expiry, and transactions
that committed, aborted, and are open. Once with provenance, and once without.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pandas as pd
import pytest

from coordinator_server.cli import main
from coordinator_server.pipeline.history.view_sql import CURRENT_OFFSETS, LAG, PENDING_OFFSETS, WAITS, view_sql
from coordinator_server.pipeline.history.views import current_offsets, lag, pending_offsets, waits
from protocol.error_codes import ErrorCode
from protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from tests.support.client import Client
from tests.support.consumer_history import history_of
from tests.support.consumer_records import random_steps, rebalance
from tests.support.eventually import eventually
from tests.support.members import form_group
from tests.support.observed_metrics import observed_directory
from tests.support.producer import Producer
from tests.support.server import ROOT, Server
from tests.support.simple_requests import committed, must_commit

PRINTED = "2026-11-21 14:06:36Z"
DOC = (ROOT / "docs/history.md").read_text()
GROUPS = ("billing", "audit", "gone", "pruned", "expiring", "topicless", "paid", "raced", "cancelled")
"""All groups that the server has seen."""
Offsets = dict[tuple[str, int], int]


def blocks(language: str, moment: str = PRINTED) -> list[str]:
    found = re.findall(rf"```{language}\n(.*?)```", DOC, re.DOTALL)
    return [block.replace(PRINTED, moment) for block in found]


class History(NamedTuple):
    """A directory with the tables, what the server answered when they were written, and what it answered at a past moment."""

    out: Path
    offsets: dict[str, Offsets]
    moment: str
    then: dict[str, Offsets]
    has_provenance: bool

    def python(self, number: int) -> str:
        """Return a printed block that finds the tables wherever it runs: the JVM has a working directory of its own."""
        text = blocks("python", self.moment)[number]
        return text.replace('"history', f'"{self.out}')


@pytest.fixture(scope="module", params=[True, False], ids=["with provenance", "without provenance"])
def history(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    """The history in two runs, one at the past moment."""
    directory = tmp_path_factory.mktemp("docs")
    properties = {
        "topics": "orders:6,payments:2,doomed:1",
        "log.provenance": str(request.param).lower(),
        "offsets.retention.check.interval.ms": 100,
    }
    with Server(directory, properties) as server, Client(server.address) as client:
        members = form_group(server.address, "billing", 2)
        for offset in (7, 122):
            assert set(members[0].commit("orders", {0: offset, 1: offset + 10}).values()) == {ErrorCode.NONE}
        for member in members:
            assert member.leave() == ErrorCode.NONE
        with Producer(server.address, "audits") as open_then:
            assert open_then.init().error == ErrorCode.NONE
            assert open_then.commit("audit", "orders", {5: 55}) == {ErrorCode.NONE}
            then, moment = answers(client), between()
            add_to_history(server)
            assert open_then.end().error == ErrorCode.NONE
        change_offsets(server, client, moment)
        change_in_transactions(server, client)
        add_to_history(server)
        yield History(directory / "history", answers(client), moment, then, request.param)


@pytest.fixture
def small_spark(spark: Any) -> Iterator[Any]:
    """The session with two partitions in a shuffle instead of 200, and afterwards as it was."""
    before = {name: spark.conf.get(name) for name in ("spark.sql.shuffle.partitions", "spark.sql.session.timeZone")}
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)


def answers(client: Client) -> dict[str, Offsets]:
    """What the server says of every group that has offsets."""
    found = {group_id: committed(client, group_id) for group_id in GROUPS}
    return {group_id: offsets for group_id, offsets in found.items() if offsets}


def between() -> str:
    """A moment in which nothing else happens."""
    time.sleep(0.02)
    moment = datetime.now(UTC)
    time.sleep(0.02)
    return f"{moment.replace(tzinfo=None).isoformat(sep=' ', timespec='milliseconds')}Z"


def add_to_history(server: Server) -> None:
    out = server.data_dir.parent / "history"
    assert main(["history", "--data-dir", str(server.data_dir), "--out", str(out), "--engine", "python"]) == 0


def change_offsets(server: Server, client: Client, moment: str) -> None:
    """A restore, deletions of a group, of an offset and of a topic, and an offset that expires."""
    must_commit(client, "audit", "payments", {0: 1})
    must_commit(client, "billing", "orders", {0: 500, 3: 9})
    restore = ["groups", "restore", "billing", "--at", moment, "--execute", "--data-dir", str(server.data_dir)]
    assert main(restore) == 0
    must_commit(client, "gone", "orders", {0: 4, 1: 5})
    [deleted] = client.ask(DeleteGroupsRequest(groups_names=["gone"]), 2, DeleteGroupsResponse).results
    assert deleted.error_code == ErrorCode.NONE
    must_commit(client, "pruned", "orders", {0: 4, 1: 5})
    delete_offset(client, "pruned", "orders", 0)
    must_commit(client, "topicless", "doomed", {0: 3})
    must_commit(client, "topicless", "orders", {0: 3})
    [dropped] = client.ask(DeleteTopicsRequest(topic_names=["doomed"], timeout_ms=5000), 5, DeleteTopicsResponse).responses
    assert dropped.error_code == ErrorCode.NONE
    must_commit(client, "expiring", "orders", {1: 8})
    topics = [
        OffsetCommitRequestTopic(name="orders", partitions=[OffsetCommitRequestPartition(partition_index=0, committed_offset=8)])
    ]
    client.ask(OffsetCommitRequest(group_id="expiring", topics=topics, retention_time_ms=1), 4, OffsetCommitResponse)
    eventually(lambda: committed(client, "expiring") == {("orders", 1): 8})
    eventually(lambda: committed(client, "topicless") == {("orders", 0): 3})


def change_in_transactions(server: Server, client: Client) -> None:
    """Transactions that commit, abort, stay open, and end after a later commit or a deletion of the same offset."""
    with Producer(server.address, "payments-1") as one, Producer(server.address, "payments-2") as two:
        for producer in (one, two):
            assert producer.init().error == ErrorCode.NONE
        for offset, is_commit in ((10, True), (20, False)):
            assert one.commit("paid", "orders", {0: offset, 1: offset + 1}) == {ErrorCode.NONE}
            assert one.end(is_commit=is_commit).error == ErrorCode.NONE
        for group_id in ("raced", "cancelled"):
            assert one.commit(group_id, "orders", {0: 1, 1: 1}) == {ErrorCode.NONE}
        must_commit(client, "raced", "orders", {0: 2})
        delete_offset(client, "cancelled", "orders", 0)
        assert one.end().error == ErrorCode.NONE
        # The answer to EndTxn may come before the markers are replayed.
        eventually(lambda: committed(client, "raced") == {("orders", 0): 2, ("orders", 1): 1})
        eventually(lambda: committed(client, "cancelled") == {("orders", 1): 1})
        assert two.commit("paid", "orders", {0: 30, 4: 44}) == {ErrorCode.NONE}
        must_commit(client, "paid", "orders", {5: 50})


def delete_offset(client: Client, group_id: str, topic: str, partition: int) -> None:
    topics = [OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(partition)])]
    answer = client.ask(OffsetDeleteRequest(group_id=group_id, topics=topics), 0, OffsetDeleteResponse)
    assert answer.error_code == answer.topics[0].partitions[0].error_code == ErrorCode.NONE


def by_group(rows: Any) -> dict[str, Offsets]:
    """Rows of group, topic, partition and offset in the form of ``answers``."""
    found: dict[str, Offsets] = {}
    for group_id, topic, partition, offset in rows:
        assert (topic, partition) not in found.setdefault(group_id, {})
        found[group_id][topic, partition] = offset
    return found


def plain(rows: Any) -> list[tuple[Any, ...]]:
    """Rows of any engine with None for all that is missing, and times as they are printed."""

    def value(each: Any) -> Any:
        if isinstance(each, datetime):
            return f"{each:%Y-%m-%d %H:%M:%S.%f}"
        return None if pd.isna(each) else int(each) if hasattr(each, "item") else each

    return [tuple(value(each) for each in row) for row in rows]


COLUMNS = '"group_id", "topic", "partition", "offset"'
FIELDS = ["group_id", "topic", "partition", "offset"]
PENDING = {"paid": {("orders", 0): 30, ("orders", 4): 44}}


def test_the_printed_view_is_what_the_server_answers(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """The query as it is printed, and as the command prints it."""
    monkeypatch.chdir(history.out.parent)

    found = duckdb.execute(f"select {COLUMNS} from ({blocks('sql')[0]})").fetchall()

    assert blocks("sql")[0] == view_sql(CURRENT_OFFSETS, "history")
    assert by_group(found) == history.offsets
    assert history.offsets["billing"] == {("orders", 0): 122, ("orders", 1): 132}
    assert history.offsets["audit"] == {("payments", 0): 1, ("orders", 5): 55}
    assert "gone" not in history.offsets


def test_views_in_python_are_what_the_server_answers(history: History, capsys: pytest.CaptureFixture[str]) -> None:
    """Now, and at a past moment, when another transaction was open."""
    for at, current, pending in (
        (None, history.offsets, PENDING),
        (history.moment, history.then, {"audit": {("orders", 5): 55}}),
    ):
        assert by_group(zip(*current_offsets(history.out, at).select(FIELDS).to_pydict().values(), strict=True)) == current
        assert by_group(zip(*pending_offsets(history.out, at).select(FIELDS).to_pydict().values(), strict=True)) == pending
        found = duckdb.execute(f"select {COLUMNS} from ({view_sql(PENDING_OFFSETS, str(history.out), at=at)})").fetchall()
        assert by_group(found) == pending

    exec(history.python(0))
    printed = capsys.readouterr().out
    assert re.search(r"billing +orders +0 +122 ", printed)
    assert re.search(r"paid +orders +4 +44 ", printed)


@pytest.mark.parametrize("history", [pytest.param(True, id="with provenance")], indirect=True)
def test_views_in_spark_are_what_the_server_answers(history: History, small_spark: Any) -> None:
    for view, at, expected in (
        (CURRENT_OFFSETS, None, history.offsets),
        (PENDING_OFFSETS, history.moment, {"audit": {("orders", 5): 55}}),
    ):
        found = small_spark.sql(view_sql(view, str(history.out), "spark", at)).select(*FIELDS).collect()
        assert by_group(tuple(row) for row in found) == expected


def test_who_waited_for_whom_in_spark(tmp_path: Path, small_spark: Any) -> None:
    """As in Python. What both find is checked in unit/pipeline/history."""
    out = history_of(tmp_path, [*([each] for each in random_steps(1, 60)), *rebalance("z")[:2]])

    found = small_spark.sql(view_sql(WAITS, str(out), "spark")).toPandas()

    expected = waits(out).to_pandas()
    columns = [name for name in expected.columns if name not in ("since", "until")]
    assert len(expected) > 5
    pd.testing.assert_frame_equal(found[columns], expected[columns], check_dtype=False)
    assert list(found["until"].isna()) == list(expected["until"].isna())


def test_the_lag_over_time_in_spark(tmp_path: Path, small_spark: Any) -> None:
    """As in Python. What that finds is checked in unit/pipeline/history."""
    out = tmp_path / "history"
    words = ["--data-dir", str(observed_directory(tmp_path)), "--out", str(out), "--engine", "python"]
    assert main(["history", *words]) == 0

    found = small_spark.sql(view_sql(LAG, str(out), "spark")).drop("time").collect()

    expected = lag(out).drop_columns(["time"]).to_pylist()
    assert [row.asDict() for row in found] == expected
    assert len(expected) > 20


def of_duckdb(history: History) -> list[list[tuple[Any, ...]]]:
    """The answers to the three questions."""
    files = {"'history/": f"'{history.out}/"}
    why, who = (duckdb.execute(replaced(block, files)).fetchall() for block in blocks("sql")[1:3])
    scope: dict[str, Any] = {}
    exec(
        re.sub(
            r"^duckdb\.sql\((.*?)\)\.show\(\)",
            r"then = duckdb.sql(\1).fetchall()",
            history.python(2),
            flags=re.DOTALL | re.MULTILINE,
        ),
        scope,
    )
    return [plain(why), plain(scope["then"]), plain(who)]


def replaced(text: str, words: Mapping[str, str]) -> str:
    for old, new in words.items():
        text = text.replace(old, new)
    return text


def of_pandas(history: History) -> list[list[tuple[Any, ...]]]:
    scope: dict[str, Any] = {}
    exec(history.python(3), scope)
    why, then, who = (scope[name] for name in ("why", "then", "who"))
    return [
        plain(why[["time", "generation", "members", "why", "whom"]].itertuples(index=False)),
        plain(then[["partition", "offset", "client_id", "operation", "why"]].itertuples(index=False)),
        plain(who.reset_index().itertuples(index=False)),
    ]


class Recorder:
    """A session that keeps what it was asked last."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        self.asked: list[Any] = []

    def sql(self, query: str) -> Any:
        self.asked.append(self._spark.sql(query))
        return self.asked[-1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._spark, name)


def of_spark(history: History, spark: Any) -> list[list[tuple[Any, ...]]]:
    recorder = Recorder(spark)
    exec(history.python(4), {"spark": recorder})
    return [plain(map(tuple, answer.collect())) for answer in recorder.asked[1:]]


def test_the_three_engines_give_the_same_answers(history: History, small_spark: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """With and without provenance. Nothing of what they print is cut."""
    why, then, who = of_duckdb(history)
    with_pandas = of_pandas(history)
    capsys.readouterr()
    with_spark = of_spark(history, small_spark)
    printed = capsys.readouterr().out

    assert [each[:3] for each in why] == [each[:3] for each in with_pandas[0]] == [each[:3] for each in with_spark[0]]
    assert sorted(why, key=str) == sorted(with_pandas[0], key=str) == sorted(with_spark[0], key=str)
    assert then == with_pandas[1] == with_spark[1]
    assert sorted(who, key=str) == sorted(with_pandas[2], key=str) == sorted(with_spark[2], key=str)
    assert re.search(r"\d\d:\d\d:\d\d\.\d", printed)
    assert "..." not in printed


def test_the_answers_to_three_questions(history: History) -> None:
    why, then, who = of_duckdb(history)

    assert [(partition, committed) for partition, committed, *_ in then] == [(0, 122), (1, 132)]
    counts = {(group_id, topic): count for _, _, group_id, topic, count, _ in who if group_id in ("audit", "pruned")}
    assert counts == {("audit", "orders"): 1, ("audit", "payments"): 1, ("pruned", "orders"): 2}
    if history.has_provenance:
        reasons = [reason for *_, reason, _ in why]
        assert (reasons[:3], reasons[-1]) == (["group-created", "member-joined", "member-joined"], "member-left")
        assert {operation for *_, operation, _ in then} == {"OffsetCommit v9"}
    else:
        assert {(reason, whom) for *_, reason, whom in why} == {(None, None)}
        assert len(why) >= 4


def test_a_restored_offset_names_its_restore_and_no_client(history: History) -> None:
    """Not the client that had committed before."""
    rows = [row for row in current_offsets(history.out).to_pylist() if row["group_id"] == "billing"]

    restored = next(row for row in rows if row["partition"] == 0)

    assert restored["client_id"] is None
    if history.has_provenance:
        assert [(reason["why"], reason["said"][:19]) for reason in restored["reasons"]] == [
            ("offsets-restored", history.moment[:19].replace(" ", "T"))
        ]
        assert restored["operation"] == "server"


def test_the_counts_printed_in_the_history_page(history: History, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the view as a relation of DuckDB."""
    topics = [topic for offsets in history.offsets.values() for topic, _ in offsets]
    groups = Counter(topic for offsets in history.offsets.values() for topic in {name for name, _ in offsets})

    exec(history.python(1), {})
    printed = capsys.readouterr().out

    for topic, offsets in Counter(topics).items():
        assert re.search(rf"\W{topic}\W+{groups[topic]}\W+{offsets}\W", printed)


@pytest.fixture(scope="module")
def paid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory in which ``history`` is; a transaction of payments-1 has timed out while two groups waited,
    one of audit-1 is open.
    """
    directory = tmp_path_factory.mktemp("paid")
    properties = {"topics": "orders:6", "transaction.abort.timed.out.transaction.cleanup.interval.ms": 100}
    with Server(directory, properties, loops=2) as server:
        with Producer(server.address, "payments-1") as slow, Producer(server.address, "audit-1") as audit:
            assert slow.init(timeout_ms=500).error == ErrorCode.NONE
            assert slow.commit("billing", "orders", {0: 5, 1: 6, 2: 7}) == {ErrorCode.NONE}
            assert slow.commit("shipping", "orders", {0: 5}) == {ErrorCode.NONE}
            slow.until("CompleteAbort")
            assert slow.init().error == ErrorCode.NONE
            # Open for as long as a slow machine needs.
            assert audit.init(timeout_ms=900_000).error == ErrorCode.NONE
            assert audit.commit("billing", "orders", {0: 5}) == {ErrorCode.NONE}
        words = ["history", "--data-dir", str(server.data_dir), "--out", str(directory / "history"), "--engine", "python"]
        assert main(words) == 0
    return directory


def test_the_transaction_queries_of_the_history_page(paid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the logs of two loops."""
    monkeypatch.chdir(paid)

    timed_out, still_open, had = (duckdb.execute(query).fetchall() for query in blocks("sql")[3:6])

    waits = {group_id: (host, offsets) for _, host, group_id, offsets, waited in timed_out if waited > timedelta()}
    assert waits == {"billing": ("127.0.0.1", 3), "shipping": ("127.0.0.1", 1)}
    assert [(transactional_id, state, len(partitions)) for transactional_id, _, state, partitions in still_open] == [
        ("audit-1", "Ongoing", 1)
    ]
    assert [(epoch, client is not None, until) for _, epoch, client, _, _, _, until in had] == [
        (0, True, "timeout"),
        (1, False, "initialized"),
        (2, True, None),
    ]
