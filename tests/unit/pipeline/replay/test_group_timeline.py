"""One group over time: its events, and its state at a time, whatever else is in its shard's log."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.layers.layer import newest_valid_layer
from coordinator_server.log.repair.salvage import salvage
from coordinator_server.pipeline.compact.run import compact, plans, run_python
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.replay.group_events import Event
from coordinator_server.pipeline.replay.group_ledger import GroupLedger
from coordinator_server.pipeline.replay.group_timeline import events, group_at
from tests.support.group_runtime import GroupRuntime
from tests.support.inputs import SealedShard
from tests.support.kafka_partition import COMMIT, marker, of_transaction, plain
from tests.support.random_log import packed, write_log
from tests.support.segments import START_MS, group_key, group_value, offset_key, offset_value, write_meta

GZIP = 1
END = 100
VALUE = offset_value(5)
GROUP = "group-1"
SHARD = "__consumer_offsets-7"


def log_of(tmp_path: Path, *batches: bytes) -> Path:
    shard_dir = tmp_path / SHARD
    write_log(shard_dir, batches, 1)
    return shard_dir


def told(found: Iterable[Event]) -> list[tuple[int, str, int | None, int | None, int]]:
    return [(each.at_ms - START_MS, each.what, each.generation, each.members, len(each.changes)) for each in found]


def test_generations_and_deletions_are_events(tmp_path: Path) -> None:
    """Offsets that are committed or deleted at once are one event."""
    shard_dir = log_of(
        tmp_path,
        plain(0, (group_key(GROUP), group_value(0, []))),
        plain(1, (group_key(GROUP), group_value(1, ["a", "b"]))),
        plain(2, (offset_key(GROUP, "t", 0), VALUE), (offset_key(GROUP, "t", 1), VALUE)),
        plain(4, (offset_key(GROUP, "t", 0), None), (offset_key(GROUP, "t", 1), None)),
        plain(6, (offset_key(GROUP, "t", 2), None)),
        plain(7, (group_key(GROUP), group_value(2, []))),
        plain(8, (group_key(GROUP), None)),
    )

    assert told(events(SealedShard(shard_dir), GroupLedger(GROUP), END)) == [
        (0, "created", 0, 0, 0),
        (1, "generation", 1, 2, 0),
        (2, "offsets committed", None, None, 2),
        (4, "offsets deleted", None, None, 2),
        (6, "offsets deleted", None, None, 1),
        (7, "empty", 2, 0, 0),
        (8, "deleted", None, None, 0),
    ]


def test_deletions_of_offsets_are_told_apart_from_what_is_next_to_them(tmp_path: Path) -> None:
    """The first event of a group, and one at the same time as a generation."""
    shard_dir = log_of(
        tmp_path,
        plain(0, (offset_key(GROUP, "t", 0), None), (group_key(GROUP), group_value(1, [])), (offset_key(GROUP, "t", 1), None)),
    )

    assert told(events(SealedShard(shard_dir), GroupLedger(GROUP), END)) == [
        (0, "offsets deleted", None, None, 1),
        (0, "empty", 1, 0, 0),
        (0, "offsets deleted", None, None, 1),
    ]


def test_other_groups_are_passed_over_and_transactions_count_at_their_end(tmp_path: Path) -> None:
    """Also where their ids have the group's id in them, and in a batch that is compressed."""
    shard_dir = log_of(
        tmp_path,
        plain(0, (group_key(GROUP + "2"), group_value(0, []))),
        of_transaction(1, 7, (offset_key(GROUP, "t", 0), VALUE)),
        marker(2, 7, COMMIT),
        packed(plain(3, (group_key("h"), None), (group_key(GROUP), group_value(3, ["a"]))), GZIP),
    )

    assert told(events(SealedShard(shard_dir), GroupLedger(GROUP), END)) == [
        (2, "offsets committed", None, None, 1),
        (3, "generation", 3, 1, 0),
    ]
    assert GROUP.encode() not in (shard_dir / f"{0:020d}.log").read_bytes()[-100:]


@pytest.mark.parametrize(("at", "offset", "value"), [(-1, 0, None), (0, 1, 5), (1, 2, 5), (2, 3, 9), (50, END, 11)])
def test_a_group_is_as_it_was_at_a_time(tmp_path: Path, at: int, offset: int, value: int | None) -> None:
    """After the last record of that time; what a transaction has committed counts from its end on."""
    shard_dir = log_of(
        tmp_path,
        plain(0, (offset_key(GROUP, "t", 0), VALUE)),
        of_transaction(1, 7, (offset_key(GROUP, "t", 0), offset_value(9))),
        marker(2, 7, COMMIT),
        plain(3, (offset_key("other", "t", 0), VALUE)),
        plain(4, (offset_key(GROUP, "t", 0), offset_value(11))),
    )

    found = group_at(SealedShard(shard_dir), GROUP, START_MS + at, END)

    assert (found.shard, found.offset) == (SHARD, offset)
    assert (None if found.group is None else [each.offset for each in found.group.offsets]) == (
        None if value is None else [value]
    )


