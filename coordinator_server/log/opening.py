"""Opens logs: the one module that chooses how a log is kept: in a directory of this machine (``local.py``), or in a database that
nodes share (``postgresql``).

    open_server_log  a server's loop, or a node
    open_log         a server's loop, in a directory
    take_for_loops   a supervisor, before its loops
    open_for_job     a job, on a log that no server has
    job_shards       a job, on a log that may have a server, and so do its siblings; a log in a store has a path, too
                     (``store_paths.py``)
    open_observed    what follows another cluster
    the rest         whose log it is, and who has it

The machine (files, threads, the journal's writer) is a parameter, so that tests can replace it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from coordinator_server.config import Config, ConfigError
from coordinator_server.kinds import KINDS, kind_of, partition_counts
from coordinator_server.log import directory, meta
from coordinator_server.log.disk_share import DiskShare, disk_share
from coordinator_server.log.errors import LogError, Unavailable, WrongDirectory
from coordinator_server.log.file_locks import LocalLock, holder
from coordinator_server.log.file_names import COMPACTION_LOCK, LAYER_COPIES, LOCK
from coordinator_server.log.jobs import Cleanable, Holder, JobShard, SavedFile
from coordinator_server.log.layers.cleanable import cleanable as local_cleanable
from coordinator_server.log.layers.job_shard import LocalJobShard, local_job_shards
from coordinator_server.log.layers.job_shard import unknown_shards as unknown_directories
from coordinator_server.log.layers.saved_files import identity_files as local_identity_files
from coordinator_server.log.layers.saved_files import is_saved_name
from coordinator_server.log.local import LocalLogStore, LogOptions
from coordinator_server.log.login_key import open_login_key
from coordinator_server.log.members import Opened, Shared
from coordinator_server.log.owners import MovedShards, read_owners, write_owners
from coordinator_server.log.repair.check import check
from coordinator_server.log.repair.findings import Progress, Report
from coordinator_server.log.repair.set_aside import Cut
from coordinator_server.log.repair.set_aside import set_aside as carry_out
from coordinator_server.log.shards import LoopShards, ShardEnd, ShardId, shard_named
from coordinator_server.log.storage import LOCAL, InheritedLock, Storage
from coordinator_server.log.store import LogStore, Meta
from coordinator_server.log.store_paths import StoreName, is_store, split_path
from coordinator_server.log.write.journal_writer import Sync, Writer, make_writer
from coordinator_server.log.write.segments import RESERVE_BYTES
from coordinator_server.worker import Post, Worker

if TYPE_CHECKING:
    from coordinator_server.log.postgresql.job_log import JobLog
    from coordinator_server.log.postgresql.job_shard import PostgresqlJobShard

T = TypeVar("T")

__all__ = [
    "IDENTITY",
    "JOBS_S",
    "OBSERVE",
    "InheritedLock",
    "Machine",
    "MovedShards",
    "Progress",
    "Storage",
    "Sync",
    "Taken",
    "Writer",
    "await_jobs",
    "await_orphans",
    "check_free",
    "check_unused",
    "cleanable",
    "compaction_lock",
    "find_damage",
    "holder_of",
    "identity_files",
    "identity_of",
    "input_bytes",
    "input_file",
    "is_log",
    "is_saved_name",
    "job_shard",
    "job_shards",
    "log_path",
    "make_writer",
    "open_for_job",
    "open_log",
    "open_observed",
    "open_server_log",
    "read_owners",
    "recover_dead_loop",
    "set_aside",
    "store_ends",
    "store_upkeep",
    "take_for_loops",
    "unknown_shards",
    "write_owners",
]

JOBS_S: Final = directory.JOBS_S
"""How long a server waits for a job that has the log."""
OBSERVE: Final = "observe"
"""What has the log of a directory that follows another cluster."""
IDENTITY: Final = meta.NAME
"""The file by which a person knows a log."""


class Machine(NamedTuple):
    """What a log uses of the machine. None means its files, and a thread of the log's own."""

    storage: Storage | None = None
    worker: Worker | None = None
    make_writer: Callable[[Sync, Post], Writer] = make_writer


