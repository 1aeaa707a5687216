"""Run the coordinator until SIGTERM or SIGINT.

Prints one line on stdout when every group is loaded. Clients may connect before that; they retry
requests for a group that is not loaded yet. Logs go to stderr. An acknowledged commit is on disk.
At a stop, the server first answers the requests whose records are durable. kill -9 loses no
acknowledged commit. With --loops, that many processes share the groups: one that dies is restarted,
and all of them end together.

With --ephemeral it is a server for tests: it takes a free port, keeps its log in memory, and prints one
line of JSON when it is ready: bootstrap_servers, pid and cluster_id. It ends when its stdin does (if
that is a pipe) or its parent, or with SIGTERM. Each line of JSON on its stdin advances its time, makes
it fail or asks what it knows; docs/testing.md lists them. Groups settle at once in it.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import structlog

from coordinator_server.cli import configuration
from coordinator_server.cli.deadline import end_within
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.output import complain, say
from coordinator_server.cli.process_settings import allow_all_files, create_private_files, return_freed_memory
from coordinator_server.cli.service_manager import ServiceManager
from coordinator_server.cli.signals import on_hangup, stop_signals
from coordinator_server.config import Config, ConfigError
from coordinator_server.config.listeners import bracketed, is_loopback, is_wildcard, listener_specs, node_listener
from coordinator_server.config.load import load, parse_overrides
from coordinator_server.config.logs import Logs
from coordinator_server.config.sources import Sources
from coordinator_server.config.values import loop_count, with_loops
from coordinator_server.log.errors import LogError
from coordinator_server.log.jobs import Holder
from coordinator_server.log.opening import JOBS_S, await_jobs
from coordinator_server.ops.logging import LEVELS, configure
from coordinator_server.server.errors import StartError
from coordinator_server.server.membership.membership import LEAVE_MS
from coordinator_server.server.wire.certificates import read_certificates

log = structlog.get_logger(__name__)

EPILOG = """\
examples:
  coordinator-server serve --data-dir ./data
  coordinator-server serve --listen 0.0.0.0:9092 --data-dir /var/lib/coordinator-server \\
      --override topics=orders:6,payments:3 --override group.initial.rebalance.delay.ms=0
  coordinator-server serve --config /etc/coordinator-server.toml                 # or server.properties; SIGHUP reads it again
  coordinator-server serve --ephemeral --override topics=orders:6                # for tests: a free port, and nothing on disk
  coordinator-server serve --loops auto --data-dir ./data                        # one loop per core, on 9092, 9093, …
  coordinator-server serve --store postgresql://coordinator@db/coordinator --config node-1.toml   # one of several nodes

