"""The history of transactions: a row when one has completed, with all that came before it, however many runs have read the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from coordinator_server.kinds import GROUPS
from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import InputFile
from coordinator_server.machine.provenance import SERVER_ORIGIN, SHARD_ORIGIN, TIMER_ORIGIN, request_origin
from coordinator_server.pipeline.compact.run import compact, plans, run_python
from coordinator_server.pipeline.history import new_records, transaction_tables, written_groups
from coordinator_server.pipeline.history.output import open_output
from coordinator_server.pipeline.history.run import HistoryResult, run_here, write_history
from coordinator_server.pipeline.history.tables import SCHEMAS
from coordinator_server.pipeline.input.files import read_windows
from coordinator_server.pipeline.progress import Progress
from coordinator_server.transaction.state import TransactionState
from coordinator_server.transaction.transaction import LAST_EPOCH, MAX_EPOCH, Transaction
from tests.support.segments import START_MS
from tests.support.transaction_logs import (
    ADMIN,
    APP,
    EMPTY,
    OFFSETS,
    POSITION,
    SECOND,
    SHARD,
    Log,
    opened,
    then,
    write_properties,
)

CLUSTER: Final = "AAAAAAAAAAAAAAAAAAAAAQ"
OTHER: Final = (GROUPS.topic, (POSITION[1] + 1) % 50)
STATE = TransactionState
INIT, ADD, COMMIT, END = ((request_origin(key, 5, *APP)) for key in (22, 24, 28, 26))
BY_APP = {"principal": "User:ANONYMOUS", "client_id": "app", "client_host": "10.0.0.1"}
BY_OTHER = {"principal": "User:ANONYMOUS", "client_id": "other", "client_host": "10.0.0.2"}
NOBODY = dict.fromkeys(("principal", "client_id", "client_host"))


class Logs:
    """The logs of transactional ids and of groups, and what happens in them one after the other."""

    def __init__(self, data_dir: Path) -> None:
        self.ids, self.groups, self.more = Log(), Log(), Log()
        self.data_dir = data_dir
        data_dir.mkdir()
        write_properties(data_dir)

    def write(self) -> None:
        for name, log in ((SHARD, self.ids), (OFFSETS, self.groups), (f"{OTHER[0]}-{OTHER[1]}", self.more)):
            log.write(self.data_dir / name)

    def happenings(self) -> list[Callable[[], None]]:
        ids, groups, more = self.ids.state, self.groups, self.more
        one = opened(1, positions=[POSITION, OTHER])
        two = opened(6, 1, [POSITION, ("orders", 1)])
        three, four = opened(9, 2), opened(11, 3)
        nothing = replace(EMPTY, producer_epoch=4, start_ms=START_MS + 14_000, update_ms=START_MS + 14_000)
        last = replace(opened(16), producer_epoch=LAST_EPOCH)
        replaced = replace(then(last, STATE.COMPLETE_COMMIT, 0), producer_id=70, previous_producer_id=7, client_version=2)
        return [
            partial(ids, 0, INIT, EMPTY),
            partial(ids, 1, COMMIT, one),
            partial(groups.commit, 1, ["g", "h"]),
            partial(ids, 2, ADD, replace(one, update_ms=START_MS + 2_000)),
            partial(more.commit, 3, ["k"]),
            partial(groups.commit, 3, ["g"]),
            partial(ids, 4, END, v2(one, STATE.PREPARE_COMMIT, 1)),
            partial(groups.marker, 4, (7, 1)),
            partial(more.marker, 5, (7, 1)),
            partial(ids, 5, SHARD_ORIGIN, v2(one, STATE.COMPLETE_COMMIT, 1)),
            partial(ids, 6, request_origin(25, 3, *APP), two),
            partial(groups.commit, 6, ["g"], (7, 1)),
            partial(ids, 8, TIMER_ORIGIN, v2(two, STATE.PREPARE_ABORT, 2)),
            partial(groups.marker, 8, (7, 2), is_commit=False),
            partial(ids, 8, SHARD_ORIGIN, v2(two, STATE.COMPLETE_ABORT, 2)),
            partial(ids, 9, None, three),
            partial(ids, 10, request_origin(22, 4, *ADMIN), v2(three, STATE.PREPARE_ABORT, 3)),
            partial(ids, 10, SHARD_ORIGIN, v2(three, STATE.COMPLETE_ABORT, 3)),
            partial(ids, 11, COMMIT, four),
            partial(ids, 12, SERVER_ORIGIN, v2(four, STATE.PREPARE_ABORT, 4)),
            partial(ids, 12, SHARD_ORIGIN, v2(four, STATE.COMPLETE_ABORT, 4)),
            partial(ids, 14, END, v2(nothing, STATE.PREPARE_ABORT, 5)),
            partial(ids, 14, SHARD_ORIGIN, v2(nothing, STATE.COMPLETE_ABORT, 5)),
            partial(ids, 16, COMMIT, last),
            partial(ids, 17, END, v2(last, STATE.PREPARE_COMMIT, MAX_EPOCH)),
            partial(ids, 17, SHARD_ORIGIN, replaced),
            partial(ids, 18, COMMIT, replace(opened(18), producer_id=70, previous_producer_id=70)),
            partial(ids, 19, TIMER_ORIGIN, None),
        ]

    def of_version_1(self) -> list[Callable[[], None]]:
        """Two transactions of one epoch; another producer's open one beside them."""
        ids, groups = self.ids.state, self.groups
        one, two = (replace(opened(at), producer_id=8) for at in (1, 5))
        return [
            partial(ids, 1, ADD, one, "old"),
            partial(groups.commit, 1, ["g"], (8, 0)),
            partial(groups.commit, 1, ["left"], (9, 0)),
            partial(ids, 2, END, then(one, STATE.PREPARE_COMMIT, 0), "old"),
            partial(groups.marker, 2, (8, 0)),
            partial(ids, 3, SHARD_ORIGIN, then(one, STATE.COMPLETE_COMMIT, 0), "old"),
            partial(ids, 5, ADD, two, "old"),
            partial(groups.commit, 6, ["h"], (8, 0)),
            partial(ids, 7, END, then(two, STATE.PREPARE_COMMIT, 0), "old"),
            partial(groups.marker, 8, (8, 0)),
            partial(ids, 9, SHARD_ORIGIN, then(two, STATE.COMPLETE_COMMIT, 0), "old"),
        ]


