"""How long after kill -9 of a node all offsets of its groups are answered again by the others, over one PostgreSQL.

    python -m bench.takeover [--groups 10000] [--partitions 100] [--rewrites 1] [--lease-ms 2000] [--no-layers] [--rounds 3]

A log with a commit of PARTITIONS offsets for each group is written, pushed into a database, and compacted there, unless there are
to be no layers. Then, round by round: a node is killed, and the others are asked for the offsets of all groups that it had, until
each has been answered as it should be; it is started again, until shards are even. Times are seconds since the kill. The lease is a
part of them: how long the others wait before they take a shard. PostgreSQL is Debian's, on this machine, with fsync on and its
files in memory.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bench.restart import TOPIC, answer_of, fetch_of, group_id, offset_of
from bench.rewritten import SHARDS, write_rewritten
from coordinator_server.runtime.partitioner import partition_for
from tests.support.client import Client
from tests.support.node_cluster import NodeCluster
from tests.support.postgresql import PostgresqlServer
from tests.support.server import ROOT, Server

WINDOW = 50
RETRY_S = 0.02
EVEN_WITHIN_S = 120


def main() -> None:
    options = _options()
    groups, partitions = options.groups, options.partitions
    frames = [fetch_of(number, partitions) for number in range(groups)]
    expected = [answer_of(number, partitions) for number in range(groups)]
    database = PostgresqlServer()
    with tempfile.TemporaryDirectory(prefix="takeover-") as directory:
        url = database.url(database.empty_database())
        log = Path(directory) / "log"
        size = write_rewritten(log, [group_id(each) for each in range(groups)], TOPIC, partitions, options.rewrites, offset_of)
        print(f"{groups * partitions:,} offsets in {groups:,} groups, {size / 1e6:,.0f} MB", flush=True)
        print(_command("store", "push", "--data-dir", str(log), "--store", url), flush=True)
        if not options.no_layers:
            print(_command("compact", "--engine", "python", "--store", url), flush=True)
        times = {"broker.session.timeout.ms": options.lease_ms, "broker.heartbeat.interval.ms": options.lease_ms // 4}
        cluster = NodeCluster(Path(directory), url, options.nodes, {"log.cleaner.enable": "false", **times})
        try:
            cluster.start()
            _await_even(cluster)
            print("shards  groups   first group   half of them   all groups", flush=True)
            found = [_kill(cluster, 1 + number % options.nodes, frames, expected) for number in range(options.rounds)]
            print(f"all groups after {statistics.median(found):.2f} s (median)")
        finally:
            cluster.close()
            database.remove()


def _kill(cluster: NodeCluster, victim: int, frames: list[bytes], expected: list[bytes]) -> float:
    observer = next(node for node in cluster.nodes if node != victim)
    lost = {shard for shard, owner in cluster.owners(observer).items() if owner == victim}
    wanted = [each for each in range(len(frames)) if f"__consumer_offsets-{partition_for(group_id(each), SHARDS)}" in lost]
    started = time.monotonic()
    cluster.nodes[victim].kill()
    survivors = [server for node, server in cluster.nodes.items() if node != victim]
    answered = sorted(_await(survivors, wanted, frames, expected))
    first, half, last = (answered[at] - started for at in (0, len(answered) // 2, -1))
    print(f"{len(lost):6} {len(wanted):7} {first:11.2f} s {half:12.2f} s {last:10.2f} s", flush=True)
    cluster.nodes[victim].launch()
    cluster.nodes[victim].await_ready()
    _await_even(cluster)
    return last


def _await(survivors: list[Server], wanted: list[int], frames: list[bytes], expected: list[bytes]) -> list[float]:
    """Ask all survivors until each group was answered by one of them. Return when. A wrong answer ends the program."""
    clients = [Client(server.address, "bench") for server in survivors]
    left, times = list(wanted), []
    try:
        while left:
            open_now = set(left)
            for client in clients:
                for at in range(0, len(left), WINDOW):
                    asked = [number for number in left[at : at + WINDOW] if number in open_now]
                    client.send_bytes(b"".join(frames[number] for number in asked))
                    for number in asked:
                        answer = client.receive_frame()[5:]
                        if answer == expected[number]:
                            open_now.discard(number)
                            times.append(time.monotonic())
                        elif len(answer) >= len(expected[number]):
                            raise SystemExit(f"{group_id(number)} was answered wrongly: {answer[:200]!r}")
            left = [number for number in left if number in open_now]
            if left:
                time.sleep(RETRY_S)
    finally:
        for client in clients:
            client.close()
    return times


def _await_even(cluster: NodeCluster) -> None:
    """Until the nodes have about the same number of shards."""
    deadline = time.monotonic() + EVEN_WITHIN_S
    while time.monotonic() < deadline:
        counts = Counter(cluster.owners(next(iter(cluster.nodes))).values())
        if set(counts) == set(cluster.nodes) and max(counts.values()) - min(counts.values()) <= 6:
            time.sleep(3)
            return
        time.sleep(0.2)
    raise SystemExit(f"shards are not even after {EVEN_WITHIN_S} s: {counts}")


def _command(*words: str) -> str:
    started = time.monotonic()
    command = [sys.executable, "-m", "coordinator_server", *words]
    said = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    if said.returncode:
        raise SystemExit(said.stderr)
    return f"{words[0]}: {said.stdout.strip()} ({time.monotonic() - started:.1f} s with everything)"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--partitions", type=int, default=100)
    parser.add_argument("--rewrites", type=int, default=1, metavar="N", help="how often each offset was committed")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--lease-ms", type=int, default=2000, metavar="MS", help="broker.session.timeout.ms (%(default)s)")
    parser.add_argument("--no-layers", action="store_true", help="compact nothing: shards are read from their beginning")
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