def test_a_clock_that_has_jumped_back_hides_nothing(tmp_path: Path) -> None:
    """What the server wrote after the jump has the time of the batch before: the state at the time of an event has the event."""
    server = GroupRuntime()
    begun = server.clock.wall_ms()
    for number, jump in enumerate((0, 1000, -3_600_000, 3_599_000, 1002)):
        server.clock.jump_wall(jump)
        server.commit_alone(GROUP, {"t": {0: number}})
        server.finish()
    shard_dir = tmp_path / str(server.shard_id)
    end = write_log(shard_dir, server.store.logs[server.shard_id], 1)

    def offset(at: int) -> int | None:
        found = group_at(SealedShard(shard_dir), GROUP, begun + at, end).group
        return None if found is None else found.offsets[0].offset

    times = [each.at_ms - begun for each in events(SealedShard(shard_dir), GroupLedger(GROUP), end)]
    assert times == [0, 1000, 1000, 1000, 1002]
    assert [offset(at) for at in times] == [0, 3, 3, 3, 4]
    assert [offset(at) for at in (-3_599_000, -1, 0, 999, 1000, 1001, 1002)] == [None, None, 0, 0, 3, 3, 4]


def test_a_record_that_cannot_be_read_is_damage(tmp_path: Path) -> None:
    """Its checksum is right: it was written so."""
    shard_dir = log_of(tmp_path, plain(0, (offset_key(GROUP, "t", 0), b"\0\4\1")))

    with pytest.raises(DamagedLog, match="a record that cannot be read"):
        group_at(SealedShard(shard_dir), GROUP, START_MS, END)


def test_a_time_before_the_history_is_refused(tmp_path: Path) -> None:
    """Compaction keeps the last state only, and retention has removed the segments before."""
    write_meta(tmp_path)
    shard_dir = tmp_path / SHARD
    for offset, batch in enumerate([plain(offset, (offset_key(GROUP, "t", 0), VALUE)) for offset in range(6)]):
        write_log(shard_dir, [batch], 1)
        if offset == 3:
            compact(plans(tmp_path, {SHARD: 4}), None, run_python, Progress())
    layer = newest_valid_layer(shard_dir)
    assert layer is not None
    for path in sorted(shard_dir.glob("*.log"))[:4]:
        path.unlink()

    with pytest.raises(CannotRun, match="begins at offset 4"):
        group_at(SealedShard(shard_dir), GROUP, START_MS + 2, END)
    assert group_at(SealedShard(shard_dir), GROUP, START_MS + 3, END).offset == 4


def test_a_shard_that_was_never_written_mentions_no_group(tmp_path: Path) -> None:
    for ask in (
        lambda: events(SealedShard(tmp_path / SHARD), GroupLedger(GROUP), END),
        lambda: group_at(SealedShard(tmp_path / SHARD), GROUP, START_MS, END),
    ):
        with pytest.raises(PipelineError, match="does not mention group group-1"):
            ask()


@pytest.fixture
def salvaged(tmp_path: Path) -> Path:
    """The shard of a directory that was compacted and then damaged: a commit in the middle of the history."""
    shard_dir = tmp_path / "data" / SHARD
    batches = [plain(each, (offset_key(f"group-{each}", "t", 0), offset_value(each))) for each in range(6)]
    write_log(shard_dir, batches[:4], 4)
    write_meta(tmp_path / "data")
    compact(plans(tmp_path / "data", {SHARD: 4}), None, run_python, Progress())
    write_log(shard_dir, batches[4:], 1)
    path = shard_dir / f"{2:020d}.log"
    path.write_bytes(path.read_bytes()[:-3] + b"???")
    salvage(str(tmp_path / "data"), str(tmp_path / "saved"))
    return tmp_path / "saved" / SHARD


@pytest.mark.parametrize(
    ("group", "at", "exists", "lost_to"),
    [(0, 0, True, 0), (2, 0, False, 0), (1, 1, True, 3), (2, 2, False, 3), (2, 3, True, 0), (2, 5, True, 0), (3, 9, True, 0)],
)
def test_a_salvaged_history(salvaged: Path, group: int, at: int, exists: bool, lost_to: int) -> None:
    """What is before the damage is there; behind the layer all is; in between it is said that something is missing."""
    found = group_at(SealedShard(salvaged), f"group-{group}", START_MS + at, 6)

    assert (found.group is not None, found.lost_to) == (exists, lost_to)
