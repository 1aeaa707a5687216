"""How long a group takes to settle when all of its members come at once, beside a Kafka broker with --kafka.

    python -m bench.rebalance [--kafka] [--protocol consumer] [--ours 'WORDS'] [--rounds 5] [--shape 1x500 --shape 100x5]

A shape is groups x members. Every member has a connection of its own. Time runs from the first request to join to the moment when
the last member has its assignment in the generation or epoch that stays, seconds, median of the rounds; the servers take turns.
`group.initial.rebalance.delay.ms` is 0 on all of them, as it would otherwise be all that is measured. Members of the consumer
protocol get a partition each; `group.consumer.assignment.interval.ms` has its default,
unless --property says otherwise, to all servers.
"""

from __future__ import annotations

import argparse
import contextlib
import shlex
import statistics
import time

import uvloop

from bench.crowd import LIVES, begin, connect, make_crowd_topic
from bench.targets import Address, kafka_broker, this_server

HEARTBEAT_EVERY_S = 0.2
SETTLES_WITHIN_S = 120
WARM_MEMBERS = 5


async def settle(address: Address, groups: list[str], members: int, protocol: str = "classic", topic: str = "load") -> float:
    """Seconds until that many members of each group have settled."""
    speakers = await connect(address, groups, members)
    started = time.perf_counter()
    lives = begin(protocol, groups, speakers, topic, HEARTBEAT_EVERY_S)
    try:
        return await lives.settle(SETTLES_WITHIN_S) - started
    finally:
        await lives.end()


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        own = [word for each in options.property for word in ("--override", each)]
        servers = {
            f"ours {words}".strip(): stack.enter_context(this_server([*shlex.split(words), *own])).address
            for words in options.ours
        }
        if options.kafka:
            servers["Kafka"] = stack.enter_context(kafka_broker(options.property))
        sizes = {WARM_MEMBERS, *(int(shape.split("x")[1]) for shape in options.shape)}
        topics = {(name, size): make_crowd_topic(address, size) for name, address in servers.items() for size in sizes}
        for name, address in servers.items():
            warm = topics[name, WARM_MEMBERS]
            uvloop.run(settle(address, [f"warm-{name}"], WARM_MEMBERS, options.protocol, warm))
        for shape in options.shape:
            groups, members = map(int, shape.split("x"))
            seconds: dict[str, list[float]] = {name: [] for name in servers}
            for number in range(options.rounds):
                for name, address in servers.items():
                    ids = [f"rebalance-{shape}-{number}-{group}" for group in range(groups)]
                    seconds[name].append(uvloop.run(settle(address, ids, members, options.protocol, topics[name, members])))
            print(f"\n{groups} groups x {members} members, {options.protocol}")
            for name, times in seconds.items():
                print(f"  {name:34}{statistics.median(times):8.3f} s   ({', '.join(f'{one:.3f}' for one in times)})", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.rebalance", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--protocol", choices=list(LIVES), default="classic", help="of the members (default classic)")
    parser.add_argument(
        "--shape", action="append", metavar="GxM", help="groups x members; may be repeated; default 1x500 and 100x5"
    )
    parser.add_argument("--ours", action="append", metavar="WORDS", help="this server, started so; may be repeated; default ''")
    parser.add_argument("--kafka", action="store_true", help="run a Kafka 4.3.1 broker beside it (java and mvn)")
    parser.add_argument("--property", action="append", default=[], metavar="NAME=VALUE", help="a property of all servers")
    options = parser.parse_args()
    options.shape = options.shape or ["1x500", "100x5"]
    options.ours = options.ours or [""]
    return options


if __name__ == "__main__":
    main()
