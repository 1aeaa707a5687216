"""The answers of the page, as JSON, each made once for a version: those that ask for the same at the same time share one."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec.structs import asdict

from coordinator_server.log.errors import LogError
from coordinator_server.log.opening import identity_of
from coordinator_server.page import across, group, moments, summaries
from coordinator_server.page.aged import Aged
from coordinator_server.page.density import Times
from coordinator_server.page.lanes import Window
from coordinator_server.page.lived import AboutMembers, life_of
from coordinator_server.page.machine import machine_of
from coordinator_server.page.paces import partition_paces
from coordinator_server.page.queued import Queued, TooMany
from coordinator_server.page.rights import EVERYTHING, Rights
from coordinator_server.page.summaries import Asked
from coordinator_server.page.trend import MOST_POINTS, Trends
from coordinator_server.page.updater import Updater
from coordinator_server.page.what_if import NotYet, WhatIf, what_if
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.index.database import NoIndex
from coordinator_server.pipeline.index.feed import DIRECTORY, index_of
from coordinator_server.pipeline.index.period import Period
from coordinator_server.pipeline.index.snapshot import Snapshot, SnapshotGroup
from coordinator_server.pipeline.index.tables.end_offsets import last_sample_ms
from coordinator_server.whatif.measured import measured_silences
from coordinator_server.whatif.membership import Membership
from coordinator_server.whatif.names import NAMES
from coordinator_server.whatif.silences import Heard
from coordinator_server.whatif.topics import read_topics
from coordinator_server.whatif.verdict import Question
from protocol.errors import DecodeError

MOST_KEPT_BYTES: Final = 32 << 20
MOST_PARTITIONS: Final = 500
FINDINGS_S: Final = 60.0
"""How old findings may be."""
_LONGEST_FILTER: Final = 500

T = TypeVar("T")
Query = Mapping[str, str]


class BadRequest(Exception):
    """A request names something that does not exist in this form; the text says what."""


class NotFound(Exception):
    """There is nothing of this name, or the viewer may not see it: which, is not said."""


class Unavailable(Exception):
    """The answer cannot be given now; the text says why."""


Findings = Callable[[], Sequence[Mapping[str, Any]]]
Removed = Callable[[], Mapping[str, int]]
"""Returns the offset by shard before which the cluster that is followed had removed records before they were read."""


def nothing_found() -> Sequence[Mapping[str, Any]]:
    """Return the findings of nobody who looks."""
    return ()


class Played(NamedTuple):
    """What is played: a group, the times and the size of the picture, and a rule. ``version`` is that of the group's rebalances."""

    group_id: str
    times: tuple[int | None, int | None]
    sizes: tuple[tuple[str, int], ...]
    question: Question
    version: tuple[Any, ...]


