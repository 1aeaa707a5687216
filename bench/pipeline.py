"""Records per second of the jobs on a log: compaction warm and as a whole process, history,
and a plain Spark DataFrame beside them.

    python -m bench.pipeline [--records 5000000] [--keys 200000] [--value-bytes 380] [--shards 50] [--rounds 3]
                             [--without dataframe]
    python -m bench.pipeline --keys 5000000                           # every record of another key
    python -m bench.pipeline --records 1000000 --keys 1000000 --shards 1 --task-bytes 100000000
                                                                      # a shard with too many keys for one task
    python -m bench.pipeline --records 1000000 --keys 50000 --times 1,2,4 --rounds 1 --without dataframe
                                                                      # how time and memory grow

The log is made from a seed in a scratch directory: commits of ten partitions by groups of unequal size, each with metadata so
that a record has about VALUE-BYTES bytes, provenance on the first record of each. Every round compacts (and turns into history)
the same log anew. Told are the best time, the median, the processor time of the best (all processes; on a machine that is shared
the steadier figure), and the largest memory of a process: the JVM's resident size, and of Python what is its own (anonymous) and
what it has mapped of files. The DataFrame way is what one would write first: parse in mapInArrow, a window over shard and key,
keep the newest; it writes Parquet, not a log, and proves nothing.

With ``--times``, logs of so many times the records and keys follow each other, and a table has the exponents: 1 is linear.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - its name everywhere

from bench.slopes import cells, width
from bench.targets import BUILD
from coordinator_server.machine.provenance import operation_headers, request_origin
from coordinator_server.offsets.attribution import speaking_for
from coordinator_server.pipeline.compact.run import compact, plans
from coordinator_server.pipeline.compact.spark import TASK_BYTES, run_spark
from coordinator_server.pipeline.history.new_records import new_records
from coordinator_server.pipeline.history.output import open_output
from coordinator_server.pipeline.history.run import write_history
from coordinator_server.pipeline.history.spark import runner_on, tasks_on
from coordinator_server.pipeline.input.columns import map_file, read_columns
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.spark.session import session
from protocol.batch_builder import BatchBuilder
from tests.support.processes import cpu_s, descendants, kilobytes, status
from tests.support.segments import START_MS, write_meta
from tests.support.server import ROOT

PARTITIONS: Final = 10
SEGMENT_BYTES: Final = 32 << 20
BATCH_RECORDS: Final = 40
SAMPLE_S: Final = 0.1
KINDS: Final = ("java", "own", "mapped")
_KEY: Final = struct.Struct(">i")


def main() -> None:
    options = _options()
    found: dict[str, list[Round]] = {}
    for times in options.times:
        for name, best in _at(times, options):
            found.setdefault(name, []).append(best)
    if len(options.times) == 1:
        return
    sizes = [times * options.records for times in options.times]
    print(f"\n{', '.join(f'{each:,}' for each in sizes)} records; ^1 is linear")
    print(f"{'':24}" + "  ".join(f"{head:>{width(sizes)}}" for head in ("processor, s", "MB: Python own", "MB: JVM")))
    for name, rounds in found.items():
        own, java = ([each.peaks[kind] / 1e6 for each in rounds] for kind in ("own", "java"))
        columns = (cells(sizes, [each.cpu_s for each in rounds], ".1f"), cells(sizes, own, ".0f"), cells(sizes, java, ".0f"))
        print(f"{name:24}" + "  ".join(columns))


def _at(times: int, options: argparse.Namespace) -> Iterator[tuple[str, Round]]:
    """Measure the jobs on a log that is so many times as large. Print the figures, and return the best round of each."""
    parent = options.scratch or BUILD
    parent.mkdir(parents=True, exist_ok=True)
    size = argparse.Namespace(**vars(options) | {"records": times * options.records, "keys": times * options.keys})
    with tempfile.TemporaryDirectory(prefix="pipeline-", dir=parent) as scratch:
        data = Path(scratch, "data")
        started = time.perf_counter()
        written = make_log(data, size)
        print(
            f"{size.records:,} records of {size.keys:,} keys in {options.shards} shards, {written / 1e9:.2f} GB"
            f" (made in {time.perf_counter() - started:.0f} s)\n"
        )
        print(f"{'':24}   best s  median s   cpu s    records/s   MB: JVM  Python own  Python mapped")
        for name, rounds in _measure(data, Path(scratch), size):
            best = min(rounds, key=lambda each: each.seconds)
            median = statistics.median(each.seconds for each in rounds)
            best.peaks = {kind: max(each.peaks[kind] for each in rounds) for kind in KINDS}
            peaks = [best.peaks[kind] / 1e6 for kind in KINDS]
            print(
                f"{name:24} {best.seconds:8.2f}  {median:8.2f} {best.cpu_s:7.1f} {size.records / best.seconds:12,.0f}"
                f" {peaks[0]:10,.0f} {peaks[1]:10,.0f} {peaks[2]:10,.0f}",
                flush=True,
            )
            yield name, best


class Round:
    """One run of a job: what it took, as long as it was watched."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.cpu_s = 0.0
        self.peaks = dict.fromkeys(KINDS, 0)


