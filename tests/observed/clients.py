"""Groups of stock clients that work while the cluster fails: a thread each tells its members what to do, and keeps a ledger."""

from __future__ import annotations

import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random
from typing import Final

from confluent_kafka import Producer

from tests.interop.clients import MemberOptions
from tests.interop.crew import ClientProcess, MemberProcess, Refused
from tests.interop.programs import SHARING, command_of, share_member
from tests.interop.transactional import Transactional, confluent_process, franz_producer, java_producer
from tests.observed.cluster import Cluster
from tests.observed.ledger import Ledger, Outcome, Place

TOPIC: Final = "orders"
PARTITIONS: Final = 6
PATIENCE_S: Final = 30
CLASSIC: Final = ("java", "franz-go", "sarama", "kafkajs", "confluent-kafka", "kafka-python", "aiokafka")
MODERN: Final = ("java", "franz-go", "confluent-kafka")
PRODUCERS: Final[Mapping[str, Callable[[str, str], Transactional]]] = {
    "java": java_producer,
    "franz-go": franz_producer,
    "confluent-kafka": confluent_process,
}
_OPTIONS: Final = MemberOptions(session_timeout_ms=10_000, heartbeat_interval_ms=1000)


class Work(threading.Thread):
    """Does a step again and again until ``stop``. ``counts`` is what was done; an error of its own is ``failure``."""

    def __init__(self, name: str, pause_s: float) -> None:
        super().__init__(name=name, daemon=True)
        self.counts: Counter[str] = Counter()
        self.failure: BaseException | None = None
        self._pause_s = pause_s
        self._stopped = threading.Event()

    def run(self) -> None:
        """Work until it is stopped."""
        try:
            while not self._stopped.wait(self._pause_s):
                self.step()
        except BaseException as error:
            self.failure = error
            raise
        finally:
            self.end()

    def step(self) -> None:
        """Do something."""
        raise NotImplementedError

    def end(self) -> None:
        """Clean up."""

    def stop(self) -> None:
        """Take no further step."""
        self._stopped.set()


class Members(Work):
    """A group of one client. Members come, leave and die; positions are committed through one of them."""

    def __init__(self, cluster: Cluster, ledger: Ledger, client: str, protocol: str, seed: str) -> None:
        self._group = f"{protocol}-{client}"
        super().__init__(self._group, pause_s=0.4)
        self._servers, self._client, self._ledger = cluster.bootstrap, client, ledger
        self._options = _OPTIONS._replace(protocol=protocol)
        self._random = Random(seed)
        self._members: list[MemberProcess] = []

    def step(self) -> None:
        """Commit, or let a member come or go."""
        self._members = [each for each in self._members if each.is_alive()]
        if not self._members or (len(self._members) < 2 and self._random.random() < 0.05):
            self._members.append(MemberProcess(self._client, self._servers, self._group, TOPIC, self._options))
            self.counts["members"] += 1
        member = self._random.choice(self._members)
        if self._random.random() < 0.02:
            self._lose(member)
        elif member.owned:
            self._commit(member)

    def end(self) -> None:
        """Kill the members that are left."""
        for each in self._members:
            each.clean_up()

    def _remove(self, member: MemberProcess) -> None:
        self._members.remove(member)
        member.clean_up()

    def _lose(self, member: MemberProcess) -> None:
        if self._random.random() < 0.5:
            # It may fail to say good-bye to a broker that is gone, or not end for that.
            with suppress(AssertionError, OSError, subprocess.TimeoutExpired):
                member.end()
        self._remove(member)

    def _commit(self, member: MemberProcess) -> None:
        place = Place(self._group, self._random.choice(member.owned))
        offset, outcome = self._ledger.next_offset(place), Outcome.UNKNOWN
        try:
            member.call("commit", {place.partition: offset}, PATIENCE_S)
            outcome = Outcome.DONE
        except Refused:
            if not member.is_alive() or self._random.random() < 0.2:
                self._remove(member)
        except AssertionError:
            # Its late answer would be taken for that of the next commit.
            self._remove(member)
        self._ledger.note(place, offset, outcome)
        self.counts[f"commits {outcome.value}"] += 1


class Transactions(Work):
    """Positions that are committed in transactions, of which some are aborted."""

    def __init__(self, cluster: Cluster, ledger: Ledger, client: str, seed: str) -> None:
        self._group = f"transactional-{client}"
        super().__init__(self._group, pause_s=0.6)
        self._make: Callable[[], Transactional] = lambda: PRODUCERS[client](cluster.bootstrap, self._group)
        # Franz-go's program says so of a transaction whose abort the cluster may not have got: its next one goes on with it.
        self._knows_aborts = client != "franz-go"
        self._ledger = ledger
        self._random = Random(seed)
        self._producer: Transactional | None = None

    def step(self) -> None:
        """Make a transaction. A producer that is refused anything is given up."""
        try:
            self._transact(self._ready())
        except Refused:
            self.end()

    def end(self) -> None:
        """Close the producer."""
        if self._producer is not None:
            self._producer.close()
            self._producer = None

    def _transact(self, producer: Transactional) -> None:
        place = Place(self._group, self._random.randrange(PARTITIONS))
        is_commit = self._random.random() < 0.75
        offset, outcome = self._ledger.next_offset(place), Outcome.UNKNOWN
        try:
            producer.call("begin")
            producer.call("offsets", [self._group, TOPIC, {str(place.partition): offset}])
            has_ended = producer.call("commit" if is_commit else "abort")
            is_done = is_commit and has_ended is not False
            outcome = Outcome.DONE if is_done else Outcome.ABORTED if self._knows_aborts else Outcome.UNKNOWN
        finally:
            self._ledger.note(place, offset, outcome)
            self.counts[f"commits {outcome.value}"] += 1

    def _ready(self) -> Transactional:
        """Return a producer that can begin a transaction. Raises Refused."""
        if self._producer is None:
            self._producer = self._make()
            self._producer.call("init")
            self.counts["producers"] += 1
        return self._producer