THIS_MACHINE: Final = Machine()


def open_log(
    data_dir: Path, config: Config, post: Post, part: LoopShards | None = None, machine: Machine = THIS_MACHINE
) -> LogStore:
    """Open the log of a server, or ``part`` of it, which ``take_for_loops`` has taken. ``post`` runs callables on the loop.

    Raises LockedLog, DamagedLog, WrongDirectory, Unavailable.
    """
    # Storage of tests has no disk.
    share = DiskShare(config.log.log_journal_bytes, RESERVE_BYTES) if machine.storage else disk_share(config, data_dir)
    options = LogOptions(
        segment_bytes=config.log.offsets_topic_segment_bytes,
        roll_ms=config.log.log_roll_ms,
        journal_bytes=share.journal_bytes,
        reserve_bytes=share.reserve_bytes,
        sync=Sync.NEVER if config.log.log_flush == "os" else Sync.ADAPTIVE,
        storage=machine.storage,
        worker=machine.worker,
        make_writer=machine.make_writer,
    )
    if part is not None:
        return LocalLogStore.open_part(data_dir, part, post=post, options=options)
    counts = partition_counts(config.log)
    return LocalLogStore.open(data_dir, post=post, node_id=config.node_id, partitions=counts, options=options)


async def open_server_log(data_dir: Path, config: Config, post: Post, part: LoopShards | None, machine: Machine, /) -> Opened:
    """Open the log of a server on the running loop: that of its store, if it has one, or else that of its directory.

    Raises LogError, ConfigError.
    """
    return (
        await _open_store(data_dir, config) if config.cluster.store else Opened(open_log(data_dir, config, post, part, machine))
    )


async def _open_store(data_dir: Path, config: Config) -> Opened:
    try:
        # Only a node loads the package.
        from coordinator_server.log.postgresql.address import Address
        from coordinator_server.log.postgresql.layers import LayerCopies
        from coordinator_server.log.postgresql.log import open_postgresql_log
        from coordinator_server.log.postgresql.membership import PostgresqlMembership
    except ImportError as missing:
        raise ConfigError(f"store: {missing.name} is missing: pip install 'coordinator-server[postgresql]'") from None

    address = Address(config.cluster.store, config.cluster.store_password, config.cluster.store_needs_standby)
    address.check()
    lock = _lock_directory_of_node(data_dir)
    try:
        copies = LayerCopies(LOCAL, f"{data_dir}/{LAYER_COPIES}")
        log = await open_postgresql_log(address, node_id=config.node_id, partitions=partition_counts(config.log), copies=copies)
        await log.keep_layers_in(config.cluster.store_objects)
    except BaseException:
        lock.close()
        raise
    rows = PostgresqlMembership(log)

    def close() -> None:
        rows.close()
        lock.close()

    return Opened(log, Shared(rows, log.acquire, log.prepare, close, log.inspect, lambda: log.refusal, log.statements))


def _lock_directory_of_node(data_dir: Path) -> LocalLock:
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"cannot make {data_dir}: {error}") from error
    if is_log(data_dir):
        raise WrongDirectory(f"{data_dir} has a log of its own: a node with a store needs another directory")
    return LocalLock(f"{data_dir}/{LOCK}")


class Taken(NamedTuple):
    """A log that is taken for several loops: the lock, which they inherit, and the log's identity."""

    lock: InheritedLock
    meta: Meta


