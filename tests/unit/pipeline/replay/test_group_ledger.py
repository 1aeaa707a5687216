"""The ledger of a group's offsets: who moved which, from where to where; resets, transactions, runs of commits."""

from __future__ import annotations

from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Attribution, Reason, because, operation_headers, request_origin
from coordinator_server.offsets.attribution import rebalance_took, speaking_for
from coordinator_server.pipeline.replay.group_events import MOST_APART, Event, in_runs
from coordinator_server.pipeline.replay.group_ledger import GroupLedger
from protocol.record_batch import Record, iter_batches, read_headers
from tests.support.kafka_partition import ABORT, COMMIT, Pair, marker, of_transaction
from tests.support.segments import START_MS, Batch, encode, group_key, group_value, offset_key, offset_value

G = "g"
OFFSET_COMMIT, OFFSET_DELETE = 8, 47


class Log:
    """A ledger, and the log that it reads: an operation per batch."""

    def __init__(self) -> None:
        self.ledger = GroupLedger(G)
        self.events: list[Event] = []
        self._offset = 0

    def write(self, *pairs: Pair, client: str = "worker", api: int = OFFSET_COMMIT, said: Attribution | None = None) -> None:
        encoded = operation_headers(request_origin(api, 9, client, "10.0.0.7"), said)
        headers = read_headers(encoded, 0, len(encoded))[0]
        at_ms = START_MS + self._offset
        self.read(
            encode(Batch(tuple(Record(self._offset + n, at_ms, *pair, () if n else headers) for n, pair in enumerate(pairs))))
        )

    def read(self, data: bytes) -> None:
        for position, header in iter_batches(data):
            self.events += self.ledger.add(data, position, header)
            self._offset = header.next_offset

    def commit(self, offset: int | None, client: str = "worker", partition: int = 0, member: str = "") -> None:
        value = None if offset is None else offset_value(offset)
        self.write((offset_key(G, "t", partition), value), client=client, said=speaking_for(member, None))

    @property
    def offset(self) -> int:
        return self._offset


def told(found: list[Event]) -> list[tuple[str, int | None, int | None]]:
    return [(event.what, each.before, each.after) for event in found for each in event.changes]


def test_a_commit_that_sets_an_offset_back_is_a_reset() -> None:
    """Of a client without a membership: members commit what they read again."""
    log = Log()
    for offset in (10, 30):
        log.commit(offset)
    log.commit(3, "laptop")
    log.commit(4)

    assert told(log.events) == [
        ("offsets committed", None, 10),
        ("offsets committed", 10, 30),
        ("offsets reset", 30, 3),
        ("offsets committed", 3, 4),
    ]
    log.commit(1, member="m")
    assert told(log.events)[-1] == ("offsets committed", 4, 1)


def test_a_commit_of_a_client_for_operators_is_a_reset() -> None:
    """Forwards, too."""
    for client in ("coordinator-server-cli", "adminclient-3"):
        log = Log()
        log.commit(100, client)

        assert told(log.events) == [("offsets reset", None, 100)]


def test_who_commits_to_a_group_of_members_without_being_one_resets_it() -> None:
    log = Log()
    log.write((group_key(G), group_value(1, ["a"])), said=rebalance_took(1500))
    log.commit(5, member="a")
    log.write((group_key(G), group_value(2, [])))
    log.commit(9, "laptop")

    assert told(log.events) == [("offsets committed", None, 5), ("offsets reset", 5, 9)]
    assert [(each.what, each.joined, each.gone, each.after_ms) for each in log.events if not each.changes] == [
        ("generation", ("a",), (), 1500),
        ("empty", (), ("a",), None),
    ]


def test_an_operator_who_deletes_the_last_offset_creates_no_group() -> None:
    """Its record keeps the group until the next check of the retention."""
    log = Log()
    log.commit(13)
    why = because(Reason(Why.OFFSETS_DELETED))
    log.write((offset_key(G, "t", 0), None), (group_key(G), group_value(0, [])), api=OFFSET_DELETE, said=why)

    assert [each.what for each in log.events] == ["offsets committed", "offsets deleted", "kept"]
    assert told(log.events)[-1] == ("offsets deleted", 13, None)


def test_an_operation_is_one_event() -> None:
    """With all that it has changed; a deletion beside a commit is apart."""
    log = Log()
    reason = because(Reason(Why.OFFSETS_RESTORED, said="then"))
    log.commit(5, partition=2)
    log.write(*((offset_key(G, "t", each), offset_value(each)) for each in (0, 1)), (offset_key(G, "t", 2), None), said=reason)

    assert [(each.what, len(each.changes)) for each in log.events[1:]] == [("offsets restored", 2), ("offsets deleted", 1)]


def test_offsets_of_a_transaction_count_at_its_marker() -> None:
    """Those of an aborted one never; what they would have changed is told."""
    log = Log()
    log.commit(1)
    log.read(of_transaction(log.offset, 7, (offset_key(G, "t", 0), offset_value(5))))
    log.commit(2)
    assert told(log.events) == [("offsets committed", None, 1), ("offsets committed", 1, 2)]
    log.read(marker(log.offset, 7, COMMIT))
    log.read(of_transaction(log.offset, 7, (offset_key(G, "t", 0), offset_value(6))))
    log.read(marker(log.offset, 7, ABORT))
    log.read(marker(log.offset, 7, ABORT))

    assert told(log.events)[2:] == [("offsets committed", 2, 5), ("offsets not committed", 5, 6)]
    assert [each.in_transaction for each in log.events] == [False, False, True, True]
    assert log.events[2].at_ms == START_MS + 3


def test_a_group_of_transactions_alone_is_mentioned() -> None:
    """From the end of the first one on."""
    log = Log()
    log.read(of_transaction(0, 7, (offset_key(G, "t", 0), offset_value(5))))
    assert not log.ledger.has_events
    log.read(marker(1, 7, COMMIT))

    assert log.ledger.has_events


def runs(log: Log) -> list[tuple[str, int, list[tuple[int | None, int | None]]]]:
    return [
        (each.by.client_id if each.by else "", each.commits, [(one.before, one.after) for one in each.changes])
        for each in in_runs(log.events)
    ]


def test_commits_of_two_clients_to_their_own_partitions_are_two_runs() -> None:
    """However they alternate."""
    log = Log()
    for number in range(MOST_APART + 1):
        log.commit(number, "a", partition=0)
        log.commit(number, "b", partition=1)

    assert runs(log) == [("a", MOST_APART + 1, [(None, MOST_APART)]), ("b", MOST_APART + 1, [(None, MOST_APART)])]


def test_a_run_ends_when_another_client_commits_its_partition_or_something_else_happens() -> None:
    """So that each value before is the value after of the line before."""
    log = Log()
    for number in range(8):
        log.commit(number, "a")
    log.commit(20, "b")
    for number in range(21, 29):
        log.commit(number, "a")
    log.commit(3, "c")
    log.commit(4, "a")

    assert runs(log) == [
        ("a", 8, [(None, 7)]),
        ("b", 0, [(7, 20)]),
        ("a", 8, [(20, 28)]),
        ("c", 0, [(28, 3)]),
        ("a", 0, [(3, 4)]),
    ]
