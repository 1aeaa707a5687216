"""How the history of transactions and of share partitions grows: processor time and memory of `history --engine python`.

    python -m bench.history_kinds [--count 20000] [--times 1,2,4] [--segment 1000]

A log of COUNT transactions, three records of an id each, which moved an offset of one of many groups; and one of as many updates
of share partitions, a snapshot after each five hundred. The command is a process of its own; its largest resident size includes
what it has mapped of libraries, 90 MB, and of files. ^1.00 is linear.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from bench.slopes import cells, width
from bench.targets import BUILD
from coordinator_server.machine.provenance import request_origin
from coordinator_server.transaction.state import TransactionState
from tests.support import share_logs, transaction_logs
from tests.support.share_logs import ShareLog
from tests.support.transaction_logs import APP, Log, opened, then

GROUPS: Final = 500
SHARE_GROUPS: Final = 200
UPDATES_BETWEEN_SNAPSHOTS: Final = 500
A_SECOND: Final = 50
ORIGIN: Final = request_origin(26, 3, *APP)


def main() -> None:
    options = _options()
    counts = [times * options.count for times in options.times]
    BUILD.mkdir(parents=True, exist_ok=True)
    print(f"load {os.getloadavg()[0]:.1f}; {', '.join(f'{count:,}' for count in counts)} transactions, and updates")
    print(f"{'':20}" + "  ".join(f"{head:>{width(counts)}}" for head in ("processor, s", "MB")))
    for name, make in MADE.items():
        found = [_measured(make, count, options.segment) for count in counts]
        columns = [cells(counts, [each[place] for each in found], show) for place, show in ((0, ".1f"), (1, ".0f"))]
        print(f"{name:20}" + "  ".join(columns), flush=True)


def _measured(make: Callable[[Path, int, int], None], count: int, segment: int) -> tuple[float, float]:
    """Return the processor time of the command, and its largest resident size in MB."""
    with tempfile.TemporaryDirectory(prefix="history-kinds-", dir=BUILD) as scratch:
        data, out = Path(scratch, "data"), Path(scratch, "out")
        data.mkdir()
        make(data, count, segment)
        command = [sys.executable, "-m", "coordinator_server", "history", "--engine", "python"]
        process = subprocess.Popen([*command, "--data-dir", str(data), "--out", str(out)], stdout=subprocess.DEVNULL)
        _, code, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
        assert process.returncode == 0
        return used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def _transactions(data: Path, count: int, segment: int) -> None:
    transaction_logs.write_properties(data)
    ids, groups = Log(), Log()
    for number in range(count):
        epoch, second = number % 30_000, number // A_SECOND
        begun = replace(opened(second, epoch), producer_id=number // 30_000, client_version=2)
        ids.state(second, ORIGIN, begun)
        groups.commit(second, [f"g-{number % GROUPS}"], (begun.producer_id, epoch))
        ids.state(second, ORIGIN, then(begun, TransactionState.PREPARE_COMMIT, epoch + 1))
        groups.marker(second, (begun.producer_id, epoch + 1))
        ids.state(second, None, then(begun, TransactionState.COMPLETE_COMMIT, epoch + 1))
        if number % segment == segment - 1:
            ids.write(data / transaction_logs.SHARD)
            groups.write(data / transaction_logs.OFFSETS)
    ids.write(data / transaction_logs.SHARD)
    groups.write(data / transaction_logs.OFFSETS)


def _share_partitions(data: Path, count: int, segment: int) -> None:
    share_logs.write_properties(data)
    log = ShareLog()
    for number in range(count):
        second, name, turn = number // A_SECOND, f"workers-{number % SHARE_GROUPS}", number // SHARE_GROUPS
        if turn % UPDATES_BETWEEN_SNAPSHOTS:
            log.update(second, 10 * turn, [(10 * turn, 10 * turn + 9, 0, 1), (10 * turn + 10, 10 * turn + 19, 1, 1)], name=name)
        else:
            log.snapshot(second, 10 * turn, name=name, epochs=(turn // UPDATES_BETWEEN_SNAPSHOTS, 1, 0))
        if number % segment == segment - 1:
            log.write(data / share_logs.SHARD)
    log.write(data / share_logs.SHARD)


MADE: Final = {"transactions": _transactions, "share partitions": _share_partitions}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.history_kinds", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=20_000, metavar="N")
    parser.add_argument("--times", type=lambda text: [int(each) for each in text.split(",")], default=[1, 2, 4], metavar="N,N")
    parser.add_argument("--segment", type=int, default=1_000, metavar="N", help="transactions or updates in a segment")
    return parser.parse_args()


if __name__ == "__main__":
    main()
