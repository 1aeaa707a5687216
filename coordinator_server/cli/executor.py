"""Run the tasks of a loop's shards, in a child: ``python -m coordinator_server.cli.child executor FD PID``.

Not a command: only a loop starts it. Tasks and results are messages on the socket FD. It raises
its OOM score and ends with the loop, the process PID. Its priority is the loop's: members wait for its results.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import traceback
from importlib import import_module
from typing import Any

import msgspec

from coordinator_server.cli.parent import die_with_parent
from coordinator_server.cli.process_settings import leave_memory_to_others
from coordinator_server.machine.executor import Task
from coordinator_server.runtime.executor import Done
from coordinator_server.server.cluster.link import encode_message
from coordinator_server.server.hosting.executor import Run


def main() -> int:
    """Run tasks until the socket is closed; return the exit code."""
    die_with_parent()
    if os.getppid() != int(sys.argv[2]):
        # The loop ended before die_with_parent took effect.
        return 1
    # The server handles ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    leave_memory_to_others()
    with socket.socket(fileno=int(sys.argv[1])) as channel, channel.makefile("rb") as asked:
        while size := asked.read(4):
            run = msgspec.msgpack.decode(asked.read(int.from_bytes(size, "big")), type=Run)
            channel.sendall(encode_message(done_with(run)))
    return 0


def done_with(run: Run) -> Done:
    """Run a task and return its result, or the traceback of what it raised."""
    try:
        task = find_task(run.task)
        argument = msgspec.msgpack.decode(run.argument, type=task.argument)
        return Done(msgspec.msgpack.encode(task.run(argument)))
    except Exception:  # noqa: BLE001 - the loop logs it
        return Done(why=traceback.format_exc())


def find_task(name: str) -> Task[Any, Any]:
    """Return the Task with the name ``module:attribute``."""
    module, _, attribute = name.partition(":")
    task = getattr(import_module(module), attribute)
    assert isinstance(task, Task)
    return task
