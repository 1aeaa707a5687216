"""Our shards as partitions of a Kafka broker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from subprocess import DEVNULL, PIPE

import pytest

from coordinator_server.cli import main
from coordinator_server.kinds import GROUPS, SHARE_STATE
from coordinator_server.log.errors import LockedLog
from coordinator_server.log.layers.layer import newest_valid_layer
from coordinator_server.log.local import LocalLogStore
from coordinator_server.pipeline.compact.run import compact, compaction_lock, plans, run_python
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.files.kafka import exporter
from coordinator_server.pipeline.files.kafka.exporter import export_kafka
from coordinator_server.pipeline.files.kafka.files import CLEAN_SHUTDOWN, KafkaDir, Partition
from coordinator_server.pipeline.files.kafka.importer import find_broker_log, import_kafka
from coordinator_server.pipeline.input.sealing import seal
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.replay.shard_states import replay
from coordinator_server.pipeline.states.share import ShareState
from coordinator_server.pipeline.states.state import replay_into
from protocol.record_batch import Record
from tests.support.kafka_log import KafkaLog, kept_log
from tests.support.kafka_partition import plain, segment, with_holes, write_partition
from tests.support.kind_logs import share_log
from tests.support.segments import START_MS, coordinator_log, offset_key, offset_value, write_segments

# The JVM's lock of a file is a POSIX lock of the process.
TAKE_LOCK = """
import fcntl, sys
file = open(sys.argv[1], "a+b")
try:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    print(True, flush=True)
except OSError:
    print(False, flush=True)
sys.stdin.readline()
"""
KEY = offset_key("group", "orders", 0)


@pytest.fixture
def kept(tmp_path: Path) -> KafkaLog:
    return kept_log(tmp_path / "kept")


def imported(data_dir: Path, log_dir: Path) -> Path:
    import_kafka(find_broker_log([log_dir]), data_dir, 1, Progress())
    return data_dir


def take_lock(log_dir: Path) -> bool:
    """Whether a broker could take its lock."""
    command = [sys.executable, "-c", TAKE_LOCK, str(log_dir / ".lock")]
    return subprocess.run(command, stdin=DEVNULL, stdout=PIPE, timeout=30, check=True).stdout == b"True\n"


def broker(log_dir: Path, partitions: int, topic: str = GROUPS.topic) -> Path:
    """What a broker has that has just made its topic, and was stopped. It has one partition of transactional ids."""
    if topic == GROUPS.topic:
        broker(log_dir, 1, "__transaction_state")
    for number in range(partitions):
        files: list[tuple[str, list[bytes]]] = [(segment(0), [plain(0, (b"\0\1old", b""))]), ("leader-epoch-checkpoint", [])]
        directory = write_partition(log_dir, number, *files, topic=topic)
        (directory / "partition.metadata").write_text("version: 0\n")
        (directory / "00000000000000000000.timeindex").touch()
    (log_dir / CLEAN_SHUTDOWN).touch()
    return log_dir


def test_groups_survive_an_export_and_import(kept: KafkaLog, tmp_path: Path) -> None:
    """Import, export, import: the same groups; of what the partitions held only their identity stays."""
    ours = imported(tmp_path / "ours", kept.log_dir)
    layers = [newest_valid_layer(path) for path in ours.glob("__*-*")]
    records = sum(layer.manifest.records for layer in layers if layer is not None)
    target = broker(tmp_path / "kafka", 5)
    for _ in range(2):
        result = export_kafka(ours, target, Progress())
        assert (result.partitions, result.records) == (6, records)
        assert not (target / CLEAN_SHUTDOWN).exists()
        for partition in KafkaDir(target).partitions("__consumer_offsets"):
            assert [path.name for path in partition.directory.iterdir() if path.suffix != ".log"] == ["partition.metadata"]

    shards = [*(path.name for path in sorted(ours.glob("__consumer_offsets-*"))), "__transaction_state-0"]
    assert list(replay(imported(tmp_path / "again", target), shards)) == list(replay(ours, shards))


def test_segments_are_cut_so_that_kafka_can_address_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By size, and where an offset is further than an index entry can say; the end of the log stays where it is."""
    log_dir = tmp_path / "from"
    value = offset_value(1)
    records = [Record(offset, START_MS, offset_key("group", "orders", offset % 7), value) for offset in (3, 4, 3_000_000_005)]
    write_partition(log_dir, 0, (segment(0), [with_holes(*records[:2]), with_holes(records[2])]), (segment(3_000_000_009), []))
    ours = imported(tmp_path / "ours", log_dir)
    for size in (exporter.SEGMENT_BYTES, 70):
        monkeypatch.setattr(exporter, "SEGMENT_BYTES", size)
        target = broker(tmp_path / f"kafka-{size}", 1)
        export_kafka(ours, target, Progress())

        [partition] = KafkaDir(target).partitions("__consumer_offsets")
        assert [path.name for path in partition.files] == [segment(3), segment(3_000_000_005), segment(3_000_000_009)]
        assert (sum(batch.header.count for batch in partition.batches()), partition.next_offset()) == (3, 3_000_000_009)


