"""Run the coordinator until SIGTERM or SIGINT.

Prints one line on stdout when it answers; logs go to stderr. An acknowledged commit is on disk. Stopping answers what is
owed first; kill -9 loses nothing that was acknowledged.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import sys
from pathlib import Path

import structlog

from coordinator_server.cli.complaint import complain
from coordinator_server.config import Config, ConfigError, load, parse_overrides
from coordinator_server.log.errors import LogError
from coordinator_server.ops.logging import LEVELS, configure

log = structlog.get_logger(__name__)

EPILOG = """\
examples:
  coordinator-server serve --data-dir ./data
  coordinator-server serve --listen 0.0.0.0:9092 --data-dir /var/lib/coordinator-server \\
      --override topics=orders:6,payments:3 --override group.initial.rebalance.delay.ms=0
  coordinator-server serve --listen 127.0.0.1:0 --data-dir "$(mktemp -d)"      # a free port, for tests

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
        "--data-dir", type=Path, required=True, metavar="DIR", help="where the log lives; made when it is not there"
    )
    parser.add_argument("--override", action="append", default=[], metavar="NAME=VALUE", help="a property; repeat for more")
    parser.add_argument("--log-level", choices=LEVELS, default="info", help="(%(default)s)")
    parser.add_argument(
        "--log-format",
        choices=("auto", "console", "json"),
        default="auto",
        help="auto: console on a terminal, else json (%(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    """Serve; returns the exit code."""
    # Only this command needs the loop, and start-up time is a feature.
    import uvloop

    config = load(parse_overrides(options.override))
    host, port = parse_address(options.listen)
    configure(options.log_level, options.log_format)
    return uvloop.run(_serve(config, host, port, options.data_dir))


def parse_address(text: str) -> tuple[str, int]:
    """``HOST:PORT``, with brackets around an IPv6 host. Raises ConfigError."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise ConfigError(f"--listen takes HOST:PORT, such as 127.0.0.1:9092, not {text!r}")
    return host.strip("[]"), int(port)


async def _serve(config: Config, host: str, port: int, data_dir: Path) -> int:
    from coordinator_server.server.daemon import Daemon, StartError

    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    # A load makes millions of objects and no garbage.
    gc.disable()
    daemon = Daemon(config, data_dir, _die)
    try:
        ready = await daemon.start(host, port)
    except (StartError, LogError) as failure:
        await daemon.stop()
        return complain(failure, 1)
    address = f"{f'[{ready.endpoint.host}]' if ':' in ready.endpoint.host else ready.endpoint.host}:{ready.endpoint.port}"
    print(f"coordinator-server ready on {address} (cluster {ready.cluster_id}, data {data_dir})", flush=True)
    _calm_the_collector()
    log.info("serving", address=address, data_dir=str(data_dir), node_id=config.node_id)
    await stopping.wait()
    log.info("stopping")
    await daemon.stop()
    log.info("stopped")
    return 0


def _calm_the_collector() -> None:
    """What was loaded stays: it need not be looked at again. Requests make little that refers to itself, so full rounds may be rare."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    gc.enable()


def _die(failure: LogError) -> None:
    """A sync failed: what is on disk is unknown, so nobody may be answered any more, and only a recovery can tell."""
    log.error("log-failed", why=str(failure), action="the process ends; look at the disk, then start again: the log is recovered")
    sys.stderr.flush()
    os._exit(1)
