"""Work on a log that a power loss may interrupt: starts, rolls, layers, retention."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

from coordinator_server.log import directory
from coordinator_server.log.directory import recover_all_loops
from coordinator_server.log.file_names import journal_dir, layer_offsets, layer_path, segment_bases, segment_path
from coordinator_server.log.jobs import Block, LayerSummary
from coordinator_server.log.layers.attempt import LayerAttempt, clean_attempts, publish
from coordinator_server.log.layers.checkpoint import NAMES
from coordinator_server.log.layers.layer import open_layer
from coordinator_server.log.meta import open_meta, read_meta
from coordinator_server.log.owners import MovedShards, read_owners, write_owners
from coordinator_server.log.repair.journal_reader import read_journal
from coordinator_server.log.repair.recovery import recover
from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import remove_tree, write_all
from coordinator_server.log.store import History, Meta, RetentionRule
from coordinator_server.log.write.journal_writer import AdaptiveWriter, Sync, ThreadWriter, Writer, make_writer
from coordinator_server.log.write.segments import Segments
from coordinator_server.worker import Post
from tests.support.log import COUNTS, DATA, ManualWorker, OpenLog, append, batch, shard, values
from tests.support.storage import PowerCut, SimulatedDisk

SHARD_DIR = Path(DATA) / str(shard(0))


def make_durably(disk: SimulatedDisk, path: str) -> None:
    """Make a directory that has always been there."""
    disk.make_dir(path)
    for each in (Path(path), *Path(path).parents):
        disk.sync_dir(str(each))


def value(offset: int) -> bytes:
    return b"%05d" % offset * 60


def write_layer(disk: SimulatedDisk, to_offset: int, *, is_killed: bool = False) -> None:
    """Publish a layer of some files and a checkpoint. With ``is_killed`` its name is not synced any more."""
    with LayerAttempt(SHARD_DIR, to_offset, file_bytes=800, storage=disk) as attempt:
        for offset in range(to_offset):
            attempt.append(offset, batch(offset, value(offset)))
        attempt.close()
        attempt.add_checkpoint([Block("group", b"state" * 200, 1, (0, -1))], [batch(0)])
        path = attempt.finish(LayerSummary(to_offset, 0, None, ""), [])
        if is_killed:
            disk.rename(str(path), str(layer_path(SHARD_DIR, to_offset)))
        else:
            publish(path, SHARD_DIR, to_offset, disk)


def verify_layers(disk: SimulatedDisk) -> list[int]:
    """Every directory that is named like a layer is whole; the offsets of all of them."""
    offsets = layer_offsets(SHARD_DIR, disk)
    for to_offset in offsets:
        layer = open_layer(SHARD_DIR, to_offset, disk)
        layer.verify()
        for name in NAMES:
            layer.verify_file(name)
    return offsets


class FirstStart:
    """The directory keeps its identity and its first record, whoever began to make it."""

    directory = "/srv/new/data"
    make_writer: Callable[[Sync, Post], Writer] = staticmethod(make_writer)

    def __init__(self) -> None:
        self.identity: tuple[Meta, bytes] | None = None

    def prepare(self, disk: SimulatedDisk) -> None:
        make_durably(disk, "/srv")

    def do(self, disk: SimulatedDisk) -> None:
        log = OpenLog(disk, data_dir=self.directory, make_writer=self.make_writer)
        self.identity = log.store.meta, log.store.login_key()
        if not log.store.end_offset(shard(0)):
            # Without the worker, which syncs more afterwards.
            assert log.submit(append(0, 0, value(0))) == [None]

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        store = OpenLog(disk, data_dir=self.directory).store
        if is_done:
            assert (store.meta, store.login_key()) == self.identity
            assert values(store.read(shard(0), 0)) == [value(0)]


def adaptive_writer(sync: Sync, post: Post) -> Writer:
    """One whose disk is always fast."""
    return AdaptiveWriter(ThreadWriter(post), clock=lambda: 0.0)


class FirstStartAdaptive(FirstStart):
    """The same with the writer that measures the disk."""

    make_writer = staticmethod(adaptive_writer)


class Adopt:
    """What somebody copied into a new directory, and synced nothing of, is durable when the start is done: segments, a torn end."""

    def prepare(self, disk: SimulatedDisk) -> None:
        make_durably(disk, DATA)
        open_meta(disk, DATA, node_id=0, partitions=COUNTS)
        disk.make_dir(str(SHARD_DIR))
        for base in (0, 2):
            batches = b"".join(batch(offset, value(offset)) for offset in (base, base + 1))
            with closing(disk.open(segment_path(str(SHARD_DIR), base), create=True)) as file:
                write_all(file, batches + (batch(4)[:30] if base else b""), 0)

    def do(self, disk: SimulatedDisk) -> None:
        OpenLog(disk)

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        if is_done:
            assert values(OpenLog(disk).store.read(shard(0), 0)) == [value(offset) for offset in range(4)]


class PublishLayer:
    """A layer has its name only when it is whole, and has it for good when ``publish`` returns."""

    def prepare(self, disk: SimulatedDisk) -> None:
        make_durably(disk, str(SHARD_DIR))

    def do(self, disk: SimulatedDisk) -> None:
        clean_attempts(SHARD_DIR, disk)
        write_layer(disk, 4)

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        offsets = verify_layers(disk)
        assert offsets == [4] or (not offsets and not is_done)


class ReplaceDamagedLayer(PublishLayer):
    """In the end there is a whole layer."""

    def prepare(self, disk: SimulatedDisk) -> None:
        super().prepare(disk)
        for name in ("manifest.json", "00000000000000000000.log"):
            disk.put(str(layer_path(SHARD_DIR, 4) / name), b"damaged")

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        # Until then it is damaged, as it was before.
        if is_done:
            super().check(disk, is_done=True)


class Retain:
    """The log starts with all that was in it; a layer that still has its name is whole; the segments have no hole."""

    older_layers: tuple[int, ...] = (2, 3)

    def prepare(self, disk: SimulatedDisk) -> None:
        log = OpenLog(disk, journal_bytes=4096)
        for offset in range(6):
            # Without the worker, which syncs the segment's name beforehand.
            assert log.submit(append(0, offset, value(offset))) == [None]
            log.seal()
        log.store.close()
        for to_offset in self.older_layers:
            write_layer(disk, to_offset)
        write_layer(disk, 5, is_killed=True)

    def do(self, disk: SimulatedDisk) -> None:
        log = OpenLog(disk, journal_bytes=4096)
        worker = ManualWorker()
        job = log.store.retention(
            History(0), RetentionRule(1, lambda _removed: None, lambda _error: None, lambda: 1 << 50, worker)
        )
        job.start()
        worker.pass_time()
        worker.step()
        assert log.store.failure is None
        log.store.close()
        assert layer_offsets(SHARD_DIR, disk) == [5]

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        verify_layers(disk)
        bases = segment_bases(disk, str(SHARD_DIR))
        assert bases == [0, 1, 2, 3, 4, 5, 6][-len(bases) :]
        store = OpenLog(disk).store
        assert values(store.read(shard(0), 0)) == [value(offset) for offset in range(6)]
        assert store.end_offset(shard(0)) == 6


class RetainWithOneLayer(Retain):
    """The name of the layer is not synced yet when the first segment is to go."""

    older_layers = ()


class OpenMeta:
    """The identity that a start has read is the directory's for good."""

    def __init__(self) -> None:
        self.identity: tuple[Meta, bytes] | None = None

    def prepare(self, disk: SimulatedDisk) -> None:
        make_durably(disk, DATA)

    def do(self, disk: SimulatedDisk) -> None:
        self.meta = open_meta(disk, DATA, node_id=0, partitions=COUNTS)

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        if is_done:
            assert read_meta(disk, DATA) == self.meta


