"""Appends per second of a log in a PostgreSQL, beside one in a directory of the same disk: python -m bench.appends [--seconds 4]

One loop submits again when the submit before is durable, as a server under load does. The databases are on the disk of the
temporary directory, with PostgreSQL's defaults: one alone, and one whose commits wait for any of two standbys. All take turns,
round by round; the medians of the rounds are printed, of the times of single submits, and of the processor time of the node for an
append.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import uvloop

from coordinator_server.config import Config
from coordinator_server.log.opening import Machine, open_log
from coordinator_server.log.postgresql.address import Address
from coordinator_server.log.postgresql.log import open_postgresql_log
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.server.environment import make_loop_writer
from protocol.batch_builder import BatchBuilder
from tests.support.postgresql import COUNTS, PostgresqlServer

SETTINGS = {"shared_buffers": "128MB"}
SHAPES = ((1, 200), (1, 1000), (16, 200), (16, 1000), (50, 200))


class Figures(NamedTuple):
    """Appends per second, times of submits in ms, and the processor time of the node for an append in µs."""

    appends: float
    p50: float
    p99: float
    cpu_us: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4, help="of each log, shape and round (default 4)")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with ExitStack() as stack:
        alone = PostgresqlServer(on_disk=True, settings=SETTINGS)
        stack.callback(alone.remove)
        primary = PostgresqlServer(on_disk=True, settings=SETTINGS)
        stack.callback(primary.remove)
        # A database for the measurement, before commits wait.
        database = primary.database()
        for name in ("one", "two"):
            standby = PostgresqlServer(primary, {**SETTINGS, "cluster_name": name}, on_disk=True)
            stack.callback(standby.remove)
        primary.sql("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (one, two)'")
        primary.sql("SELECT pg_reload_conf()")
        time.sleep(1)
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        uvloop.run(measure(options, directory, alone.url(alone.database()), primary.url(database)))


async def measure(options: argparse.Namespace, directory: Path, alone: str, replicated: str) -> None:
    """Measure all logs and shapes, and print a line for each shape."""
    post = asyncio.get_running_loop().call_soon_threadsafe
    logs: dict[str, Any] = {"directory": open_log(directory, Config(), post, None, Machine(make_writer=make_loop_writer))}
    for name, address in (("postgresql", Address(alone)), ("two standbys", Address(replicated, needs_standby=True))):
        logs[name] = await open_postgresql_log(address, node_id=1, partitions=COUNTS)
    ends: dict[tuple[str, ShardId], int] = {}
    for shards, size in SHAPES:
        found: dict[str, list[Figures]] = {name: [] for name in logs}
        for _ in range(options.rounds):
            for name, log in logs.items():
                found[name].append(await run(log, name, shards, size, options.seconds, ends))
        print(f"{shards:3} shards x {size:5} B", end="")
        for name, rounds in found.items():
            appends, p50, p99, cpu_us = (statistics.median(each) for each in zip(*rounds, strict=True))
            print(f"   {name} {appends:8,.0f}/s p50 {p50:5.2f} p99 {p99:6.2f} ms {cpu_us:4.0f} µs", end="")
        print(flush=True)
    for log in logs.values():
        log.close()


async def run(log: Any, name: str, shards: int, size: int, seconds: float, ends: dict[tuple[str, ShardId], int]) -> Figures:
    """Submit for some seconds."""
    over = asyncio.get_running_loop().create_future()
    times: list[float] = []
    began, used = time.perf_counter(), time.process_time()
    ids = [ShardId("__consumer_offsets", number) for number in range(shards)]
    submit_again: Callable[[], None]

    def submit() -> None:
        at = time.perf_counter()
        appends = [Append(each, 0, end := ends.get((name, each), 0), batch(end, size)) for each in ids]

        def done(failures: object) -> None:
            assert failures is None, failures
            now = time.perf_counter()
            times.append((now - at) * 1000)
            for each in ids:
                ends[name, each] = ends.get((name, each), 0) + 1
            if now - began < seconds:
                asyncio.get_running_loop().call_soon(submit_again)
            else:
                over.set_result(None)

        log.submit(appends, done)

    submit_again = submit
    submit()
    await over
    times.sort()
    elapsed = time.perf_counter() - began
    count = len(times) * shards
    cpu_us = (time.process_time() - used) * 1e6 / count
    return Figures(count / elapsed, times[len(times) // 2], times[len(times) * 99 // 100], cpu_us)


def batch(offset: int, size: int) -> bytes:
    """Return a batch with one record."""
    builder = BatchBuilder(offset, 1_700_000_000_000)
    builder.append(b"key", b"v" * size)
    return builder.finish()


if __name__ == "__main__":
    main()
