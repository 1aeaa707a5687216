"""What administrators are told of transactions."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.server.apis import transaction_states
from coordinator_server.server.apis.transaction_states import DESCRIBE_TRANSACTIONS_API, LIST_TRANSACTIONS_API
from protocol.error_codes import ErrorCode
from protocol.messages.describe_transactions import DescribeTransactionsRequest, TopicData, TransactionState
from protocol.messages.list_transactions import ListTransactionsRequest
from tests.support.transaction_node import TransactionNode

pytestmark = pytest.mark.interpreted

NONE, LOADING = ErrorCode.NONE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


@pytest.fixture
def node() -> TransactionNode:
    """One with the ids ``a`` to ``e``: ``b`` has an open transaction since a minute, ``c`` a committed one."""
    node = TransactionNode()
    for name in "abcde":
        producer = node.log.init(name)
        if name in "bc":
            node.log.add(name, producer, ("orders", 2), ("__consumer_offsets", 1), ("orders", 0))
        if name == "c":
            node.log.end(name, producer)
            node.log.deliver()
    node.log.clock.advance(60_000)
    return node


def listed(node: TransactionNode, version: int = 2, **filters: Any) -> tuple[ErrorCode, list[str], str]:
    """The error, the unknown states, and the ids in one word."""
    answer = node.ask(LIST_TRANSACTIONS_API, ListTransactionsRequest(**filters), version)
    ids = sorted(each.transactional_id for each in answer.transaction_states)
    return ErrorCode(answer.error_code), answer.unknown_state_filters, "".join(ids)


def test_an_id_is_described(node: TransactionNode) -> None:
    """With its partitions in order; an id without a transaction has none, and no time."""
    asked = DescribeTransactionsRequest(["b", "a"])
    [opened, empty] = node.ask(DESCRIBE_TRANSACTIONS_API, asked, 0).transaction_states

    known = node.log.state("b")
    assert known is not None
    topics = [TopicData("__consumer_offsets", [1]), TopicData("orders", [0, 2])]
    assert opened == TransactionState(0, "b", "Ongoing", 60_000, known.start_ms, known.producer_id, 0, topics)
    assert (empty.transaction_state, empty.transaction_start_time_ms, empty.topics) == ("Empty", -1, [])


def test_ids_without_a_state_here_say_why(node: TransactionNode) -> None:
    asked = DescribeTransactionsRequest(["", "nobody", "there", "loading", "nobody"])
    found = node.ask(DESCRIBE_TRANSACTIONS_API, asked, 0).transaction_states

    missing = TransactionState(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, "nobody")
    assert found == [
        TransactionState(ErrorCode.INVALID_REQUEST),
        missing,
        TransactionState(ErrorCode.NOT_COORDINATOR, "there"),
        TransactionState(LOADING, "loading"),
        missing,
    ]


@pytest.mark.parametrize(
    ("filters", "unknown", "ids"),
    [
        ({}, [], "abcde"),
        ({"state_filters": ["Ongoing", "CompleteCommit"]}, [], "bc"),
        ({"state_filters": ["Ongoing", "ongoing", "Odd", "Odd"]}, ["Odd", "ongoing"], "b"),
        ({"state_filters": ["Odd"]}, ["Odd"], ""),
        ({"producer_id_filters": [4_000, 4_002, 9]}, [], "ac"),
        ({"producer_id_filters": [4_000], "state_filters": ["Ongoing"]}, [], ""),
        ({"duration_filter": 59_999}, [], "abcde"),
        ({"duration_filter": 60_000}, [], "ade"),
        ({"duration_filter": -2}, [], "abcde"),
        ({"transactional_id_pattern": "[a-c]"}, [], "abc"),
        ({"transactional_id_pattern": "[a-c]", "state_filters": ["Ongoing"]}, [], "b"),
        ({"transactional_id_pattern": ""}, [], "abcde"),
    ],
)
def test_filters(node: TransactionNode, filters: dict[str, Any], unknown: list[str], ids: str) -> None:
    """All of them must match. An id without a transaction has run for ever, as in Kafka."""
    assert listed(node, **filters) == (NONE, unknown, ids)


@pytest.mark.parametrize("version", range(3))
def test_a_long_list_is_made_in_steps(node: TransactionNode, monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    monkeypatch.setattr(transaction_states, "IDS_PER_STEP", 2)

    assert listed(node, version) == (NONE, [], "abcde")


def test_a_list_is_whole_or_refused(node: TransactionNode) -> None:
    """Shards of other loops are listed there, and one that loads will be here."""
    node.transaction_partitions = 3

    assert listed(node) == (LOADING, [], "")


@pytest.mark.parametrize("pattern", ["(", "a(?=b)", "a" * 1_001])
def test_patterns_that_are_refused(node: TransactionNode, pattern: str) -> None:
    assert listed(node, transactional_id_pattern=pattern) == (ErrorCode.INVALID_REGULAR_EXPRESSION, [], "")
