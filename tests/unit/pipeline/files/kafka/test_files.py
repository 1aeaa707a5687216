"""Which files and bytes of a broker's directory are its log."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from coordinator_server.log.errors import DamagedLog, LockedLog
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.files.kafka.files import CLEAN_SHUTDOWN, KafkaDir, Partition, log_files
from tests.support.kafka_partition import plain, segment, write_partition

KEY = (b"\0\1key", b"value")
LOCK = (
    "import fcntl, sys; file = open(sys.argv[1], 'w'); fcntl.lockf(file, fcntl.LOCK_EX); print('held', flush=True); "
    "sys.stdin.read()"
)


def offsets(partition: Partition) -> list[int]:
    return [batch.header.base_offset for batch in partition.batches()]


def names(directory: Path) -> list[str]:
    return [path.name for path in log_files(directory)]


def test_a_swap_takes_the_place_of_the_segments_it_covers(tmp_path: Path) -> None:
    """Two segments were cleaned into one, and the broker died before it had put them aside."""
    directory = write_partition(
        tmp_path,
        0,
        (segment(0), [plain(0, KEY)]),
        (segment(1), [plain(1, KEY)]),
        (segment(2), [plain(2, KEY)]),
        (segment(0, ".swap"), [plain(1, KEY)]),
        ("00000000000000000000.index.swap", []),
    )

    assert names(directory) == [segment(0, ".swap"), segment(2)]
    assert offsets(Partition(directory)) == [1, 2]


def test_an_unfinished_cleaning_never_was(tmp_path: Path) -> None:
    """Nor was a swap behind it: that is one half of a split."""
    directory = write_partition(
        tmp_path,
        0,
        (segment(0), [plain(0, KEY), plain(1, KEY)]),
        (segment(0, ".cleaned"), [plain(1, KEY)]),
        (segment(1, ".swap"), [plain(1, KEY)]),
        (segment(7, ".deleted"), [plain(7, KEY)]),
    )

    assert names(directory) == [segment(0)]


def test_a_swap_that_begins_where_a_cleaning_did_not_end_never_was(tmp_path: Path) -> None:
    """It is the first half of a split."""
    directory = write_partition(
        tmp_path,
        0,
        (segment(0), [plain(0, KEY), plain(1, KEY)]),
        (segment(0, ".cleaned"), [plain(0, KEY)]),
        (segment(0, ".swap"), [plain(0, KEY)]),
    )

    assert names(directory) == [segment(0)]


def test_other_directories_are_no_partitions(tmp_path: Path) -> None:
    write_partition(tmp_path, 4, (segment(0), []))
    for name in ("__consumer_offsets-4.0123456789abcdef0123456789abcdef-delete", "orders-0", "__consumer_offsets-x"):
        (tmp_path / name).mkdir()

    assert [partition.number for partition in KafkaDir(tmp_path).partitions("__consumer_offsets")] == [4]


@pytest.mark.parametrize("tail", [plain(5, KEY)[:40], plain(5, KEY)[:-1], b"\0" * 200, plain(5, KEY)[:-1] + b"\xff"])
def test_an_import_leaves_out_a_torn_batch_at_the_end(tmp_path: Path, tail: bytes) -> None:
    """Of the last segment, unless the broker says that it stopped in order."""
    directory = write_partition(tmp_path, 0, (segment(0), [plain(0, KEY)]), (segment(4), [plain(4, KEY), tail]))
    [partition] = KafkaDir(tmp_path).partitions("__consumer_offsets")

    assert offsets(partition) == [0, 4]
    assert (partition.torn_bytes, partition.next_offset()) == (len(tail), 5)

    (tmp_path / CLEAN_SHUTDOWN).write_text("{}")
    [partition] = KafkaDir(tmp_path).partitions("__consumer_offsets")
    with pytest.raises(DamagedLog) as refused:
        offsets(partition)
    assert (refused.value.path, refused.value.position) == (str(directory / segment(4)), len(plain(4, KEY)))


def test_damage_before_the_end_is_refused(tmp_path: Path) -> None:
    """A flipped bit with whole batches after it, in the last segment or before it."""
    damaged = bytearray(plain(0, KEY))
    damaged[-3] ^= 1
    for last in ([bytes(damaged), plain(1, KEY)], [bytes(damaged)]):
        directory = write_partition(tmp_path, 0, (segment(0), last), (segment(2), [plain(2, KEY)] if len(last) == 1 else []))
        with pytest.raises(DamagedLog, match="checksum"):
            offsets(Partition(directory))


def test_offsets_that_go_back_are_refused(tmp_path: Path) -> None:
    directory = write_partition(tmp_path, 0, (segment(0), [plain(5, KEY)]), (segment(3), [plain(3, KEY)]))

    with pytest.raises(DamagedLog, match="a batch at offset 3 after offset 5"):
        offsets(Partition(directory))


def test_an_empty_last_segment_says_where_the_log_goes_on(tmp_path: Path) -> None:
    directory = write_partition(tmp_path, 0, (segment(0), [plain(0, KEY)]), (segment(9), []))

    assert Partition(directory).next_offset() == 9


def test_a_running_broker_is_refused(tmp_path: Path) -> None:
    """Its lock is held: what is read now could change under us."""
    write_partition(tmp_path, 0, (segment(0), []))
    command = [sys.executable, "-c", LOCK, str(tmp_path / ".lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as broker:
        assert broker.stdout is not None
        assert broker.stdin is not None
        assert broker.stdout.readline() == b"held\n"
        with pytest.raises(LockedLog, match="stop it first"):
            KafkaDir(tmp_path)
        broker.stdin.close()
        broker.wait()

    assert KafkaDir(tmp_path).partitions("__consumer_offsets")


def test_what_is_no_directory_of_a_broker(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match=r"log\.dirs"):
        KafkaDir(tmp_path / "nothing")
    (tmp_path / "log-start-offset-checkpoint").write_text("garbage")
    with pytest.raises(DamagedLog, match="checkpoint"):
        KafkaDir(tmp_path)


def test_records_before_the_log_start_are_known(tmp_path: Path) -> None:
    write_partition(tmp_path, 3, (segment(0), [plain(0, KEY)]))
    (tmp_path / "log-start-offset-checkpoint").write_text("0\n1\n__consumer_offsets 3 17\n")
    [partition] = KafkaDir(tmp_path).partitions("__consumer_offsets")

    assert (partition.log_start, partition.next_offset()) == (17, 17)
