"""Why a group rebalanced, of which the log has no reason: Kafka's. It follows from who came and went, and is called derived."""

from __future__ import annotations

import pytest

from coordinator_server.cli.group_words import event_cause
from coordinator_server.machine.provenance import Reason
from coordinator_server.pipeline.replay.consumer_events import EPOCH
from coordinator_server.pipeline.replay.group_events import EMPTY, GENERATION, Client, Event
from coordinator_server.pipeline.replay.group_ledger import GroupLedger
from coordinator_server.pipeline.states.changes import Change
from protocol.record_batch import Record, read_header
from tests.support.consumer_records import Pair, group_epoch, member
from tests.support.segments import Batch, encode

CLIENTS = {"a-1": Client("a", "10.0.0.1"), "a-2": Client("a", "10.0.0.1"), "b-1": Client("b", "10.0.0.2")}
NOBODY = "no member came or went: one joined again, or its topics changed (derived)"


@pytest.mark.parametrize(
    ("what", "joined", "gone", "cause"),
    [
        (GENERATION, ("a-1",), (), "a-1 at 10.0.0.1 joined (derived)"),
        (GENERATION, (), ("b-1",), "b-1 at 10.0.0.2 left, or timed out (derived)"),
        (GENERATION, ("a-2",), ("a-1",), "a-1 at 10.0.0.1 began anew as a-2 (derived)"),
        (GENERATION, ("b-1",), ("a-1",), "b-1 at 10.0.0.2 joined; a-1 at 10.0.0.1 left, or timed out (derived)"),
        (GENERATION, (), (), NOBODY),
        (EPOCH, (), (), NOBODY),
        (EMPTY, (), (), ""),
    ],
)
def test_a_cause_is_derived_from_who_came_and_went(what: str, joined: tuple[str, ...], gone: tuple[str, ...], cause: str) -> None:
    assert event_cause(Event(0, what, 3, 1, joined=joined, gone=gone, clients=CLIENTS)) == cause


def test_a_reason_of_the_log_is_not_derived() -> None:
    by = Change(0, 0, "JoinGroup v9", reasons=(Reason("member-joined", "a-1"),))

    assert event_cause(Event(0, GENERATION, 3, 1, joined=("a-1",), by=by, clients=CLIENTS)) == "a-1 at 10.0.0.1 joined"


def test_epochs_of_consumer_groups_have_those_who_came_and_went_before_them() -> None:
    """Also if the coordinator has put several operations into one batch."""
    ledger = GroupLedger("g")
    found: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    offset = 0

    def append(*pairs: Pair) -> None:
        nonlocal offset
        records = tuple(Record(offset + at, 1000 + offset, *each) for at, each in enumerate(pairs))
        offset += len(pairs)
        data = encode(Batch(records))
        events = ledger.add(data, 0, read_header(data))
        found.extend((each.joined, each.gone) for each in events if each.epoch is not None and each.what in (EPOCH, EMPTY))

    append(member("g", "a"), group_epoch("g", 1))
    append(member("g", "b"), group_epoch("g", 2), member("g", "c"), group_epoch("g", 3))
    append(member("g", "b"), group_epoch("g", 4))
    append(member("g", "a", None), group_epoch("g", 5))

    assert found == [(("a",), ()), (("b",), ()), (("c",), ()), ((), ()), ((), ("a",))]
