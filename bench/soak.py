"""Whether memory stays flat under load that goes on and on.

    python -m bench.soak [--minutes 10] [--ours 'WORDS'] [--json FILE]

Four kinds of load take turns, half a minute in all: commits of 10 partitions over 200 connections, heartbeats, fetches, and
groups that join and vanish without a goodbye, and are deleted when their sessions are over, so that what is there stays the same.
At the end of each turn the resident memory of all processes of the server is printed, with the bytes on disk. Growth is told from
the first turn after a minute on. With --pause the server is left alone for that long after each turn.
"""

from __future__ import annotations

import argparse
import itertools
import json
import shlex
import time
from pathlib import Path
from typing import NamedTuple

import uvloop

from bench.load import blast, compiled, plan, set_up
from bench.rebalance import settle
from bench.targets import Address, Daemon, this_server
from protocol.error_codes import ErrorCode
from protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from tests.support.client import Client
from tests.support.processes import descendants, kilobytes, status
from tests.support.simple_requests import coordinator

CONNECTIONS = 200
TURN_S = 10
WARM_S = 60
PASSING = 40


class Sample(NamedTuple):
    """After one turn."""

    seconds: float
    rss_mb: float
    disk_mb: float
    requests: int


def main() -> None:
    options = _options()
    compiled()
    samples: list[Sample] = []
    with this_server(shlex.split(options.ours)) as server:
        members = set_up(server.address, CONNECTIONS)
        plans = [plan(members, scenario) for scenario in ("commit 10", "heartbeat", "fetch 10")]
        started, requests = time.monotonic(), 0
        left: list[str] = []
        print(f"{'minutes':>8} {'RSS MB':>8} {'disk MB':>8} {'requests':>12}")
        for turn in itertools.count():
            for entries in plans:
                requests += blast(CONNECTIONS, 1, entries, 0.1, TURN_S)["answers"]
            uvloop.run(settle(server.address, _passing(turn), 5))
            left = _delete(server.address, left + _passing(turn))
            time.sleep(options.pause)
            sample = Sample(time.monotonic() - started, _rss_mb(server), _disk_mb(server.data_dir), requests)
            samples.append(sample)
            print(f"{sample.seconds / 60:8.1f} {sample.rss_mb:8.1f} {sample.disk_mb:8.1f} {sample.requests:12,}", flush=True)
            if sample.seconds >= options.minutes * 60:
                break
    settled = [sample for sample in samples if sample.seconds >= WARM_S] or samples
    growth = settled[-1].rss_mb - settled[0].rss_mb
    print(f"growth from minute {settled[0].seconds / 60:.1f} to {settled[-1].seconds / 60:.1f}: {growth:+.1f} MB")
    if options.json:
        Path(options.json).write_text(json.dumps([sample._asdict() for sample in samples], indent=1) + "\n")


def _passing(turn: int) -> list[str]:
    return [f"passing-{turn}-{group}" for group in range(PASSING)]


def _delete(address: Address, groups: list[str]) -> list[str]:
    """Delete those whose members' sessions are over; the others."""
    left = []
    with Client(address) as client:
        homes = [coordinator(client, group_id) for group_id in groups]
    for home in set(homes):
        ours = [group_id for group_id, its in zip(groups, homes, strict=True) if its == home]
        with Client(home) as client:
            answer = client.ask(DeleteGroupsRequest(groups_names=ours), 2, DeleteGroupsResponse)
        for result in answer.results:
            if result.error_code == ErrorCode.NON_EMPTY_GROUP:
                left.append(result.group_id)
            elif result.error_code != ErrorCode.NONE:
                raise SystemExit(f"{result.group_id} is not deleted: {ErrorCode(result.error_code).name}")
    return left


def _rss_mb(server: Daemon) -> float:
    """Resident memory of the server and its child processes."""
    return sum(kilobytes(status(pid).get("VmRSS", "0 kB")) for pid in (server.pid, *descendants(server.pid))) / 1024


def _disk_mb(directory: Path) -> float:
    return sum(path.stat().st_blocks * 512 for path in directory.rglob("*") if path.is_file()) / 1e6


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10, metavar="M")
    parser.add_argument("--pause", type=float, default=0, metavar="S", help="seconds of quiet after each turn")
    parser.add_argument("--ours", default="", metavar="WORDS", help="this server, started so")
    parser.add_argument("--json", metavar="FILE", help="write the samples there too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