def take_for_loops(
    data_dir: Path,
    config: Config,
    loops: int,
    distribute: Callable[[MovedShards | None], Callable[[ShardId], int]],
    *,
    has_logins: bool = False,
) -> Taken:
    """Take a log for the ``loops`` that will open parts of it, and recover it. Raises LogError.

    ``distribute`` gets the shards that have moved, and returns what says which loop owns a shard.
    """
    place = str(data_dir)
    locked = directory.lock_directory(LOCAL, place, node_id=config.node_id, partitions=partition_counts(config.log))
    try:
        if has_logins:
            # Before the loops, each of which reads it.
            open_login_key(LOCAL, place)
        directory.recover_all_loops(LOCAL, place, loops, distribute(read_owners(data_dir)))
    except OSError as error:
        locked.lock.close()
        raise Unavailable(f"cannot open the log in {place}: {error}") from error
    except LogError:
        locked.lock.close()
        raise
    return Taken(locked.lock, locked.meta)


def recover_dead_loop(data_dir: Path, part: LoopShards) -> list[ShardEnd]:
    """Bring the shards of a loop that has died up to its journal, for the loop that takes them. Raises LogError."""
    return directory.recover_dead_loop(LOCAL, str(data_dir), part)


def open_for_job(data_dir: Path, job: str, post: Post, made_with: Config | None = None) -> LogStore:
    """Open a log that no server has. ``job`` tells others who has it. One that does not exist is made if ``made_with`` is given.

    Raises LockedLog and other LogErrors.
    """
    if made_with is None:
        identity = identity_of(data_dir)
        node_id, partitions = identity.node_id, identity.partitions
    else:
        node_id, partitions = made_with.node_id, partition_counts(made_with.log)
    return LocalLogStore.open(data_dir, post=post, node_id=node_id, partitions=partitions, options=LogOptions(job=job))


def open_observed(data_dir: Path, identity: Meta, post: Post) -> LogStore:
    """Open the log that follows another cluster, or make it. ``identity`` is the cluster's, with the partitions that it has now.

    Raises WrongDirectory, LockedLog and other LogErrors.
    """
    found = directory.claim_observed(LOCAL, str(data_dir), identity, OBSERVE)
    options = LogOptions(job=OBSERVE)
    return LocalLogStore.open(data_dir, post=post, node_id=found.node_id, partitions=found.partitions, options=options)


def set_aside(data_dir: Path, shard: ShardId, from_offset: int, name: str) -> int:
    """Take batches that the cluster does not have any more out of an observed log that is closed. Return its new end.

    They are kept in ``set-aside/``, as ``name``. Raises LogError.
    """
    try:
        return carry_out(LOCAL, str(data_dir), Cut(str(shard), from_offset, name))
    except OSError as error:
        raise Unavailable(f"cannot set aside the end of {shard}: {error}") from error


def job_shards(data_dir: Path) -> list[JobShard]:
    """Return the shards of a log that have records, of known kinds, by topic and partition."""
    if is_store(data_dir):
        names = sorted(map(shard_named, _job_log(data_dir).ends()))
        return [job_shard(data_dir / str(name)) for name in names if name.topic in KINDS]
    return list(local_job_shards(data_dir))


def job_shard(place: Path | str) -> JobShard:
    """Return the shard at a place: that of a ``JobShard``, or the shard's name below that of its log."""
    if is_store(place):
        from coordinator_server.log.postgresql.job_shard import PostgresqlJobShard

        return PostgresqlJobShard(_job_log(place), shard_named(split_path(place)[1]))
    return LocalJobShard(Path(place))


def input_file(path: str) -> Path:
    """Return a file of a shard that ``InputFile`` names, to be opened. One in a store is brought. Raises LogError, OSError."""
    return _stored_file(path, lambda shard, name: shard.bring(name)) if is_store(path) else Path(path)


def input_bytes(path: str) -> int:
    """Return the size of such a file, without bringing all of it. Raises LogError, OSError."""
    return _stored_file(path, lambda shard, name: shard.bytes_of(name)) if is_store(path) else Path(path).stat().st_size