def _measure(data: Path, scratch: Path, options: argparse.Namespace) -> Iterator[tuple[str, list[Round]]]:
    jobs: dict[str, Callable[[SparkSession], object]] = {
        "compact, warm": lambda spark: _compact(spark, data, options.task_bytes),
        "history, warm": lambda spark: _history(spark, data, scratch / "history"),
        "DataFrame, warm": lambda spark: _dataframe(spark, data, scratch / "frame"),
    }
    wanted = {name: job for name, job in jobs.items() if name.split(",")[0].lower() not in options.without}
    with session(options.master) as spark:
        for name, job in wanted.items():
            job(spark)
            _clear(data, scratch)
            rounds = []
            for _ in range(options.rounds):
                with _watched() as each:
                    job(spark)
                rounds.append(each)
                _clear(data, scratch)
            yield name, rounds
    words = [sys.executable, "-m", "coordinator_server", "compact", "--data-dir", str(data)]
    for engine in [each for each in ("spark", "python") if each not in options.without]:
        rounds = []
        for _ in range(options.rounds if engine == "spark" else 1):
            with _watched() as each:
                whole = [*words, "--engine", engine, "--master", options.master, "--task-bytes", str(options.task_bytes)]
                subprocess.run(whole, cwd=ROOT, check=True, capture_output=True)
            rounds.append(each)
            _clear(data, scratch)
        yield f"compact, process, {engine}", rounds


