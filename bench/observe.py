"""What following a cluster costs: time to catch up, memory, and the share of the broker's processor; and of kminion beside it.

    python -m bench.observe [--groups 10000] [--partitions 100] [--rate 500] [--seconds 60] [--rounds 3] [--kminion PROGRAM]

A Kafka broker (java and mvn, or KAFKA_JARS) gets a commit of PARTITIONS offsets of each group. `observe --once` reads all of that
into an empty directory. Then, in turns, nobody, `observe --metrics` and, where its program is named, kminion in both of its modes
follow the broker for --seconds, while --rate commits of one offset a second go on. Metrics are scraped every 15 s, as Prometheus
does. Processor times are from /proc, in hundredths of one core: what the broker uses more than with nobody is what the follower
costs it. Memory is the largest so far, summed over the follower's processes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.kafka_broker import KafkaBroker
from tests.support.ports import free_port
from tests.support.processes import cpu_s, descendants, memory_mb
from tests.support.server import ROOT
from tests.support.simple_requests import commit_alone, coordinator, make_topic

TOPIC: Final = "orders"
COMMIT_VERSION: Final = 8
WINDOW: Final = 50
SCRAPE_S: Final = 15
READY_S: Final = 300
PAUSE_S: Final = 5
# As a broker runs: with the compiler that takes time to begin, and room for its groups.
JVM: Final = ("-XX:TieredStopAtLevel=4", "-Xmx1g")
MODES: Final = ("adminApi", "offsetsTopic")
LINE: Final = "{:22} {:>9} {:>15} {:>11} {:>10}"
KMINION: Final = """\
kafka: {{brokers: ["{bootstrap}"]}}
minion: {{consumerGroups: {{scrapeMode: {mode}}}}}
exporter: {{port: {port}}}
logger: {{level: warn}}
"""


class Follower(NamedTuple):
    """Who follows: a command with its environment, and where its metrics are. Nobody has no command."""

    name: str
    command: Sequence[str] = ()
    environment: Mapping[str, str] = {}
    metrics: str = ""


class Turn(NamedTuple):
    """What a turn took: processor time of the broker and of the follower, in hundredths of a core, and the follower's memory."""

    broker: float
    follower: float
    megabytes: float


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="observe-") as name, KafkaBroker(Path(name) / "kafka") as broker:
        broker.more_options = JVM
        broker.start({"offsets.topic.num.partitions": 50}, within_s=600)
        took_s = _fill(broker, options.groups, options.partitions)
        offsets = options.groups * options.partitions
        print(f"{offsets:,} offsets of {options.groups:,} groups, written in {took_s:.1f} s", flush=True)
        _catch_up(broker, Path(name) / "once")
        followers = _followers(broker.bootstrap, Path(name), options.kminion)
        turns: dict[str, list[Turn]] = {each.name: [] for each in followers}
        with _commits(broker, options):
            for _ in range(options.rounds):
                for each in followers:
                    with _following(each, Path(name)) as pid:
                        turns[each.name].append(_measure(broker.pid, pid, options.seconds))
                    print(f"  {each.name}: {turns[each.name][-1]}", flush=True)
    _print(turns)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.observe", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--groups", type=int, default=10_000, metavar="N")
    parser.add_argument("--partitions", type=int, default=100, metavar="N", help="each group commits an offset of each")
    parser.add_argument("--rate", type=int, default=500, metavar="N", help="commits a second while they are followed")
    parser.add_argument("--seconds", type=float, default=60, metavar="S", help="of each turn")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--kminion", metavar="PROGRAM", help="kminion, built from its repository")
    return parser.parse_args()


def _fill(broker: KafkaBroker, groups: int, partitions: int) -> float:
    """Let each group commit an offset of each partition. Return how long it took."""
    with broker.client() as client:
        make_topic(client, TOPIC, partitions)
        coordinator(client, "group-0")
        # Each partition of the groups has its coordinator some time after the first one.
        for group in range(min(groups, 1000)):
            eventually(partial(_is_taken, client, group), READY_S)
        began_s = time.monotonic()
        for group in range(groups):
            client.send(_commit(group, dict.fromkeys(range(partitions), 0)), COMMIT_VERSION)
            if group >= WINDOW:
                _check(client)
        for _ in range(min(groups, WINDOW)):
            _check(client)
        return time.monotonic() - began_s


def _is_taken(client: Client, group: int) -> bool:
    """Return whether a group has a coordinator that takes commits."""
    return set(commit_alone(client, f"group-{group}", TOPIC, {0: 0}).values()) == {ErrorCode.NONE}


def _commit(group: int, offsets: Mapping[int, int]) -> OffsetCommitRequest:
    partitions = [
        OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset) for partition, offset in offsets.items()
    ]
    return OffsetCommitRequest(group_id=f"group-{group}", topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=partitions)])


def _check(client: Client) -> None:
    """Take an answer. A commit that is refused ends the program."""
    answer = client.receive()
    assert isinstance(answer, OffsetCommitResponse)
    refused = {ErrorCode(each.error_code) for topic in answer.topics for each in topic.partitions} - {ErrorCode.NONE}
    if refused:
        raise SystemExit(f"the broker refuses commits: {refused}")


