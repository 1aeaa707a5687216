"""The log cleaner: compacts shards automatically in a child process, when enough was written since their newest layer.

A server has one cleaner, however many loops it has, and the cleaner runs one child at a time. The child (cli/clean.py) runs at
low priority (nice), has a memory limit, and ends with the server. It publishes layers by renaming files, so the log is
consistent whenever the child ends, and the next child does the remaining work. The properties have the names of Kafka's log
cleaner.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec
import structlog
from msgspec import Struct

from coordinator_server.config import LiveConfig
from coordinator_server.log.errors import LogError
from coordinator_server.log.jobs import Cleanable
from coordinator_server.log.opening import cleanable
from coordinator_server.machine.shard import Clock
from coordinator_server.machine.steady_clock import SteadyClock
from coordinator_server.runtime.clock import SystemClock
from coordinator_server.server.hosting.interpreter import child_command

log = structlog.get_logger(__name__)

COMMAND: Final = tuple(child_command("clean"))
BUSY: Final = 3
"""The exit code of a child that has found another process at work, which compacts or removes what was compacted."""
# A shard that could not be cleaned is skipped until its dirty bytes have grown by this factor.
_TRY_AGAIN_AT: Final = 2
_SAID_BYTES: Final = 2000

Seal = Callable[[], Awaitable[Mapping[str, int]]]


class Clean(Struct, frozen=True):
    """The child's order: compact the shards that are sealed up to these offsets, within a memory limit.

    ``server`` is the id of the process with which the child ends. ``engine`` is that of ``log.cleaner.engine``.
    """

    data_dir: str
    sealed: dict[str, int]
    cutoff_ms: int
    server: int
    max_memory_bytes: int
    engine: Literal["plain", "spark", "auto"] = "plain"


class Cleaned(Struct, frozen=True):
    """The child's result: the shards with a new layer, and the reasons why other shards have no new layer or checkpoint.

    ``by_spark`` are the shards that were compacted on Spark.
    """

    shards: list[str]
    records_before: int
    bytes_before: int
    records: int
    bytes: int
    left_alone: list[str]
    by_spark: list[str] = []


class CleanerReport(Struct):
    """What the cleaner has done since the server started. Times are in ms since 1970, sizes in bytes."""

    engine: str
    runs: int = 0
    failures: int = 0
    shards: int = 0
    records_in: int = 0
    bytes_in: int = 0
    records: int = 0
    bytes: int = 0
    seconds: float = 0.0
    last_ms: int = 0
    # Of the last run: what it did, or why it failed.
    said: str = ""


class _End(NamedTuple):
    """The end of a child: exit code (None after a timeout), its output on stdout and stderr, and its run time."""

    code: int | None
    result: bytes
    said: str
    seconds: float


class Cleaner:
    """Checks the log periodically and cleans the shards that are due.

    ``seal`` closes the active segments and returns the offset up to which each shard is sealed. ``data_dir`` is the path of the
    log, which may be in a store that others look after: ``is_ours`` says whether this server does.
    """

    def __init__(
        self,
        config: LiveConfig,
        data_dir: Path,
        seal: Seal,
        command: Sequence[str] = COMMAND,
        clock: Clock | None = None,
        *,
        is_ours: Callable[[], bool] = lambda: True,
    ) -> None:
        self._config = config
        # Tombstones age while the server runs: a wall clock that jumps removes none.
        self._clock = SteadyClock(clock or SystemClock())
        self._command = command
        self._data_dir = data_dir
        self._seal = seal
        self._is_ours = is_ours
        self._task: asyncio.Task[None] | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._is_stopping = False
        # Shards whose last cleaning failed, and their dirty bytes at that time.
        self._given_up: dict[str, int] = {}
        self.report = CleanerReport(config.log_cleaner_engine)

    def start(self) -> None:
        """Start the periodic checks. They do nothing while the configuration disables the cleaner."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Stop the checks and kill a running child."""
        self._is_stopping = True
        if self._task is not None:
            if self._child is not None:
                self._child.kill()
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._config.log_cleaner_backoff_ms / 1000)
            if not self._config.log_cleaner_enable or not self._is_ours():
                continue
            try:
                await self._clean()
            except (LogError, OSError) as failure:
                self._failed(str(failure))
                log.warning("log-not-cleaned", why=str(failure), action="it is tried again later")

    async def _clean(self) -> None:
        found = await asyncio.to_thread(cleanable, self._data_dir)
        due = {shard: each.dirty for shard, each in found.items() if self._is_due(shard, each)}
        if not due or sum(due.values()) < self._config.log_cleaner_min_bytes:
            return
        self.report.engine = self._config.log_cleaner_engine
        sealed = await self._seal()
        order = Clean(
            data_dir=str(self._data_dir),
            sealed={shard: offset for shard, offset in sealed.items() if shard in due},
            cutoff_ms=self._clock.now_ms() - self._config.log_cleaner_delete_retention_ms,
            server=os.getpid(),
            max_memory_bytes=self._config.log_cleaner_max_memory_bytes,
            engine=self._config.log_cleaner_engine,
        )
        end = await asyncio.to_thread(self._run_child, order)
        cleaned = self._log_outcome(end)
        if cleaned is None:
            return
        self._given_up = {shard: size for shard, size in self._given_up.items() if shard not in due}
        self._given_up |= {shard: size for shard, size in due.items() if shard not in cleaned}

    def _is_due(self, shard: str, found: Cleanable) -> bool:
        is_dirty = found.dirty > 0 and found.ratio >= self._config.log_cleaner_min_cleanable_ratio
        return is_dirty and found.dirty >= _TRY_AGAIN_AT * self._given_up.get(shard, 0)

    def _run_child(self, order: Clean) -> _End:
        """Run a child and wait for it. The calling thread must live on: the child may be tied to the end of that thread."""
        started = time.monotonic()
        with subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            self._child = child
            if self._is_stopping:
                child.kill()
            code: int | None = None
            try:
                result, said = child.communicate(msgspec.json.encode(order), self._config.log_cleaner_timeout_ms / 1000)
                code = child.returncode
            except subprocess.TimeoutExpired:
                child.kill()
                result, said = child.communicate()
            finally:
                self._child = None
        return _End(code, result, said[-_SAID_BYTES:].decode(errors="replace").strip(), time.monotonic() - started)

    def _log_outcome(self, end: _End) -> set[str] | None:
        """Log the outcome and return the cleaned shards; None if another process was at work, which says nothing about them."""
        seconds = round(end.seconds, 1)
        if self._is_stopping:
            return set()
        if end.code is None:
            why = f"it took more than log.cleaner.timeout.ms={self._config.log_cleaner_timeout_ms}"
            self._failed(why, end.seconds)
            log.warning("log-not-cleaned", why=why)
            return set()
        if end.code == BUSY:
            # An alert looks at this, and whether there was a run for hours: somebody may be at work for ever.
            self._failed(end.said, end.seconds)
            log.info("log-not-cleaned", why=end.said, action="it is tried again later")
            return None
        if end.code != 0:
            why = end.said or "it said nothing"
            self._failed(why, end.seconds)
            log.warning("log-not-cleaned", exit_code=end.code, seconds=seconds, why=why)
            return set()
        cleaned = msgspec.json.decode(end.result, type=Cleaned)
        self._succeeded(cleaned, end.seconds)
        log.info(
            "log-cleaned",
            shards=len(cleaned.shards),
            records=cleaned.records,
            bytes=cleaned.bytes,
            records_before=cleaned.records_before,
            bytes_before=cleaned.bytes_before,
            by_spark=len(cleaned.by_spark),
            seconds=seconds,
        )
        for why in cleaned.left_alone:
            log.warning("shard-not-cleaned", why=why)
        return set(cleaned.shards)

    def _succeeded(self, cleaned: Cleaned, seconds: float) -> None:
        report = self.report
        report.runs += 1
        report.shards += len(cleaned.shards)
        report.records_in += cleaned.records_before
        report.bytes_in += cleaned.bytes_before
        report.records += cleaned.records
        report.bytes += cleaned.bytes
        report.seconds += seconds
        report.last_ms = self._clock.now_ms()
        report.said = "; ".join(cleaned.left_alone) or f"{len(cleaned.shards)} shards compacted"

    def _failed(self, why: str, seconds: float = 0.0) -> None:
        report = self.report
        report.failures += 1
        report.seconds += seconds
        report.last_ms = self._clock.now_ms()
        report.said = why
