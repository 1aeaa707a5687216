"""Transactions per second of this server, beside Kafka brokers with --kafka and --kafka-fsync.

    python -m bench.transactions [--kafka] [--kafka-fsync] [--ours 'WORDS'] [--rounds 5] [--seconds 4] [--shape 200x1] [--json FILE]

A transaction is AddOffsetsToTxn v3, TxnOffsetCommit v3 of one offset, and EndTxn v3. Each transactional id has a group of its own
and one request in flight; in the shape 16x20 so many of them share a connection. The first request of a transaction is refused
while the markers of the one before are being written (CONCURRENT_TRANSACTIONS): it is sent again a millisecond later, and
counted. The servers run side by side and take turns.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import statistics
from pathlib import Path
from typing import Final, NamedTuple

from bench.beside import KAFKA, add_server_options, servers
from bench.load import ENTRY, PARTITIONS, TOPIC, Measured, blast, compiled
from bench.targets import Address
from protocol.error_codes import ErrorCode
from protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from protocol.messages.end_txn import EndTxnRequest
from protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.producer import Producer
from tests.support.simple_requests import coordinator, make_topic

SHAPES: Final = {"1x1": (1, 1), "200x1": (200, 1), "16x20": (16, 20)}
# Times Kafka's transactions per second without its fsync: what this project sets out to reach with its own on.
GOALS: Final = {"200x1": 1.2, "16x20": 3}
STEPS: Final = 3
TIMEOUT_MS: Final = 600_000
VERSION: Final = 3


class Target(NamedTuple):
    """A server, and its producers: transactional id, producer id and epoch."""

    name: str
    address: Address
    producers: list[tuple[str, int, int]]


def main() -> None:
    options = _options()
    compiled()
    print(
        f"{os.cpu_count()} cores, Python {platform.python_version()}, medians of {options.rounds} rounds of {options.seconds} s"
    )
    found = {}
    with contextlib.ExitStack() as stack:
        count = max(connections * each for connections, each in (SHAPES[shape] for shape in options.shape))
        targets = [_target(name, address, count) for name, address in servers(options, stack).items()]
        for shape in options.shape:
            found[shape] = _measure(shape, targets, options)
            _print(shape, found[shape])
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n")


def _target(name: str, address: Address, count: int) -> Target:
    """A topic, and that many transactional ids with their producers."""
    with Client(address) as client:
        make_topic(client, TOPIC, PARTITIONS)
        coordinator(client, "load-0")
    producers = []
    for number in range(count):
        with Producer(address, f"load-{number}") as producer:
            # A broker that has just made its topic refuses at first.
            eventually(lambda: producer.init(TIMEOUT_MS).error == ErrorCode.NONE)
        producers.append((producer.id, producer.producer_id, producer.epoch))
    return Target(name, address, producers)


def _plan(target: Target, connections: int, each: int) -> bytes:
    """The three requests of each transactional id, and what must come back: played once now."""
    entries = bytearray()
    with Client(target.address, client_id="bench") as client:
        for number, (transactional_id, producer_id, epoch) in enumerate(target.producers[: connections * each]):
            rows = [TxnOffsetCommitRequestPartition(0, 1000)]
            topics = [TxnOffsetCommitRequestTopic(TOPIC, rows)]
            for request in (
                AddOffsetsToTxnRequest(transactional_id, producer_id, epoch, transactional_id),
                TxnOffsetCommitRequest(transactional_id, transactional_id, producer_id, epoch, topics=topics),
                EndTxnRequest(transactional_id, producer_id, epoch, committed=True),
            ):
                frame = client.frame(request, VERSION)
                answer = _right_answer(client, frame)
                entries += ENTRY.pack(number % connections, target.address[1], len(frame), len(answer)) + frame + answer
    return bytes(entries)


def _right_answer(client: Client, frame: bytes) -> bytes:
    """The answer without an error: a transaction before may not be over, or a shard may load."""
    answers: list[bytes] = []

    def is_right() -> bool:
        client.send_bytes(frame)
        answers.append(client.receive_frame()[4:])
        return not any(answers[-1][5:7]) if len(answers[-1]) < 10 else not any(answers[-1][-4:])

    eventually(is_right)
    return answers[-1]


def _measure(shape: str, targets: list[Target], options: argparse.Namespace) -> dict[str, list[Measured]]:
    connections, each = SHAPES[shape]
    plans = {target.name: _plan(target, connections, each) for target in targets}
    for name, plan in plans.items():
        # A JVM compiles what it has seen run for a while.
        blast(connections, 1, plan, 0, options.warm_up if name.startswith(KAFKA) else 1, STEPS)
    runs: dict[str, list[Measured]] = {name: [] for name in plans}
    for _ in range(options.rounds):
        for name, plan in plans.items():
            runs[name].append(blast(connections, 1, plan, options.warm, options.seconds, STEPS))
            if runs[name][-1]["wrong"]:
                raise SystemExit(f"{name}: {runs[name][-1]['wrong']} answers were not what they should be")
    return runs


def _print(shape: str, runs: dict[str, list[Measured]]) -> None:
    print(f"\ntransactions, {shape}")
    kafka = statistics.median(run["per_second"] for run in runs[KAFKA]) if KAFKA in runs else None
    for name, each in runs.items():
        rate, p50 = statistics.median(run["per_second"] for run in each), statistics.median(run["p50_ms"] for run in each)
        p99 = statistics.median(run["p99_ms"] for run in each)
        retries = statistics.median(run["retries"] / run["answers"] for run in each)
        line = f"  {name:20}{rate:9,.0f}/s   p50 {p50:7.2f} ms   p99 {p99:7.2f} ms   {retries:5.2f} retries each"
        if kafka is not None:
            line += f"   {rate / kafka:5.2f} x Kafka"
            if name.startswith("ours") and shape in GOALS:
                line += f" (goal {GOALS[shape]:g})"
        print(line, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.transactions", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_server_options(parser, seconds=4, warm_up=10)
    parser.add_argument("--shape", action="append", choices=list(SHAPES), help="may be repeated; default all")
    options = parser.parse_args()
    options.shape = options.shape or list(SHAPES)
    return options


if __name__ == "__main__":
    main()
