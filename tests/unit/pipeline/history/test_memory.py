"""How much is in memory and compared at a time while transactions and share partitions become rows, however long the log is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from coordinator_server.log.jobs import InputFile
from coordinator_server.pipeline.history import share_rows, transaction_tables, written_groups
from coordinator_server.pipeline.history.extract import Tables
from coordinator_server.pipeline.history.new_records import NewRecords, new_records
from coordinator_server.pipeline.history.share_rows import share_tables
from coordinator_server.pipeline.history.transaction_rows import Ended
from coordinator_server.pipeline.history.written_groups import WrittenGroups
from coordinator_server.pipeline.input import files
from coordinator_server.pipeline.input.files import read_windows
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD, NO_NAMES
from coordinator_server.pipeline.transactions.group_writes import Marker
from coordinator_server.transaction.state import TransactionState
from tests.support import share_logs, transaction_logs
from tests.support.share_logs import ShareLog
from tests.support.transaction_logs import EMPTY, OFFSETS, Log, opened, then

pytestmark = pytest.mark.interpreted

WINDOW, ROWS, ENDED, COUNT = 4096, 30, 10, 150


class Most:
    """The most of each thing that was in memory at a time."""

    def __init__(self) -> None:
        self.found: dict[str, int] = {}

    def see(self, what: str, count: int) -> None:
        self.found[what] = max(self.found.get(what, 0), count)


@pytest.fixture
def most(monkeypatch: pytest.MonkeyPatch) -> Most:
    """Little is done at a time, and it is watched."""
    seen, find = Most(), WrittenGroups.find

    def windows(file: InputFile, start: int = 0) -> Iterator[Any]:
        for each in read_windows(file, start, WINDOW):
            seen.see("bytes", len(each[0]))
            yield each

    def watched(groups: WrittenGroups, ended: Any) -> None:
        seen.see("transactions", len(ended))
        find(groups, ended)

    for module in (files, share_rows, transaction_tables, written_groups):
        monkeypatch.setattr(module, "read_windows", windows)
    monkeypatch.setattr(WrittenGroups, "find", watched)
    monkeypatch.setattr(transaction_tables, "ROWS_AT_ONCE", ROWS)
    monkeypatch.setattr(transaction_tables, "ENDED_AT_ONCE", ENDED)
    monkeypatch.setattr(share_rows, "ROWS_AT_ONCE", ROWS)
    monkeypatch.setattr(written_groups, "MARK_BYTES", 1)
    return seen


def new(data: Path, name: str) -> NewRecords:
    ends = {path.name: max(int(each.stem) for each in path.glob("*.log")) for path in data.glob("__*")}
    [shard] = [each for each in new_records(data, {CATALOG_SHARD: 1} | ends, {}) if each.name == name]
    return shard


def rows_of(pieces: Iterator[tuple[int, Tables]], table: str, most: Most) -> int:
    count = 0
    for _, tables in pieces:
        most.see("rows", tables[table].num_rows)
        count += tables[table].num_rows
    return count


@pytest.mark.parametrize("version", [1, 2])
def test_transactions(tmp_path: Path, most: Most, monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    """All of one producer, in version 1 also of one epoch: a marker is compared with few of them."""
    compared, is_ended_by = 0, Ended.is_ended_by

    def counted(ended: Ended, marker: Marker) -> bool:
        nonlocal compared
        compared += 1
        return is_ended_by(ended, marker)

    monkeypatch.setattr(Ended, "is_ended_by", counted)
    transaction_logs.write_properties(tmp_path)
    ids, groups = Log(), Log()
    for number in range(COUNT):
        epoch, after = (number, number + 1) if version == 2 else (0, 0)
        begun = replace(opened(number, epoch), client_version=version)
        ids.state(number, None, begun)
        groups.commit(number, ["g"], (EMPTY.producer_id, epoch))
        ids.state(number, None, then(begun, TransactionState.PREPARE_COMMIT, after))
        groups.marker(number, (EMPTY.producer_id, after))
        ids.state(number, None, then(begun, TransactionState.COMPLETE_COMMIT, after))
    ids.write(tmp_path / transaction_logs.SHARD)
    groups.write(tmp_path / OFFSETS)
    shard = new(tmp_path, transaction_logs.SHARD)

    assert rows_of(transaction_tables.transaction_tables([shard]), "transitions", most) == 3 * COUNT
    assert most.found.pop("bytes") < 2 * WINDOW < (tmp_path / OFFSETS / f"{0:020d}.log").stat().st_size
    assert most.found == {"rows": ROWS, "transactions": ENDED}
    assert COUNT <= compared <= 4 * COUNT


def test_share_partitions(tmp_path: Path, most: Most) -> None:
    share_logs.write_properties(tmp_path)
    log = ShareLog()
    log.snapshot(0, 10)
    for number in range(1, COUNT):
        log.update(number, 10 + number, [(10 + number, 12 + number, 0, 1)])
    log.write(tmp_path / share_logs.SHARD)
    shard = new(tmp_path, share_logs.SHARD)

    assert rows_of(share_tables(shard, NO_NAMES), "share_state", most) == COUNT
    assert most.found.pop("bytes") < 2 * WINDOW < (tmp_path / share_logs.SHARD / f"{0:020d}.log").stat().st_size
    assert most.found["rows"] <= ROWS