def v2(before: Transaction, state: TransactionState, epoch: int) -> Transaction:
    return replace(then(before, state, epoch), client_version=2)


def sealed(data_dir: Path) -> dict[str, int]:
    return {path.name: max(int(each.stem) for each in path.glob("*.log")) for path in data_dir.glob("__*")}


def bring_up_to_date(data_dir: Path, out: Path) -> HistoryResult:
    with open_output(out, CLUSTER) as output:
        found = new_records.new_records(data_dir, sealed(data_dir), output.positions)
        return write_history(found, output, run_here, Progress(), 1)


def rows(out: Path, name: str) -> list[Any]:
    found = [row for file in sorted((out / name).rglob("*.parquet")) for row in pq.ParquetFile(file).read().to_pylist()]
    return sorted(found, key=lambda row: (row["shard"], row["log_offset"]))


def at(second: int) -> datetime:
    return datetime.fromtimestamp((START_MS + second * SECOND) / 1000, UTC)


def group(name: str, offsets: int, since: int, until: int) -> dict[str, Any]:
    return {"group_id": name, "offsets": offsets, "since": at(since), "until": at(until)}


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    return Logs(tmp_path / "data")


@pytest.fixture
def out(logs: Logs, tmp_path: Path) -> Path:
    """The tables of everything that happens."""
    for happen in logs.happenings():
        happen()
    logs.write()
    bring_up_to_date(logs.data_dir, tmp_path / "out")
    return tmp_path / "out"


def test_a_transaction_is_a_row_with_its_groups_and_who_began_and_ended_it(out: Path) -> None:
    first, *_ = rows(out, "transactions")

    assert first == {
        "shard": int(SHARD.rpartition("-")[2]),
        "log_offset": 4,
        "time": at(5),
        "transactional_id": "tx",
        "producer_id": 7,
        "producer_epoch": 0,
        "marker_epoch": 1,
        "timeout_ms": 60_000,
        "began": at(1),
        "decided": at(4),
        "outcome": "committed",
        "why": "producer",
        "groups": [group("g", 2, 1, 4), group("h", 1, 1, 4), group("k", 1, 3, 5)],
        "partitions": [],
        "began_by": {"operation": "TxnOffsetCommit v5"} | BY_APP,
        "ended_by": {"operation": "EndTxn v5"} | BY_APP,
    }