class Shares(Work):
    """A share group of one client, whose members come and go."""

    def __init__(self, cluster: Cluster, client: str, seed: str) -> None:
        super().__init__(f"share-{client}", pause_s=1)
        self._command = [*share_member(client), cluster.bootstrap, self.name, TOPIC]
        self._random = Random(seed)
        self._member: ClientProcess | None = None

    def step(self) -> None:
        """Look whether the member polls, or end it."""
        if self._member is None or not self._member.is_alive():
            self.end()
            self._member = ClientProcess(self._command)
            self.counts["members"] += 1
            return
        try:
            _polls, records = self._member.call("polled", None, PATIENCE_S)
            self.counts["records"] = max(self.counts["records"], records)
        except (Refused, AssertionError):
            self.end()
        if self._random.random() < 0.03:
            self.end()

    def end(self) -> None:
        """Kill the member."""
        if self._member is not None:
            self._member.clean_up()
            self._member = None


class Simple(Work):
    """Positions of groups without members, groups that are deleted, and new topics: what an operator does."""

    def __init__(self, cluster: Cluster, ledger: Ledger, seed: str) -> None:
        super().__init__("simple", pause_s=0.3)
        self._command = [*command_of("java"), "admin", cluster.bootstrap]
        self._ledger = ledger
        self._random = Random(seed)
        self._admin: ClientProcess | None = None

    def step(self) -> None:
        """Commit; now and then delete a group, or make a topic."""
        if self._admin is None:
            self._admin = ClientProcess(self._command)
        chance = self._random.random()
        try:
            if chance < 0.03:
                self._admin.call("delete", f"simple-{self._random.randrange(8)}", 2 * PATIENCE_S)
                self.counts["groups deleted"] += 1
            elif chance < 0.05:
                self.counts["topics"] += 1
                self._admin.call("create_topic", [f"made-{self.counts['topics']}", 1], 2 * PATIENCE_S)
            else:
                self._commit(self._admin)
        except Refused:
            self.counts["refused"] += 1
        except AssertionError:
            # It does not answer.
            self.end()

    def end(self) -> None:
        """Kill the client."""
        if self._admin is not None:
            self._admin.clean_up()
            self._admin = None

    def _commit(self, admin: ClientProcess) -> None:
        place = Place(f"simple-{self._random.randrange(8)}", self._random.randrange(PARTITIONS))
        offset, outcome = self._ledger.next_offset(place), Outcome.UNKNOWN
        try:
            admin.call("alter", [place.group, TOPIC, {str(place.partition): offset}], 2 * PATIENCE_S)
            outcome = Outcome.DONE
        finally:
            self._ledger.note(place, offset, outcome)
            self.counts[f"commits {outcome.value}"] += 1


class Messages(Work):
    """Messages for the groups to be behind of."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__("messages", pause_s=0.1)
        self._producer = Producer({"bootstrap.servers": cluster.bootstrap, "log_level": 0, "linger.ms": 20})

    def fill(self, count: int) -> None:
        """Write messages, and wait until they are there."""
        for number in range(count):
            self._producer.produce(TOPIC, b"%d" % number, partition=number % PARTITIONS)
            self._producer.poll(0)
        assert self._producer.flush(60) == 0, "messages are not written"

    def step(self) -> None:
        """Write one."""
        with suppress(BufferError):
            self._producer.produce(TOPIC, b"%f" % time.time(), partition=self.counts["messages"] % PARTITIONS)
            self.counts["messages"] += 1
        self._producer.poll(0)


def crews(cluster: Cluster, ledger: Ledger, clients: list[str], seed: int) -> list[Work]:
    """Everything that the named clients can do, and what needs none of them."""
    works: list[Work] = [Simple(cluster, ledger, f"{seed} simple")]
    for client in clients:
        works.append(Members(cluster, ledger, client, "classic", f"{seed} classic {client}"))
        if client in MODERN:
            works.append(Members(cluster, ledger, client, "consumer", f"{seed} consumer {client}"))
        if client in PRODUCERS:
            works.append(Transactions(cluster, ledger, client, f"{seed} transactional {client}"))
        if client in SHARING:
            works.append(Shares(cluster, client, f"{seed} share {client}"))
    return works
