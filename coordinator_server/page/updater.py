"""Brings the index and the summaries up to date while somebody looks, in a thread: once for all viewers, however many there are.

A round lets the server write out what is durable, reads what is new, summarises the groups that have changed, some at a time, and
asks which rebalances go on. Rates and lags of all groups are made again at times.
Of a directory that no server has, the log is read once: a round would lock it, and keep a server from starting.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

import structlog

from coordinator_server.log.errors import LogError
from coordinator_server.log.opening import identity_of
from coordinator_server.page import summaries
from coordinator_server.page.board import MOST_CHANGED, Board
from coordinator_server.page.paces import paces
from coordinator_server.page.progress import InProgress
from coordinator_server.page.summaries import Summaries
from coordinator_server.page.summary import DELETED, UNREADABLE, Summary, Words, plain_commits, summary
from coordinator_server.pipeline.errors import Busy, PipelineError
from coordinator_server.pipeline.index.database import NoIndex
from coordinator_server.pipeline.index.feed import DIRECTORY, index_of, update
from coordinator_server.pipeline.index.reader import IndexedShard
from coordinator_server.pipeline.index.snapshot import GroupVersion, Snapshot
from coordinator_server.pipeline.index.tables.end_offsets import last_sample_ms
from coordinator_server.pipeline.input.data_dir import durable, is_served
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD, NO_NAMES, TopicNames
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.states.shown_group import NamesOfTopics

log = structlog.get_logger(__name__)

ROUND_S: Final = 2.0
"""The time from the end of a round to the next one."""
WORK_S: Final = 1.0
"""The time in which a round summarises groups; the next one goes on, after SHORT_PAUSE_S. It leaves processor to answers."""
SHORT_PAUSE_S: Final = 0.2
PACES_S: Final = 6.0
"""How often rates and lags are made again, which are those of all groups, unless that takes long."""
_PAUSES: Final = 20


class Updater:
    """The thread, and what it knows between two rounds.

    ``names`` are the topics as of the last round: those of the catalog's log before ``catalog_to``.
    """

    def __init__(self, data_dir: Path, board: Board, words: Words, clock: Callable[[], float] = time.time) -> None:
        self._data_dir = data_dir
        self._directory = data_dir / DIRECTORY
        self.board = board
        self.words = words
        self._clock = clock
        self._has_read = False
        self._wanted = threading.Event()
        self._is_over = False
        self._known: dict[str, GroupVersion] = {}
        self._is_known = False
        # How far shards were read when the summaries of all of their groups were written.
        self._shards: dict[str, IndexedShard] = {}
        self.names: NamesOfTopics = NO_NAMES
        self.catalog_to = 0
        self.progress = InProgress(data_dir)
        self._paces_at_s = 0.0
        self._sampled_ms = -1
        self._latest_ms = 0
        self._thread = threading.Thread(target=self._run, name="page-updater", daemon=True)

    def start(self) -> None:
        """Begin with the first round."""
        self._wanted.set()
        self._thread.start()

    def stop(self) -> None:
        """End after the present round."""
        self._is_over = True
        self._wanted.set()

    def want(self) -> None:
        """Somebody looks: bring the answers up to date."""
        self._wanted.set()

    def round(self) -> None:
        """Read what is new. Problems become status."""
        problem = self._read()
        self.progress.refresh()
        try:
            with (
                index_of(self._data_dir) as index,
                summaries.open_to_write(self._directory, identity_of(self._data_dir).cluster_id) as written,
            ):
                self._summarise(index, written, problem)
        except Busy:
            # Another page summarises: its work is read.
            self.board.publish(version=self.board.status.version + 1, changed=None, problem=problem)
        except NoIndex as why:
            self.board.publish(problem=problem or str(why))
        except (PipelineError, LogError, OSError) as failed:
            self.board.publish(problem=problem or str(failed))

    def _run(self) -> None:
        while True:
            self._wanted.wait()
            if self._is_over:
                return
            self._wanted.clear()
            self.round()
            if self.board.viewers or self.board.status.unread:
                self._wanted.set()
            time.sleep(SHORT_PAUSE_S if self.board.status.unread else ROUND_S)

    def _read(self) -> str:
        """Bring the index up to date. Return why that was not possible."""
        try:
            served = is_served(self._data_dir)
            if served or not self._has_read:
                as_of_ms = round(self._clock() * 1000)
                ends = durable(self._data_dir)
                if ends.get(CATALOG_SHARD, 0) != self.catalog_to:
                    self.catalog_to = ends[CATALOG_SHARD]
                    self.names = TopicNames(self._data_dir, self.catalog_to)
                done = update(self._data_dir, _Shown(self.board), ends=ends)
                self._has_read = True
                self._is_known &= not done.again
                self.board.publish(as_of_ms=as_of_ms, is_served=served, reading="")
            else:
                self.board.publish(is_served=False)
        except Busy:
            # Another process keeps the index: it is as new as that wants it.
            return ""
        except (PipelineError, LogError, OSError) as failed:
            log.warning("page-not-up-to-date", why=str(failed))
            return str(failed)
        return ""

    def _summarise(self, index: Snapshot, written: Summaries, problem: str) -> None:
        shards = index.shards()
        is_all = not self._is_known or any(_is_another(before, shards.get(name)) for name, before in self._shards.items())
        if not self._is_known:
            self._known, self._is_known = written.versions(), True
        grown = [shard for name, shard in shards.items() if is_all or self._shards.get(name) != shard]
        found = {group_id: each for shard in grown for group_id, each in index.versions(shard).items()}
        stale = [group_id for group_id, each in found.items() if self._known.get(group_id) != each]
        removed = self._known.keys() - found.keys() if is_all else set[str]()
        done = list(self._summaries(index, written, {each: found[each] for each in stale}))
        if done or removed:
            written.write(done, removed)
        for each, version in done:
            self._known[each.group] = version
        for group_id in removed:
            del self._known[group_id]
        self._shards = shards if len(done) == len(stale) else {}
        status = self.board.status
        changed = {*(each.group for each, _ in done), *written.write_progress(self.progress.rows()), *self._paced(index, written)}
        is_new = bool(changed or removed or stale) or problem != status.problem
        self.board.publish(
            version=status.version + is_new,
            changed=sorted(changed) if len(changed) <= MOST_CHANGED and not removed else None,
            unread=len(stale) - len(done),
            problem=problem,
        )

    def _summaries(
        self, index: Snapshot, written: Summaries, stale: Mapping[str, GroupVersion]
    ) -> Iterator[tuple[Summary, GroupVersion]]:
        """Summarise groups, those first that wait for longest, until the time of a round is over."""
        end_s = time.monotonic() + WORK_S
        for group_id in sorted(stale, key=lambda each: self._known.get(each, (0,) * 6)[5]):
            found = self._summary(index, written, group_id, stale[group_id])
            yield found, stale[group_id]
            if time.monotonic() > end_s:
                return

    def _summary(self, index: Snapshot, written: Summaries, group_id: str, version: GroupVersion) -> Summary:
        before = self._known.get(group_id)
        group = index.group(group_id, self.names)
        assert group is not None
        if before is not None and (before.number, before.chunk) == (version.number, version.chunk):
            last = written.get(group_id)
            commits = plain_commits(group.stored.pieces_after(before.last_piece))
            # A topic that it has not had, or a group that did not exist, is more than a newer commit.
            if last is not None and last.state != DELETED and commits is not None and commits.topics <= set(last.topics):
                last.committed_ms = max(last.committed_ms or 0, commits.at_ms)
                return last
        try:
            return summary(group, self.words)
        except LogError as damaged:
            return Summary(group_id, "unknown", UNREADABLE, cause=str(damaged))

    def _paced(self, index: Snapshot, written: Summaries) -> Collection[str]:
        """Write the paces of groups when there are new samples, or if it is time: groups may have stopped. Return the new ones."""
        sampled_ms, began_s = last_sample_ms(index.database), time.monotonic()
        if began_s < self._paces_at_s and sampled_ms == self._sampled_ms:
            return ()
        self._latest_ms, self._sampled_ms = index.latest_ms(), sampled_ms
        changed = written.write_paces(paces(index.database, self.now_ms))
        ended_s = time.monotonic()
        self._paces_at_s = ended_s + max(PACES_S, _PAUSES * (ended_s - began_s))
        return changed

    @property
    def now_ms(self) -> int:
        """The moment up to which the log was read; without a server, that of its last record."""
        status = self.board.status
        return status.as_of_ms if status.is_served else self._latest_ms


def _is_another(before: IndexedShard, now: IndexedShard | None) -> bool:
    """Return whether the index of a shard was made again: then it may lack groups that it had."""
    return now is None or now.begins_at != before.begins_at or now.position.next_offset < before.position.next_offset


class _Shown(Progress):
    """Tells viewers how far the first reading is."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._of = 0
        self._next_s = time.monotonic() + 1

    def start(self, shards: int, size: int = 0) -> None:
        """Note the number of shards."""
        self._of = shards

    def advance(self, shards: int, records: int) -> None:
        """Tell how far it is, each second."""
        if time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + 1
            self.board.publish(reading=f"{shards} of {self._of} shards, {records:,} records")
