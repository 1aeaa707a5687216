"""A data directory as tools use it: of the running server over its control socket, of a stopped one under the server's lock.

A reader has everything written out that is durable, and reads up to the offsets of the answer. Nothing is sealed for it.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

import msgspec

from coordinator_server.config import Config
from coordinator_server.log.errors import LockedLog, LogError
from coordinator_server.log.jobs import CONTROL_SOCKET, Holder
from coordinator_server.log.opening import IDENTITY, holder_of, is_log, open_for_job, store_ends
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import LogStore, OnSealed
from coordinator_server.log.store_paths import is_store
from coordinator_server.pipeline.errors import CannotRun, NotReady, ServerRefused
from coordinator_server.pipeline.input.retries import ONCE, Retries

# Writing out, and sealing, takes the pending batches of every shard to the disk, which may be slow.
ANSWER_TIMEOUT_S: Final = 120.0


def check_data_dir(data_dir: Path, *, asks_server: bool = False) -> None:
    """Raise CannotRun for a directory that is no data directory, so that nothing is created there by mistake.

    That of a node has no log, and will do for what only ``asks_server``.
    """
    if is_log(data_dir):
        return
    found = holder_of(data_dir)
    if found is None or found.job:
        raise CannotRun(f"{data_dir} is no data directory of coordinator-server (no {IDENTITY} in it): check --data-dir")
    if not asks_server:
        raise CannotRun(f"{data_dir} has no log: its server is a node, whose log is in a database; name that with --store")


def durable(data_dir: Path, retries: Retries = ONCE) -> dict[str, int]:
    """Have everything that is durable written out. Return the offset up to which each shard can be read."""
    return ends_after("write-out", lambda store, done: store.write_out(done), data_dir, retries)


def ends_after(
    operation: str, work: Callable[[LogStore, OnSealed], None], data_dir: Path, retries: Retries = ONCE
) -> dict[str, int]:
    """Have the server do an operation of ``control.sock``, or a stopped log do ``work``. Return the end of each shard then."""
    return retries.run(partial(_ends, data_dir, operation, work))


def _ends(data_dir: Path, operation: str, work: Callable[[LogStore, OnSealed], None]) -> dict[str, int]:
    if is_store(data_dir):
        # Everything in it is durable, and no row of it changes.
        return store_ends(data_dir)
    with _control(data_dir) as connection:
        if connection is not None:
            return msgspec.convert(_ask(data_dir, connection, {"op": operation})["shards"], dict[str, int])
    with ExitStack() as stack:
        store, run_until = enter_offline_store(stack, data_dir, operation)
        answers: list[Mapping[ShardId, int] | LogError] = []
        work(store, answers.append)
        run_until(lambda: bool(answers))
    answer = answers[0]
    if isinstance(answer, LogError):
        raise answer
    return {str(shard): end for shard, end in answer.items()}


def ask_server(data_dir: Path, request: Mapping[str, object]) -> dict[str, Any] | None:
    """Send an operation to the control socket, and return the server's answer; None if no server runs.

    Raises ServerRefused if it refuses.
    """
    with _control(data_dir) as connection:
        return None if connection is None else _ask(data_dir, connection, request)


def ask_server_if_any(data_dir: Path, request: Mapping[str, object], retries: Retries) -> dict[str, Any] | None:
    """Do the same as ``ask_server``, and wait for a server that starts or stops. The request may be sent more than once."""

    def attempt() -> dict[str, Any] | None:
        answer = ask_server(data_dir, request)
        found = holder_of(data_dir) if answer is None else None
        if found is not None and not found.job:
            raise _does_not_listen(data_dir, found)
        return answer

    return retries.run(attempt)


def is_served(data_dir: Path) -> bool:
    """Return whether a server listens on the directory's control socket."""
    with _control(data_dir) as connection:
        return connection is not None


def open_unless_served(stack: ExitStack, data_dir: Path, job: str) -> LogStore | None:
    """Recover the log under the server's lock, until the stack is closed; None if a server has it. Raises NotReady."""
    return None if is_store(data_dir) or is_served(data_dir) else enter_offline_store(stack, data_dir, job)[0]


RunUntil = Callable[[Callable[[], bool]], None]


@contextmanager
def offline_store(data_dir: Path, job: str, made_with: Config | None = None) -> Iterator[tuple[LogStore, RunUntil]]:
    """Recover the log under the server's lock. Return it with a function that runs its callbacks until a condition holds.

    ``job`` tells others who has the lock. A directory that does not exist is made if ``made_with`` is given. Raises LockedLog.
    """
    calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
    store = open_for_job(data_dir, job, calls.put, made_with)

    def run_until(is_done: Callable[[], bool]) -> None:
        while not is_done():
            calls.get()()

    try:
        yield store, run_until
    finally:
        store.close()


def enter_offline_store(stack: ExitStack, data_dir: Path, job: str, made_with: Config | None = None) -> tuple[LogStore, RunUntil]:
    """Do the same as ``offline_store`` until the stack is closed. Raises NotReady where that raises LockedLog."""
    try:
        return stack.enter_context(offline_store(data_dir, job, made_with))
    except LockedLog as error:
        raise _does_not_listen(data_dir, Holder(error.holder, error.job)) from error


def _does_not_listen(data_dir: Path, found: Holder) -> NotReady:
    if found.job:
        return NotReady(f"{data_dir} is in use by {found}: wait for it to end, then try again")
    where = data_dir / CONTROL_SOCKET
    return NotReady(f"the server on {data_dir} ({found}) is starting or stopping: it does not listen on {where}; try again")


@contextmanager
def _control(data_dir: Path) -> Iterator[socket.socket | None]:
    """Connect to the running server; None if no server listens. Those of a store are elsewhere."""
    if is_store(data_dir):
        yield None
        return
    # The path of a Unix socket is limited to about 100 bytes, so the data directory is named by its descriptor.
    directory = os.open(data_dir, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ANSWER_TIMEOUT_S)
            try:
                connection.connect(f"/proc/self/fd/{directory}/{CONTROL_SOCKET}")
            except (FileNotFoundError, ConnectionRefusedError):
                yield None
            except PermissionError as error:
                raise ServerRefused(
                    f"no permission to speak to the running server on {data_dir / CONTROL_SOCKET}: run this as the server's user"
                ) from error
            else:
                yield connection
    finally:
        os.close(directory)


def _ask(data_dir: Path, connection: socket.socket, request: Mapping[str, object]) -> dict[str, Any]:
    where = data_dir / CONTROL_SOCKET
    try:
        connection.sendall(msgspec.json.encode(request) + b"\n")
        with connection.makefile("rb") as lines:
            reply = msgspec.json.decode(lines.readline(), type=dict[str, Any])
    except (OSError, msgspec.DecodeError) as error:
        # A server that stops closes the socket. One that takes too long is asked once.
        kind = ServerRefused if isinstance(error, TimeoutError) else NotReady
        raise kind(f"the server did not answer on {where}: {error}; look at its log, then try again") from error
    if reply.get("ok") is not True:
        kind = NotReady if reply.get("temporary") else ServerRefused
        raise kind(f"the server refused to {request['op']} on {where}: {reply.get('error')}")
    return reply
