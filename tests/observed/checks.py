"""What has to be true of the directory: beside the ledger, beside a second reader, and beside the brokers' files.

A commit that was acknowledged is in the history once, where the cluster has put it. What the cleaner had removed before it was
read is a gap, and a gap is counted: a commit may be missing only where offsets are, between the commits of its place before and
after it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from coordinator_server.log.opening import job_shards
from coordinator_server.pipeline.input.data_dir import durable
from coordinator_server.pipeline.input.files import batches_before, records_of
from coordinator_server.pipeline.lag.commit_keys import offset_of, position_of
from protocol.control_records import COMMIT, control_type
from protocol.record_batch import Record
from tests.observed.cluster import TOPICS, Cluster
from tests.observed.ledger import Entry, Ledger, Outcome, Place
from tests.observed.reader import Reader
from tests.support.observed import is_marker, theirs


class Found(NamedTuple):
    """A commit of the history: the offset of its record, and what it commits. Aborted ones are not there.

    ``is_sure``: it was not part of a transaction whose marker may be in a gap.
    """

    record: int
    offset: int
    is_sure: bool


class History:
    """The directory's log: its records, the offsets that have none, and the commits of each place in order."""

    def __init__(self, data_dir: Path) -> None:
        self.records: dict[str, dict[int, Record]] = {}
        self.places: dict[Place, list[Found]] = {}
        self.faults: list[str] = []
        self.shard_of: dict[Place, str] = {}
        self.ends = durable(data_dir)
        # The offsets without a record, ascending.
        self._missing: dict[str, list[int]] = {}
        for shard in job_shards(data_dir):
            if shard.name.startswith(TOPICS):
                self._read(shard.name, shard.whole(self.ends[shard.name])[1])

    @property
    def missing(self) -> int:
        """The number of offsets without a record."""
        return sum(map(len, self._missing.values()))

    def missing_between(self, shard: str, after: int, before: int) -> int:
        """Return how many offsets between two have no record."""
        missing = self._missing[shard]
        return bisect_right(missing, before - 1) - bisect_right(missing, after)

    def _read(self, shard: str, files: object) -> None:
        records: dict[int, Record] = {}
        missing: list[int] = []
        ended: dict[int, list[tuple[int, bool]]] = {}
        transactional: dict[int, int] = {}
        position = 0
        for data, start, header in batches_before(files, self.ends[shard]):  # type: ignore[arg-type]
            if header.base_offset != position:
                self.faults.append(f"{shard}: a batch begins at {header.base_offset}, and the one before ends at {position}")
            position = header.next_offset
            there = set()
            for record in records_of(data, start, header):
                if record.offset in records:
                    self.faults.append(f"{shard}: two records at offset {record.offset}")
                records[record.offset] = record
                there.add(record.offset)
                if header.is_control:
                    ended.setdefault(header.producer_id, []).append((record.offset, control_type(record.key) == COMMIT))
                elif header.is_transactional:
                    transactional[record.offset] = header.producer_id
            missing += [each for each in range(header.base_offset, header.next_offset) if each not in there]
        self.records[shard], self._missing[shard] = records, missing
        if shard.startswith(TOPICS[0]):
            self._add_commits(shard, ended, transactional)

    def _add_commits(self, shard: str, ended: Mapping[int, list[tuple[int, bool]]], transactional: Mapping[int, int]) -> None:
        for offset, record in sorted(self.records[shard].items()):
            where = None if is_marker(record) else position_of(record.key)
            if where is None or record.value is None:
                continue
            is_sure, is_committed = True, True
            if (producer := transactional.get(offset)) is not None:
                marker, is_committed = next(((at, commits) for at, commits in ended.get(producer, ()) if at > offset), (-1, True))
                is_sure = marker >= 0 and not self.missing_between(shard, offset, marker)
            if is_committed or not is_sure:
                place = Place(where.group, where.partition)
                self.places.setdefault(place, []).append(Found(offset, offset_of(record.value), is_sure))
                self.shard_of[place] = shard


class LedgerReport(NamedTuple):
    """Acknowledged commits: how many are in the history, and how many are in a gap. ``twice`` were written twice by clients."""

    found: int
    in_gaps: int
    twice: int
    faults: list[str]


def check_ledger(ledger: Ledger, history: History) -> LedgerReport:
    """Each acknowledged commit is there once, in the order in which they were made, or where offsets are missing."""
    counts: Counter[str] = Counter()
    faults: list[str] = []
    for place, entries in ledger.entries().items():
        found = history.places.get(place, [])
        attempted = {each.offset: each.outcome for each in entries}
        faults += [
            f"{place}: offset {each.offset} is in the history at {each.record}, and nobody has committed it"
            for each in found
            if each.is_sure and attempted.get(each.offset, Outcome.ABORTED) is Outcome.ABORTED
        ]
        faults += _check_place(place, [each for each in entries if each.outcome is Outcome.DONE], found, history, counts)
    return LedgerReport(counts["found"], counts["in gaps"], counts["twice"], faults)


def _check_place(place: Place, done: list[Entry], found: list[Found], history: History, counts: Counter[str]) -> list[str]:
    first: dict[int, int] = {}
    for each in found:
        if each.offset in first:
            counts["twice"] += 1
        first.setdefault(each.offset, each.record)
    faults, after, lacking = [], -1, 0
    shard = history.shard_of.get(place)
    for entry in [*done, None]:
        record = None if entry is None else first.get(entry.offset)
        if entry is not None and record is None:
            lacking += 1
            continue
        if lacking:
            gaps = (
                0 if shard is None else history.missing_between(shard, after, history.ends[shard] if record is None else record)
            )
            if gaps < lacking:
                faults.append(
                    f"{place}: {lacking} commits are not there between the records {after} and {record} of {shard}: {gaps} gaps"
                )
            counts["in gaps"] += lacking
            lacking = 0
        if record is not None:
            if record < after:
                faults.append(f"{place}: offset {entry and entry.offset} is before the one that was acknowledged earlier")
            counts["found"] += 1
            after = record
    return faults


class ReaderReport(NamedTuple):
    """What the second reader has seen: how much of it the directory has, and how much is in a gap of that."""

    same: int
    in_gaps: int
    faults: list[str]


def check_reader(reader: Reader, history: History) -> ReaderReport:
    """Each record that another client has read is there, at its offset, or nothing is."""
    same = in_gaps = 0
    faults = list(reader.differences)
    for shard, seen in reader.seen.items():
        ours = history.records.get(shard, {})
        for offset, record in seen.items():
            mine = ours.get(offset)
            if mine is not None and (mine.key, mine.value) == record:
                same += 1
            elif mine is None and shard in history.records and history.missing_between(shard, offset - 1, offset + 1):
                in_gaps += 1
            else:
                faults.append(f"{shard} at offset {offset}: a client has read {record}, and the directory has {mine}")
    return ReaderReport(same, in_gaps, faults)


def check_files(cluster: Cluster, history: History) -> tuple[int, list[str]]:
    """Each record of each replica of the brokers, which are stopped, is there, but for what they wrote after the last reading.

    Return their number, and what is wrong.
    """
    count, faults = 0, []
    for number, broker in cluster.brokers.items():
        for shard, records in theirs(broker.log_dir).items():
            ours, end = history.records.get(shard, {}), history.ends.get(shard, 0)
            read = {offset: record for offset, record in records.items() if offset < end}
            count += len(read)
            differ = [offset for offset, record in read.items() if ours.get(offset) != record]
            if differ:
                faults.append(
                    f"broker {number}: {shard} has {len(differ)} records that we do not have, the first at {min(differ)}"
                )
    return count, faults
