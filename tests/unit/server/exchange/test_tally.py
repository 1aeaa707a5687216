"""Counts of requests, their errors and their times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Struct, inspect
from msgspec.structs import fields

from coordinator_server.histogram_bounds import REQUEST_BOUNDS_S
from coordinator_server.log.submit_counts import SubmitCounts
from coordinator_server.server.apis.table import ROWS
from coordinator_server.server.exchange.error_counts import error_counter, lists_of_structs
from coordinator_server.server.exchange.tally import FREQUENT, NEVER, ONE_IN, Tally
from protocol.api import APIS
from protocol.error_codes import ErrorCode
from protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsResponse
from protocol.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from protocol.messages.heartbeat import HeartbeatResponse
from protocol.messages.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from tests.unit.server.exchange.test_repeats import Peer


def tally_of(peer: Peer) -> Tally:
    return peer.row.tallies[4]


def test_every_request_is_counted_also_one_that_is_answered_again() -> None:
    peer = Peer()

    for _ in range(5):
        peer.beat("m")

    assert len(peer.handled) < 5
    assert tally_of(peer).requests == 5
    assert [each.requests for each in peer.row.tallies] == [0, 0, 0, 0, 5]


def test_answers_with_errors_are_counted() -> None:
    peer = Peer()
    peer.response = HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)

    for member in "ab":
        peer.beat(member)
    peer.response = HeartbeatResponse()
    peer.beat("c")

    assert tally_of(peer).errors == {ErrorCode.REBALANCE_IN_PROGRESS: 2}


def test_request_times_are_not_measured_before_the_first_scrape() -> None:
    peer = Peer()
    for each in range(2 * ONE_IN):
        peer.beat(str(each))
    assert sum(tally_of(peer).times) == 0

    tally_of(peer).measure("Heartbeat")
    for each in range(2 * ONE_IN):
        peer.beat(str(each))

    assert sum(tally_of(peer).times) == 2
    assert tally_of(peer).seconds > 0


def test_of_rare_requests_all_are_measured() -> None:
    tally = Tally()
    assert tally.unmeasured == NEVER

    tally.measure("JoinGroup")

    assert tally.unmeasured == 0


def test_a_time_is_in_the_class_whose_bound_it_does_not_exceed() -> None:
    tally = Tally()

    for seconds in (0.0, REQUEST_BOUNDS_S[0], REQUEST_BOUNDS_S[0] * 1.01, 1000.0):
        tally.count_time(seconds)

    assert tally.times == [2, 1, *[0] * (len(REQUEST_BOUNDS_S) - 2), 1]


def test_submits_are_counted_by_time_and_batches_by_size() -> None:
    counts = SubmitCounts()

    counts.count_refusal("no room", 5.0)
    counts.count_refusal("no room at all", 6.0)
    assert (counts.refusals, counts.refusal, counts.refused_at_s) == (2, "no room at all", 6.0)
    counts.count_submit(0.0003)
    counts.count_batch(256)
    counts.count_batch(257)

    assert (counts.submits, counts.times[2], sum(counts.times), counts.seconds) == (1, 1, 1, 0.0003)
    assert (counts.sizes[:2], sum(counts.sizes), counts.bytes) == ([1, 1], 2, 513)
    assert (counts.refusals, counts.refusal) == (2, None)


def test_frequent_apis_are_served() -> None:
    assert {api.name for api in APIS.values()} >= FREQUENT


GROUP = DeletableGroupResult
COMMIT = OffsetCommitResponse(
    topics=[
        OffsetCommitResponseTopic(partitions=[OffsetCommitResponsePartition(0, 3), OffsetCommitResponsePartition(1, 0)]),
        OffsetCommitResponseTopic(partitions=[OffsetCommitResponsePartition(0, 3)]),
    ]
)


@pytest.mark.parametrize(
    ("answer", "errors"),
    [
        (HeartbeatResponse(), {}),
        (HeartbeatResponse(error_code=22), {22: 1}),
        (DeleteGroupsResponse(results=[GROUP("a", 68), GROUP("b", 0), GROUP("c", 69)]), {68: 1, 69: 1}),
        (COMMIT, {3: 2}),
        (FindCoordinatorResponse(error_code=15), {15: 1}),
        (FindCoordinatorResponse(coordinators=[Coordinator(error_code=15), Coordinator()]), {15: 1}),
    ],
)
def test_the_outermost_errors_of_an_answer_count(answer: Any, errors: dict[int, int]) -> None:
    """Older versions of FindCoordinator have the error outside, newer ones in a list."""
    count, tally = error_counter(type(answer)), Tally()
    assert count is not None

    count(answer, tally)

    assert tally.errors == errors


def test_every_answer_has_errors_that_count() -> None:
    assert [row.response.__name__ for row in ROWS if error_counter(row.response) is None] == []


def test_lists_of_structs_are_found_as_msgspec_finds_them() -> None:
    """For every message of every API."""
    kinds: list[type[Struct]] = [message for api in APIS.values() for message in (api.request, api.response)]
    for kind in kinds:
        found = list(lists_of_structs(kind))
        assert found == list(lists_by_msgspec(kind)), kind
        kinds += [item for _, item in found]


def lists_by_msgspec(kind: type[Struct]) -> Iterator[tuple[str, type[Struct]]]:
    for field in fields(kind):
        known = inspect.type_info(field.type)
        for option in known.types if isinstance(known, inspect.UnionType) else (known,):
            if isinstance(option, inspect.ListType) and isinstance(option.item_type, inspect.StructType):
                yield field.name, option.item_type.cls


def test_an_answer_of_a_short_way_has_no_errors() -> None:
    count, tally = error_counter(OffsetCommitResponse), Tally()
    assert count is not None

    count(object(), tally)

    assert tally.errors == {}