class Answers:
    """The answers of one process. Each takes the query of a request, and may be called by any thread.

    ``findings`` looks for what is wrong with the directory and its server, and may take a while.
    """

    def __init__(self, data_dir: Path, updater: Updater, findings: Findings = nothing_found, removed_to: Removed = dict) -> None:
        self._data_dir = data_dir
        self._directory = data_dir / DIRECTORY
        self._updater = updater
        self._tools = group.Tools(updater.words, Times())
        self._trends = Trends()
        self._machine = machine_of(data_dir)
        self._findings = Aged(findings, FINDINGS_S)
        self._removed_to = removed_to
        self._about_members = AboutMembers()
        self._played: Queued[Played, WhatIf] = Queued(self._play)
        self._lock = threading.Lock()
        self._kept: OrderedDict[Any, bytes] = OrderedDict()
        self._size = 0
        self._being_made: dict[Any, Future[bytes]] = {}

    def get(self, name: str, query: Query, rights: Rights = EVERYTHING) -> bytes:
        """Return an answer by its name, as far as a viewer may see it. Raises BadRequest, NotFound, Unavailable."""
        key = self._updater.board.status.version, name, tuple(sorted(query.items())), rights
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept
            made = self._being_made.get(key)
            is_mine = made is None
            if made is None:
                made = self._being_made[key] = Future()
        if is_mine:
            is_kept = False
            try:
                answer, is_kept = self._make(name, query, rights)
                made.set_result(answer)
            except BaseException as error:  # noqa: BLE001 - whoever waits for the answer gets the error
                made.set_exception(error)
            with self._lock:
                del self._being_made[key]
                if is_kept:
                    self._keep(key, made.result())
        return made.result()

    def _make(self, name: str, query: Query, rights: Rights) -> tuple[bytes, bool]:
        """Return an answer, and whether it is as good as it gets: another one may have time to read more."""
        try:
            found = ANSWERS[name](self, query, rights)
            return msgspec.json.encode(found), getattr(found, "is_exact", True)
        except NoIndex as error:
            raise Unavailable(str(error) or "nothing has been read yet: it begins with the first viewer") from error
        except DecodeError as error:
            raise Unavailable(f"a record cannot be read: {error}; `coordinator-server log verify` says where") from error
        except (PipelineError, LogError, OSError) as error:
            raise Unavailable(str(error)) from error

    def _keep(self, key: Any, answer: bytes) -> None:
        self._kept[key] = answer
        self._size += len(answer)
        while self._size > MOST_KEPT_BYTES:
            self._size -= len(self._kept.popitem(last=False)[1])

    # --- the answers

    def groups(self, query: Query, rights: Rights) -> Any:
        """Some of all groups: those that match what is typed, sorted by a column."""
        asked = Asked(
            query.get("q", "")[:_LONGEST_FILTER],
            query.get("sort") or "group",
            query.get("desc") == "1",
            max(0, _number(query, "first", 0)),
        )
        with summaries.open_to_read(self._directory) as found:
            if found is None:
                return summaries.Page([], 0, 0, {})._asdict()
            try:
                return found.page(asked, rights)._asdict()
            except ValueError as wrong:
                raise BadRequest(str(wrong)) from wrong

    def group(self, query: Query, rights: Rights) -> Any:
        """What the list says of one group, and what it waits for now."""
        group_id = _text(query, "id")
        return self._row(group_id, rights) | {"waits": self._updater.progress.waits(group_id)}

    def pace(self, query: Query, rights: Rights) -> Any:
        """How fast a group consumes each partition, and how far it is behind."""
        with self._group(query, rights) as (found, index):
            partitions = partition_paces(index.database, found.id, self._updater.now_ms)
            sampled_ms = last_sample_ms(index.database)
        return {
            "sampled_ms": sampled_ms if sampled_ms >= 0 else None,
            "partitions": partitions[:MOST_PARTITIONS],
            "partition_count": len(partitions),
        }

    def trend(self, query: Query, rights: Rights) -> Any:
        """How fast a group consumed over a window of time, and how far it was behind."""
        points = max(1, min(_number(query, "points", MOST_POINTS), MOST_POINTS))
        window = Window(_number(query, "from"), max(_number(query, "to"), _number(query, "from") + 1), points)
        with self._group(query, rights) as (found, index):
            return self._trends.trend(found, index, window, frozenset(self._row(found.id, rights)["topics"]))

    def _row(self, group_id: str, rights: Rights) -> dict[str, Any]:
        with summaries.open_to_read(self._directory) as found:
            row = None if found is None else found.row(group_id)
        if row is None or not rights.may_see(group_id, row["topics"]):
            raise NotFound(f"the index has no group {group_id}")
        return row

    def picture(self, query: Query, rights: Rights) -> Any:
        """One group in a window of time."""
        numbers = {field: _number(query, name) for field, name in _SIZES.items() if name in query}
        with self._group(query, rights) as (found, index):
            return group.picture(found, _times(query, "from", "to"), self._read_ms(index), group.parsed(numbers), self._tools)

    def events(self, query: Query, rights: Rights) -> Any:
        """What happened to a group in a window of time, in words."""
        limit = max(1, min(_number(query, "limit", 100), group.MOST_EVENTS))
        with self._group(query, rights) as (found, _):
            return group.events(found, Period(*_times(query, "from", "to"), limit, query.get("each") == "1"), self._tools.words)

    def moment(self, query: Query, rights: Rights) -> Any:
        """A group at a moment."""
        with self._group(query, rights) as (found, _):
            return moments.moment(found, _number(query, "at"), max(0, _number(query, "first", 0)))

    def difference(self, query: Query, rights: Rights) -> Any:
        """What differs between two moments of a group."""
        with self._group(query, rights) as (found, _):
            return moments.difference(found, _number(query, "from"), _number(query, "to"))

    def what_if(self, query: Query, rights: Rights) -> Any:
        """What a group would have lived through with another rule. It takes a while to play, so it may not be there yet."""
        row = self._row(_text(query, "id"), rights)
        sizes = tuple((field, _number(query, name)) for field, name in _SIZES.items() if name in query)
        version = row["epoch"], row["rebalanced_ms"], row["state"]
        try:
            found = self._played.get(Played(row["group"], _times(query, "from", "to"), sizes, _question(query), version))
        except TooMany as many:
            raise Unavailable("too many others ask what if: try again in a minute") from many
        return NotYet() if found is None else found

    def _play(self, asked: Played) -> WhatIf:
        with self._opened(asked.group_id) as (found, index):
            topics, removed = read_topics(self._data_dir, self._updater.catalog_to), self._removed_to().get(found.shard_name, 0)
            life = life_of(found, self._about_members, topics, removed)
            session_ms = asked.question.membership.session_timeout_ms
            if session_ms:
                # Of commits, the page reads none.
                measured = measured_silences(self._data_dir, found.id, found.shard_name, session_ms)
                life.silences = Heard(session_ms, measured).silences(life.generations, life.static)
            whole = group.times_of(found.stored, found.reader().last)
            read_ms = self._read_ms(index)
        size = group.parsed(dict(asked.sizes))
        window, known_ms = group.window_of(whole, asked.times, read_ms, size.columns)
        return what_if(life, asked.question, window, known_ms, size, self._updater.words.reason)

    def clients(self, query: Query, rights: Rights) -> Any:
        """Which groups clients belong to."""
        typed = query.get("q", "")[:_LONGEST_FILTER]
        with self._all(rights) as (index, may_see):
            return across.clients(index.database, typed, may_see, with_past=query.get("past") == "1")

    def topics(self, query: Query, rights: Rights) -> Any:
        """Who consumes topics."""
        with summaries.open_to_read(self._directory) as found:
            return across.Some([], 0) if found is None else across.topics(found, query.get("q", "")[:_LONGEST_FILTER], rights)

    def transactions(self, _query: Query, rights: Rights) -> Any:
        """Which transactions are open, hang, and ended last."""
        with self._all(rights) as (index, may_see):
            return across.all_transactions(index.database, rights, may_see)

    def shares(self, _query: Query, rights: Rights) -> Any:
        """Where share partitions stand, and which of their deliveries are not settled."""
        with self._all(rights) as (index, _):
            return across.shares(index.database, self._updater.names, rights)

    def log(self, _query: Query, rights: Rights) -> Any:
        """What is behind the groups: the directory, its shards and how far they are indexed, the server's loops, and jobs."""
        _of_the_cluster(rights)
        identity = identity_of(self._data_dir)
        with index_of(self._data_dir) as index:
            indexed = index.shards()
        return {
            "cluster_id": identity.cluster_id,
            "data_dir": str(self._data_dir),
            "is_observed": identity.is_observed,
            "indexed": {
                name: {"begins_at": each.begins_at, "next_offset": each.position.next_offset, "lost_to": each.lost_to}
                for name, each in indexed.items()
            },
            **asdict(self._machine.get()),
        }

    def doctor(self, _query: Query, rights: Rights) -> Any:
        """What is wrong with the directory, the server on it and its machine, the worst first, and what to do."""
        _of_the_cluster(rights)
        return {"findings": self._findings.get()}

    def _read_ms(self, index: Snapshot) -> int:
        """Return up to when what goes on is known to go on: without a server, up to the end of the log."""
        status = self._updater.board.status
        return status.as_of_ms if status.is_served else index.latest_ms()

    @contextmanager
    def _all(self, rights: Rights) -> Iterator[tuple[Snapshot, across.MaySee]]:
        """Open the index, with the groups that a viewer may see. Raises NoIndex."""
        may_see: across.MaySee = _everything
        if rights is not EVERYTHING:
            with summaries.open_to_read(self._directory) as found:
                may_see = frozenset(() if found is None else (each for each, *_ in found.consumers(rights))).__contains__
        with index_of(self._data_dir) as index:
            yield index, may_see

    @contextmanager
    def _group(self, query: Query, rights: Rights) -> Iterator[tuple[SnapshotGroup, Snapshot]]:
        """Open the group that a request names, and the index that has it. Raises NotFound, NoIndex."""
        group_id = _text(query, "id")
        if rights is not EVERYTHING:
            self._row(group_id, rights)
        with self._opened(group_id) as found:
            yield found

    @contextmanager
    def _opened(self, group_id: str) -> Iterator[tuple[SnapshotGroup, Snapshot]]:
        with index_of(self._data_dir) as index:
            found = index.group(group_id, self._updater.names)
            if found is None:
                raise NotFound(f"the index has no group {group_id}")
            yield found, index