class UpgradeMeta(OpenMeta):
    """The same for a directory of format 1."""

    def prepare(self, disk: SimulatedDisk) -> None:
        super().prepare(disk)
        disk.put(f"{DATA}/meta.properties", b"version=1\ncluster.id=x\nnode.id=0\noffsets.topic.num.partitions=50\n")


class RecoverForLoops:
    """Each loop has a journal to begin with."""

    def prepare(self, disk: SimulatedDisk) -> None:
        make_durably(disk, DATA)

    def do(self, disk: SimulatedDisk) -> None:
        with patch.object(directory, "FIRST_BYTES", 8192):
            recover_all_loops(disk, DATA, 2, lambda each: each.partition % 2)

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        heads = [read_journal(disk, journal_dir(DATA, loop)).head for loop in range(2)]
        assert all(heads) or not is_done


class WriteOwners:
    """The owners are the former ones or the next ones as a whole, and the next ones for good when they are written."""

    former, following = MovedShards(1, 2, {"a-0": (1, 2)}), MovedShards(2, 2, {"a-0": (1, 2), "a-1": (0, 2)})

    def prepare(self, disk: SimulatedDisk) -> None:
        make_durably(disk, DATA)
        write_owners(DATA, self.former, disk)

    def do(self, disk: SimulatedDisk) -> None:
        write_owners(DATA, self.following, disk)

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        found = read_owners(DATA, disk)
        assert found == self.following or (found == self.former and not is_done)


