"""How long a server that was killed takes until it knows all its transactional ids again.

    python -m bench.restart_transactions [--ids 100000] [--open 1000] [--rounds 5]

A server is filled with ids, of which some have an open transaction, and killed with SIGKILL. Then, round by round: it is started,
asked to describe ids of every partition from when it listens on until all of these are loaded, and then all ids, and killed
again. Times are seconds since the server's process was started.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from bench.restart import START_WITHIN_S, await_listening, free_port, working_directory
from bench.targets import Address
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse
from protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from tests.support.client import Client
from tests.support.processes import cpu_s
from tests.support.server import Server
from tests.support.simple_requests import OF_TRANSACTIONS, coordinator

WINDOW = 100
IDS_PER_REQUEST = 1000
TIMEOUT_MS = 900_000
VERSION = 4
SAMPLE = 500
RETRY_S = 0.01
NOT_YET = {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR}
LINE = "{:7.2f} s {:6.2f} s {:8.2f} s {:18.2f} s {:6.2f} s"


def main() -> None:
    options = _options()
    ids = [f"producer-{number}" for number in range(options.ids)]
    with working_directory(options.dir) as directory:
        server = Server(directory, {"log.cleaner.enable": "false"})
        server.port, server.is_fresh = free_port(), True
        if not server.data_dir.is_dir():
            with server:
                started = time.monotonic()
                _fill(server.address, ids, options.open)
                print(f"{options.ids:,} ids, {options.open:,} open, filled in {time.monotonic() - started:.1f} s", flush=True)
                server.kill()
        print("listening     ready   all ids   processor of first two", flush=True)
        rounds = []
        for _ in range(options.rounds):
            rounds.append(_restart(server, ids, options.open))
            print(LINE.format(*rounds[-1]), flush=True)
        print(LINE.format(*(statistics.median(column) for column in zip(*rounds, strict=True))), " (medians)")


def _fill(address: Address, ids: Sequence[str], count_of_open: int) -> None:
    with Client(address, "bench") as client:
        coordinator(client, ids[0], OF_TRANSACTIONS)
        _described(client, ids[:IDS_PER_REQUEST])
        producers: dict[str, tuple[int, int]] = {}
        while left := [each for each in ids if each not in producers]:
            # A block of producer ids may be used up before the next one is there.
            answers = _pipelined(client, [InitProducerIdRequest(each, TIMEOUT_MS, -1, -1) for each in left])
            for each, one in zip(left, answers, strict=True):
                if isinstance(one, InitProducerIdResponse) and one.error_code == ErrorCode.NONE:
                    producers[each] = one.producer_id, one.producer_epoch
        began = [AddOffsetsToTxnRequest(each, *producers[each], each) for each in ids[:count_of_open]]
        for answer in _pipelined(client, began):
            assert isinstance(answer, AddOffsetsToTxnResponse)
            assert answer.error_code == ErrorCode.NONE


def _pipelined(client: Client, requests: Sequence[Message]) -> list[Message]:
    """The answers, with WINDOW requests in flight."""
    answers, waiting = [], 0
    for request in requests:
        client.send(request, VERSION)
        waiting += 1
        if waiting == WINDOW:
            answers.append(client.receive())
            waiting -= 1
    return answers + [client.receive() for _ in range(waiting)]


def _restart(server: Server, ids: Sequence[str], count_of_open: int) -> tuple[float, float, float, float, float]:
    started = time.monotonic()
    server.launch()
    try:
        await_listening(server)
        listening_s, listening_cpu_s = time.monotonic() - started, cpu_s(server.pid)
        with Client(server.address, "bench", START_WITHIN_S) as client:
            # So many are in every partition.
            _described(client, ids[:SAMPLE])
            ready_s, ready_cpu_s = time.monotonic() - started, cpu_s(server.pid)
            states = [
                state
                for first in range(0, len(ids), IDS_PER_REQUEST)
                for state in _described(client, ids[first : first + IDS_PER_REQUEST])
            ]
        all_s = time.monotonic() - started
    finally:
        server.kill()
    if states.count("Ongoing") != count_of_open or len(states) != len(ids):
        raise SystemExit(f"{len(states)} ids, {states.count('Ongoing')} open")
    return listening_s, ready_s, all_s, listening_cpu_s, ready_cpu_s


def _described(client: Client, ids: Sequence[str]) -> list[str]:
    """The states of ids, once their shards are loaded. Ids that do not exist have none."""
    while True:
        found = client.ask(DescribeTransactionsRequest(list(ids)), 0, DescribeTransactionsResponse).transaction_states
        if not any(each.error_code in NOT_YET for each in found):
            return [each.transaction_state for each in found if each.error_code == ErrorCode.NONE]
        time.sleep(RETRY_S)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.restart_transactions", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ids", type=int, default=100_000, metavar="N")
    parser.add_argument("--open", type=int, default=1000, metavar="N", help="ids with an open transaction (default 1000)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--dir", type=Path, metavar="DIR", help="use what an earlier run left there, or leave it there")
    return parser.parse_args()


if __name__ == "__main__":
    main()