def make_log(data: Path, options: argparse.Namespace) -> int:
    """Sealed segments of all shards; their bytes."""
    rng = random.Random(options.seed)
    data.mkdir()
    write_meta(data)
    groups = max(1, options.keys // PARTITIONS)
    of_shard = -(-options.records // options.shards)
    return sum(_make_shard(data / f"__consumer_offsets-{n}", n, of_shard, groups, rng, options) for n in range(options.shards))


def _make_shard(directory: Path, shard: int, records: int, groups: int, rng: random.Random, options: argparse.Namespace) -> int:
    directory.mkdir()
    names = [f"group-{number}" for number in range(shard, groups, options.shards)] or [f"group-{shard}"]
    keys = [
        [
            struct.pack(">hh", 1, len(name)) + name.encode() + struct.pack(">h", 6) + b"orders" + _KEY.pack(n)
            for n in range(PARTITIONS)
        ]
        for name in names
    ]
    headers = [operation_headers(request_origin(8, 9, name, "10.0.0.7"), speaking_for(f"{name}-member", None)) for name in names]
    metadata = b"m" * max(0, options.value_bytes - 26)
    tail = struct.pack(">h", len(metadata)) + metadata
    offset = total = 0
    while offset < records:
        path = directory / f"{offset:020d}.log"
        written: list[bytes] = []
        size = 0
        while offset < records and size < SEGMENT_BYTES:
            builder = BatchBuilder(offset, START_MS + offset)
            for _ in range(BATCH_RECORDS // PARTITIONS):
                # Some groups commit far more often than others.
                which = int(len(names) * rng.random() ** 2)
                value = struct.pack(">hqi", 3, offset, -1) + tail + struct.pack(">q", START_MS + offset)
                for number, key in enumerate(keys[which]):
                    builder.append(key, value, headers[which]) if number == 0 else builder.append(key, value)
                offset += PARTITIONS
            written.append(builder.finish())
            size += len(written[-1])
        path.write_bytes(b"".join(written))
        total += size
    (directory / f"{offset:020d}.log").touch()
    return total


def _compact(spark: SparkSession, data: Path, task_bytes: int) -> None:
    run = partial(run_spark, spark, task_bytes=task_bytes)
    result = compact(plans(data, _sealed(data)), None, run, Progress())
    assert not result.left_alone


def _history(spark: SparkSession, data: Path, out: Path) -> None:
    with open_output(out, "bench") as output:
        result = write_history(
            new_records(data, _sealed(data), output.positions), output, runner_on(spark), Progress(), tasks_on(spark)
        )
    assert result.rows["commits"]


def _dataframe(spark: SparkSession, data: Path, out: Path) -> None:
    paths = [str(path) for path in data.rglob("*.log") if path.stat().st_size]
    files = spark.createDataFrame([(path,) for path in paths], "path string").repartition(len(paths))
    parsed = files.mapInArrow(_parse, "shard string, key binary, offset long, value binary")
    newest = Window.partitionBy("shard", "key").orderBy(F.col("offset").desc())
    kept = parsed.withColumn("place", F.row_number().over(newest)).where("place = 1").drop("place")
    kept.write.mode("overwrite").parquet(str(out))


def _parse(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for name in batch.column(0).to_pylist():
            path = Path(name)
            columns = read_columns(map_file(path), None, 2**62)
            for first in range(0, len(columns), 50_000):
                part = columns.take(slice(first, first + 50_000))
                keys = part.keys().cast(pa.binary())
                values = part.keys_and_values().cast(pa.binary())
                shards = pa.array([path.parent.name] * len(part))
                yield pa.RecordBatch.from_arrays(
                    [shards, keys, pa.array(part.offset.astype(np.int64)), values], ["shard", "key", "offset", "value"]
                )


def _sealed(data: Path) -> dict[str, int]:
    return {path.name: max(int(each.stem) for each in path.glob("*.log")) for path in data.glob("__consumer_offsets-*")}


def _clear(data: Path, scratch: Path) -> None:
    for path in [*data.glob("*/layer-*"), scratch / "history", scratch / "frame"]:
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _watched() -> Iterator[Round]:
    """Time, processor time and peaks of our JVM and of all Python processes below us, while this lasts."""
    found = Round()
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(SAMPLE_S):
            for pid in _family():
                # A zombie has no memory.
                with contextlib.suppress(OSError, KeyError):
                    is_java = Path(f"/proc/{pid}/comm").read_text().startswith("java")
                    told = status(pid)
                    own, mapped = (kilobytes(told[name]) * 1024 for name in ("RssAnon", "RssFile"))
                    for kind, size in {"java": own + mapped}.items() if is_java else {"own": own, "mapped": mapped}.items():
                        found.peaks[kind] = max(found.peaks[kind], size)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    started, used = time.perf_counter(), _cpu_s()
    try:
        yield found
    finally:
        found.seconds, found.cpu_s = time.perf_counter() - started, _cpu_s() - used
        is_over.set()
        watcher.join()


def _cpu_s() -> float:
    """Of us, and of all below us, dead or alive."""
    found = 0.0
    for pid in _family():
        with contextlib.suppress(OSError):
            found += cpu_s(pid, with_ended_children=True)
    return found


def _family() -> list[int]:
    return [os.getpid(), *descendants(os.getpid())]


def _options() -> Any:
    parser = argparse.ArgumentParser(
        prog="bench.pipeline", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=5_000_000, metavar="N")
    parser.add_argument("--keys", type=int, default=200_000, metavar="N")
    parser.add_argument(
        "--times",
        type=lambda text: [int(each) for each in text.split(",")],
        default=[1],
        metavar="N,N",
        help="of records and keys: several logs, and how figures grow",
    )
    parser.add_argument("--value-bytes", type=int, default=380, metavar="N", help="of a record's value (default 380)")
    parser.add_argument("--shards", type=int, default=50, metavar="N")
    parser.add_argument("--master", default="local[*]", metavar="URL")
    parser.add_argument("--task-bytes", type=int, default=TASK_BYTES, metavar="N", help="as of compact")
    parser.add_argument(
        "--scratch", type=Path, metavar="DIR", help="where the log and all results are for a while (default bench/build)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument(
        "--without", action="append", default=[], choices=("compact", "history", "dataframe", "spark", "python"), help="leave out"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
