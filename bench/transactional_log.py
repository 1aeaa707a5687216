"""Compaction of a log that is half transactions, beside a log of the same commits without any:
records per second of processor time.

    python -m bench.transactional_log [--records 170000] [--offsets 10] [--rounds 9]

In one process, with the vectorised engine, the two logs in turns. A commit has OFFSETS offsets; every second one is a transaction
of its own, with a marker behind it, and one of ten is aborted. All markers are kept, as they are until
``log.cleaner.delete.retention.ms`` have passed.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Final

from bench.targets import BUILD
from coordinator_server.pipeline.compact.engine import compact_shard
from coordinator_server.pipeline.compact.vector_engine import VectorEngine
from protocol.batch_builder import BatchBuilder
from protocol.control_records import end_transaction_marker
from protocol.record_batch import CONTROL, TRANSACTIONAL
from tests.support.inputs import plan_shard
from tests.support.segments import START_MS, offset_key, offset_value

SHARD: Final = "__consumer_offsets-7"
GROUPS: Final = 500
PARTITIONS: Final = 10
PRODUCERS: Final = 200
ABORTED: Final = 10


def main() -> None:
    options = _options()
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="transactional-log-", dir=BUILD) as scratch:
        logs = {name: Path(scratch, name, SHARD) for name in ("plain", "half transactions")}
        for name, directory in logs.items():
            make_log(directory, options.records, options.offsets, every=2 if name != "plain" else 0)
        rates: dict[str, list[float]] = {name: [] for name in logs}
        for _ in range(options.rounds):
            for name, directory in logs.items():
                rates[name].append(compacted_per_s(directory))
    medians = {name: statistics.median(found) for name, found in rates.items()}
    for name, found in rates.items():
        print(f"{name:18} {medians[name]:12,.0f} records/s, the best {max(found):12,.0f}")
    print(f"{'ratio':18} {medians['half transactions'] / medians['plain']:12.2f}")


def make_log(directory: Path, records: int, offsets: int, every: int) -> None:
    """Write one sealed segment. ``every`` so many commits one is in a transaction; 0: none."""
    directory.mkdir(parents=True)
    batches: list[bytes] = []
    offset = commits = transactions = 0
    while offset < records:
        commits += 1
        in_transaction = every > 0 and commits % every == 0
        producer, epoch = transactions % PRODUCERS, transactions // PRODUCERS % 30_000
        head = {"attributes": TRANSACTIONAL, "producer_id": producer, "producer_epoch": epoch} if in_transaction else {}
        commit = BatchBuilder(offset, START_MS + offset, **head)
        for partition in range(offsets):
            key = offset_key(f"group-{commits * 7919 % GROUPS}", "orders", partition % PARTITIONS)
            commit.append(key, offset_value(offset + partition))
        offset = commit.next_offset
        batches.append(commit.finish())
        if in_transaction:
            transactions += 1
            marker = BatchBuilder(offset, START_MS + offset, **head | {"attributes": TRANSACTIONAL | CONTROL})
            marker.append(*end_transaction_marker(transactions % ABORTED != 0, 0))
            offset = marker.next_offset
            batches.append(marker.finish())
    (directory / f"{0:020d}.log").write_bytes(b"".join(batches))
    (directory / f"{offset:020d}.log").touch()


def compacted_per_s(directory: Path) -> float:
    """Compact the log, drop the result, and return the records per second of processor time."""
    plan = plan_shard(directory)
    assert plan is not None
    started = time.process_time()
    result = compact_shard(plan, None, VectorEngine())
    used = time.process_time() - started
    assert not result.left_alone
    shutil.rmtree(result.attempt)
    return result.records_in / used


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.transactional_log", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=170_000, metavar="N")
    parser.add_argument("--offsets", type=int, default=PARTITIONS, metavar="N", help="of one commit (default 10)")
    parser.add_argument("--rounds", type=int, default=9, metavar="N")
    return parser.parse_args()


if __name__ == "__main__":
    main()
