"""Show every group and its past to a browser: who owned which partition when, why it rebalanced, what it had committed.

It reads the log in --data-dir through its index (coordinator-server index), which it keeps up to date beside a
running server, and changes nothing else. The server may run or not. A server with the property
page.listener has the page itself, and so has observe with --page: those may listen on other addresses, with
TLS and a login. This one has no login, so only addresses of this machine are taken. From elsewhere:
ssh -L 9405:127.0.0.1:9405 HOST.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import ssl
import sys
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from coordinator_server.cli.group_words import event_cause, event_sentence, reason_words
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.observed_directory import removed_to
from coordinator_server.cli.output import complain, say
from coordinator_server.cli.parent import http_child
from coordinator_server.cli.process_settings import run_at_low_priority
from coordinator_server.config import ConfigError
from coordinator_server.config.values import local_page_address
from coordinator_server.ops.logging import configure
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.input.data_dir import check_data_dir
from coordinator_server.server.errors import StartError

if TYPE_CHECKING:
    from coordinator_server.client.settings import ConnectionSettings
    from coordinator_server.page.server import Secured
    from coordinator_server.security.tls import ListenerTls
    from coordinator_server.server.http_process import PageSetup

EPILOG = """\
examples:
  coordinator-server page --data-dir ./data
  coordinator-server page --data-dir ./data --listen 127.0.0.1:0        # any free port
  coordinator-server serve --data-dir ./data --override page.listener=127.0.0.1:9405
"""
LISTEN: Final = "127.0.0.1:9405"
_LOGIN_S: Final = 10.0
_QUICK_BYTES: Final = 64 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--data-dir", type=local_dir, required=True, metavar="DIR", help="the data directory of a server")
    parser.add_argument(
        "--listen",
        default=LISTEN,
        metavar="HOST:PORT",
        help="a loopback address; port 0 is any free one (default: %(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    """Serve the page until ctrl-C or SIGTERM, and return the exit code."""
    from coordinator_server.server.http_process import check_page_packages, listening, url_of

    address = local_page_address("--listen", options.listen or "-")
    assert address is not None
    try:
        check_page_packages("page")
        check_data_dir(options.data_dir)
        bound = listening("--listen", *address)
    except (PipelineError, StartError) as failure:
        return complain(failure, 1)
    say([f"the page: {url_of(bound)}/ (data {options.data_dir}); stop with ctrl-C"])
    sys.stdout.flush()
    configure("warning", "auto")
    _serve(bound, options.data_dir)
    return 0


def main() -> int:
    """Serve the page of a server until it ends: ``python -m coordinator_server.cli.child page FD PID DATA_DIR``.

    Not a command: only the server (the process PID) starts it, with a socket that listens as FD. The rest is on standard input.
    """
    given = http_child()
    if given is None:
        return 1
    run_at_low_priority()
    setup = _given()
    configure(*setup.logs)
    hosts = [each for name in setup.hosts if (each := name.strip())]
    _serve(given.listening, given.data_dir, hosts, None if setup.tls is None else _secured(given.data_dir, setup))
    return 0


def _given() -> PageSetup:
    """Return what is on standard input now: a file that the server writes again before it sends SIGHUP."""
    from coordinator_server.server.http_process import PageSetup

    file = sys.stdin.fileno()
    return msgspec.json.decode(os.pread(file, os.fstat(file).st_size, 0), type=PageSetup)


def _findings(data_dir: Path) -> list[dict[str, str | None]]:
    """Return what is wrong with a directory, the server on it and its machine. A large log is not read for damage."""
    from coordinator_server.cli.diagnosis.directory import check_directory
    from coordinator_server.cli.diagnosis.finding import worst_first

    found = check_directory(data_dir, is_full=False, progress=_untold, quick_bytes=_QUICK_BYTES)
    return [each._asdict() for each in worst_first(found)]


def _untold(_done: int, _all: int) -> None:
    """Discard the progress."""


def _secured(data_dir: Path, setup: PageSetup) -> Secured:
    """Return what a page has that other machines reach. Raises ConfigError."""
    from coordinator_server.page.server import Secured
    from coordinator_server.security.tls import ListenerTls

    assert setup.tls is not None
    where = partial(_cluster, setup) if setup.bootstrap else partial(_own_server, data_dir)
    certificate = ListenerTls(setup.tls)
    signal.signal(signal.SIGHUP, lambda *_: _read_again(certificate))
    # The server has blocked it until now.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})
    return Secured(certificate.kept(), where)


def _read_again(certificate: ListenerTls) -> None:
    """Use the certificate that there is now. The server has tried it, and says so; if it is gone since, the old one stays."""
    settings = _given().tls
    assert settings is not None
    with contextlib.suppress(ConfigError):
        certificate.use(settings)


def _cluster(setup: PageSetup) -> ConnectionSettings:
    """Return how the cluster is reached that is followed, without the login of the process that follows it."""
    from coordinator_server.cli.client_properties import connection_settings

    path = Path(setup.command_config) if setup.command_config else None
    return replace(connection_settings(setup.bootstrap, path, _LOGIN_S), sasl=None)


def _own_server(data_dir: Path) -> ConnectionSettings:
    """Return how the server of a directory is reached, at a listener with SASL. Raises ConnectionFailed."""
    from coordinator_server.cli.diagnosis.directory import own_listeners
    from coordinator_server.client.errors import ConnectionFailed
    from coordinator_server.client.settings import ConnectionSettings

    own = own_listeners(data_dir)
    protocol = next((each for each in ("SASL_SSL", "SASL_PLAINTEXT") if each in own), None)
    if protocol is None:
        raise ConnectionFailed("the server does not run, or has no listener with SASL")
    context = None
    if protocol == "SASL_SSL":
        # The addresses are those that control.sock of this machine has said: no certificate says more.
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return ConnectionSettings(
        own[protocol], client_id="coordinator-page", request_timeout_s=_LOGIN_S, api_timeout_s=_LOGIN_S, ssl=context
    )


def _serve(bound: socket.socket, data_dir: Path, hosts: Collection[str] = (), secured: Secured | None = None) -> None:
    # Its packages are an extra.
    from coordinator_server.page.server import Known, serve
    from coordinator_server.page.summary import Words

    words = Words(event_sentence, event_cause, reason_words)
    serve(bound, data_dir, Known(words, partial(_findings, data_dir), partial(removed_to, data_dir)), hosts, secured)