def _catch_up(broker: KafkaBroker, data_dir: Path) -> None:
    began_s, before_s = time.monotonic(), cpu_s(broker.pid)
    process = subprocess.Popen(_observe(broker.bootstrap, data_dir, "--once"), cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.read().strip()
    _, code, used = os.wait4(process.pid, 0)
    if code:
        raise SystemExit(f"observe has ended with {code}")
    print(said.partition(" (data")[0])
    print(
        f"caught up in {time.monotonic() - began_s:.1f} s: its processor {used.ru_utime + used.ru_stime:.1f} s, the broker's "
        f"{cpu_s(broker.pid) - before_s:.1f} s, largest resident memory {used.ru_maxrss / 1024:.0f} MB",
        flush=True,
    )


def _observe(bootstrap: str, data_dir: Path, *more: str) -> list[str]:
    words = ["observe", "--bootstrap", bootstrap, "--data-dir", str(data_dir), "--log-level", "warning", *more]
    return [sys.executable, "-m", "coordinator_server", *words]


def _followers(bootstrap: str, directory: Path, kminion: str | None) -> list[Follower]:
    port = free_port()
    metrics = f"http://127.0.0.1:{port}/metrics"
    ours = _observe(bootstrap, directory / "observed", "--metrics", f"127.0.0.1:{port}")
    found = [Follower("nobody"), Follower("observe --metrics", ours, {}, metrics)]
    for mode in MODES if kminion else ():
        config = directory / f"{mode}.yaml"
        config.write_text(KMINION.format(bootstrap=bootstrap, mode=mode, port=port))
        found.append(Follower(f"kminion, {mode}", [str(kminion)], {"CONFIG_FILEPATH": str(config)}, metrics))
    return found


@contextmanager
def _following(follower: Follower, directory: Path) -> Iterator[int | None]:
    """Let a follower run, and be scraped, from when it has read everything on."""
    if not follower.command:
        yield None
        return
    stopped = threading.Event()
    with (directory / "followers.log").open("ab") as log:
        process = subprocess.Popen(follower.command, cwd=ROOT, env={**os.environ, **follower.environment}, stdout=log, stderr=log)
    scraper = threading.Thread(target=_scrape, args=(follower.metrics, stopped), daemon=True)
    try:
        deadline, before = time.monotonic() + READY_S, 0
        # Until it has read everything, its metrics grow.
        while not (size := _scraped(follower.metrics)) or size > before * 1.01:
            if time.monotonic() > deadline or process.poll() is not None:
                raise SystemExit(f"{follower.name} has no metrics: {(directory / 'followers.log').read_text()[-2000:]}")
            before = size
            time.sleep(PAUSE_S)
        scraper.start()
        yield process.pid
    finally:
        stopped.set()
        process.terminate()
        process.wait(60)


def _scrape(metrics: str, stopped: threading.Event) -> None:
    while not stopped.wait(SCRAPE_S):
        _scraped(metrics)


def _scraped(metrics: str) -> int:
    """Return the size of the metrics in bytes; 0 if they have no group yet."""
    with suppress(OSError), urllib.request.urlopen(metrics, timeout=READY_S) as answer:
        text: bytes = answer.read()
        return len(text) if b'group_id="group-0"' in text else 0
    return 0


@contextmanager
def _commits(broker: KafkaBroker, options: argparse.Namespace) -> Iterator[None]:
    """Let groups commit one offset each, one after the other, at a rate."""
    stopped = threading.Event()

    def commit() -> None:
        random, offset, began_s = Random(1), 0, time.monotonic()
        with broker.client() as client:
            while not stopped.wait(max(0.0, began_s + offset / options.rate - time.monotonic())):
                offset += 1
                client.send(
                    _commit(random.randrange(options.groups), {random.randrange(options.partitions): offset}), COMMIT_VERSION
                )
                _check(client)

    thread = threading.Thread(target=commit, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _measure(broker: int, follower: int | None, seconds: float) -> Turn:
    processes = [] if follower is None else [follower, *descendants(follower)]
    began_s = time.monotonic()
    of_broker, of_follower = cpu_s(broker), sum(map(cpu_s, processes))
    time.sleep(seconds)
    share = 100 / (time.monotonic() - began_s)
    memory = sum(memory_mb(each, "VmHWM") for each in processes)
    return Turn(share * (cpu_s(broker) - of_broker), share * (sum(map(cpu_s, processes)) - of_follower), memory)


def _print(turns: Mapping[str, Sequence[Turn]]) -> None:
    print(LINE.format("", "broker", "more for it", "follower", "memory"))
    alone = statistics.median(each.broker for each in turns["nobody"])
    for name, found in turns.items():
        broker, follower, memory = (statistics.median(each[at] for each in found) for at in range(3))
        print(LINE.format(name, f"{broker:.2f} %", f"{broker - alone:+.2f} %", f"{follower:.2f} %", f"{memory:.0f} MB"))


if __name__ == "__main__":
    main()
