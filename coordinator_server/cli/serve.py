"""Run the coordinator until SIGTERM or SIGINT.

Prints one line on stdout when every group is loaded. Clients may connect before that; they retry
requests for a group that is not loaded yet. Logs go to stderr. An acknowledged commit is on disk.
At a stop, the server first answers the requests whose records are durable. kill -9 loses no
acknowledged commit. With --loops, that many processes share the groups: one that dies is restarted,
and all of them end together.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import structlog

from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.output import complain, say
from coordinator_server.cli.process_settings import allow_all_files, create_private_files, return_freed_memory
from coordinator_server.config import Config, ConfigError, load, loop_count, parse_overrides, with_loops
from coordinator_server.log.errors import LogError
from coordinator_server.ops.logging import LEVELS, configure
from coordinator_server.server.errors import StartError

log = structlog.get_logger(__name__)

EPILOG = """\
examples:
  coordinator-server serve --data-dir ./data
  coordinator-server serve --listen 0.0.0.0:9092 --data-dir /var/lib/coordinator-server \\
      --override topics=orders:6,payments:3 --override group.initial.rebalance.delay.ms=0
  coordinator-server serve --listen 127.0.0.1:0 --data-dir "$(mktemp -d)"      # a free port, for tests

  coordinator-server serve --loops auto --data-dir ./data                        # one loop per core, on 9092, 9093, …

properties have Kafka's names and defaults; 'coordinator-server config' lists them.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--listen",
        default="127.0.0.1:9092",
        metavar="HOST:PORT",
        help="address to listen on; port 0 picks a free one (%(default)s)",
    )
    parser.add_argument(
        "--data-dir", type=local_dir, required=True, metavar="DIR", help="directory of the log; created if it does not exist"
    )
    parser.add_argument(
        "--loops",
        metavar="N",
        help="number of processes, on the port of --listen and the next ones; auto: one per core (default: the property loops)",
    )
    parser.add_argument("--override", action="append", default=[], metavar="NAME=VALUE", help="a property; repeat for more")
    parser.add_argument("--log-level", choices=LEVELS, default="info", help="(%(default)s)")
    parser.add_argument(
        "--log-format",
        choices=("auto", "console", "json"),
        default="auto",
        help="auto: console on a terminal, otherwise json (%(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    """Serve and return the exit code."""
    create_private_files()
    allow_all_files()
    return_freed_memory()
    properties = parse_overrides(options.override)
    if options.loops is not None:
        properties["loops"] = options.loops
    config = with_loops(load(properties), len(os.sched_getaffinity(0)))
    host, port = parse_address(options.listen)
    configure(options.log_level, options.log_format)
    if loop_count(config) == 1:
        # Only this command needs uvloop, and its import takes time that other commands need not spend.
        import uvloop

        return uvloop.run(_serve(config, host, port, options.data_dir))
    return asyncio.run(_supervise(config, host, port, options))


def parse_address(text: str) -> tuple[str, int]:
    """Parse ``HOST:PORT``, with brackets around an IPv6 host. Raises ConfigError."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise ConfigError(f"--listen takes HOST:PORT, such as 127.0.0.1:9092, not {text!r}")
    return host.strip("[]"), int(port)


async def _serve(config: Config, host: str, port: int, data_dir: Path) -> int:
    from coordinator_server.server.daemon import Daemon
    from coordinator_server.server.slow_turns import SlowTurns

    stopping = stop_signals(signal.SIGTERM, signal.SIGINT)
    # A load creates millions of objects and no garbage.
    gc.disable()
    daemon, slow_turns = Daemon(config, data_dir, die), SlowTurns()
    try:
        address = _address(*await daemon.open(host, port))
        log.info("listening", address=address, data_dir=str(data_dir), node_id=config.node_id)
        if await unless(stopping, daemon.finish_loading()):
            calm_the_collector()
            slow_turns.start()
            say([f"coordinator-server ready on {address} (cluster {daemon.cluster_id}, data {data_dir})"])
            sys.stdout.flush()
            log.info("serving", address=address)
    except (StartError, LogError) as failure:
        await daemon.stop()
        return complain(failure, 1)
    await stopping.wait()
    log.info("stopping")
    slow_turns.stop()
    await daemon.stop()
    log.info("stopped")
    return 0


async def _supervise(config: Config, host: str, port: int, options: argparse.Namespace) -> int:
    from coordinator_server.server.supervisor.supervisor import Logs, Supervisor

    stopping = stop_signals(signal.SIGTERM, signal.SIGINT)
    supervisor = Supervisor(config, options.data_dir, loop_count(config), Logs(options.log_level, options.log_format))
    try:
        meta = await supervisor.start(host, port)
    except (StartError, LogError, OSError) as failure:
        await supervisor.stop()
        return complain(failure, 1)
    if await _first(supervisor.ready, supervisor.failed, stopping) is supervisor.ready:
        addresses = ",".join(_address(host, each) for each in supervisor.ports)
        say([f"coordinator-server ready on {addresses} (cluster {meta.cluster_id}, data {options.data_dir})"])
        sys.stdout.flush()
        log.info("serving", address=addresses, data_dir=str(options.data_dir), node_id=config.node_id)
    if await _first(supervisor.failed, stopping) is stopping:
        log.info("stopping")
    code = await supervisor.stop()
    log.info("stopped", exit_code=code)
    return code


async def _first(*events: asyncio.Event) -> asyncio.Event:
    """Wait until one of the events is set, and return it."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()
    return next(event for event in events if event.is_set())


def _address(host: str, port: int) -> str:
    return f"{f'[{host}]' if ':' in host else host}:{port}"


def stop_signals(*numbers: signal.Signals) -> asyncio.Event:
    """Return an event that the signals set."""
    stopping = asyncio.Event()
    for number in numbers:
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    return stopping


async def unless(stopping: asyncio.Event, work: Coroutine[Any, Any, object]) -> bool:
    """Do the work and return True; cancel it and return False when ``stopping`` is set."""
    tasks = [asyncio.ensure_future(work), asyncio.ensure_future(stopping.wait())]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    tasks[1].cancel()
    if not tasks[0].done():
        tasks[0].cancel()
        return False
    tasks[0].result()
    return True


def calm_the_collector() -> None:
    """Freeze loaded objects: scanning them costs time proportional to the state, and requests create few cycles."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    gc.enable()


def die(failure: LogError) -> None:
    """End the process after a failed sync: what is on disk is unknown until a recovery, so no request may be answered."""
    log.error(
        "log-failed", why=str(failure), action="the process ends; check the disk, then start again: the start recovers the log"
    )
    sys.stderr.flush()
    os._exit(1)
