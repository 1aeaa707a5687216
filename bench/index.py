"""What the index of groups costs, and how soon it answers for a group with many events.

    python -m bench.index [--events 1000000] [--log commits|rebalances] [--without] [--rounds 7] [--dir DIR]

A log of one group in one shard is written: commits of one client to six partitions, 3 ms apart; with ``rebalances`` every twentieth
record is a generation of four new members. It is indexed, and each question is asked ROUNDS times in this process, after the
start of Python. Processor times are what a machine with other work can tell. --without asks the whole log as well, once. With
--dir an earlier run's directory is used, or made and left.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from coordinator_server.pipeline.index.answers import GroupHistory
from coordinator_server.pipeline.index.feed import DIRECTORY, update
from coordinator_server.pipeline.index.period import Period
from coordinator_server.pipeline.input.topic_names import NO_NAMES
from coordinator_server.pipeline.progress import Progress
from protocol.batch_builder import BatchBuilder
from protocol.record_batch import Record
from tests.support.segments import PROVENANCE, START_MS, group_key, group_value, offset_key, offset_value

GROUP: Final = "billing"
STEP_MS: Final = 3
PARTITIONS: Final = 6
GENERATION_EVERY: Final = 20
SEGMENT_BYTES: Final = 100 << 20
END_OF_TIME: Final = 2**62


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.index", description="What the index of groups costs, and what it saves."
    )
    parser.add_argument("--events", type=int, default=1_000_000, help="how many records the group has (1000000)")
    parser.add_argument("--log", choices=("commits", "rebalances"), default="commits", help="what happens to the group (commits)")
    parser.add_argument("--without", action="store_true", help="ask the log, too, once")
    parser.add_argument("--rounds", type=int, default=7, help="how often each question is asked (7)")
    parser.add_argument("--dir", type=Path, help="the directory to use, or to make and leave")
    options = parser.parse_args()
    with ExitStack() as stack:
        data: Path = options.dir or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "data"
        if not data.exists():
            write(data, options.events, has_rebalances=options.log == "rebalances")
        started, used = time.perf_counter(), time.process_time()
        done = update(data, Progress())
        seconds, used = time.perf_counter() - started, time.process_time() - used
        rate = done.records / used
        print(f"{done.records:,} records ({done.bytes:,} bytes) in {seconds:.1f} s, {used:.1f} s of a processor: {rate:,.0f}/s")
        print(f"index: {done.size:,} bytes, {done.size / options.events:.1f} an event")
        ask(data, options.events, options.rounds)
        if options.without:
            (data / DIRECTORY).rename(data / "away")
            print("without the index:")
            ask(data, options.events, 1)
            (data / "away").rename(data / DIRECTORY)


def write(data: Path, events: int, *, has_rebalances: bool) -> None:
    """Write a data directory with one shard of groups."""
    shard = data / "__consumer_offsets-0"
    shard.mkdir(parents=True)
    facts = {"version": 1, "cluster.id": "AAAAAAAAAAAAAAAAAAAAAQ", "node.id": 1, "offsets.topic.num.partitions": 1}
    (data / "meta.properties").write_text("".join(f"{name}={value}\n" for name, value in facts.items()))
    first = 0
    while first < events:
        size, offset = 0, first
        with (shard / f"{first:020d}.log").open("wb") as file:
            while offset < events and size < SEGMENT_BYTES:
                size += file.write(_batch(offset, has_rebalances=has_rebalances))
                offset += 1
        first = offset


def ask(data: Path, events: int, rounds: int) -> None:
    """Ask each question, and print how long the answers took."""
    end_ms = START_MS + STEP_MS * events
    third = (end_ms - START_MS) // 3

    def events_of(period: Period) -> Callable[[], object]:
        return lambda: GroupHistory(data, GROUP, print).events(period, events, NO_NAMES)

    def at(at_ms: int) -> Callable[[], object]:
        return lambda: GroupHistory(data, GROUP, print).at(at_ms, events, NO_NAMES)

    questions = {
        "why": events_of(Period(limit=100)),
        "why --each": events_of(Period(limit=100, each=True)),
        "why --since --until, the middle third": events_of(Period(START_MS + third, end_ms - third, 100)),
        "at the middle": at((START_MS + end_ms) // 2),
        "at the end": at(END_OF_TIME),
    }
    for name, question in questions.items():
        times, used = [], []
        for _ in range(rounds):
            started, begun = time.perf_counter(), time.process_time()
            question()
            times.append(1000 * (time.perf_counter() - started))
            used.append(1000 * (time.process_time() - begun))
        print(f"{name:40} median {statistics.median(times):9.1f} ms, {statistics.median(used):9.1f} of a processor")


def _batch(offset: int, *, has_rebalances: bool) -> bytes:
    now = START_MS + STEP_MS * offset
    builder = BatchBuilder(offset, now)
    if has_rebalances and offset % GENERATION_EVERY == 0:
        members = [f"client-{number}-{offset:06d}" for number in range(4)]
        headers = (("op1", b"11/9"), ("client", b"client-0"), ("why", b"member-joined"), ("whom", members[0].encode()))
        key, value = group_key(GROUP), group_value(offset // GENERATION_EVERY, members, changed_ms=now)
        builder.append_record(Record(offset, now, key, value, headers))
    else:
        key, value = offset_key(GROUP, "orders", offset % PARTITIONS), offset_value(offset, commit_ms=now)
        builder.append_record(Record(offset, now, key, value, PROVENANCE))
    return builder.finish()


if __name__ == "__main__":
    main()
