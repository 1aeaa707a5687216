"""The supervisor's view of one loop's process."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple

import msgspec

from coordinator_server.config import Config
from coordinator_server.server.cluster.link import Link
from coordinator_server.server.hosting.interpreter import child_command
from coordinator_server.server.local_operation import Refusal
from coordinator_server.server.supervisor.messages import (
    AnswerPiece,
    FromLoop,
    Listen,
    Listening,
    LoopEnded,
    OperationDone,
    Ping,
    Pong,
    Prepared,
    Recovered,
    Reload,
    RunOperation,
    Serving,
    StartLoop,
)

# Maximum time between the end of a process's socket and the end of the process.
_ENDS_WITHIN_S: Final = 2.0
_LOOK_AGAIN_S: Final = 0.005
ANSWERS_WITHIN_S: Final = 110.0


class Stage(Enum):
    """The lifecycle stage of a process.

    From RECOVERED on it is watched, and may follow the catalog. From LOADING on it serves clients; in SERVING all its shards are
    loaded.
    """

    STARTING = "starting"
    RECOVERED = "recovered"
    PREPARED = "prepared"
    LOADING = "loading"
    SERVING = "serving"
    GONE = "gone"


class Unanswered(Refusal):
    """A process that lives has not answered in time. It may run the operation later."""


class _Asked(NamedTuple):
    """An operation that the process runs: set when it is done, and the pieces of its answer."""

    done: asyncio.Future[None]
    pieces: list[bytes]


class LoopProcess:
    """One process of a loop.

    ``stage_changed`` is called when its stage changes, ``ping_answered`` when it answers a ping, and ``died`` with its exit code.
    The number of a signal is negative, as in subprocess.
    """

    def __init__(
        self,
        loop: int,
        stage_changed: Callable[[LoopProcess], None],
        died: Callable[[LoopProcess, int], None],
        ping_answered: Callable[[LoopProcess], None],
    ) -> None:
        self.loop = loop
        self.stage = Stage.STARTING
        self.prepared: Prepared | None = None
        self._stage_changed = stage_changed
        self._died = died
        self._ping_answered = ping_answered
        self._link: Link[FromLoop] = Link(FromLoop, self._received, self._lost)
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._asked: dict[int, _Asked] = {}
        self._last_id = 0
        self._reaper: asyncio.Task[None] | None = None
        self.ended = asyncio.Event()

    @property
    def pid(self) -> int:
        """The process id. Available after ``spawn``."""
        assert self._process is not None
        return self._process.pid

    def spawn(self, order: StartLoop, inherited: Sequence[int]) -> None:
        """Start the process, which inherits the descriptors ``inherited``. Raises OSError if no process can be started."""
        self._socket, its = socket.socketpair()
        with its:
            channel = its.fileno()
            words = [*child_command("loop"), str(channel), f"loop-{order.loop}", order.data_dir]
            # A separate process group, so that only the supervisor gets ctrl-C. Its stdout goes to the log.
            self._process = subprocess.Popen(
                words, pass_fds=(channel, *inherited), process_group=0, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno()
            )

    async def connect(self, order: StartLoop) -> None:
        """Connect to the process and send its order."""
        assert self._socket is not None
        await asyncio.get_running_loop().create_unix_connection(lambda: self._link, sock=self._socket)
        self._link.send(order)

    def listen(self) -> None:
        """Let the process accept clients."""
        self._link.send(Listen())

    @property
    def is_up(self) -> bool:
        """Whether the process is prepared and has not ended."""
        return self.stage not in (Stage.STARTING, Stage.RECOVERED, Stage.GONE)

    @property
    def is_watched(self) -> bool:
        """Whether the process answers pings, unless it hangs."""
        return self.stage not in (Stage.STARTING, Stage.GONE)

    def report_end(self, loop: int, incarnation: int) -> None:
        """Report that a process of a different loop has ended."""
        self._link.send(LoopEnded(loop, incarnation))

    def ping(self) -> None:
        """Send a ping, which the process answers in its next turn."""
        self._link.send(Ping())

    def reload(self, changed: Config) -> None:
        """Let the process use a changed configuration, and read certificates again."""
        self._link.send(Reload(changed))

    async def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run an operation of ``control.sock`` in the process. Raises Refusal if there is no answer: Unanswered if it lives."""
        if not self.is_up:
            raise Refusal(f"loop {self.loop} is being started: try again in a moment", is_temporary=True)
        self._last_id += 1
        asked_id = self._last_id
        asked = self._asked[asked_id] = _Asked(asyncio.get_running_loop().create_future(), [])
        self._link.send(RunOperation(asked_id, dict(request)))
        try:
            await asyncio.wait_for(asked.done, ANSWERS_WITHIN_S)
        except TimeoutError:
            raise Unanswered(f"loop {self.loop} did not answer within {ANSWERS_WITHIN_S:.0f} s: look at the log") from None
        finally:
            del self._asked[asked_id]
        return msgspec.json.decode(b"".join(asked.pieces), type=dict[str, Any])

    def terminate(self) -> None:
        """Send SIGTERM."""
        assert self._process is not None
        self._process.terminate()

    def kill(self) -> None:
        """Send SIGKILL."""
        assert self._process is not None
        self._process.kill()

    def _received(self, message: FromLoop) -> None:
        match message:
            case Recovered():
                self._enter(Stage.RECOVERED)
            case Prepared():
                self.prepared = message
                self._enter(Stage.PREPARED)
            case Listening():
                self._enter(Stage.LOADING)
            case Serving():
                self._enter(Stage.SERVING)
            case Pong():
                self._ping_answered(self)
            case AnswerPiece(id=asked_id, json=piece):
                if asked_id in self._asked:
                    self._asked[asked_id].pieces.append(piece)
            case OperationDone(id=asked_id):
                if asked_id in self._asked and not self._asked[asked_id].done.done():
                    self._asked[asked_id].done.set_result(None)

    def _enter(self, stage: Stage) -> None:
        self.stage = stage
        self._stage_changed(self)

    def _lost(self) -> None:
        self.stage = Stage.GONE
        for asked in self._asked.values():
            if not asked.done.done():
                why = f"loop {self.loop} ended before it answered: try again in a moment"
                asked.done.set_exception(Refusal(why, is_temporary=True))
        self._reaper = asyncio.get_running_loop().create_task(self._reap())

    async def _reap(self) -> None:
        process = self._process
        assert process is not None
        deadline = asyncio.get_running_loop().time() + _ENDS_WITHIN_S
        while (code := process.poll()) is None:
            if asyncio.get_running_loop().time() > deadline:
                # It has closed its connection to the supervisor but not ended, and nothing else would stop it.
                process.kill()
            await asyncio.sleep(_LOOK_AGAIN_S)
        self.ended.set()
        self._died(self, code)
