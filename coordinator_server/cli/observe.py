"""Follow a live Kafka cluster, and keep the history of its groups.

Who moved an offset, why did a group rebalance, what was it like before? The command reads the cluster's
__consumer_offsets, __transaction_state and __share_group_state, and the names of its topics, into a data
directory. It changes nothing in the cluster, and goes on where it was after any stop. "groups why | at |
lag", "transactions why", "share", "replay", "history" and "index" work on the directory, while it is
followed, too.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog

from coordinator_server.cli.cluster_command import TIMEOUT_S, add_server_arguments, seconds
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.output import complain, counted, note, say
from coordinator_server.cli.process_settings import allow_all_files, create_private_files
from coordinator_server.cli.signals import on_hangup, stop_signals
from coordinator_server.client.errors import ClientError, InvalidSettings
from coordinator_server.config import ConfigError
from coordinator_server.config.logs import Logs
from coordinator_server.log.errors import LogError
from coordinator_server.ops.logging import LEVELS, configure
from coordinator_server.server.errors import StartError

if TYPE_CHECKING:
    from coordinator_server.client.settings import ConnectionSettings
    from coordinator_server.observe.observer import Observer
    from coordinator_server.server.http_process import HttpProcess

log = structlog.get_logger(__name__)

SAMPLE_S: Final = 30.0
KEEP_DAYS: Final = 90
MOST_PARTITIONS: Final = 10_000
_NAMES: Final = {"page": "the page", "lag_metrics": "metrics"}

EPILOG: Final = """\
examples:
  coordinator-server observe --bootstrap broker:9092 --data-dir ./observed                                      # until SIGTERM
  coordinator-server observe --bootstrap broker:9093 --command-config client.properties --data-dir ./observed   # TLS, SASL
  coordinator-server observe --bootstrap broker:9092 --data-dir ./observed --once                               # for cron
  coordinator-server observe --bootstrap broker:9092 --data-dir ./observed --page 127.0.0.1:9405                # with the page
  coordinator-server groups why billing --data-dir ./observed

needs: READ of the three topics, and DESCRIBE of all topics whose names are wanted. Kafka 2.8 and later, and this server.

what it cannot know: records that the cluster's cleaner had removed before they were read. They are counted, and
{"op": "status"} on control.sock says where. docs/observe.md has the rest.

exit codes: 0 stopped, or --once has read everything; 1 the cluster or the directory refuses; 2 the command line is wrong, or the
directory belongs to a server or to a different cluster
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_server_arguments(parser, "the cluster's servers")
    parser.add_argument(
        "--data-dir", type=local_dir, required=True, metavar="DIR", help="the directory of the history; made if it does not exist"
    )
    parser.add_argument("--once", action="store_true", help="end when everything has been read that was there at the start")
    parser.add_argument(
        "--end-offsets-interval",
        type=seconds,
        default=SAMPLE_S,
        metavar="SECONDS",
        help="how often to sample the ends of the partitions that groups consume, for their lag (%(default)g)",
    )
    parser.add_argument(
        "--end-offsets-retention",
        type=natural,
        default=KEEP_DAYS,
        metavar="DAYS",
        help="how long to keep the samples; 0 is for ever (%(default)s)",
    )
    parser.add_argument(
        "--timeout", type=seconds, default=TIMEOUT_S, metavar="SECONDS", help="how long to wait for an answer (%(default)g)"
    )
    parser.add_argument(
        "--metrics",
        metavar="HOST:PORT",
        help="answer scrapes of Prometheus there, such as 127.0.0.1:9404, with kminion's and kafka-lag-exporter's names",
    )
    parser.add_argument(
        "--metrics-partitions",
        type=natural,
        default=MOST_PARTITIONS,
        metavar="N",
        help="how many partitions of groups have metrics of their own, those of the groups that are furthest behind (%(default)s)",
    )
    parser.add_argument(
        "--page",
        metavar="HOST:PORT",
        help="serve the page for a browser there, such as 127.0.0.1:9405 (docs/page.md)",
    )
    parser.add_argument(
        "--page-certificate",
        type=Path,
        metavar="FILE",
        help="PEM with the key and the certificates of the page, which it needs on an address that other machines reach",
    )
    parser.add_argument(
        "--page-host", action="append", default=[], metavar="NAME", help="a name that browsers use for the page; repeatable"
    )
    parser.add_argument("--log-level", choices=LEVELS, default="info", help="(%(default)s)")
    parser.add_argument(
        "--log-format",
        choices=("auto", "console", "json"),
        default="auto",
        help="auto: console on a terminal, otherwise json (%(default)s)",
    )


