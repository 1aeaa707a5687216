"""Answer scrapes of an observed cluster: ``python -m coordinator_server.cli.child lag_metrics FD PID DATA_DIR HOSTS``.

Not a command: only ``observe`` (the process PID) starts it, with a socket that listens as FD. Standard input has the number of
partitions that may have metrics of their own. It ends with ``observe``.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path

from coordinator_server.cli.parent import die_with_parent
from coordinator_server.cli.process_settings import run_at_low_priority
from coordinator_server.observe.exporter import Exporter
from coordinator_server.ops.metrics.http import MetricsServer


def main() -> int:
    """Answer until the parent ends."""
    die_with_parent()
    channel, parent, data_dir = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    if os.getppid() != parent:
        # The parent ended before die_with_parent took effect.
        return 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    run_at_low_priority()
    exporter = Exporter(data_dir, int(sys.stdin.buffer.read()))
    exporter.start()
    hosts = list(filter(None, sys.argv[4].split(",")))
    MetricsServer(socket.socket(fileno=channel), exporter, hosts).serve_forever(poll_interval=3600)
    return 0