_SIZES: Final = {"columns": "columns", "first_lane": "lane", "lanes": "lanes"}
_LONGEST_MS: Final = 24 * 3_600_000
"""The longest session and delay that are played."""
ANSWERS: Final[Mapping[str, Callable[[Answers, Query, Rights], Any]]] = {
    "groups": Answers.groups,
    "group": Answers.group,
    "pace": Answers.pace,
    "trend": Answers.trend,
    "picture": Answers.picture,
    "events": Answers.events,
    "moment": Answers.moment,
    "difference": Answers.difference,
    "what-if": Answers.what_if,
    "clients": Answers.clients,
    "topics": Answers.topics,
    "transactions": Answers.transactions,
    "shares": Answers.shares,
    "log": Answers.log,
    "doctor": Answers.doctor,
}
"""Each is at /api/NAME."""


def _everything(_group_id: str) -> bool:
    return True


def _of_the_cluster(rights: Rights) -> None:
    if not rights.has_cluster:
        raise NotFound("this is for users that may describe the cluster")


def _text(query: Query, name: str) -> str:
    found = query.get(name)
    if not found:
        raise BadRequest(f"{name} is missing")
    return found


def _number(query: Query, name: str, otherwise: int | None = None) -> int:
    text = query.get(name)
    if text is None and otherwise is not None:
        return otherwise
    try:
        found = int(text or "")
    except ValueError:
        raise BadRequest(f"{name}={text or ''} is no whole number") from None
    if abs(found) >= 2**53:
        raise BadRequest(f"{name}={text} is too large")
    return found


def _question(query: Query) -> Question:
    """Return the rules that a request names."""
    assignor = query.get("assignor") or None
    if assignor is not None and assignor not in NAMES:
        raise BadRequest(f"assignors are {', '.join(NAMES)}")
    times_ms = [_number(query, name, 0) for name in ("session", "delay")]
    if not all(0 <= each <= _LONGEST_MS for each in times_ms):
        raise BadRequest("session and delay are times in ms of at most a day")
    return Question(assignor, Membership(query.get("static") == "1", *times_ms))


def _times(query: Query, since: str, until: str) -> tuple[int | None, int | None]:
    found = tuple(_number(query, name) if name in query else None for name in (since, until))
    if None not in found and found[0] > found[1]:  # type: ignore[operator]  # none of them is None
        raise BadRequest(f"{since} is after {until}")
    return found[0], found[1]