def test_every_end_of_a_transaction_has_its_reason(out: Path) -> None:
    """An abort of nothing ends no transaction, and the last one here is forgotten before it has ended."""
    found = rows(out, "transactions")

    assert [(each["outcome"], each["why"]) for each in found] == [
        ("committed", "producer"),
        ("aborted", "timeout"),
        ("aborted", "fenced"),
        ("aborted", "administrator"),
        ("committed", "producer"),
    ]
    assert found[1]["groups"] == [group("g", 1, 6, 8)]
    assert found[1]["partitions"] == ["orders-1"]
    assert (found[2]["began_by"], found[2]["ended_by"]) == (None, {"operation": "InitProducerId v4"} | BY_OTHER)
    assert (found[4]["producer_id"], found[4]["producer_epoch"], found[4]["marker_epoch"]) == (7, LAST_EPOCH, MAX_EPOCH)


def test_every_epoch_of_a_producer_is_a_row_with_its_cause(out: Path) -> None:
    found = rows(out, "producers")

    assert [(each["producer_id"], each["producer_epoch"], each["why"], each["time"]) for each in found] == [
        (7, 0, "initialized", at(0)),
        (7, 1, "transaction-ended", at(4)),
        (7, 2, "timeout", at(8)),
        (7, 3, "fenced", at(10)),
        (7, 4, "administrator", at(12)),
        (7, 5, "transaction-ended", at(14)),
        (7, MAX_EPOCH, "transaction-ended", at(17)),
        (70, 0, "epochs-used-up", at(17)),
        (None, None, "unused", at(19)),
    ]
    assert {name: found[3][name] for name in BY_OTHER} == BY_OTHER


def test_every_record_is_a_transition(out: Path) -> None:
    """What is open at a moment is what the last ones before it say."""
    found = rows(out, "transitions")

    assert [each["state"] for each in found][:6] == ["Empty", "Ongoing", "Ongoing", "PrepareCommit", "CompleteCommit", "Ongoing"]
    assert [each["began"] for each in found][:5] == [None, at(1), at(1), at(1), None]
    assert [each["why"] for each in found if each["why"]] == [
        "producer",
        "timeout",
        "fenced",
        "administrator",
        "producer",
        "producer",
        "unused",
    ]
    assert found[5]["partitions"] == [OFFSETS, "orders-1"]
    assert {name: found[0][name] for name in BY_APP} == BY_APP
    assert {name: found[4][name] for name in NOBODY} == {"principal": "User:ANONYMOUS", "client_id": None, "client_host": None}


@pytest.mark.parametrize("happenings", [Logs.happenings, Logs.of_version_1])
def test_a_transaction_that_several_runs_have_read_has_the_row_of_one_run(
    logs: Logs, tmp_path: Path, happenings: Callable[[Logs], list[Callable[[], None]]]
) -> None:
    """A run after every record: whatever was open at its end."""
    for happen in happenings(logs):
        happen()
        logs.write()
        bring_up_to_date(logs.data_dir, tmp_path / "often")
    bring_up_to_date(logs.data_dir, tmp_path / "once")

    for name in SCHEMAS:
        assert rows(tmp_path / "often", name) == rows(tmp_path / "once", name)
    assert len(rows(tmp_path / "once", "transactions")) > 1


