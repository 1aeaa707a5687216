"""Work on shards, spread by Spark: no shuffle, no record through the JVM. For compaction:

    driver   spark.range(tasks).mapInArrow(task) ───────────────────────────────► collect ─ publish by rename
    task     its shards' plans by number ─ vectorised engine ─ attempt-private directories ─ a row each: the ShardResult, or what went wrong

A task costs Spark and its worker tens of milliseconds before it has done anything, as much as a shard of 100,000 records: where there are many
more shards than cores they are dealt out, by size, to TASKS_PER_CORE tasks per core.

Spark plans, spreads and retries; a retried or doubled task writes another attempt, and only the attempts whose rows
the driver got are published. Workers import this package from where the driver has it, so the same interpreter and files must be there.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

import coordinator_server
from coordinator_server.log.errors import LogError
from coordinator_server.pipeline.compact import Progress
from coordinator_server.pipeline.engine import ShardResult, compact_shard
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.java import java_home
from coordinator_server.pipeline.plan import ShardPlan, input_bytes
from coordinator_server.pipeline.vectors import VectorEngine

T = TypeVar("T")

APP: Final = "coordinator-server"
SCHEMA: Final = "result binary, error string"
# Tasks hold their data in Python; the JVM only passes plans and rows.
DRIVER_MEMORY: Final = "512m"
TASKS_PER_CORE: Final = 4
POLL_S: Final = 0.2
_REASON: Final = re.compile(r"(Exception|Error)\b.*: ")
_JVM: Final = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"


class ShardFailed(PipelineError):
    """A task could not do its shard."""


@contextlib.contextmanager
def session(master: str) -> Iterator[SparkSession]:
    """A Spark session of our own, without a word on our output: what Spark says goes to a file that is read when it fails."""
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="coordinator-server-spark-"))
        stack.enter_context(_environment(Path(scratch)))
        log = Path(scratch, "spark.log")
        sink = stack.enter_context(log.open("wb"))
        try:
            conf = _conf(master, scratch)
            gateway = launch_gateway(conf, {"stdout": sink, "stderr": sink})  # type: ignore[no-untyped-call]
            stack.callback(_end, gateway)
            context = SparkContext(conf=conf, gateway=gateway)
            stack.callback(context.stop)
            spark = SparkSession(context)
        except (PySparkException, Py4JError, OSError) as error:
            raise CannotRun(f"Spark does not start: {_reason(log, error)}; check --master, or use --engine python") from error
        yield spark


def run_spark(spark: SparkSession, todo: Sequence[ShardPlan], cutoff_ms: int | None, progress: Progress) -> list[ShardResult]:
    """All shards, the largest first."""
    found = spread(spark, deal(spark, todo, input_bytes), partial(_compact, cutoff_ms), progress)
    return [msgspec.json.decode(result, type=ShardResult) for result in found]


def deal(spark: SparkSession, things: Sequence[T], size: Callable[[T], int]) -> list[Sequence[T]]:
    """Hands of about the same size, as many as keep every core busy."""
    ordered = sorted(things, key=size, reverse=True)
    tasks = min(len(ordered), TASKS_PER_CORE * spark.sparkContext.defaultParallelism)
    return [ordered[number::tasks] for number in range(tasks)]


def spread(
    spark: SparkSession, hands: Sequence[Sequence[T]], work: Callable[[T], tuple[bytes, int]], progress: Progress
) -> list[bytes]:
    """One task per hand, which does ``work`` on each thing in it: a result, and how many records that were. Raises ShardFailed."""
    if not hands:
        return []
    context = spark.sparkContext
    done, records = context.accumulator(0), context.accumulator(0)

    def count(found: int) -> None:
        done.add(1)
        records.add(found)

    rows = spark.range(0, len(hands), 1, len(hands)).mapInArrow(partial(_task, hands, work, count), SCHEMA)
    collected = _collect(context, rows, lambda: progress.advance(done.value, records.value))
    failed = [row["error"] for row in collected if row["error"]]
    if failed:
        raise ShardFailed("; ".join(failed))
    return [bytes(row["result"]) for row in collected]


def _compact(cutoff_ms: int | None, plan: ShardPlan) -> tuple[bytes, int]:
    found = compact_shard(plan, cutoff_ms, VectorEngine())
    return msgspec.json.encode(found), found.records_in


def _task(
    hands: Sequence[Sequence[T]],
    work: Callable[[T], tuple[bytes, int]],
    count: Callable[[int], None],
    numbers: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Runs in a Python worker."""
    for batch in numbers:
        for thing in chain.from_iterable(hands[number] for number in batch.column(0).to_pylist()):
            result, error = None, None
            # What is wrong with a shard is told in a row: raising would make Spark try again and bury the reason in a stack trace.
            try:
                result, records = work(thing)
                count(records)
            except (PipelineError, LogError, OSError) as failure:
                error = str(failure)
            yield pa.RecordBatch.from_arrays(
                [pa.array([result], pa.binary()), pa.array([error], pa.string())], ["result", "error"]
            )


def _collect(context: SparkContext, rows: Any, tell: Callable[[], None]) -> list[Any]:
    """Collect in a thread, so that this one can tell how it gets on, and be interrupted."""
    with ThreadPoolExecutor(1) as pool:
        collecting = pool.submit(rows.collect)
        try:
            while wait([collecting], POLL_S).not_done:
                tell()
        except BaseException:
            context.cancelAllJobs()
            raise
    tell()
    try:
        collected: list[Any] = collecting.result()
    except (PySparkException, Py4JError) as error:
        raise ShardFailed(f"Spark gave up: {_gist(error)}") from error
    return collected


def _conf(master: str, scratch: str) -> SparkConf:
    conf = SparkConf(loadDefaults=False).setMaster(master).setAppName(APP)
    conf.set("spark.ui.enabled", "false")
    conf.set("spark.driver.memory", DRIVER_MEMORY)
    conf.set("spark.driver.extraJavaOptions", _JVM)
    conf.set("spark.sql.warehouse.dir", f"{scratch}/warehouse")
    conf.set("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
    if master.startswith("local"):
        conf.set("spark.driver.host", "127.0.0.1").set("spark.driver.bindAddress", "127.0.0.1").set("spark.local.dir", scratch)
    return conf


@contextlib.contextmanager
def _environment(scratch: Path) -> Iterator[None]:
    """What Spark's scripts and workers read from the environment, as long as the session lives."""
    root = str(Path(coordinator_server.__file__).parents[1])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    wanted = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(paths), "JAVA_HOME": java_home(scratch)}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update({name: value for name, value in wanted.items() if value is not None})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _reason(log: Path, error: Exception) -> str:
    """What Spark gave as the reason in its log, or else what was raised."""
    lines = (line.strip() for line in log.read_text(errors="replace").splitlines())
    reasons = [line for line in lines if _REASON.search(line) and not line.startswith("at ")]
    return reasons[-1] if reasons else _gist(error)


def _gist(error: Exception) -> str:
    """One line of what Spark wraps in many."""
    said = ""
    if isinstance(error, Py4JJavaError):
        # The JVM that knows may be gone.
        with contextlib.suppress(Py4JError, OSError):
            said = str(error.java_exception.getMessage())
    else:
        said = str(error)
    return (said.strip() or type(error).__name__).splitlines()[0]


def _end(gateway: Any) -> None:
    """Let the JVM end before its scratch directory goes."""
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(timeout=30)
