"""Answer HTTP requests for metrics and health: ``python -m coordinator_server.cli.child metrics FD PID DATA_DIR HOSTS``.

Not a command: only the server (the process PID) starts it, with a socket that listens as FD. HOSTS are names that requests may give
the server, separated by commas. It ends with the server.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path

from coordinator_server import __version__
from coordinator_server.cli.parent import die_with_parent
from coordinator_server.cli.process_settings import leave_memory_to_others
from coordinator_server.cli.version import build
from coordinator_server.ops.metrics.http import MetricsServer
from coordinator_server.ops.metrics.sources import Server


def main() -> int:
    """Answer until the server ends."""
    die_with_parent()
    channel, parent, data_dir = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    if os.getppid() != parent:
        # The server ended before die_with_parent took effect.
        return 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    leave_memory_to_others()
    # Nobody asks it to stop: it need not look for that.
    hosts = list(filter(None, sys.argv[4].split(",")))
    server = MetricsServer(socket.socket(fileno=channel), Server(data_dir, __version__, build()), hosts)
    server.serve_forever(poll_interval=3600)
    return 0