def test_pieces_have_the_rows_of_the_whole(logs: Logs, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each begins to read the groups' log where its first transaction began."""
    monkeypatch.setattr(transaction_tables, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(transaction_tables, "ENDED_AT_ONCE", 1)
    monkeypatch.setattr(written_groups, "MARK_BYTES", 1)

    bring_up_to_date(logs.data_dir, tmp_path / "pieces")

    for name in SCHEMAS:
        assert rows(tmp_path / "pieces", name) == rows(out, name)


def test_no_piece_reads_the_whole_log_of_groups(logs: Logs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So the work is linear in the records."""
    count, read = 40, 0
    for number in range(count):
        one = opened(4 * number, number)
        logs.ids.state(4 * number, ADD, one)
        logs.groups.commit(4 * number + 1, ["g"], (7, number))
        logs.ids.state(4 * number + 2, END, v2(one, STATE.PREPARE_COMMIT, number + 1))
        logs.groups.marker(4 * number + 2, (7, number + 1))
        logs.ids.state(4 * number + 3, SHARD_ORIGIN, v2(one, STATE.COMPLETE_COMMIT, number + 1))
    logs.write()
    windows = read_windows

    def counted(file: InputFile, start: int) -> Iterator[Any]:
        nonlocal read
        for each in windows(file, start):
            read += 1
            yield each

    monkeypatch.setattr(transaction_tables, "ENDED_AT_ONCE", 1)
    monkeypatch.setattr(written_groups, "MARK_BYTES", 1)
    monkeypatch.setattr(written_groups, "read_windows", counted)
    bring_up_to_date(logs.data_dir, tmp_path / "out")

    found = rows(tmp_path / "out", "transactions")
    assert [each["groups"] for each in found] == [[group("g", 1, 4 * each + 1, 4 * each + 2)] for each in range(count)]
    assert 2 * count <= read <= 6 * count


def test_transactions_of_one_epoch_are_told_apart_by_their_time(logs: Logs, tmp_path: Path) -> None:
    """In version 1 of transactions an end changes no epoch."""
    for happen in logs.of_version_1():
        happen()
    logs.write()
    bring_up_to_date(logs.data_dir, tmp_path / "out")

    found = rows(tmp_path / "out", "transactions")

    assert [each["groups"] for each in found] == [[group("g", 1, 1, 2)], [group("h", 1, 6, 8)]]
    assert [(each["producer_epoch"], each["marker_epoch"]) for each in found] == [(0, 0), (0, 0)]


def test_of_what_retention_took_a_row_has_what_is_left(logs: Logs, tmp_path: Path) -> None:
    """Compaction has kept the last record of the id: that a transaction has completed, and when it began."""
    for happen in logs.happenings()[:9]:
        happen()
    logs.write()
    logs.happenings()[9]()
    logs.write()
    compact(plans(logs.data_dir, sealed(logs.data_dir)), None, run_python, Progress())
    for shard in logs.data_dir.glob("__*"):
        for segment in sorted(shard.glob("*.log"))[:-1]:
            segment.unlink()

    result = bring_up_to_date(logs.data_dir, tmp_path / "out")

    [found] = rows(tmp_path / "out", "transactions")
    assert len(result.gaps) == 3
    assert (found["outcome"], found["producer_id"], found["began"], found["time"]) == ("committed", 7, at(1), at(5))
    assert (found["decided"], found["why"], found["groups"], found["began_by"]) == (None, None, [], None)


def test_a_state_that_kafka_does_not_have_stops_the_run(logs: Logs, tmp_path: Path) -> None:
    """The error names the file."""
    logs.ids.state(1, None, replace(EMPTY, state=9))
    logs.write()

    with pytest.raises(DamagedLog, match=r"__transaction_state-.*a record that cannot be read"):
        bring_up_to_date(logs.data_dir, tmp_path / "out")


class Answers:
    """A server with two loops, of which the one with the transactional ids answers later."""

    def __init__(self) -> None:
        self.answers = [{SHARD: 5, OFFSETS: 2}, {SHARD: 9, OFFSETS: 4}]

    def durable(self, *_: object) -> dict[str, int]:
        return self.answers.pop(0)


@pytest.mark.parametrize(
    ("positions", "expected"),
    [({}, {SHARD: 5, OFFSETS: 4}), ({SHARD: 4}, {SHARD: 5, OFFSETS: 4}), ({SHARD: 5}, {SHARD: 5, OFFSETS: 2})],
)
def test_groups_are_read_further_than_transactional_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, positions: dict[str, int], expected: dict[str, int]
) -> None:
    """So a transaction that is known to have completed has all its markers;
    only where there is something new of transactional ids.
    """
    monkeypatch.setattr(new_records, "durable", Answers().durable)

    assert new_records.durable_in_order(tmp_path, positions) == expected
