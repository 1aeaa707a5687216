"""The rules of log/jobs.py, for every log that jobs read: one in a directory, and those in databases, which give jobs copies.

A log in memory has no jobs: they are other processes.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

import pytest

from coordinator_server.log.errors import LockedLog
from coordinator_server.log.jobs import Block, FileEntry, InputFile, JobShard, LayerSummary, in_order
from coordinator_server.log.opening import check_free, compaction_lock, holder_of, is_log, job_shard, job_shards, open_for_job
from coordinator_server.pipeline.input.data_dir import offline_store
from coordinator_server.pipeline.input.files import read_batches
from tests.support.job_subjects import SHARD, JobSubject, LocalLog, PostgresqlDatabase, SharedDatabase
from tests.support.segments import Batch, coordinator_log, encode

SUMMARY = LayerSummary(3, 0, None, "d" * 32)


@pytest.fixture(params=[LocalLog, SharedDatabase, PostgresqlDatabase])
def subject(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[JobSubject]:
    if request.param is PostgresqlDatabase:
        with closing(PostgresqlDatabase(request.getfixturevalue("postgresql"))) as opened:
            yield opened
    else:
        yield request.param(tmp_path)


def log(first: int = 0, count: int = 5) -> list[Batch]:
    return list(coordinator_log(first + 1, count, first_offset=first))


def bytes_of(files: Iterable[InputFile], upto: int) -> bytes:
    batches = chain.from_iterable(map(read_batches, files))
    return b"".join(data[at : at + header.size] for data, at, header in batches if header.base_offset < upto)


def layer(shard: JobShard, to_offset: int, *batches: Batch) -> str:
    """An attempt that is finished."""
    with shard.new_layer(to_offset) as attempt:
        for batch in batches:
            attempt.append(batch.records[0].offset, encode(batch))
        attempt.close()
        return str(attempt.finish(SUMMARY, []))


def test_a_shard_that_was_never_written_has_nothing(subject: JobSubject) -> None:
    shard = subject.shard()

    assert (shard.name, shard.exists()) == (str(SHARD), False)


def test_what_a_server_wrote_is_read_up_to_any_offset_that_it_says_is_durable(subject: JobSubject) -> None:
    """Whether it is sealed or not; also when more is written meanwhile."""
    first = log()
    end = subject.write(first)
    expected = b"".join(map(encode, first))
    for _ in range(3):
        shard = subject.shard()
        assert shard.exists()
        for source in (shard.whole(end), shard.compacted(end)):
            assert (source[0], bytes_of(source[1], end)) == (None, expected)
        assert bytes_of(shard.since(0, end), end) == expected
        assert bytes_of(shard.since(0, first[3].records[0].offset), first[3].records[0].offset) == b"".join(
            map(encode, first[:3])
        )
        assert shard.since(end, end) == []
        written = subject.write(log(end, 3))
        assert bytes_of(shard.whole(end)[1], end) == expected
        subject.seal()
        end, expected = written, expected + b"".join(map(encode, log(end, 3)))


def test_what_is_sealed_reaches_to_the_end_after_a_seal(subject: JobSubject) -> None:
    end = subject.write(log())
    subject.seal()
    shard = subject.shard()

    assert shard.sealed_to() == end
    assert shard.sealed_to(end - 1) < end
    assert shard.size(end) == sum(shard.segment_sizes().values()) == len(bytes_of(shard.whole(end)[1], end))


def test_the_place_finds_the_shard_again(subject: JobSubject) -> None:
    """In a process that has nothing but that."""
    end = subject.write(log())
    shard = job_shard(subject.shard().place)

    assert (shard.name, bytes_of(shard.whole(end)[1], end)) == (str(SHARD), b"".join(map(encode, log())))


def test_a_layer_is_there_when_it_is_published_and_not_before(subject: JobSubject) -> None:
    """From then on it stands for the offsets before its end; the whole history stays."""
    batches = log()
    end = subject.write(batches)
    subject.seal()
    shard = subject.shard()
    to_offset = batches[3].records[0].offset
    attempt = layer(shard, to_offset, batches[0])
    assert (shard.newest_layer(), shard.compacted_to()) == (None, 0)

    assert shard.publish(attempt, to_offset)

    newest, files = shard.compacted(end)
    assert newest is not None
    assert (newest.to_offset, shard.compacted_to()) == (to_offset, to_offset)
    assert bytes_of(files[: len(newest.files())], end) == encode(batches[0])
    assert files[len(newest.files())].from_offset == to_offset
    assert [header.base_offset for _, header in newest.read_with_headers()] == [batches[0].records[0].offset]
    assert bytes_of(shard.whole(end)[1], end) == b"".join(map(encode, batches))
    assert shard.compacted(to_offset - 1)[0] is None


def test_of_two_layers_at_one_offset_the_first_stays(subject: JobSubject) -> None:
    """Two compactions may have run: each was right."""
    batches = log()
    end = subject.write(batches)
    subject.seal()
    shard = subject.shard()
    first, second = layer(shard, end, batches[0]), layer(shard, end, batches[1])
    assert shard.publish(first, end)

    assert not shard.publish(second, end)
    newest = shard.newest_layer()
    assert newest is not None
    assert b"".join(data for data, _ in newest.read_with_headers()) == encode(batches[0])


def test_the_same_records_make_the_same_layer(subject: JobSubject) -> None:
    end = subject.write(log())
    shard = subject.shard()
    made = [Path(layer(shard, end, *log()[:2])) for _ in range(2)]

    contents = [{path.name: path.read_bytes() for path in each.iterdir()} for each in made]
    assert contents[0] == contents[1]


def test_an_attempt_that_fails_leaves_nothing_and_one_that_died_is_removed(subject: JobSubject) -> None:
    end = subject.write(log())
    shard = subject.shard()
    failing = shard.new_layer(end)

    def fail() -> None:
        with failing:
            failing.append(0, encode(log()[0]))
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fail()
    assert (failing.path.exists(), shard.clean_attempts()) == (False, 0)
    dead = layer(shard, end, log()[0])

    assert (shard.clean_attempts(), Path(dead).exists(), shard.newest_layer()) == (1, False, None)


def test_a_checkpoint_reads_back_before_it_is_published_and_after(subject: JobSubject) -> None:
    end = subject.write(log())
    subject.seal()
    shard = subject.shard()
    blocks = in_order(Block(f"group-{number}", b"block %d" % number, number, (number, number + 1)) for number in range(20))
    with shard.new_layer(end) as attempt:
        attempt.append(0, encode(log()[0]))
        attempt.close()
        assert [header.base_offset for _, header in attempt.preview().read_with_headers()] == [0]
        attempt.add_checkpoint(blocks, [])
        attempt.verify_checkpoint()
        checkpoint = attempt.open_checkpoint()
        assert [checkpoint.block(key) for key in checkpoint.keys()] == [block.data for block in blocks]  # noqa: SIM118 - no mapping
        assert "group-3" in checkpoint
        assert checkpoint.summary("group-3") == (3, (3, 4))
        checkpoint.close()
        finished = attempt.finish(SUMMARY, shard.entries(shard.compacted(end)))
    assert shard.publish(str(finished), end)


def test_the_files_of_a_backup_are_those_before_its_moment(subject: JobSubject) -> None:
    """What the backup before has is not read again; without history a layer is enough."""
    batches = log()
    end = subject.write(batches)
    subject.seal()
    shard = subject.shard()
    cut = batches[4].records[0].offset

    saved = list(shard.saved(cut, {}, with_history=True))

    assert b"".join(file.read() for file in saved) == b"".join(map(encode, batches[:4]))
    assert [len(file.read()) for file in saved] == [file.entry.size for file in saved]
    known = {file.entry.name: file.entry for file in shard.saved(end, {}, with_history=True)}
    assert {file.entry.name: file.entry for file in shard.saved(end, known, with_history=True)} == known
    assert shard.publish(layer(shard, end, batches[0]), end)
    names = [file.entry.name for file in shard.saved(end, known, with_history=False)]
    assert names
    assert not [name for name in names if name in known]


def test_what_a_layer_states_of_its_input_is_its_files(subject: JobSubject) -> None:
    """By name and content: whoever looks later can tell whether they are the same."""
    end = subject.write(log())
    subject.seal()
    shard = subject.shard()
    entries = shard.entries(shard.compacted(end))

    assert entries == [entry for entry in entries if isinstance(entry, FileEntry)]
    assert sum(entry.size for entry in entries) == shard.size(end)


# Access and locks: of the logs that are opened by opening.py.


@pytest.fixture
def local(tmp_path: Path) -> LocalLog:
    return LocalLog(tmp_path)


def test_jobs_find_the_shards_that_have_records(local: LocalLog) -> None:
    assert is_log(local.data_dir)
    assert job_shards(local.data_dir) == []
    local.write(log())

    assert [shard.name for shard in job_shards(local.data_dir)] == [str(SHARD)]


def test_one_process_at_a_time_has_a_log_and_others_hear_which(local: LocalLog) -> None:
    """Reading needs no lock."""
    end = local.write(log())
    assert holder_of(local.data_dir) is None
    with offline_store(local.data_dir, "history"):
        assert holder_of(local.data_dir) == (os.getpid(), "history")
        with pytest.raises(LockedLog, match="history") as refused:
            open_for_job(local.data_dir, "verify", lambda _call: None)
        with pytest.raises(LockedLog):
            check_free(local.data_dir)
        assert (refused.value.holder, refused.value.job) == (os.getpid(), "history")
        assert bytes_of(local.shard().whole(end)[1], end) == b"".join(map(encode, log()))

    check_free(local.data_dir)
    assert holder_of(local.data_dir) is None


def test_one_compaction_at_a_time(local: LocalLog) -> None:
    """The lock is a file of the log; it is let go of when its process ends."""
    with compaction_lock(local.data_dir).open("w") as one, compaction_lock(local.data_dir).open("w") as other:
        fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
