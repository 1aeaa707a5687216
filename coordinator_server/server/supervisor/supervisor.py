"""Several loops as one server: a process that starts them, restarts a loop that dies, and stops all of them when it ends.

    bind all ports, lock the directory, recover every journal
        └─► start the loops ── all prepared ──► all listen, and load ── all loaded ──► ready
                  ▲                                │ one dies
                  └──── recover its journal ◄──────┘      the others continue; its clients wait in its socket's queue
    a hanging loop is killed, and then restarted like any that dies
    SIGTERM, or a final death ──► SIGTERM to all, SIGKILL to those that do not end ──► one exit code

The supervisor holds the directory's lock and the listening sockets, and every loop inherits them: no other process can lock the
directory or bind a port while one loop lives. The supervisor serves ``control.sock`` and forwards operations to the loops. It
does not access the log after the start, and no client request passes through it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import structlog

from coordinator_server.config import Config
from coordinator_server.config.listeners import listener_specs
from coordinator_server.config.logs import Logs
from coordinator_server.log.errors import Unavailable
from coordinator_server.log.opening import InheritedLock, MovedShards, await_orphans, take_for_loops, write_owners
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import Meta
from coordinator_server.server.cluster.view import View, moved_shards, view_of_loops
from coordinator_server.server.control.control_socket import ControlSocket
from coordinator_server.server.control.described_loops import LoopPlace, described_loop
from coordinator_server.server.control.pipeline_reports import PipelineReports
from coordinator_server.server.errors import StartError, WrongProperties
from coordinator_server.server.hosting.cleaner import Cleaner
from coordinator_server.server.hosting.moves import STEPS
from coordinator_server.server.local_operation import Operation, Refusal
from coordinator_server.server.supervisor.loop_process import LoopProcess, Stage
from coordinator_server.server.supervisor.messages import StartLoop
from coordinator_server.server.supervisor.rules import Restarts, Watch, dealt, merged
from coordinator_server.server.supervisor.shard_moves import ShardMoves
from coordinator_server.server.wire.ports import bind_listeners, close_sockets

log = structlog.get_logger(__name__)

# Within this time a loop says how it is, unless it hangs or is very busy.
SOON_S: Final = 2.0
NO_ANSWER: Final = "no-answer"


class Supervisor:
    """The supervisor of ``loops`` processes.

    ``ready`` is set when all shards of all loops are loaded, ``failed`` when the server must end because of an error.
    """

    def __init__(self, config: Config, data_dir: Path, loops: int, logs: Logs, inherited: Sequence[socket.socket] = ()) -> None:
        self._config = config
        self._data_dir = data_dir
        self._loops = loops
        self.listeners = listener_specs(config, loops)
        self._logs = logs
        self._inherited = inherited
        # By listener, by loop.
        self._sockets: list[list[list[socket.socket]]] = []
        self._lock: InheritedLock | None = None
        self._moves: ShardMoves
        self._processes: dict[int, LoopProcess] = {}
        self._restarts = [Restarts() for _ in range(loops)]
        self._starts = [0] * loops
        self._watch: Watch[LoopProcess] = Watch(config.loops_hung_after_ms / 1000)
        self._next_look: asyncio.TimerHandle | None = None
        self._pending: set[asyncio.Task[None]] = set()
        self._control: ControlSocket | None = None
        self._cleaner = Cleaner(config.live, data_dir, self._seal)
        self.ready = asyncio.Event()
        self.failed = asyncio.Event()
        self._failure_code = 1
        self._is_open = False
        self._stopping = asyncio.Event()

    async def start(self) -> Meta:
        """Recover the log and start all loops, without waiting for them.

        Raises StartError and LogError; call ``stop`` then, too.
        """
        try:
            self._sockets = bind_listeners(self.listeners, self._loops, self._inherited)
        except StartError:
            # Loops may still have the ports whose supervisor was killed as it started them.
            await_orphans(self._data_dir)
            self._sockets = bind_listeners(self.listeners, self._loops, self._inherited)
        has_logins = any(each.protocol.has_sasl for each in self.listeners)
        first, before = View(0, ()), self._loops

        def distribute(moved: MovedShards | None) -> Callable[[ShardId], int]:
            nonlocal first, before
            before = before if moved is None else moved.loops
            first = view_of_loops(self._config.node_id, self.listeners, self.ports, moved)
            return first.loop_of

        self._lock, meta = take_for_loops(self._data_dir, self._config, self._loops, distribute, has_logins=has_logins)
        if before != self._loops:
            write_owners(self._data_dir, moved_shards(first))
        self._moves = ShardMoves(self._data_dir, first, meta.partitions, self._processes)
        for loop in range(self._loops):
            await self._start(loop)
        return meta

    @property
    def ports(self) -> tuple[tuple[int, ...], ...]:
        """The ports by listener and by loop."""
        return tuple(tuple(sockets[0].getsockname()[1] for sockets in loops) for loops in self._sockets)

    @property
    def sockets(self) -> list[list[socket.socket]]:
        """The first socket of each loop, by listener."""
        return [[sockets[0] for sockets in loops] for loops in self._sockets]

    @property
    def progress(self) -> str:
        """What the loops do, in a line."""
        stages = Counter(process.stage.value for process in self._processes.values())
        found = ", ".join(f"{count} {stage}" for stage, count in sorted(stages.items()))
        restarts = sum(self._starts) - sum(map(bool, self._starts))
        return f"{self._loops} loops: {found}" + (f"; {restarts} restarts" if restarts else "")

    def reload(self, changed: Config) -> None:
        """Let all loops use a changed configuration, and read the certificates again. One that starts has it anyway."""
        self._config.live.adopt(changed.live)
        for process in self._processes.values():
            process.reload(changed)

    async def stop(self) -> int:
        """Stop all loops.

        Return the exit code: 0 if all ended normally and nothing failed before, otherwise 1, or 2 if a loop's was 2.
        """
        self._stopping.set()
        if self._next_look is not None:
            self._next_look.cancel()
        await asyncio.gather(*self._pending, return_exceptions=True)
        if self._control is not None:
            await self._control.stop()
        await self._cleaner.stop()
        self._signal(LoopProcess.terminate)
        left = await self._wait_for_ends()
        if left:
            log.error(
                "loops-killed", loops=left, why=f"they did not end within stop.timeout.ms={self._config.live.stop_timeout_ms}"
            )
            self.failed.set()
            self._signal(LoopProcess.kill)
            await self._wait_for_ends()
        for sockets in self._sockets:
            close_sockets(sockets)
        if self._lock is not None:
            self._lock.close()
        return self._failure_code if self.failed.is_set() else 0

    # Lifecycle of a loop.

    async def _start(self, loop: int) -> None:
        process = LoopProcess(loop, self._stage_changed, self._died, self._watch.answered)
        sockets = tuple(tuple(each.fileno() for each in loops[loop]) for loops in self._sockets)
        serving = tuple(each.loop for each in self._processes.values() if each.is_watched)
        order = StartLoop(
            config=self._config,
            data_dir=str(self._data_dir),
            loop=loop,
            view=self._moves.view,
            sockets=sockets,
            serving=serving if loop == self._moves.view.controller else (),
            incarnation=self._starts[loop] + 1,
            supervisor=os.getpid(),
            log_level=self._logs.level,
            log_format=self._logs.format,
        )
        assert self._lock is not None
        process.spawn(order, (self._lock.fileno(), *chain.from_iterable(sockets)))
        self._processes[loop] = process
        self._starts[loop] += 1
        await process.connect(order)
        log.info("loop-started", loop=loop, pid=process.pid, port=self.ports[0][loop], starts=self._starts[loop])

    def _stage_changed(self, process: LoopProcess) -> None:
        stages = [each.stage for each in self._processes.values()]
        if process.stage is Stage.PREPARED:
            if self._is_open:
                process.listen()
            elif all(stage is Stage.PREPARED for stage in stages) and len(stages) == self._loops:
                self._is_open = True
                self._spawn(self._open())
        elif all(stage is Stage.SERVING for stage in stages) and not self.ready.is_set():
            self._cleaner.start()
            self.ready.set()

    async def _open(self) -> None:
        prepared = self._processes[self._moves.view.controller].prepared
        assert prepared is not None
        observed: dict[str, Operation] = {"metrics": self._metrics, "health": self._health}
        operations: dict[str, Operation] = dict.fromkeys(set(prepared.operations) - set(STEPS), self._ask_all)
        observed |= {**PipelineReports(self._cleaner.report).operations, "loops": self._describe, **self._moves.operations}
        self._control = ControlSocket(self._data_dir, operations | observed)
        await self._control.start()
        self._look()
        for process in self._processes.values():
            if process.stage is Stage.PREPARED:
                process.listen()

    def _look(self) -> None:
        """Kill the loops that hang, and ping the others. ``_died`` handles a killed loop like any dead one."""
        if self._stopping.is_set():
            return
        now, limit_ms = asyncio.get_running_loop().time(), self._config.loops_hung_after_ms
        seen = self._watch.look(now, [each for each in self._processes.values() if each.is_watched])
        for process in seen.hung:
            log.error(
                "loop-hangs",
                loop=process.loop,
                pid=process.pid,
                why=f"no answer for loops.hung.after.ms={limit_ms}",
                action="it is killed",
            )
            process.kill()
        for process in seen.to_ask:
            process.ping()
        self._next_look = asyncio.get_running_loop().call_later(self._watch.every_s, self._look)

    def _died(self, process: LoopProcess, exit_code: int) -> None:
        # Until now it might have answered clients, and changes of the catalog have waited for it.
        # While it has no owner, the next owner waits until all loops have attached.
        with contextlib.suppress(KeyError):
            self._processes[self._moves.view.controller].report_end(process.loop, self._starts[process.loop])
        if self._stopping.is_set():
            # A loop that had not yet installed its signal handler ends by SIGTERM itself.
            if exit_code not in (0, -signal.SIGTERM):
                log.error("loop-died", loop=process.loop, pid=process.pid, exit_code=exit_code, action="none: the server stops")
                self.failed.set()
            return
        delay = self._restarts[process.loop].after_death(exit_code, asyncio.get_running_loop().time())
        log.error("loop-died", loop=process.loop, pid=process.pid, exit_code=exit_code, action=self._action(process.loop, delay))
        if delay is None:
            self._failure_code = WrongProperties.exit_code if exit_code == WrongProperties.exit_code else 1
            self.failed.set()
        else:
            self._spawn(self._start_again(process.loop, delay))

    def _action(self, loop: int, delay: float | None) -> str:
        if delay is None:
            return "the server ends"
        again = f"it is started again in {delay} s"
        if not delay:
            return again
        other = next(each for each in self._processes if each != loop)
        move = f"coordinator-server shards move --from {loop} --to {other} --data-dir {self._data_dir}"
        return f"{again}. If it dies again and again, its shards can be moved: {move}"

    async def _start_again(self, loop: int, delay: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), delay)
        async with self._moves.lock:
            if not self._stopping.is_set():
                await self._start(loop)

    # All loops.

    async def _ask_all(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        async with self._moves.places.shared():
            asked = dealt(request, self._moves.view)
            answers = await asyncio.gather(*(self._processes[loop].ask(part) for loop, part in sorted(asked.items())))
        whole = merged(answers)
        if not whole.pop("ok"):
            raise Refusal(whole["error"], is_temporary=whole.get("temporary", False))
        return whole

    async def _seal(self) -> Mapping[str, int]:
        """Seal the log of all loops. Raises Unavailable if a loop cannot now."""
        try:
            sealed: Mapping[str, int] = (await self._ask_all({"op": "seal"}))["shards"]
        except Refusal as refused:
            raise Unavailable(str(refused)) from refused
        return sealed

    async def _metrics(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the numbers of the loops that answer soon, and the health of all."""
        answers = await self._ask_each(request)
        numbers = [entry for answer in answers.values() if answer is not None for entry in answer["metrics"]]
        return {"metrics": numbers, "health": self._entries(answers)}

    async def _health(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"health": self._entries(await self._ask_each(request))}

    def _entries(self, answers: Mapping[int, Mapping[str, Any] | None]) -> list[Mapping[str, Any]]:
        """Return the health of each loop, also of one that does not answer."""
        entries: list[Mapping[str, Any]] = []
        for node in self._moves.view.nodes:
            loop, answer, process = node.loop, answers[node.loop], self._processes[node.loop]
            silent = {"loop": loop, "stage": NO_ANSWER if process.is_up else process.stage.value}
            [entry] = [silent] if answer is None else answer["health"]
            entries.append({**entry, "node_id": node.id, "starts": self._starts[loop]})
        return entries

    async def _ask_each(self, request: Mapping[str, Any]) -> dict[int, Mapping[str, Any] | None]:
        """Return the answer of each loop, or None of one that does not answer soon."""
        loops = list(self._processes)
        answers = await asyncio.gather(*(self._ask_soon(self._processes[loop], request) for loop in loops))
        return dict(zip(loops, answers, strict=True))

    async def _ask_soon(self, process: LoopProcess, request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        try:
            answer = await asyncio.wait_for(process.ask(request), SOON_S)
        except (Refusal, TimeoutError):
            return None
        return answer if answer["ok"] else None

    async def _describe(self, _request: Mapping[str, Any]) -> Mapping[str, Any]:
        described = []
        for node in self._moves.view.nodes:
            loop, process = node.loop, self._processes[node.loop]
            place = LoopPlace(loop, node.id, process.pid, self._starts[loop])
            addresses = [sockets[loop][0].getsockname()[:2] for sockets in self._sockets]
            described.append(described_loop(place, process.stage.value, self.listeners, addresses))
        return {"loops": described}

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._pending.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._pending.discard(task)
        if not task.cancelled() and task.exception() is not None:
            # The supervisor could not start a process or create control.sock.
            log.error("supervisor-failed", exc_info=task.exception(), action="the server ends")
            self.failed.set()

    def _signal(self, send: Callable[[LoopProcess], None]) -> None:
        for process in self._processes.values():
            if not process.ended.is_set():
                send(process)

    async def _wait_for_ends(self) -> list[int]:
        """Wait until all loops have ended. Return those that did not end in time."""
        timeout_s = self._config.live.stop_timeout_ms / 1000
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*(each.ended.wait() for each in self._processes.values())), timeout_s)
        return [each.loop for each in self._processes.values() if not each.ended.is_set()]