def natural(text: str) -> int:
    """Return a number that is not negative. Raises ArgumentTypeError."""
    if not text.isdecimal() or not text.isascii():
        raise argparse.ArgumentTypeError(f"{text}: not a whole number from 0 on")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Follow the cluster and return the exit code. Raises ConfigError."""
    from coordinator_server.cli.client_properties import connection_settings

    try:
        settings = connection_settings(options.bootstrap, options.command_config, options.timeout)
        beside = [each for each in (_page(options, settings), _metrics(options)) if each is not None]
    except (InvalidSettings, StartError) as error:
        return complain(error, 2)
    create_private_files()
    allow_all_files()
    configure(options.log_level, options.log_format)
    return asyncio.run(_observe(options, settings, beside))


def _page(options: argparse.Namespace, settings: ConnectionSettings) -> HttpProcess | None:
    """Return the process of the page, if there is to be one. Raises ConfigError, StartError."""
    from coordinator_server.config.load import load
    from coordinator_server.config.values import any_page_address, is_of_this_machine
    from coordinator_server.security.tls_settings import TlsSettings
    from coordinator_server.server.http_process import HttpProcess, PageSetup, check_page_packages, wanted_page

    address = any_page_address("--page", options.page or "")
    if address is None:
        return None
    check_page_packages("--page")
    tls = None
    if not is_of_this_machine(address[0]):
        if options.page_certificate is None or not options.page_host:
            raise ConfigError(f"--page {options.page}: other machines reach it, so it needs --page-certificate and --page-host")
        tls = TlsSettings.of(load({"ssl.keystore.location": str(options.page_certificate)}), "PAGE")
    config = "" if options.command_config is None else str(options.command_config)
    logs = Logs(options.log_level, options.log_format)
    setup = PageSetup(options.page_host, tls, ",".join(map(str, settings.addresses)), config, logs)
    return HttpProcess(wanted_page(address, setup), options.data_dir)


def _metrics(options: argparse.Namespace) -> HttpProcess | None:
    """Return the process that answers scrapes, if there is to be one. Raises ConfigError."""
    from coordinator_server.config.values import any_metrics_address
    from coordinator_server.server.http_process import HttpProcess, Wanted

    address = any_metrics_address("--metrics", options.metrics or "")
    if address is None:
        return None
    setup = str(options.metrics_partitions).encode()
    wanted = Wanted("lag_metrics", address, "", "/metrics", "metrics-listening", "metrics-died", setup)
    return HttpProcess(wanted, options.data_dir)


async def _observe(options: argparse.Namespace, settings: ConnectionSettings, beside: Sequence[HttpProcess]) -> int:
    # Neither is needed to explain the command.
    from coordinator_server.client.admin.cluster import Cluster
    from coordinator_server.observe.observer import open_observer
    from coordinator_server.observe.sampler import Sampling

    stopping = stop_signals(signal.SIGTERM, signal.SIGINT)
    try:
        async with Cluster(settings) as cluster:
            sampling = Sampling(options.end_offsets_interval, options.end_offsets_retention)
            observer = await open_observer(cluster, options.data_dir, sampling)
            try:
                for each in beside:
                    each.start()
                on_hangup(partial(_reload, beside), stopping)
                failure = await _until_ended(options, observer, stopping, beside)
            finally:
                for each in beside:
                    each.stop()
                await observer.stop()
    except (ClientError, LogError, StartError) as error:
        failure = error
    return 0 if failure is None else _explained(failure, settings)


def _reload(beside: Sequence[HttpProcess]) -> None:
    """Have the page read its certificate again."""
    for each in beside:
        each.reload()


async def _until_ended(
    options: argparse.Namespace, observer: Observer, stopping: asyncio.Event, beside: Sequence[HttpProcess]
) -> Exception | None:
    """Wait until a signal, an error, or with --once the end. Return the error."""
    failed = asyncio.ensure_future(observer.failure())
    stopped = asyncio.ensure_future(stopping.wait())
    current = asyncio.ensure_future(observer.up_to_date.wait())
    await asyncio.wait({failed, stopped, current}, return_when=asyncio.FIRST_COMPLETED)
    if current.done() and not failed.done():
        say([_ready(options, observer), *(f"{_NAMES[each.name]}: {each.url}" for each in beside)])
        sys.stdout.flush()
        if options.once:
            # The first one was taken before all commits were read.
            await observer.sample()
        else:
            await asyncio.wait({failed, stopped}, return_when=asyncio.FIRST_COMPLETED)
    error = failed.result() if failed.done() else None
    for each in (failed, stopped, current):
        each.cancel()
    return error


def _ready(options: argparse.Namespace, observer: Observer) -> str:
    partitions, offsets, missing = observer.counts
    gone = f", of which {missing:,} were removed by its cleaner before" if missing else ""
    return (
        f"coordinator-server observing the cluster {observer.cluster_id}: {counted(partitions, 'partition')}, "
        f"{counted(offsets, 'offset')}{gone} (data {options.data_dir})"
    )


def _explained(failure: Exception, settings: ConnectionSettings) -> int:
    from coordinator_server.observe.cluster import AccessDenied, acls_needed

    code = complain(failure, failure.exit_code if isinstance(failure, LogError) else 1)
    if isinstance(failure, AccessDenied):
        note("allow it, for the user of --command-config (kafka-acls.sh needs --command-config, too, of who may change ACLs):")
        for line in acls_needed(settings):
            note(f"  {line}")
    return code