def log_path(data_dir: Path, config: Config) -> Path:
    """Return the path of a server's log: that of its store, if it has one, or else its directory."""
    cluster = config.cluster
    if not cluster.store:
        return data_dir
    return StoreName(cluster.store, cluster.store_password, cluster.store_needs_standby).path


def store_ends(data_dir: Path) -> dict[str, int]:
    """Return the ends of the shards of a log in a store, at one moment: what is before them is durable, and does not change."""
    return _job_log(data_dir).ends()


def compaction_lock(data_dir: Path) -> Path:
    """Return the file that one compaction at a time of a log in a directory locks (flock)."""
    return data_dir / COMPACTION_LOCK


@contextmanager
def store_upkeep(data_dir: Path) -> Iterator[None]:
    """Be the one who makes layers of a log in a store. Raises LockedLog if another process does, LogError."""
    upkeep = _job_log(data_dir).upkeep
    upkeep.claim()
    try:
        yield
    finally:
        upkeep.leave()


def cleanable(data_dir: Path) -> dict[str, Cleanable]:
    """Return how much of each shard compaction would read, by name: from sizes alone."""
    return _job_log(data_dir).cleanable() if is_store(data_dir) else local_cleanable(data_dir)


def unknown_shards(data_dir: Path) -> list[str]:
    """Return the names of shards that belong to no known kind."""
    if is_store(data_dir):
        return [name for name in _job_log(data_dir).ends() if kind_of(name) is None]
    return unknown_directories(data_dir)


def identity_files(data_dir: Path) -> Iterator[SavedFile]:
    """Yield the files of a backup that say whose log it is."""
    return _job_log(data_dir).identity_files() if is_store(data_dir) else local_identity_files(data_dir)


def _job_log(path: Path | str) -> JobLog:
    try:
        from coordinator_server.log.postgresql.job_log import job_log
    except ImportError as missing:
        raise ConfigError(f"a store needs {missing.name}: pip install 'coordinator-server[postgresql]'") from None
    return job_log(split_path(path)[0])


def _stored_file(path: str, of: Callable[[PostgresqlJobShard, str], T]) -> T:
    from coordinator_server.log.postgresql.job_shard import PostgresqlJobShard

    shard, _, name = split_path(path)[1].partition("/")
    return of(PostgresqlJobShard(_job_log(path), shard_named(shard)), name)


def find_damage(data_dir: Path, progress: Progress) -> Report:
    """Read all of a log, whether a server has it or not, and return what was found. Raises WrongDirectory, OSError."""
    return check(str(data_dir), progress)


def is_log(data_dir: Path) -> bool:
    """Return whether there is a log. Of a store that is found out when it is read."""
    return is_store(data_dir) or (data_dir / meta.NAME).is_file()


def identity_of(data_dir: Path) -> Meta:
    """Return the identity of an existing log. Raises LogError, OSError."""
    return _job_log(data_dir).identity if is_store(data_dir) else meta.read_meta(LOCAL, str(data_dir))


def check_unused(data_dir: Path) -> None:
    """Raise WrongDirectory if there is no log, and no room for one: the place has files of something else."""
    meta.check_unused(LOCAL, str(data_dir))


def holder_of(data_dir: Path) -> Holder | None:
    """Return the process that has the log; None if it is free. Nothing is changed."""
    return holder(f"{data_dir}/{LOCK}")


def check_free(data_dir: Path) -> None:
    """Raise LockedLog if another process has the log."""
    directory.check_free(str(data_dir))


def await_orphans(data_dir: Path) -> None:
    """Wait for processes that a server has left behind which was killed: they have its log and its ports. Nothing is changed."""
    directory.await_orphans(str(data_dir))


def await_jobs(data_dir: Path, tell: Callable[[Holder], None]) -> None:
    """Wait up to JOBS_S for the jobs that have the log. ``tell`` gets the first of them. Nothing is changed."""
    directory.await_jobs(str(data_dir), tell)
