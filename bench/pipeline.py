"""Records per second of the jobs on a log: compaction warm and as a whole process, history, and a plain Spark DataFrame beside them.

    python -m bench.pipeline [--records 5000000] [--keys 200000] [--value-bytes 380] [--shards 50] [--rounds 3] [--without dataframe]

The log is made from a seed in a scratch directory: commits of ten partitions by groups of unequal size, each with metadata so that a record has about
VALUE-BYTES bytes, provenance on the first record of each. Every round compacts (and turns into history) the same log anew. Memory is the largest
resident size of the driver (Python and JVM) and of all workers together, sampled. The DataFrame way is what one would write first: parse
in mapInArrow, a window over shard and key, keep the newest; it writes Parquet, not a log, and proves nothing.
"""

from __future__ import annotations

import argparse
import contextlib
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
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - its name everywhere

from bench.targets import BUILD
from coordinator_server.machine.provenance import operation_headers, request_origin
from coordinator_server.pipeline.columns import map_file, read_columns
from coordinator_server.pipeline.compact import Progress, compact, plans
from coordinator_server.pipeline.history.output import open_output
from coordinator_server.pipeline.history.run import news, write_history
from coordinator_server.pipeline.history.spark import runner_on, tasks_on
from coordinator_server.pipeline.session import session
from coordinator_server.pipeline.spark import run_spark
from protocol.record_batch import BatchBuilder
from tests.support.segments import START_MS, write_meta
from tests.support.server import ROOT

PARTITIONS: Final = 10
SEGMENT_BYTES: Final = 32 << 20
BATCH_RECORDS: Final = 40
SAMPLE_S: Final = 0.1
_KEY: Final = struct.Struct(">i")


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="pipeline-", dir=_build()) as scratch:
        data = Path(scratch, "data")
        started = time.perf_counter()
        size = make_log(data, options)
        print(
            f"{options.records:,} records of {options.keys:,} keys in {options.shards} shards, {size / 1e9:.2f} GB"
            f" (made in {time.perf_counter() - started:.0f} s)\n"
        )
        for name, times, memory in _measure(data, Path(scratch), options):
            rate = options.records / statistics.median(times)
            print(f"{name:30}{statistics.median(times):8.2f} s {rate:12,.0f} records/s   {memory}", flush=True)


def _measure(data: Path, scratch: Path, options: argparse.Namespace) -> Iterator[tuple[str, list[float], str]]:
    jobs: dict[str, Callable[[SparkSession], object]] = {
        "compact, warm": lambda spark: _compact(spark, data),
        "history, warm": lambda spark: _history(spark, data, scratch / "history"),
        "DataFrame, warm": lambda spark: _dataframe(spark, data, scratch / "frame"),
    }
    wanted = {name: job for name, job in jobs.items() if name.split(",")[0].lower() not in options.without}
    with session("local[*]") as spark:
        for name, job in wanted.items():
            job(spark)
            _clear(data, scratch)
            times, memory = [], []
            for _ in range(options.rounds):
                with _watched() as peak:
                    started = time.perf_counter()
                    job(spark)
                    times.append(time.perf_counter() - started)
                memory.append(peak())
                _clear(data, scratch)
            yield name, times, max(memory)
    words = [sys.executable, "-m", "coordinator_server", "compact", "--data-dir", str(data)]
    for engine in [each for each in ("spark", "python") if each not in options.without]:
        times, memory = [], []
        for _ in range(options.rounds if engine == "spark" else 1):
            with _watched() as peak:
                started = time.perf_counter()
                subprocess.run([*words, "--engine", engine], cwd=ROOT, check=True, capture_output=True)
                times.append(time.perf_counter() - started)
            memory.append(peak())
            _clear(data, scratch)
        yield f"compact, process, {engine}", times, max(memory)


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
    headers = [operation_headers(request_origin(8, 9, name, "10.0.0.7"), f"{name}-member", None, ()) for name in names]
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


def _compact(spark: SparkSession, data: Path) -> None:
    result = compact(plans(data, _sealed(data)), None, lambda *work: run_spark(spark, *work), Progress())
    assert not result.left_alone


def _history(spark: SparkSession, data: Path, out: Path) -> None:
    with open_output(out, "bench") as output:
        result = write_history(news(data, _sealed(data), output.positions), output, runner_on(spark), Progress(), tasks_on(spark))
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
def _watched() -> Iterator[Callable[[], str]]:
    """The largest resident sizes of our JVM and of all Python processes below us, while this lasts."""
    peaks = {"java": 0, "python": 0}
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(SAMPLE_S):
            now = {"java": 0, "python": 0}
            for pid in _family("self"):
                with contextlib.suppress(OSError):
                    kind = "java" if Path(f"/proc/{pid}/comm").read_text().startswith("java") else "python"
                    now[kind] += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
            for kind, size in now.items():
                peaks[kind] = max(peaks[kind], size)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield lambda: f"JVM {peaks['java'] / 1e6:,.0f} MB, Python {peaks['python'] / 1e6:,.0f} MB"
    finally:
        is_over.set()
        watcher.join()


def _family(pid: str) -> list[str]:
    children = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            children += (task / "children").read_text().split()
    return [pid, *(member for child in children for member in _family(child))]


def _build() -> Path:
    BUILD.mkdir(exist_ok=True)
    return BUILD


def _options() -> Any:
    parser = argparse.ArgumentParser(
        prog="bench.pipeline", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=5_000_000, metavar="N")
    parser.add_argument("--keys", type=int, default=200_000, metavar="N")
    parser.add_argument("--value-bytes", type=int, default=380, metavar="N", help="of a record's value (default 380)")
    parser.add_argument("--shards", type=int, default=50, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument(
        "--without", action="append", default=[], choices=("compact", "history", "dataframe", "spark", "python"), help="leave out"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