class RecoverSegments:
    """What recovery says of the segments is durable, also if the journal is lost afterwards. The process before was killed."""

    def __init__(self) -> None:
        self.found: dict[ShardId, Segments] = {}

    def prepare(self, disk: SimulatedDisk) -> None:
        make_durably(disk, DATA)
        log = OpenLog(disk)
        for partition in (0, 1):
            assert log.submit(append(partition, 0, value(0))) == [None]

    def do(self, disk: SimulatedDisk) -> None:
        self.found = recover(disk, DATA).shards

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        if is_done:
            remove_tree(disk, f"{DATA}/journal")
        found = recover(disk, DATA).shards
        assert [state.end for state in found.values()] == [1, 1]
        assert found == self.found or not is_done


class RecoverCopy(RecoverSegments):
    """The same with segments that somebody copied, without a journal."""

    def prepare(self, disk: SimulatedDisk) -> None:
        make_durably(disk, DATA)
        Adopt().prepare(disk)

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        if is_done:
            assert recover(disk, DATA).shards == self.found


class RecoverFrame:
    """A frame that was written and not synced when the process was killed is in all of its shards, or in none."""

    def prepare(self, disk: SimulatedDisk) -> None:
        log = OpenLog(disk)
        for partition in (0, 1):
            assert log.append(append(partition, 0, value(0))) is None
        log.write_out()
        disk.cut_power_after(1)
        with suppress(PowerCut):
            log.submit(append(0, 1, value(1)), append(1, 1, value(1)))
        assert disk.calls[-1][0] == "sync"
        disk.kill()

    def do(self, disk: SimulatedDisk) -> None:
        OpenLog(disk)

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        store = OpenLog(disk).store
        ends = {store.end_offset(shard(partition)) for partition in (0, 1)}
        assert ends == {2} or (ends == {1} and not is_done)


class CutTail:
    """What a start has cut off does not come back behind a batch that is as long as what was missing."""

    def prepare(self, disk: SimulatedDisk) -> None:
        OpenLog(disk, sync=Sync.NEVER)
        hole = bytes(len(batch(1, value(1))))
        disk.put(segment_path(str(SHARD_DIR), 0), batch(0, value(0)) + hole + batch(2, value(2)))

    def do(self, disk: SimulatedDisk) -> None:
        log = OpenLog(disk)
        if log.store.end_offset(shard(0)) == 1:
            assert log.submit(append(0, 1, value(9))) == [None]

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        found = values(OpenLog(disk).store.read(shard(0), 0))
        assert found == [value(0), value(9)] or (found == [value(0)] and not is_done)


class SealUnsynced:
    """With ``log.flush = os`` a prefix of the log is there, and it starts."""

    def prepare(self, disk: SimulatedDisk) -> None:
        make_durably(disk, DATA)

    def do(self, disk: SimulatedDisk) -> None:
        log = OpenLog(disk, sync=Sync.NEVER)
        log.run()
        for offset in range(log.store.end_offset(shard(0)), 2):
            # Without the worker, which syncs the segment's name beforehand.
            assert log.submit(append(0, offset, value(offset))) == [None]
            log.seal()

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        found = values(OpenLog(disk).store.read(shard(0), 0))
        assert found == [value(offset) for offset in range(len(found))]
        assert len(found) == 2 or not is_done


class SealReserved:
    """Sealed segments have their exact size, also where the reserved room is filled with zeros."""

    def prepare(self, disk: SimulatedDisk) -> None:
        make_durably(disk, DATA)

    def do(self, disk: SimulatedDisk) -> None:
        disk.has_fallocate = False
        log = OpenLog(disk, segment_bytes=2000)
        for offset in range(log.store.end_offset(shard(0)), 2):
            assert log.append(append(0, offset, value(offset))) is None
            log.seal()
        # From then on no start looks at the sealed segments.
        log.store.close()

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        store = OpenLog(disk).store
        end = store.end_offset(shard(0))
        assert end == 2 or not is_done
        for base, following in pairwise(segment_bases(disk, str(SHARD_DIR))):
            batches = [batch(offset, value(offset)) for offset in range(base, following)]
            assert disk.content(segment_path(str(SHARD_DIR), base)) == b"".join(batches)
