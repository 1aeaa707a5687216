"""Run three nodes over one PostgreSQL on this machine, to try what happens when one of them is killed (``make cluster``).

Everything is on the loopback, in a directory of its own, and ends with ctrl-C. A node that has ended is started again with its
number and Enter.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

NODES = 3


def main() -> int:
    """Start everything, say what to do, and restart nodes until the end of the input."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--lease-ms", type=int, default=2000, metavar="MS", help="broker.session.timeout.ms of the nodes (%(default)s)"
    )
    options = parser.parse_args()
    # Whoever is ended ends what was started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        return _run(options.lease_ms)
    except KeyboardInterrupt:
        return 0


def _run(lease_ms: int) -> int:
    from tests.support.node_cluster import NodeCluster
    from tests.support.postgresql import NoPostgresql, PostgresqlServer

    with contextlib.ExitStack() as started:
        directory = started.enter_context(tempfile.TemporaryDirectory(prefix="coordinator-cluster-"))
        try:
            database = PostgresqlServer()
        except NoPostgresql as missing:
            print(missing, file=sys.stderr)
            return 2
        started.callback(database.remove)
        url = database.url(database.empty_database())
        times = {"broker.session.timeout.ms": lease_ms, "broker.heartbeat.interval.ms": lease_ms // 4}
        cluster = NodeCluster(Path(directory), url, NODES, times)
        started.callback(cluster.close)
        cluster.start()
        _explain(cluster, url)
        for line in sys.stdin:
            _restart(cluster, line.strip())
    return 0


def _explain(cluster, url: str) -> None:  # type: ignore[no-untyped-def]
    print(f"\nThree nodes share {url}\nClients: bootstrap.servers={cluster.bootstrap}, topic orders with six partitions\n")
    for node, server in cluster.nodes.items():
        print(f"  node {node}: pid {server.pid}, {server.bootstrap}, data {server.data_dir}")
    print("\nTry: kill -9 PID     the others take its shards in about a second; no acknowledged commit is lost")
    print("     kill PID        it gives its shards away first; no commit fails")
    first = cluster.nodes[1]
    print(f"     .venv/bin/coordinator-server shards list --data-dir {first.data_dir}     who owns what")
    print("\nA number and Enter starts that node again. ctrl-C ends everything.\n", flush=True)


def _restart(cluster, text: str) -> None:  # type: ignore[no-untyped-def]
    server = cluster.nodes.get(int(text)) if text.isdecimal() else None
    if server is None:
        print(f"there are the nodes {', '.join(map(str, cluster.nodes))}", flush=True)
        return
    if server.is_running:
        server.kill()
    print(f"node {text}: pid {server.start().pid}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
