"""Answer HTTP requests for metrics and health: ``python -m coordinator_server.cli.child metrics FD PID DATA_DIR HOSTS``.

Not a command: only the server (the process PID) starts it, with a socket that listens as FD. HOSTS are names that requests may give
the server, separated by commas. It ends with the server.
"""

from __future__ import annotations

import sys

from coordinator_server import __version__
from coordinator_server.cli.parent import http_child
from coordinator_server.cli.process_settings import leave_memory_to_others
from coordinator_server.cli.version import build
from coordinator_server.ops.metrics.http import MetricsServer
from coordinator_server.ops.metrics.sources import Server


def main() -> int:
    """Answer until the server ends."""
    given = http_child()
    if given is None:
        return 1
    leave_memory_to_others()
    # Nobody asks it to stop: it need not look for that.
    hosts = list(filter(None, sys.argv[4].split(",")))
    server = MetricsServer(given.listening, Server(given.data_dir, __version__, build()), hosts)
    server.serve_forever(poll_interval=3600)
    return 0
