"""Lock a data directory, and recover it before several loops write in it.

    one process    LocalLogStore.open: lock, recover everything, write
    many loops     the supervisor: ``lock_directory`` and ``recover_all_loops``; each loop: LocalLogStore.open_part

After ``recover_all_loops`` all records are in synced segments, and each journal states that for the
shards of its own loop and no others. So shards may move to other loops between two starts, and a
loop that dies is recovered from its own journal while the others run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from coordinator_server.log.errors import LockedLog, LogError, Unavailable
from coordinator_server.log.file_locks import holder
from coordinator_server.log.file_names import LOCK, journal_dir
from coordinator_server.log.jobs import Holder
from coordinator_server.log.meta import check_served, check_unused, open_meta, open_observed_meta
from coordinator_server.log.repair.recovery import Recovered, recover
from coordinator_server.log.repair.set_aside import finish
from coordinator_server.log.shards import LoopShards, ShardEnd, ShardId
from coordinator_server.log.storage import InheritedLock, LocalStorage, Lock, Storage, make_dir_durably
from coordinator_server.log.store import Meta
from coordinator_server.log.write.journal import FIRST_BYTES, Journal, JournalContents

# The loops of a supervisor that was killed die with it, and hold the lock until then.
ORPHANS_S: Final = 5.0
# A job holds the lock while it recovers and seals a log that no server has.
# Some read the whole log meanwhile, which may take longer.
JOBS_S: Final = 30.0
_LOOK_AGAIN_S: Final = 0.02


class LockedDirectory(NamedTuple):
    """A locked directory: this process may use it until it closes the lock."""

    lock: InheritedLock
    meta: Meta


def lock_directory(
    storage: Storage, data_dir: str, *, node_id: int, partitions: Mapping[str, int], job: str = ""
) -> LockedDirectory:
    """Lock the directory, which is made if it does not exist, and check that it was made for this configuration.

    A server waits for a ``job`` that has the lock; a job does not wait.

    LockedLog: another process has the directory. WrongDirectory: it was made for another configuration, or by another program.
    Unavailable: the operating system refuses.
    """
    lock: InheritedLock | None = None
    check_unused(storage, data_dir)
    try:
        if not job:
            check_served(storage, data_dir)
        make_dir_durably(storage, data_dir)
        lock = _lock(storage, f"{data_dir}/{LOCK}", job)
        return LockedDirectory(lock, open_meta(storage, data_dir, node_id=node_id, partitions=partitions))
    except OSError as error:
        release(lock)
        raise Unavailable(f"cannot open the log in {data_dir}: {error}") from error
    except LogError:
        release(lock)
        raise


def claim_observed(storage: Storage, data_dir: str, identity: Meta, job: str) -> Meta:
    """Make a directory that follows another cluster, or check that it follows that one; and finish what was begun in it.

    Return the identity, with the topics that it had before.

    Raises LockedLog, WrongDirectory, Unavailable and other LogErrors.
    """
    check_unused(storage, data_dir)
    try:
        make_dir_durably(storage, data_dir)
        lock = _lock(storage, f"{data_dir}/{LOCK}", job)
        try:
            found = open_observed_meta(storage, data_dir, identity)
            finish(storage, data_dir)
            return found
        finally:
            lock.close()
    except OSError as error:
        raise Unavailable(f"cannot open the log in {data_dir}: {error}") from error


def recover_all_loops(storage: Storage, data_dir: str, loops: int, loop_of: Callable[[ShardId], int]) -> None:
    """Recover the journals of all loops that ever wrote here, and leave a clean one to each of the ``loops`` that will start.

    The caller holds the directory's lock, and has started no loop. A second call changes nothing. Raises DamagedLog, Unavailable.
    """
    try:
        recovered = recover(storage, data_dir)
        for loop in range(loops):
            _leave_clean_journal(
                storage, data_dir, loop, recovered, [end for end in _ends(recovered) if loop_of(end.shard) == loop]
            )
        for loop in recovered.journals.keys() - range(loops):
            Journal(storage, journal_dir(data_dir, loop), FIRST_BYTES).retire(recovered.journals[loop], _ends(recovered))
    except OSError as error:
        raise Unavailable(f"cannot recover the log in {data_dir}: {error}") from error


def recover_dead_loop(storage: Storage, data_dir: str, part: LoopShards) -> list[ShardEnd]:
    """Bring the shards of a loop that has died up to its journal, and return how far they are durable then.

    No process of the loop runs. Its journal stays as it is: its next start reads it again. Raises DamagedLog, Unavailable.
    """
    try:
        return _ends(recover(storage, data_dir, part))
    except OSError as error:
        raise Unavailable(f"cannot recover the log in {data_dir}: {error}") from error


def _leave_clean_journal(storage: Storage, data_dir: str, loop: int, recovered: Recovered, ends: list[ShardEnd]) -> None:
    found = recovered.journals.get(loop, JournalContents())
    if found.head is not None and not found.entries and len(found.chain) == 1 and sorted(found.head.ends) == ends:
        return
    journal = Journal(storage, journal_dir(data_dir, loop), FIRST_BYTES)
    make_dir_durably(storage, journal.directory)
    try:
        journal.start(found, ends)
    finally:
        journal.close()


def _ends(recovered: Recovered) -> list[ShardEnd]:
    return sorted(
        ShardEnd(shard, state.bases[-1] if state.bases else state.end, state.size, state.end)
        for shard, state in recovered.shards.items()
    )


def await_orphans(data_dir: str) -> None:
    """Wait for processes that a server has left behind which was killed: they have its lock and its ports. Nothing is changed."""
    deadline = time.monotonic() + ORPHANS_S
    while (found := holder(f"{data_dir}/{LOCK}")) is not None and found.pid is not None and not _is_alive(found.pid):
        if time.monotonic() > deadline:
            return
        time.sleep(_LOOK_AGAIN_S)


def check_free(data_dir: str) -> None:
    """Raise LockedLog if another process has the directory."""
    path = f"{data_dir}/{LOCK}"
    if os.path.exists(path):
        _lock(LocalStorage(), path, "").close()


def await_jobs(data_dir: str, tell: Callable[[Holder], None]) -> None:
    """Wait up to JOBS_S for the jobs that have the directory's lock. ``tell`` gets the first of them. Nothing is changed."""
    deadline, is_told = time.monotonic() + JOBS_S, False
    while (found := holder(f"{data_dir}/{LOCK}")) is not None and found.job and time.monotonic() < deadline:
        if not is_told:
            tell(found)
            is_told = True
        time.sleep(_LOOK_AGAIN_S)


def _lock(storage: Storage, path: str, job: str) -> InheritedLock:
    deadline = time.monotonic() + ORPHANS_S
    while True:
        try:
            return storage.lock(path, job)
        except LockedLog as locked:
            is_late = time.monotonic() > deadline
            if locked.job and not job and not is_late:
                time.sleep(_LOOK_AGAIN_S)
                continue
            if locked.holder is None or _is_alive(locked.holder):
                raise LockedLog(f"{locked}: stop it first, or name a different directory", locked.holder, locked.job) from None
            if is_late:
                raise LockedLog(
                    f"{locked}, which is gone, and by what it had started: wait for that to end", locked.holder
                ) from None
            time.sleep(_LOOK_AGAIN_S)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def release(lock: Lock | None) -> None:
    """Unlock, if there is a lock."""
    if lock is not None:
        lock.close()
