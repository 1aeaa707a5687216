"""`observe` beside three Kafka brokers that fail: python -m tests.observed [--seconds 600] [--seed N] [--clients java,sarama]

Stock clients join, leave, die, commit and end transactions, in groups of three kinds. Brokers are killed, stopped and frozen,
leaders and replicas move, and `observe` is killed and started again. The log cleaner is eager: it removes what is older than six
seconds. In the end, and at moments on the way:

- each acknowledged commit is in the directory once, or where offsets are missing that are counted;
- each record that a second client has read is there, at its offset, or a gap is;
- what `groups lag` and `groups describe` say is what Kafka's own tool says;
- each record in the brokers' files is there.

The exit code is 1 if one of them is not so.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from coordinator_server.observe.facts import read_facts
from tests.observed.accidents import Accidents
from tests.observed.checks import History, check_files, check_ledger, check_reader
from tests.observed.clients import CLASSIC, PARTITIONS, TOPIC, Messages, Work, crews
from tests.observed.cluster import Cluster
from tests.observed.follower import Follower
from tests.observed.ledger import Ledger
from tests.observed.moments import Moments
from tests.observed.reader import Reader
from tests.support.eventually import eventually

SETTLE_S = 600
MOST_FAULTS = 10
"""After so many it ends early."""
TOPICS_TOOL = "org.apache.kafka.tools.TopicCommand"
FIRST_MESSAGES = 30_000


def main() -> int:
    """Run it, print the figures, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.observed", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=600, help="how long things go wrong (%(default)g)")
    parser.add_argument("--moments", type=int, default=20, help="how often all is compared meanwhile (%(default)s)")
    parser.add_argument("--seed", type=int, default=None, help="what happens, but for what time decides")
    parser.add_argument("--clients", default=",".join(CLASSIC), help="(%(default)s)")
    parser.add_argument("--directory", type=Path, help="where all is kept; without it, nothing is")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 31) if options.seed is None else options.seed
    say(f"seed {seed}")
    with ExitStack() as stack:
        directory = options.directory or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        faults = Play(directory, options.clients.split(","), seed, stack).run(options.seconds, options.moments)
    for fault in faults[:50]:
        say(f"FAULT: {fault}")
    say(f"{len(faults)} faults, seed {seed}")
    return min(len(faults), 1)


class Play:
    """The cluster, its clients, what happens to it, and who looks on. ``stack`` ends them."""

    def __init__(self, directory: Path, clients: list[str], seed: int, stack: ExitStack) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._seed, self._stack = seed, stack
        self.cluster = Cluster(directory)
        stack.callback(self.cluster.close)
        self.cluster.start()
        self._tools = [self.cluster.tool() for _ in range(2)]
        for each in self._tools:
            stack.callback(each.close)
        self._tools[0].must(
            TOPICS_TOOL, "--create", "--topic", TOPIC, "--partitions", str(PARTITIONS), "--replication-factor", "2"
        )
        self.ledger = Ledger()
        self.messages = Messages(self.cluster)
        self.messages.fill(FIRST_MESSAGES)
        self.works = [*crews(self.cluster, self.ledger, clients, seed), self.messages]
        self.reader = Reader(self.cluster.bootstrap)
        self.follower = Follower(self.cluster.bootstrap, directory / "data")
        stack.callback(self.follower.close)

    def run(self, seconds: float, count: int) -> list[str]:
        """Let it happen, and return what is wrong."""
        for work in self.works:
            work.start()
        self._stack.callback(_end, self.works)
        # The topics that are followed are made when they are first needed.
        eventually(self.cluster.has_topics, SETTLE_S)
        self.cluster.be_eager(self._tools[0])
        self.reader.start()
        self.follower.start()
        moments = Moments(self.cluster, self.follower, self._tools[0])
        accidents = Accidents(self.cluster, self.follower, self._tools[1], self._seed)
        accidents.start()
        self._compare_now_and_then(moments, accidents, seconds, count)
        accidents.stop()
        say(f"accidents: {_shown(accidents.counts)}")
        return [*self._failures(accidents), *self._check(moments)]

    def _compare_now_and_then(self, moments: Moments, accidents: Accidents, seconds: float, count: int) -> None:
        choose = random.Random(f"{self._seed} moments")
        began, due = time.monotonic(), sorted(choose.uniform(0.1, 1) * seconds for _ in range(count))
        while time.monotonic() - began < seconds and accidents.failure is None and len(moments.faults) < MOST_FAULTS:
            if due and time.monotonic() - began >= due[0]:
                due.pop(0)
                known, not_answered = len(moments.faults), moments.counts["not answered"]
                moments.compare()
                for fault in moments.faults[known:]:
                    say(f"fault: {fault}")
                if moments.counts["not answered"] > not_answered:
                    say(f"not answered: {' '.join(moments.not_answered.split())[-300:]}")
                say(f"{time.monotonic() - began:.0f} s: {_shown(moments.counts)}; {self.ledger.counts()}")
            time.sleep(0.2)

    def _check(self, moments: Moments) -> list[str]:
        """Let all come to rest, and look at everything."""
        eventually(self.cluster.has_all_replicas, SETTLE_S)
        say("all replicas are in sync")
        before = moments.counts["moments"]
        _end(self.works)
        for _ in range(5):
            moments.compare()
            say(f"moments: {_shown(moments.counts)}")
            if moments.counts["moments"] > before:
                break
        else:
            moments.faults.append(f"the cluster at rest does not answer: {moments.not_answered}")
        for work in self.works:
            say(f"  {work.name}: {_shown(work.counts)}")
        self.reader.stop()
        written = self.cluster.high_watermarks()
        say(self.follower.read_rest())
        # In order would not do: the last of three controllers finds nobody to say good-bye to.
        self.cluster.close()
        history = History(self.follower.data_dir)
        ledger, reader = check_ledger(self.ledger, history), check_reader(self.reader, history)
        count, faults = check_files(self.cluster, history)
        follower, aside = self.follower, read_facts(self.follower.data_dir).set_aside
        say(
            f"ledger: {self.ledger.counts()}; in the history {ledger.found}, in gaps {ledger.in_gaps}, written twice {ledger.twice}"
        )
        say(f"second reader: {reader.same} records the same, {reader.in_gaps} in gaps")
        say(f"files of brokers: {count} records, {len(faults)} faults")
        say(
            f"history: {sum(map(len, history.records.values()))} records, {history.missing} offsets missing, {len(aside)} set aside"
        )
        say(
            f"observe: {follower.kills} kill -9, {follower.stops} stops, {follower.failures} ends by itself; "
            f"{follower.most_kb} kB, {follower.cpu_s:.0f} s of processor"
        )
        unread = [f"{name} was not read to {end}" for name, end in written.items() if history.ends.get(name, 0) < end]
        lost = [f"set aside, without an unclean election: {each}" for each in aside]
        return [*moments.faults, *history.faults, *ledger.faults, *reader.faults, *faults, *unread, *lost]

    def _failures(self, accidents: Accidents) -> list[str]:
        failures = [*((work.name, work.failure) for work in self.works), (accidents.name, accidents.failure)]
        return [f"{name} has failed: {why!r}" for name, why in failures if why is not None]


def _end(works: list[Work]) -> None:
    for work in works:
        work.stop()
    for work in works:
        work.join()


def _shown(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "nothing"


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)  # noqa: T201 - its output is what it is for


if __name__ == "__main__":
    sys.exit(main())
