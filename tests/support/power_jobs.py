"""Work of jobs that a power loss may interrupt: history output, import, export, salvage."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

import msgspec

from coordinator_server.kinds import GROUPS
from coordinator_server.log.file_names import segment_name, shards_of
from coordinator_server.log.meta import NAME as META
from coordinator_server.log.meta import begun_in
from coordinator_server.log.repair.salvage import salvage
from coordinator_server.log.storage import read_file, remove_tree, write_all
from coordinator_server.pipeline.files.kafka.exporter import IDENTITY, replace_partitions
from coordinator_server.pipeline.files.kafka.files import CLEAN_SHUTDOWN
from coordinator_server.pipeline.files.kafka.importer import BrokerLog, find_broker_log, import_kafka
from coordinator_server.pipeline.history.output import ATTEMPT, RUNS, Run, TableFile, open_locked
from coordinator_server.pipeline.progress import Progress
from tests.support import log_dir
from tests.support.kafka_log import kept_log
from tests.support.log import DATA, OpenLog, append, shard
from tests.support.power_log import make_durably, value
from tests.support.storage import SimulatedDisk


class WriteHistory:
    """The run is there with all its files, or not at all; the run before it is always there."""

    directory = Path("/out")

    def prepare(self, disk: SimulatedDisk) -> None:
        make_durably(disk, str(self.directory))
        self._run(disk, 1)

    def do(self, disk: SimulatedDisk) -> None:
        self._run(disk, 2)

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        with open_locked(disk, self.directory, "cluster") as output:
            runs = output.number - 1
            assert runs == 2 or (runs == 1 and not is_done)
            assert output.positions == {"shard": runs}
            assert not [name for name in disk.list(str(self.directory)) if name.startswith(ATTEMPT)]
        paths = []
        for number in range(1, runs + 1):
            run = msgspec.json.decode(read_file(disk, f"{self.directory}/{RUNS}/{number:06d}.json"), type=Run)
            assert len(run.files) == 3
            for file in run.files:
                paths.append(f"{self.directory}/{file.path}")
                assert read_file(disk, paths[-1]) == file.path.encode() * 100
        assert sorted(paths) == [path for path in disk.files(str(self.directory)) if path.endswith(".parquet")]

    def _run(self, disk: SimulatedDisk, number: int) -> None:
        with open_locked(disk, self.directory, "cluster") as output:
            if output.number <= number:
                output.add(list(self._write(disk, output.attempt, number)), {"shard": number})

    def _write(self, disk: SimulatedDisk, attempt: Path, number: int) -> Iterator[TableFile]:
        """Two tasks write files, and sync nothing."""
        for part, path in (("0-a", f"commits/day={number}/a"), ("0-a", "commits/day=0/b"), ("1-b", "groups/day=0/c")):
            name = f"{path}-{number}.parquet"
            disk.make_dir(str((attempt / part / name).parent))
            with closing(disk.open(str(attempt / part / name), create=True)) as file:
                write_all(file, name.encode() * 100, 0)
            yield TableFile(path.partition("/")[0], name, 1, part)


def contents(disk: SimulatedDisk, directory: str) -> dict[str, bytes]:
    """Every file but locks; of the catalog, which says when it was made, the size."""
    found = {path: disk.content(path) for path in disk.files(directory) if not path.endswith((".lock", ".new"))}
    return {path: b"%d" % len(data) if "__cluster_metadata" in path else data for path, data in found.items()}


@cache
def broker_log() -> BrokerLog:
    """Two partitions of a log that a broker wrote."""
    log = find_broker_log([kept_log(Path(tempfile.mkdtemp())).log_dir])
    return BrokerLog(log.cluster_id, log.partitions[:2], None, log.transactions)


class Import:
    """Nothing is there, or no server starts on it, or the import is whole."""

    def prepare(self, disk: SimulatedDisk) -> None:
        make_durably(disk, "/srv")

    def do(self, disk: SimulatedDisk) -> None:
        import_kafka(broker_log(), Path(DATA), 1, Progress(), storage=disk)

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        if disk.exists(f"{DATA}/{META}") and begun_in(disk, DATA) is None:
            assert contents(disk, DATA) == imported()
            return
        assert not is_done
        assert disk.exists(f"{DATA}/{META}") or not shards_of(disk, DATA)


@cache
def imported() -> dict[str, bytes]:
    disk = SimulatedDisk()
    Import().do(disk)
    assert {path.split("/")[2] for path in disk.files(DATA)} >= {META, f"{GROUPS.topic}-0", "__cluster_metadata-0"}
    return contents(disk, DATA)


@cache
def damaged_directory() -> str:
    data_dir = Path(tempfile.mkdtemp()) / "data"
    log_dir.make(data_dir)
    (data_dir / str(log_dir.SHARDS[0]) / f"{log_dir.BEGINS[3]:020d}.log").write_bytes(b"")
    return str(data_dir)


class Salvage:
    """The new directory is no data directory, or it is whole."""

    out = "/out"

    def prepare(self, disk: SimulatedDisk) -> None:
        disk.make_dir("/")

    def do(self, disk: SimulatedDisk) -> None:
        if disk.exists(self.out):
            # It is not salvaged into a directory that has something: the operator removes it first, and this file before all.
            disk.remove(f"{self.out}/{META}")
            disk.sync_dir(self.out)
            remove_tree(disk, self.out)
        salvage(damaged_directory(), self.out, disk)

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        is_there = disk.exists(f"{self.out}/{META}")
        assert is_there or not is_done
        if is_there:
            assert contents(disk, self.out) == salvaged()


@cache
def salvaged() -> dict[str, bytes]:
    disk = SimulatedDisk()
    Salvage().do(disk)
    return contents(disk, Salvage.out)


class Export:
    """The broker has the new segments; until then it starts as after an unclean stop."""

    log_dir = "/kafka"

    def __init__(self) -> None:
        log = OpenLog(SimulatedDisk())
        for partition in (0, 1):
            assert log.append(append(partition, 0, value(0)), append(partition, 1, value(1))) is None
        self._store = log.store

    def prepare(self, disk: SimulatedDisk) -> None:
        disk.put(f"{self.log_dir}/{CLEAN_SHUTDOWN}", b"{}")
        for partition in (0, 1):
            for name in (IDENTITY, segment_name(0), segment_name(7), "leader-epoch-checkpoint"):
                disk.put(f"{self.log_dir}/{shard(partition)}/{name}", b"old")

    def do(self, disk: SimulatedDisk) -> None:
        targets = {shard(partition): f"{self.log_dir}/{shard(partition)}" for partition in (0, 1)}
        replace_partitions(disk, self._store, targets, self.log_dir, Progress())

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        if disk.exists(f"{self.log_dir}/{CLEAN_SHUTDOWN}"):
            untouched = SimulatedDisk()
            self.prepare(untouched)
            assert not is_done
            assert contents(disk, self.log_dir) == contents(untouched, self.log_dir)
        if is_done:
            for partition in (0, 1):
                directory = f"{self.log_dir}/{shard(partition)}"
                assert disk.list(directory) == [segment_name(0), IDENTITY]
                assert disk.content(f"{directory}/{segment_name(0)}") == b"".join(self._store.read(shard(partition), 0))