@pytest.mark.parametrize(("least", "bases"), [(0, [0, 3]), (-1, [0, 2, 4]), (10**6, [0])])
def test_segments_have_as_many_batches_as_fit(monkeypatch: pytest.MonkeyPatch, least: int, bases: list[int]) -> None:
    """Three batches are as large as a segment may be, or a byte larger."""
    batches = [plain(offset, (KEY, offset_value(1))) for offset in range(6)]
    monkeypatch.setattr(exporter, "SEGMENT_BYTES", 3 * len(batches[0]) + least)
    result = exporter.ExportResult(to="", partitions=1)

    segments = list(exporter._segments(batches, 6, result))

    assert [base for base, _ in segments] == bases
    assert b"".join(data for _, data in segments) == b"".join(batches)
    assert (result.batches, result.records, result.bytes) == (6, 6, 6 * len(batches[0]))


def test_an_export_that_was_stopped_is_run_again(kept: KafkaLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At any rename: each partition is as it was, or new, or has lost its old files; the next run makes them all new."""
    ours = imported(tmp_path / "ours", kept.log_dir)
    target = broker(tmp_path / "kafka", 5)
    rename, left = os.rename, 0

    def dies(old: str, new: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        rename(old, new)

    for renames in range(8):
        left = renames
        with monkeypatch.context() as patched:
            patched.setattr(os, "rename", dies)
            with pytest.raises(KeyboardInterrupt):
                export_kafka(ours, target, Progress())
        export_kafka(ours, target, Progress())
        shards = [path.name for path in sorted(ours.glob("__consumer_offsets-*"))]
        assert list(replay(imported(tmp_path / f"again-{renames}", target), shards)) == list(replay(ours, shards))


def test_exports_that_are_refused(kept: KafkaLog, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is touched: another number of partitions, no partitions, a directory that is none of a broker's,
    a server that runs.
    """
    ours = imported(tmp_path / "ours", kept.log_dir)
    fewer, none, strange, fine = (
        broker(tmp_path / "fewer", 4),
        tmp_path,
        broker(tmp_path / "strange", 5),
        broker(tmp_path / "fine", 5),
    )
    (strange / "__consumer_offsets-3" / "partition.metadata").unlink()
    for target, why in (
        (fewer, "has 4 partitions"),
        (none, "no partition"),
        (strange, "has no partition"),
        (tmp_path / "no", "log.dirs"),
    ):
        with pytest.raises(CannotRun, match=why):
            export_kafka(ours, target, Progress())
    store = LocalLogStore.open(ours, post=lambda call: call(), node_id=1, partitions={GROUPS.topic: 5, "__transaction_state": 1})
    with pytest.raises(LockedLog):
        export_kafka(ours, fine, Progress())
    store.close()
    for target in (fewer, strange, fine):
        assert (target / CLEAN_SHUTDOWN).exists()
        assert (target / "__consumer_offsets-0" / segment(0)).read_bytes() == plain(0, (b"\0\1old", b""))

    assert main(["export", "--data-dir", str(ours), "--to", str(fewer)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["export", "--data-dir", str(tmp_path / "nobody"), "--to", str(fine)]) == 2
    assert main(["export", "--data-dir", str(ours), "--to", str(fine)]) == 0
    assert "6 partitions: " in capsys.readouterr().out


def test_no_broker_starts_meanwhile(kept: KafkaLog, tmp_path: Path) -> None:
    """The lock that a broker takes is held while its files are replaced, and free afterwards."""
    ours = imported(tmp_path / "ours", kept.log_dir)
    target = broker(tmp_path / "kafka", 5)
    tries = []

    class Trying(Progress):
        def advance(self, shards: int, records: int) -> None:
            tries.append(take_lock(target))

    export_kafka(ours, target, Trying())

    assert tries == [False] * 6
    assert take_lock(target)


def test_a_broker_that_runs_is_not_written_over(kept: KafkaLog, tmp_path: Path) -> None:
    """It holds the lock: nothing is touched."""
    ours = imported(tmp_path / "ours", kept.log_dir)
    target = broker(tmp_path / "kafka", 5)
    with subprocess.Popen([sys.executable, "-c", TAKE_LOCK, str(target / ".lock")], stdin=PIPE, stdout=PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"True\n"
        with pytest.raises(LockedLog, match="a Kafka broker runs"):
            export_kafka(ours, target, Progress())
        running.communicate(b"\n")

    assert (target / CLEAN_SHUTDOWN).exists()


def test_an_empty_shard_leaves_an_empty_partition(tmp_path: Path) -> None:
    write_partition(tmp_path / "from", 0, (segment(0), []))
    ours = imported(tmp_path / "ours", tmp_path / "from")
    target = broker(tmp_path / "kafka", 1)
    export_kafka(ours, target, Progress())

    assert list(Partition(target / "__consumer_offsets-0").batches()) == []


def with_share_state(tmp_path: Path) -> Path:
    """A data directory with a shard of groups and two of share state, one of them compacted."""
    ours = tmp_path / "ours"
    LocalLogStore.open(ours, post=lambda call: call(), node_id=1, partitions={GROUPS.topic: 1, SHARE_STATE.topic: 2}).close()
    write_segments(ours / "__consumer_offsets-0", coordinator_log(1, 3))
    for number in range(2):
        write_segments(ours / f"__share_group_state-{number}", share_log(number, 20))
    with compaction_lock(ours):
        compact([plan for plan in plans(ours, seal(ours)) if plan.shard.endswith("state-0")], None, run_python, Progress())
    return ours


def test_an_export_has_every_topic_in_use(tmp_path: Path) -> None:
    """Each with as many partitions as it has, from layers and segments."""
    ours = with_share_state(tmp_path)
    target = broker(broker(tmp_path / "kafka", 1), 2, SHARE_STATE.topic)

    result = export_kafka(ours, target, Progress())

    assert result.partitions == 3
    for state in replay(ours, ["__share_group_state-0", "__share_group_state-1"]):
        [partition] = [each for each in KafkaDir(target).partitions(SHARE_STATE.topic) if each.directory.name == state.shard]
        batches = [batch.data[batch.position : batch.position + batch.header.size] for batch in partition.batches()]
        assert replay_into(ShareState(), batches).digest().digest == state.digest


def test_a_topic_that_the_broker_does_not_have_is_named(tmp_path: Path) -> None:
    """With the property that says how many partitions it has to have; nothing is touched."""
    ours = with_share_state(tmp_path)
    target = broker(tmp_path / "kafka", 1)

    with pytest.raises(CannotRun, match=r"no partition of __share_group_state.*share.coordinator.state.topic.num.partitions=2"):
        export_kafka(ours, target, Progress())

    assert (target / CLEAN_SHUTDOWN).exists()


def test_a_directory_that_does_not_exist_is_not_said_to_be_of_another_option(tmp_path: Path) -> None:
    """Both import and export read it: --from and --to."""
    with pytest.raises(CannotRun, match=r"nothing is not a directory: name one of the broker's log\.dirs$"):
        KafkaDir(tmp_path / "nothing")
