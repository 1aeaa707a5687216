"""The servers that a benchmark compares: this one, perhaps several times, and Kafka brokers."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import tempfile
from pathlib import Path
from typing import Final

from bench.targets import Address, TlsPorts, kafka_broker, node_over_postgresql, this_server

KAFKA: Final = "Kafka"
KAFKA_FSYNC: Final = "Kafka, fsync"


def add_server_options(parser: argparse.ArgumentParser, *, seconds: float, warm_up: float) -> None:
    """Declare the options on servers and rounds. ``seconds`` and ``warm_up`` are defaults."""
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument(
        "--seconds", type=float, default=seconds, metavar="S", help="measured time of a round (default %(default)g)"
    )
    parser.add_argument(
        "--warm-up",
        type=float,
        default=warm_up,
        metavar="S",
        help="load that a Kafka broker gets before each scenario (default %(default)g)",
    )
    parser.add_argument("--warm", type=float, default=0.5, metavar="S", help="time before it that does not count (default 0.5)")
    parser.add_argument("--ours", action="append", metavar="WORDS", help="this server, started so; may be repeated; default ''")
    parser.add_argument(
        "--node",
        action="append",
        type=int,
        default=[],
        metavar="SHARDS",
        help="a node over a PostgreSQL on the same disk, with so many shards of groups; may be repeated",
    )
    parser.add_argument("--kafka", action="store_true", help="run a Kafka 4.3.1 broker beside it (java and mvn)")
    parser.add_argument("--kafka-fsync", action="store_true", help="and another one that syncs, as this server does")
    parser.add_argument("--kafka-property", action="append", default=[], metavar="NAME=VALUE", help="a property of the brokers")
    parser.add_argument("--tls", action="store_true", help="send the load over TLS (needs OpenSSL's headers)")
    parser.add_argument("--json", metavar="FILE", help="write every single run there too")


def servers(options: argparse.Namespace, stack: contextlib.ExitStack) -> dict[str, Address]:
    """Start the servers that the options ask for. Return their addresses by name; they end with ``stack``.

    With ``--tls`` they have a second port, which ``options.tls_ports`` has by the first one.
    """
    tls: TlsPorts | None = None
    if options.tls:
        tls = TlsPorts(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-tls-"))))
        options.tls_ports = tls.ports
    found = {
        f"ours {words}".strip(): stack.enter_context(this_server(shlex.split(words), tls)).address
        for words in options.ours or [""]
    }
    for shards in options.node:
        found[f"node, {shards} shards"] = stack.enter_context(node_over_postgresql(shards))
    if options.kafka:
        found[KAFKA] = stack.enter_context(kafka_broker(options.kafka_property, tls))
    if options.kafka_fsync:
        found[KAFKA_FSYNC] = stack.enter_context(kafka_broker([*options.kafka_property, "log.flush.interval.messages=1"], tls))
    return found
