"""What members cost that have nothing to do but to say that they are there, beside a Kafka broker with --kafka.

    python -m bench.idle_members [--protocol consumer] [--members 10000] [--groups 100] [--interval 5] [--seconds 20] [--kafka] [--ours 'WORDS']

Every member has a connection of its own and sends a heartbeat each --interval seconds, which is the default of the consumer protocol; classic
members are usually set to 3. When all groups have settled, the processor time of the server is read from /proc before and after the
wait. The times of the answers include those of the program that sends the heartbeats.
"""

from __future__ import annotations

import argparse
import shlex
from typing import Final, NamedTuple

import uvloop

from bench.crowd import LIVES, begin, connect, make_crowd_topic
from bench.targets import Address, kafka_process, this_server
from tests.support.processes import cpu_s, descendants

SETTLES_WITHIN_S: Final = 300


class Seen(NamedTuple):
    """Of one server: how long the groups took to settle, and what the heartbeats then cost."""

    settled_s: float
    load: float
    per_second: float
    p50_ms: float
    p99_ms: float
    longest_ms: float


async def measure(address: Address, pid: int, topic: str, options: argparse.Namespace) -> Seen:
    groups = [f"idle-{number}" for number in range(options.groups)]
    speakers = await connect(address, groups, options.members // options.groups)
    lives = begin(options.protocol, groups, speakers, topic, options.interval, over_s=options.interval)
    try:
        settled_s = await lives.settle(SETTLES_WITHIN_S) - lives.began
        await lives.pause(2 * options.interval)
        waits_s: list[float] = []
        for speaker in speakers:
            speaker.waits_s = waits_s
        before = _processor_s(pid)
        await lives.pause(options.seconds)
        used, waits = _processor_s(pid) - before, sorted(waits_s)
        if not lives.crowd.is_settled(len(speakers)):
            raise SystemExit("the groups did not stay settled")
    finally:
        await lives.end()
    return Seen(
        settled_s,
        used / options.seconds,
        len(waits) / options.seconds,
        waits[len(waits) // 2] * 1000,
        waits[len(waits) * 99 // 100] * 1000,
        waits[-1] * 1000,
    )


def main() -> None:
    options = _options()
    for words in options.ours:
        with this_server(shlex.split(words)) as server:
            _print(f"ours {words}".strip(), server.address, server.pid, options)
    if options.kafka:
        with kafka_process([]) as broker:
            _print("Kafka", broker.address, broker.pid, options)


def _print(name: str, address: Address, pid: int, options: argparse.Namespace) -> None:
    topic = make_crowd_topic(address, options.members // options.groups)
    seen = uvloop.run(measure(address, pid, topic, options))
    print(
        f"{name:20} {options.members} {options.protocol} members in {options.groups} groups: {seen.load:7.2%} of a core for {seen.per_second:,.0f}/s   "
        f"p50 {seen.p50_ms:.2f}   p99 {seen.p99_ms:.2f}   longest {seen.longest_ms:.1f} ms   settled after {seen.settled_s:.1f} s",
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
    parser.add_argument("--interval", type=float, default=5, metavar="S", help="between two heartbeats of a member (default 5)")
    parser.add_argument("--seconds", type=float, default=20, metavar="S", help="measured time (default 20)")
    parser.add_argument("--ours", action="append", metavar="WORDS", help="this server, started so; may be repeated; default ''")
    parser.add_argument("--kafka", action="store_true", help="run a Kafka 4.3.1 broker, too (java and mvn)")
    options = parser.parse_args()
    options.ours = options.ours or [""]
    return options


if __name__ == "__main__":
    main()