properties have Kafka's names, and its defaults but for a few.
"""
EPILOG += configuration.EPILOG


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--listen",
        metavar="HOST:PORT",
        help="address to listen on without TLS; port 0 picks a free one (127.0.0.1:9092; with --ephemeral 127.0.0.1:0). "
        "For more see the property listeners",
    )
    parser.add_argument(
        "--data-dir",
        type=local_dir,
        metavar="DIR",
        help="directory of the log; created if it does not exist. Required without --ephemeral, unless the property log.dirs "
        "names it",
    )
    parser.add_argument(
        "--store",
        metavar="URL",
        help="database that has the log and is shared with other nodes: postgresql://USER@HOST/DATABASE (default: the property "
        "store). docs/cluster.md says what a node needs besides",
    )
    parser.add_argument("--ephemeral", action="store_true", help="be a server for tests: end with the parent, and leave nothing")
    parser.add_argument(
        "--loops",
        metavar="N",
        help="number of processes, on the port of --listen and the next ones; auto: one per core (default: the property loops)",
    )
    configuration.add_arguments(parser)
    parser.add_argument("--log-level", choices=LEVELS, help="(info; with --ephemeral warning)")
    parser.add_argument(
        "--log-format",
        choices=("auto", "console", "json"),
        default="auto",
        help="auto: console on a terminal, otherwise json (%(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    """Serve and return the exit code."""
    sources = _sources(options)
    # A parent that does not read stderr blocks whoever fills it.
    options.log_level = options.log_level or ("warning" if options.ephemeral else "info")
    if options.ephemeral:
        # Only this needs the servers for tests.
        from coordinator_server.cli.ephemeral import run_ephemeral

        return run_ephemeral(options, sources)
    settings = sources.read(_load)
    config = settings.config
    options.data_dir = options.data_dir or _data_dir(config)
    create_private_files()
    allow_all_files()
    return_freed_memory()
    configure(options.log_level, options.log_format)
    configuration.warn_of_unknown(settings)
    _warn_of_plaintext(config)
    _check_node(config)
    # Before the signal handlers are set: SIGTERM ends a server that waits.
    await_jobs(options.data_dir, _say_who_is_awaited)
    service = ServiceManager(os.environ)
    if loop_count(config) == 1:
        # Only this command needs uvloop, and its import takes time that other commands need not spend.
        import uvloop

        return uvloop.run(_serve(config, options, sources, service))
    return asyncio.run(_supervise(config, options, sources, service))


def _logs(options: argparse.Namespace) -> Logs:
    return Logs(options.log_level, options.log_format)


def _check_node(config: Config) -> None:
    """Raise ConfigError if a node of several lacks something."""
    if not config.cluster.store:
        return
    if loop_count(config) > 1:
        raise ConfigError("loops: a node with a store has one loop; start more nodes instead, also on the same machine")
    node_listener(config)
    for each in listener_specs(config):
        if is_wildcard(each.host) and each.advertised is None:
            raise ConfigError(f"advertised.listeners: a node has to say at which host clients reach {each}")


def _sources(options: argparse.Namespace) -> Sources:
    """Return the sources of the properties. Raises ConfigError.

    A server for tests reads no environment: it is the same server wherever the tests run.
    """
    others = {}
    if options.store is not None:
        others["--store"] = ("store", options.store)
    if options.loops is not None:
        others["--loops"] = ("loops", options.loops)
    if options.listen is not None:
        if "listeners" in parse_overrides(options.override):
            raise ConfigError("--listen and the property listeners say the same: give one of them")
        host, port = parse_address(options.listen)
        others["--listen"] = ("listeners", f"PLAINTEXT://{bracketed(host)}:{port}")
    return configuration.sources_of(options, {} if options.ephemeral else os.environ, others)


def _load(properties: Mapping[str, str]) -> Config:
    # macOS has no affinity.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return with_loops(load(properties), cores)


def _data_dir(config: Config) -> Path:
    """Return the directory that log.dirs names. Raises ConfigError."""
    named = config.log_dirs
    if not named:
        raise ConfigError(
            "--data-dir DIR is required, or the property log.dirs; without a log to keep, --ephemeral serves until its parent ends"
        )
    try:
        return local_dir(named)
    except argparse.ArgumentTypeError as wrong:
        raise ConfigError(f"log.dirs={named}: {wrong}") from None


def _warn_of_plaintext(config: Config) -> None:
    """Log the listeners at which everybody who reaches the port may do everything, and read what others send."""
    for each in listener_specs(config, loop_count(config)):
        if not each.protocol.has_tls and not is_loopback(each.host):
            log.warning(
                "plaintext-listener",
                listener=str(each),
                why="whoever reaches this port may do everything, and what passes is not encrypted",
                action="listen on 127.0.0.1, or with TLS: listeners=SSL://…",
            )


def _say_who_is_awaited(found: Holder) -> None:
    log.info("waiting", why=f"the data directory is in use by {found}", action=f"the start waits up to {JOBS_S:.0f} s for it")


def parse_address(text: str) -> tuple[str, int]:
    """Parse ``HOST:PORT``, with brackets around an IPv6 host. Raises ConfigError."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise ConfigError(f"--listen takes HOST:PORT, such as 127.0.0.1:9092, not {text!r}")
    return host.strip("[]"), int(port)


async def _serve(config: Config, options: argparse.Namespace, sources: Sources, service: ServiceManager) -> int:
    from coordinator_server.server.daemon import Daemon
    from coordinator_server.server.hosting.slow_turns import SlowTurns
    from coordinator_server.server.http_process import HttpProcesses

    stopping = stop_signals(signal.SIGTERM, signal.SIGINT)
    # A load creates millions of objects and no garbage.
    gc.disable()
    slow_turns, data_dir = SlowTurns(), options.data_dir
    daemon = Daemon(config, data_dir, die, slow_turns=slow_turns.counts)
    http = HttpProcesses(config, data_dir, _logs(options))
    service.begin(lambda: daemon.progress)
    try:
        read_certificates(config, listener_specs(config))
        sockets = _bound(config, data_dir, service.inherited())
        address = _addresses(config, sockets)
        http.start()
        await daemon.adopt(sockets)
        if not await unless(stopping, daemon.prepare()):
            await daemon.stop()
            return 0
        await daemon.listen()
        on_hangup(_told(service, configuration.Reload(sources, _load, config, _both(daemon.reload, http.reload))), stopping)
        log.info("listening", address=address, data_dir=str(data_dir), node_id=config.node_id)
        if await unless(stopping, daemon.finish_loading()) and await unless(stopping, daemon.own_part()):
            calm_the_collector()
            slow_turns.start()
            say([_ready(address, daemon.cluster_id, data_dir, http.page)])
            sys.stdout.flush()
            service.ready(daemon.progress)
            log.info("serving", address=address)
    except (StartError, LogError) as failure:
        http.stop()
        await daemon.stop()
        return complain(failure, failure.exit_code)
    await stopping.wait()
    log.info("stopping")
    service.stopping()
    end_within(config.live.stop_timeout_ms + (LEAVE_MS if config.cluster.store else 0))
    slow_turns.stop()
    await daemon.stop()
    http.stop()
    log.info("stopped")
    return 0


