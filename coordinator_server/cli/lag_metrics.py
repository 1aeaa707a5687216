"""Answer scrapes of an observed cluster: ``python -m coordinator_server.cli.child lag_metrics FD PID DATA_DIR HOSTS``.

Not a command: only ``observe`` (the process PID) starts it, with a socket that listens as FD. Standard input has the number of
partitions that may have metrics of their own. It ends with ``observe``.
"""

from __future__ import annotations

import sys
import threading

from coordinator_server.cli.parent import http_child
from coordinator_server.cli.process_settings import run_at_low_priority
from coordinator_server.observe.exporter import Exporter
from coordinator_server.ops.metrics.http import MetricsServer


def main() -> int:
    """Answer until the parent ends. Return 1 if it has ended already."""
    given = http_child()
    if given is None:
        return 1
    run_at_low_priority()
    exporter = Exporter(given.data_dir, int(sys.stdin.buffer.read()))
    hosts = list(filter(None, sys.argv[4].split(",")))
    server = MetricsServer(given.listening, exporter, hosts)
    threading.Thread(target=server.serve_forever, args=(3600,), name="http", daemon=True).start()
    # Here, so that an index which does not go on ends the process: `observe` says so, and starts it again.
    return exporter.keep_up()
