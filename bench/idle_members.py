"""What members cost that have nothing to do but to say that they are there, beside a Kafka broker with --kafka.

    python -m bench.idle_members [--protocol consumer] [--members 10000] [--groups 100] [--share 1] [--apart N] [--interval 5]
                                 [--warm 3] [--seconds 20] [--kafka] [--ours 'WORDS']
    python -m bench.idle_members --members 100000 --groups 2000 --share 50 --apart 19000 --warm 20

Every member has a connection of its own, or --share of them have one together, for where there are not enough ports and
descriptors. With --apart so many of them have one each when all have settled, and send the heartbeats of all: a server answers a
member that repeats itself on its connection from what that has kept, as it does for any client. Each sends a heartbeat every
--interval seconds, which is the default of the consumer protocol; classic members are usually set to 3. The groups settle first, at
a pace that this program can follow. The heartbeats that are measured come from the load generator, evenly spread, over new
connections; meanwhile the processor time of the server is read from /proc.
"""

from __future__ import annotations

import argparse
import shlex
import time
from threading import Thread
from typing import Final, NamedTuple

import uvloop

from bench.crowd import LIVES, begin, connect, heartbeat, make_crowd_topic
from bench.load import Measured, Requests, blast, compiled, plan_of
from bench.targets import Address, kafka_process, this_server
from tests.support.client import Client
from tests.support.processes import cpu_s, descendants, memory_mb
from tests.support.simple_requests import coordinator

SETTLES_WITHIN_S: Final = 600
# While groups settle: what this program sends in all, and the longest time between two heartbeats of a member.
SETTLING_PER_S: Final = 2_000
LONGEST_INTERVAL_S: Final = 30
# Until all connections are open, and before the processor time is read a second time.
OPENING_S: Final = 3
# The load that a Kafka broker gets before it is measured.
WARM_UP_S: Final = 20


class Seen(NamedTuple):
    """Of one server: how long the groups took to settle, and what the heartbeats then cost."""

    settled_s: float
    load: float
    memory_mb: float
    answers: Measured


async def settle(address: Address, topic: str, options: argparse.Namespace) -> tuple[float, list[tuple[Address, Requests]]]:
    """Let all groups settle. Return the seconds that it took, and where each member sends which heartbeat from then on."""
    groups = [f"idle-{number}" for number in range(options.groups)]
    speakers = await connect(address, groups, options.members // options.groups, options.share)
    every_s = min(max(options.interval, options.members / SETTLING_PER_S), LONGEST_INTERVAL_S)
    lives = begin(options.protocol, groups, speakers, topic, every_s, over_s=max(every_s, options.members / SETTLING_PER_S))
    try:
        settled_s = await lives.settle(SETTLES_WITHIN_S) - lives.began
        # Members of a group that is still being told what it has would be refused later.
        await lives.pause(2 * every_s)
        if not lives.crowd.is_settled(len(speakers)):
            raise SystemExit("the groups did not stay settled")
        members = list(lives.crowd.settled.items())
    finally:
        await lives.end()
    with Client(address) as client:
        homes = {group_id: coordinator(client, group_id) for group_id in groups}
    # Members of a group do not send at the same time.
    members.sort(key=lambda each: each[0][1])
    by_home: dict[Address, Requests] = {}
    for (group_id, _), found in members:
        by_home.setdefault(homes[group_id], []).append(heartbeat(options.protocol, group_id, found))
    share = 1 if options.apart else options.share
    if options.apart:
        by_home = {home: mine[:: -(-len(members) // options.apart)] for home, mine in by_home.items()}
    return settled_s, [(home, mine[at : at + share]) for home, mine in by_home.items() for at in range(0, len(mine), share)]


def measure(address: Address, pid: int, topic: str, options: argparse.Namespace) -> Seen:
    settled_s, connections = uvloop.run(settle(address, topic, options))
    entries = plan_of(connections)

    def run(seconds: float) -> Measured:
        every_s = options.interval * len(connections) / options.members
        return blast(len(connections), 1, entries, min(options.warm, seconds / 2), seconds, every_s=every_s)

    if options.warm_up:
        run(options.warm_up)
    done: list[Measured] = []
    thread = Thread(target=lambda: done.append(run(options.seconds)))
    thread.start()
    # Until all connections are open.
    time.sleep(OPENING_S + options.warm)
    before, began = _processor_s(pid), time.monotonic()
    time.sleep(max(options.seconds - 2 * OPENING_S, 1))
    used, seconds = _processor_s(pid) - before, time.monotonic() - began
    thread.join()
    [answers] = done
    if answers["wrong"]:
        raise SystemExit(f"{answers['wrong']} answers were not what they should be")
    return Seen(settled_s, used / seconds, memory_mb(pid), answers)


def main() -> None:
    options = _options()
    compiled()
    for words in options.ours:
        with this_server(shlex.split(words)) as server:
            _print(f"ours {words}".strip(), server.address, server.pid, options)
    if options.kafka:
        with kafka_process([]) as broker:
            options.warm_up = WARM_UP_S
            _print("Kafka", broker.address, broker.pid, options)


def _print(name: str, address: Address, pid: int, options: argparse.Namespace) -> None:
    topic = make_crowd_topic(address, options.members // options.groups)
    settled_s, load, memory_mb, answers = measure(address, pid, topic, options)
    print(
        f"{name:20} {options.members} {options.protocol} members in {options.groups} groups: "
        f"{load:7.2%} of a core for {answers['per_second']:,.0f}/s   p50 {answers['p50_ms']:.2f}   p99 {answers['p99_ms']:.2f}   "
        f"p99.9 {answers['p999_ms']:.2f}   longest {answers['longest_ms']:.1f} ms   {memory_mb:,.0f} MB   "
        f"settled after {settled_s:.1f} s",
        flush=True,
    )


def _processor_s(pid: int) -> float:
    return sum(cpu_s(each) for each in (pid, *descendants(pid)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.idle_members", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--protocol", choices=list(LIVES), default="consumer", help="of the members (default consumer)")
    parser.add_argument("--members", type=int, default=10_000, metavar="N", help="in all groups together (default 10000)")
    parser.add_argument("--groups", type=int, default=100, metavar="N", help="(default 100)")
    parser.add_argument("--share", type=int, default=1, metavar="N", help="members with a connection together (default 1)")
    parser.add_argument(
        "--apart",
        type=int,
        default=0,
        metavar="N",
        help="when the groups have settled, so many members send the heartbeats of all, over connections of their own",
    )
    parser.add_argument("--interval", type=float, default=5, metavar="S", help="between two heartbeats of a member (default 5)")
    parser.add_argument("--warm", type=float, default=3, metavar="S", help="until the answers count (default 3)")
    parser.add_argument("--seconds", type=float, default=20, metavar="S", help="measured time (default 20)")
    parser.add_argument("--ours", action="append", metavar="WORDS", help="this server, started so; may be repeated; default ''")
    parser.add_argument("--kafka", action="store_true", help="run a Kafka 4.3.1 broker, too (java and mvn)")
    options = parser.parse_args()
    if options.share > 1 and options.protocol == "classic":
        parser.error("--share: a classic member that joins holds its connection until the others have joined")
    options.ours = options.ours or [""]
    options.warm_up = 0
    return options


if __name__ == "__main__":
    main()