def _both(one: Callable[[Config], None], other: Callable[[Config], None]) -> Callable[[Config], None]:
    """Return a function that does both."""

    def both(config: Config) -> None:
        one(config)
        other(config)

    return both


def _told(service: ServiceManager, reload: Callable[[], None]) -> Callable[[], None]:
    """Return a reload that notifies the service manager."""

    def told() -> None:
        service.reloading()
        reload()
        service.reloaded()

    return told


def _bound(config: Config, data_dir: Path, inherited: Sequence[socket.socket]) -> list[list[socket.socket]]:
    """Bind before the data directory is made: a port that is taken leaves nothing behind. Raises StartError, LockedLog."""
    from coordinator_server.log.opening import check_free
    from coordinator_server.server.wire.ports import bind_listeners

    try:
        return [sockets for [sockets] in bind_listeners(listener_specs(config), 1, inherited)]
    except StartError:
        # Perhaps the server that has the port has the directory, too: its process says more.
        check_free(data_dir)
        raise


async def _supervise(config: Config, options: argparse.Namespace, sources: Sources, service: ServiceManager) -> int:
    from coordinator_server.server.http_process import HttpProcesses
    from coordinator_server.server.supervisor.supervisor import Supervisor

    stopping = stop_signals(signal.SIGTERM, signal.SIGINT)
    http = HttpProcesses(config, options.data_dir, _logs(options))
    try:
        supervisor = Supervisor(config, options.data_dir, loop_count(config), _logs(options), service.inherited())
    except StartError as failure:
        return complain(failure, failure.exit_code)
    service.begin(lambda: supervisor.progress)
    try:
        read_certificates(config, supervisor.listeners)
        http.start()
        meta = await supervisor.start()
    except (StartError, LogError) as failure:
        http.stop()
        await supervisor.stop()
        return complain(failure, failure.exit_code)
    except OSError as failure:
        http.stop()
        await supervisor.stop()
        return complain(failure, 1)
    on_hangup(_told(service, configuration.Reload(sources, _load, config, _both(supervisor.reload, http.reload))), stopping)
    if await _first(supervisor.ready, supervisor.failed, stopping) is supervisor.ready:
        addresses = _addresses(config, supervisor.sockets)
        say([_ready(addresses, meta.cluster_id, options.data_dir, http.page)])
        sys.stdout.flush()
        service.ready(supervisor.progress)
        log.info("serving", address=addresses, data_dir=str(options.data_dir), node_id=config.node_id)
    if await _first(supervisor.failed, stopping) is stopping:
        log.info("stopping")
    service.stopping()
    code = await supervisor.stop()
    http.stop()
    log.info("stopped", exit_code=code)
    return code


def _ready(address: str, cluster_id: str, data_dir: Path, page: str | None) -> str:
    """Return what is printed when clients are served."""
    facts = [f"cluster {cluster_id}", f"data {data_dir}", *([f"page {page}"] if page is not None else [])]
    return f"coordinator-server ready on {address} ({', '.join(facts)})"


async def _first(*events: asyncio.Event) -> asyncio.Event:
    """Wait until one of the events is set, and return it."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()
    return next(event for event in events if event.is_set())


def _addresses(config: Config, listeners: Sequence[Sequence[socket.socket]]) -> str:
    """Return the addresses of the loops, or of the listeners by name if one of them is not plain or there are several.

    ``listeners`` has the first socket of each loop, by listener.
    """
    specs = listener_specs(config, loop_count(config))
    texts = []
    for spec, sockets in zip(specs, listeners, strict=True):
        scheme = "" if len(specs) == 1 and spec.name == "PLAINTEXT" else f"{spec.name}://"
        hosts = [each.getsockname()[:2] for each in sockets]
        texts += [f"{scheme}{bracketed(host)}:{port}" for host, port in hosts]
    return ",".join(texts)


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
    """Freeze loaded objects: scanning them costs time proportional to the state, and requests create few cycles.

    New objects are scanned twice, 5,000 and then 15,000 at a time, which takes up to 2 ms. Those that are left then are hardly
    ever scanned again. With less at a time as many are scanned in all.
    """
    gc.freeze()
    gc.set_threshold(5_000, 2, 6_000)
    gc.enable()


def die(failure: LogError) -> None:
    """End the process after a failed sync: what is on disk is unknown until a recovery, so no request may be answered."""
    log.error(
        "log-failed", why=str(failure), action="the process ends; check the disk, then start again: the start recovers the log"
    )
    sys.stderr.flush()
    os._exit(1)
