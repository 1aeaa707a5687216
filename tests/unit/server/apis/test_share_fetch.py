"""ShareFetch and ShareAcknowledge of virtual topics: sessions, epochs, waiting, and acknowledgements of nothing.

Kafka's rules are those of SharePartitionManager, ShareSessionContext and KafkaApis.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from coordinator_server.catalog.topics import Topic
from protocol.error_codes import ErrorCode
from protocol.messages.share_acknowledge import ShareAcknowledgeResponse
from protocol.messages.share_fetch import ShareFetchRequest, ShareFetchResponse
from tests.support.share_member import LOCK_MS, Batch, Place, ShareMember, ShareNode

ORDERS, PAYMENTS = Topic("orders", b"o" * 16, 3), Topic("payments", b"p" * 16, 2)
UNKNOWN_ID = b"u" * 16
O0, O1, P0 = (ORDERS.topic_id, 0), (ORDERS.topic_id, 1), (PAYMENTS.topic_id, 0)
BEYOND, UNKNOWN = (ORDERS.topic_id, 3), (UNKNOWN_ID, 0)
ACCEPT, RENEW = 1, 4

OK = ErrorCode.NONE
INVALID_REQUEST = ErrorCode.INVALID_REQUEST
NOT_FOUND = ErrorCode.SHARE_SESSION_NOT_FOUND
BAD_EPOCH = ErrorCode.INVALID_SHARE_SESSION_EPOCH
LIMIT = ErrorCode.SHARE_SESSION_LIMIT_REACHED
NO_PARTITION = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
NO_ID = ErrorCode.UNKNOWN_TOPIC_ID
BAD_STATE = ErrorCode.INVALID_RECORD_STATE


@pytest.fixture
def node() -> ShareNode:
    return ShareNode(ORDERS, PAYMENTS)


@pytest.fixture
def member(node: ShareNode) -> ShareMember:
    return ShareMember(node)


def errors(answer: ShareFetchResponse | None) -> dict[Place, int]:
    """What an answer says of each partition."""
    assert answer is not None
    assert answer.error_code == OK
    assert answer.acquisition_lock_timeout_ms == LOCK_MS
    return {(topic.topic_id, each.partition_index): each.error_code for topic in answer.responses for each in topic.partitions}


def outcomes(answer: Any) -> dict[Place, int]:
    """What an answer says of the acknowledgements of each partition."""
    assert answer.error_code == OK
    is_fetch = isinstance(answer, ShareFetchResponse)
    return {
        (topic.topic_id, each.partition_index): each.acknowledge_error_code if is_fetch else each.error_code
        for topic in answer.responses
        for each in topic.partitions
    }


def refused(answer: ShareFetchResponse | ShareAcknowledgeResponse | None) -> int:
    """The error of a request that did nothing."""
    assert answer is not None
    assert (answer.responses, answer.error_message, answer.acquisition_lock_timeout_ms) == ([], None, 0)
    return answer.error_code


def began(member: ShareMember, *places: Place) -> ShareMember:
    assert member.fetch(0, *places, min_bytes=0) is not None
    return member


# Waiting.


def test_a_fetch_waits_as_long_as_it_may_and_then_names_all_that_the_session_began_with(
    node: ShareNode, member: ShareMember
) -> None:
    assert member.fetch(0, O0, P0, max_wait_ms=700) is None

    assert node.wait() == [700]
    answer = member.received()
    assert errors(answer) == {O0: OK, P0: OK}
    assert [each.records for topic in answer.responses for each in topic.partitions] == [b"", b""]


def test_later_fetches_of_a_session_name_new_partitions_alone(node: ShareNode, member: ShareMember) -> None:
    began(member, O0)

    assert errors(member.fetch(1, min_bytes=0)) == {}
    assert errors(member.fetch(2, O1, O0, min_bytes=0)) == {O1: OK}
    assert errors(member.fetch(3, min_bytes=0)) == {}


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"min_bytes": 0}, {O0: OK, UNKNOWN: NO_ID}),
        ({"max_wait_ms": 0}, {O0: OK, UNKNOWN: NO_ID}),
        ({"max_wait_ms": -5}, {O0: OK, UNKNOWN: NO_ID}),
        ({"max_records": 0}, {UNKNOWN: NO_ID}),
        ({"max_bytes": 0}, {UNKNOWN: NO_ID}),
    ],
)
def test_a_fetch_without_partitions_is_answered_at_once(
    member: ShareMember, fields: dict[str, Any], found: dict[Place, int]
) -> None:
    assert errors(member.fetch(0, O0, UNKNOWN, **fields)) == found


def test_what_has_nothing_to_fetch_is_answered_at_once(member: ShareMember) -> None:
    assert errors(member.fetch(0, BEYOND, UNKNOWN)) == {BEYOND: NO_PARTITION, UNKNOWN: NO_ID}
    assert errors(member.fetch(1, (ORDERS.topic_id, -1))) == {
        BEYOND: NO_PARTITION,
        UNKNOWN: NO_ID,
        (ORDERS.topic_id, -1): NO_PARTITION,
    }
    assert errors(member.fetch(2, forget=(BEYOND, UNKNOWN, (ORDERS.topic_id, -1)))) == {}


def test_an_error_is_repeated_until_it_is_gone_and_that_is_said_once(node: ShareNode, member: ShareMember) -> None:
    began(member, BEYOND, O0)
    assert errors(member.fetch(1, min_bytes=0)) == {BEYOND: NO_PARTITION}
    node.topics[ORDERS.topic_id] = Topic("orders", ORDERS.topic_id, 4)

    assert errors(member.fetch(2, min_bytes=0)) == {BEYOND: OK}
    assert errors(member.fetch(3, min_bytes=0)) == {}


def test_a_deleted_topic_is_one_that_was_known(node: ShareNode, member: ShareMember) -> None:
    began(member, O0, UNKNOWN)
    del node.topics[ORDERS.topic_id]

    assert errors(member.fetch(1, min_bytes=0)) == {O0: NO_PARTITION, UNKNOWN: NO_ID}


def test_what_is_forgotten_is_not_fetched(member: ShareMember) -> None:
    began(member, O0)

    assert errors(member.fetch(1, O1, forget=(O0, O1, P0, UNKNOWN))) == {}
    assert errors(member.fetch(2, O0, min_bytes=0)) == {O0: OK}


# Sessions.


def test_epochs_count_and_begin_again_after_the_last(node: ShareNode, member: ShareMember) -> None:
    began(member, O0)
    session = node.share_sessions.existing(("g", "m"))  # type: ignore[arg-type] # equal to a SessionKey
    session.epoch = 2**31 - 1

    assert errors(member.fetch(2**31 - 1, min_bytes=0)) == {}
    assert errors(member.fetch(1, min_bytes=0)) == {}


@pytest.mark.parametrize("epoch", [2, 0x7FFFFFFF, -2])
def test_another_epoch_is_refused_and_the_session_stays(member: ShareMember, epoch: int) -> None:
    began(member, O0)

    assert refused(member.fetch(epoch, O1)) == BAD_EPOCH
    assert refused(member.acknowledge(epoch, {})) == BAD_EPOCH
    assert errors(member.fetch(1, min_bytes=0)) == {}


@pytest.mark.parametrize("epoch", [1, -1, -2])
def test_without_a_session_only_epoch_0_is_served(member: ShareMember, epoch: int) -> None:
    assert refused(member.fetch(epoch)) == NOT_FOUND
    assert refused(member.acknowledge(epoch, {})) == NOT_FOUND


def test_sessions_are_those_of_a_member_in_a_group(node: ShareNode, member: ShareMember) -> None:
    began(member, O0)
    for other in (ShareMember(node, "n"), ShareMember(node, "m", "h")):
        assert refused(other.fetch(1)) == NOT_FOUND


def test_epoch_0_begins_again(member: ShareMember) -> None:
    began(member, O0)
    assert errors(member.fetch(1, min_bytes=0)) == {}
    began(member, O1)

    assert errors(member.fetch(1, O0, O1, min_bytes=0)) == {O0: OK}


def test_the_last_epoch_ends_the_session_at_once(node: ShareNode, member: ShareMember) -> None:
    began(member, O0)

    assert errors(member.fetch(-1, O1)) == {}
    assert (len(node.share_sessions), node.share_sessions.partitions) == (0, 0)
    assert refused(member.fetch(1)) == NOT_FOUND


def test_a_share_acknowledge_may_end_a_session_and_may_not_begin_one(node: ShareNode, member: ShareMember) -> None:
    began(member, O0)

    assert refused(member.acknowledge(0, {})) == BAD_EPOCH
    assert outcomes(member.acknowledge(1, {})) == {}
    assert outcomes(member.acknowledge(-1, {O0: [(0, 0, [ACCEPT])]})) == {O0: BAD_STATE}
    assert len(node.share_sessions) == 0


def test_a_session_ends_with_its_connection(node: ShareNode, member: ShareMember) -> None:
    began(member, O0)
    other = ShareMember(node)
    assert errors(other.fetch(1, min_bytes=0)) == {}

    other.disconnect()
    assert len(node.share_sessions) == 1
    member.disconnect()
    assert (len(node.share_sessions), node.share_sessions.partitions) == (0, 0)


def test_a_session_that_began_again_elsewhere_outlives_its_first_connection(node: ShareNode, member: ShareMember) -> None:
    began(member, O0)
    other = began(ShareMember(node), O0)
    member.disconnect()

    assert errors(other.fetch(1, min_bytes=0)) == {}


def test_a_fetch_that_waits_ends_with_its_connection(node: ShareNode, member: ShareMember) -> None:
    assert member.fetch(0, O0) is None
    member.disconnect()

    node.wait()
    assert member.transport.writes == []
    assert len(node.share_sessions) == 0


def test_a_fetch_whose_session_has_gone_on_elsewhere_says_so(node: ShareNode, member: ShareMember) -> None:
    began(member, O0)
    assert member.fetch(1, O1) is None
    assert errors(ShareMember(node).fetch(2, min_bytes=0)) == {O1: OK}

    node.wait()
    answer = member.received()
    assert (answer.error_code, answer.responses) == (BAD_EPOCH, [])


def test_the_next_request_of_a_session_waits_for_the_last_one(node: ShareNode, member: ShareMember) -> None:
    """Kafka does not read it before. Another session of the connection does not wait."""
    began(member, O0)
    assert member.fetch(1) is None
    member.member_id = "n"
    assert member.fetch(0, O0) is None
    member.member_id = "m"
    assert member.acknowledge(2, {}) is None

    assert len(node.waiting) == 2
    assert node.share_sessions.existing(("g", "m")).epoch == 2  # type: ignore[arg-type] # equal to a SessionKey
    node.wait()
    assert node.share_sessions.existing(("g", "m")).epoch == 3  # type: ignore[arg-type] # equal to a SessionKey


# Limits.


def test_one_session_too_many_is_refused_after_its_wait(node: ShareNode) -> None:
    node = ShareNode(ORDERS, sessions=2)
    members = [ShareMember(node, str(number)) for number in range(3)]
    for each in members[:2]:
        began(each, O0)
    assert members[2].fetch(0, O0, max_wait_ms=300, min_bytes=0) is None

    assert node.wait() == [300]
    assert refused(members[2].received()) == LIMIT
    began(members[0], O0)
    members[1].fetch(-1)
    began(members[2], O0)


def test_all_sessions_together_have_so_many_partitions(node: ShareNode) -> None:
    """A session that exceeds it ends. What was forgotten counts until the session ends."""
    node = ShareNode(ORDERS, PAYMENTS, partitions=3)
    first, second = began(ShareMember(node, "1"), O0, O1), began(ShareMember(node, "2"), O0)
    assert second.fetch(1, O1, forget=(O0,)) is None
    node.wait()

    assert refused(second.received()) == LIMIT
    assert refused(second.fetch(2)) == NOT_FOUND
    assert errors(first.fetch(1, P0, forget=(O0,), min_bytes=0)) == {P0: OK}
    assert node.share_sessions.partitions == 3
    assert second.fetch(0, O0) is None


def test_a_partition_named_twice_fails_as_in_kafka(node: ShareNode, member: ShareMember) -> None:
    """Only where a session begins, which then is none."""
    assert refused(member.fetch(0, O0, O0)) == ErrorCode.UNKNOWN_SERVER_ERROR
    assert len(node.share_sessions) == 0
    began(member, O0)
    assert errors(member.fetch(1, O1, O1, min_bytes=0)) == {O1: OK}


@pytest.mark.parametrize(
    ("group_id", "member_id", "error"),
    [(None, "m", INVALID_REQUEST), ("g", "", INVALID_REQUEST), ("g", "m" * 37, INVALID_REQUEST), ("", "m" * 36, NOT_FOUND)],
)
def test_a_session_has_a_group_and_a_member(node: ShareNode, group_id: str | None, member_id: str, error: int) -> None:
    member = ShareMember(node, member_id, group_id)

    assert refused(member.fetch(1)) == error
    assert refused(member.acknowledge(1, {})) == error


def test_a_large_session_is_answered_in_steps(node: ShareNode) -> None:
    node.topics[ORDERS.topic_id] = Topic("orders", ORDERS.topic_id, 8_000)
    member = ShareMember(node)
    places = [(ORDERS.topic_id, index) for index in range(8_000)]
    assert member.fetch(0, *places) is None
    node.wait()

    assert errors(member.received()) == dict.fromkeys(places, OK)
    assert errors(member.fetch(1, min_bytes=0)) == {}
    assert errors(member.fetch(2, forget=tuple(places[1:]), min_bytes=0)) == {}
    node.topics[ORDERS.topic_id] = ORDERS
    assert member.fetch(3) is None
    node.topics.clear()
    node.wait()
    assert errors(member.received()) == {places[0]: NO_PARTITION}


def test_a_large_session_with_errors_keeps_no_turn_for_itself(node: ShareNode) -> None:
    """Its requests are small, and each looks at all partitions again."""
    node.topics[ORDERS.topic_id] = Topic("orders", ORDERS.topic_id, 8_000)
    member = ShareMember(node)
    places = [(ORDERS.topic_id, index) for index in range(1, 8_001)]
    assert member.fetch(0, *places) is None
    node.wait()
    assert errors(member.received()) == dict.fromkeys(places, OK) | {places[-1]: NO_PARTITION}

    turns = member.turns_of(ShareFetchRequest("g", "m", 1, 0, 1, max_records=1))
    assert errors(member.received()) == {places[-1]: NO_PARTITION}
    assert turns >= 8


# Acknowledgements.

VALID: Batch = (5, 7, [ACCEPT])
CASES: list[tuple[str, list[Batch], ErrorCode]] = [
    ("of nothing", [VALID], BAD_STATE),
    ("each offset", [(5, 7, [1, 2, 3])], BAD_STATE),
    ("a gap", [(5, 6, [0, 1])], BAD_STATE),
    ("several", [(0, 4, [1]), (4, 4, [2]), (9, 12, [3])], BAD_STATE),
    ("below the start", [(-1, -1, [1])], OK),
    ("none", [], OK),
    ("backwards", [(7, 5, [1])], INVALID_REQUEST),
    ("out of order", [(5, 7, [1]), (6, 9, [1])], INVALID_REQUEST),
    ("negative", [(-2, 5, [1])], INVALID_REQUEST),
    ("without types", [(5, 7, [])], INVALID_REQUEST),
    ("too few types", [(5, 7, [1, 1])], INVALID_REQUEST),
    ("too many types", [(5, 5, [1, 1])], INVALID_REQUEST),
    ("unknown type", [(5, 7, [5])], INVALID_REQUEST),
    ("negative type", [(5, 7, [-1])], INVALID_REQUEST),
    ("renewal that is none", [(5, 7, [RENEW])], INVALID_REQUEST),
    ("the second one", [(0, 0, [1]), (3, 2, [1])], INVALID_REQUEST),
]


@pytest.mark.parametrize(("batches", "error"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_acknowledgements_are_refused_as_kafka_refuses_them(member: ShareMember, batches: list[Batch], error: int) -> None:
    """With a valid one beside them: without it, Kafka says nothing of partitions without acknowledgements."""
    began(member, O0, O1)

    assert outcomes(member.acknowledge(1, {O0: batches, O1: [VALID]})) == {O0: error, O1: BAD_STATE}
    if batches:
        answer = member.fetch(2, acknowledge={O0: batches, O1: [VALID]}, min_bytes=0)
        assert outcomes(answer) == {O0: error, O1: BAD_STATE}


def test_what_cannot_be_acknowledged_says_why(member: ShareMember) -> None:
    began(member, O0)
    answer = member.acknowledge(1, {O0: [VALID], O1: [VALID], BEYOND: [VALID], UNKNOWN: [VALID], P0: []})

    assert outcomes(answer) == {O0: BAD_STATE, O1: NO_PARTITION, BEYOND: NO_PARTITION, UNKNOWN: NO_ID, P0: OK}
    assert answer is not None
    messages = {
        (topic.topic_id, each.partition_index): each.error_message for topic in answer.responses for each in topic.partitions
    }
    assert messages == {
        O0: "Batch record not found. The request batch offsets are not found in the cache.",
        O1: "This server does not host this topic-partition.",
        BEYOND: None,
        UNKNOWN: None,
        P0: None,
    }


def test_nothing_is_said_of_partitions_without_acknowledgements_alone(member: ShareMember) -> None:
    began(member, O0, P0)

    assert outcomes(member.acknowledge(1, {O0: [], UNKNOWN: [], P0: [(3, 2, [1])]})) == {UNKNOWN: NO_ID, P0: INVALID_REQUEST}
    # Neither of those beside one of the same topic that is refused.
    assert outcomes(member.acknowledge(2, {O0: [], O1: [(3, 2, [1])]})) == {O1: INVALID_REQUEST}


def test_acknowledgements_need_the_right_to_read_the_topic(node: ShareNode, member: ShareMember) -> None:
    began(member, O0, P0)
    access = SimpleNamespace(verdicts=lambda _operation, _type: {"orders": False, "payments": True})
    node.authorizer = SimpleNamespace(access=lambda *_: access, report=lambda *_: None)

    assert outcomes(member.acknowledge(1, {O0: [VALID], P0: [VALID]})) == {
        O0: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        P0: BAD_STATE,
    }


def test_what_was_fetched_and_forgotten_can_still_be_acknowledged(member: ShareMember) -> None:
    began(member, O0)
    assert errors(member.fetch(1, forget=(O0,))) == {}

    assert outcomes(member.acknowledge(2, {O0: [VALID]})) == {O0: BAD_STATE}


def test_a_fetch_answers_acknowledgements_and_partitions_together(node: ShareNode, member: ShareMember) -> None:
    """A partition with acknowledgements is in the answer, whether it has news or not."""
    began(member, O0)
    assert member.fetch(1, O1, acknowledge={O0: [VALID], UNKNOWN: [VALID]}) is None
    node.wait()
    answer = member.received()

    assert errors(answer) == {O0: OK, O1: OK, UNKNOWN: NO_ID}
    assert outcomes(answer) == {O0: BAD_STATE, O1: OK, UNKNOWN: NO_ID}


def test_a_session_does_not_begin_with_acknowledgements(node: ShareNode, member: ShareMember) -> None:
    began(member, O0)

    assert refused(member.fetch(0, acknowledge={O0: [VALID]})) == INVALID_REQUEST
    assert errors(member.fetch(1, min_bytes=0)) == {}


def test_the_last_request_answers_acknowledgements(node: ShareNode, member: ShareMember) -> None:
    began(member, O0)

    assert outcomes(member.fetch(-1, acknowledge={O0: [VALID]})) == {O0: BAD_STATE}
    assert len(node.share_sessions) == 0


NOTHING: dict[str, Any] = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 0, "max_records": 0}


def test_a_renewal_fetches_nothing(member: ShareMember) -> None:
    """It is answered at once, and what is new in the session is told later."""
    began(member, O0)
    answer = member.fetch(1, O1, acknowledge={O0: [(5, 7, [RENEW])]}, is_renew_ack=True, **NOTHING)

    assert outcomes(answer) == {O0: BAD_STATE, O1: OK}
    assert outcomes(member.acknowledge(2, {O0: [(5, 7, [RENEW])]}, is_renew_ack=True)) == {O0: BAD_STATE}
    assert errors(member.fetch(3, min_bytes=0)) == {O1: OK}


@pytest.mark.parametrize("field", sorted(NOTHING))
def test_a_renewal_that_fetches_is_refused(member: ShareMember, field: str) -> None:
    began(member, O0)

    assert refused(member.fetch(1, is_renew_ack=True, **{**NOTHING, field: 1})) == INVALID_REQUEST
    assert errors(member.fetch(1, min_bytes=0)) == {}


def test_version_1_knows_no_renewal(member: ShareMember) -> None:
    began(member, O0)
    answer = member.acknowledge(1, {O0: [(5, 7, [RENEW])]}, version=1)

    assert answer is not None
    assert [(each.partition_index, each.error_code) for topic in answer.responses for each in topic.partitions] == [
        (0, INVALID_REQUEST)
    ]
    assert errors(member.fetch(2, acknowledge={O0: [VALID]}, version=1, min_bytes=0)) == {O0: OK}


def test_long_acknowledgements_are_checked_to_their_end(member: ShareMember) -> None:
    """In steps; a bad type is found wherever it is."""
    began(member, O0)
    count = 200_000

    for epoch, (last, error) in enumerate([(ACCEPT, BAD_STATE), (5, INVALID_REQUEST)], start=1):
        answer = member.acknowledge(epoch, {O0: [(0, count - 1, [ACCEPT] * (count - 1) + [last])]})
        assert outcomes(answer) == {O0: error}


def test_a_large_request_whose_connection_ends_leaves_no_session(node: ShareNode, member: ShareMember) -> None:
    node.topics[ORDERS.topic_id] = Topic("orders", ORDERS.topic_id, 8_000)
    request = ShareFetchRequest("g", "m", 0, 500, 1)
    for turns in range(0, 14, 3):
        other = ShareMember(node)
        other.send_half(request, [(ORDERS.topic_id, index) for index in range(6_000)], turns)
        other.disconnect()
        node.loop.work()

        assert (len(node.share_sessions), node.share_sessions.partitions) == (0, 0)
