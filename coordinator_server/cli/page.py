"""Show every group and its past to a browser: who owned which partition when, why it rebalanced, what it had committed.

It reads the log in --data-dir through its index (coordinator-server index), which it keeps up to date beside a
running server, and changes nothing else. The server may run or not. A server with the property
page.listener has the page itself. There is no login, so only addresses of this machine are taken.
From elsewhere: ssh -L 9405:127.0.0.1:9405 HOST.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Final

from coordinator_server.cli.group_words import event_cause, event_sentence
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.output import complain, say
from coordinator_server.cli.parent import die_with_parent
from coordinator_server.cli.process_settings import run_at_low_priority
from coordinator_server.config.values import parse_page_address
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.input.data_dir import check_data_dir
from coordinator_server.server.errors import StartError

EPILOG = """\
examples:
  coordinator-server page --data-dir ./data
  coordinator-server page --data-dir ./data --listen 127.0.0.1:0        # any free port
  coordinator-server serve --data-dir ./data --override page.listener=127.0.0.1:9405
"""
LISTEN: Final = "127.0.0.1:9405"


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

    address = parse_page_address("--listen", options.listen or "-")
    assert address is not None
    try:
        check_page_packages("page")
        check_data_dir(options.data_dir)
        bound = listening("--listen", *address)
    except (PipelineError, StartError) as failure:
        return complain(failure, 1)
    say([f"the page: {url_of(bound)}/ (data {options.data_dir}); stop with ctrl-C"])
    sys.stdout.flush()
    _serve(bound, options.data_dir)
    return 0


def main() -> int:
    """Serve the page of a server until it ends: ``python -m coordinator_server.cli.child page FD PID DATA_DIR HOSTS``.

    Not a command: only the server (the process PID) starts it, with a socket that listens as FD. HOSTS are names that requests may
    give the server, separated by commas.
    """
    die_with_parent()
    channel, parent, data_dir = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    if os.getppid() != parent:
        # The server ended before die_with_parent took effect.
        return 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    run_at_low_priority()
    _serve(socket.socket(fileno=channel), data_dir, list(filter(None, sys.argv[4].split(","))))
    return 0


def _serve(bound: socket.socket, data_dir: Path, hosts: Collection[str] = ()) -> None:
    # Its packages are an extra.
    from coordinator_server.page.server import serve
    from coordinator_server.page.summary import Words

    serve(bound, data_dir, Words(event_sentence, event_cause), hosts)
