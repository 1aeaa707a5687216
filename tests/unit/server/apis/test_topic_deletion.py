"""DeleteTopics before the catalog: unknown topics of a large request are refused, and never reach it."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.catalog.delete import NO_SUCH_ID, NO_SUCH_NAME
from coordinator_server.catalog.topics import Topic
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.server.apis.topics import DELETE_TOPICS_API, TOPICS_PER_STEP
from protocol.error_codes import ErrorCode
from protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from tests.support.api_peer import ApiPeer

INTERNAL = "__consumer_offsets"
DISABLED = ErrorCode.TOPIC_DELETION_DISABLED
ZERO = bytes(16)
UNKNOWN = [(f"unknown-{number}", ZERO) for number in range(2 * TOPICS_PER_STEP)]


class Site:
    """A node with the topic ``orders``. The catalog answers that it has deleted what reaches it."""

    def __init__(self) -> None:
        self.orders = Topic("orders", b"o" * 16, 1)
        self.internal = (INTERNAL,)
        self.catalog = self.image = self
        self.reached: list[tuple[str | None, bytes]] = []
        self.is_current = True
        self.refusal: ErrorCode | None = None

    def topic(self, name: str) -> Topic | None:
        return self.orders if name == "orders" else None

    def topic_by_id(self, topic_id: bytes) -> Topic | None:
        return self.orders if topic_id == self.orders.topic_id else None

    def check_current(self) -> None:
        if not self.is_current:
            raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)

    def write(self, operation: object, context: object, request: DeleteTopicsRequest, reply: Any) -> None:
        """As the catalog."""
        self.reached += [(topic.name, topic.topic_id) for topic in request.topics]
        if self.refusal is not None:
            raise CoordinatorError(self.refusal)
        reply.complete(
            DeleteTopicsResponse(responses=[DeletableTopicResult(each.name, each.topic_id) for each in request.topics])
        )


@pytest.fixture
def site() -> Site:
    return Site()


def ask(site: Site, *topics: tuple[str | None, bytes]) -> list[DeletableTopicResult]:
    answer = ApiPeer(DELETE_TOPICS_API, site).ask(DeleteTopicsRequest([DeleteTopicState(*topic) for topic in topics]), 6)
    assert isinstance(answer, DeleteTopicsResponse)
    assert len(answer.responses) == len(topics)
    return answer.responses


def delete(site: Site, *topics: tuple[str | None, bytes]) -> list[DeletableTopicResult]:
    """The answers for some topics among many that do not exist; without those that do not."""
    told = ask(site, *UNKNOWN[1:], *topics, *UNKNOWN[:1])
    for name, topic_id in UNKNOWN:
        told.remove(DeletableTopicResult(name, topic_id, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NO_SUCH_NAME))
    return told


def test_unknown_topics_do_not_reach_the_catalog(site: Site) -> None:
    """By name or by id."""
    assert delete(site) == []
    assert delete(site, (None, b"u" * 16)) == [
        DeletableTopicResult(None, b"u" * 16, ErrorCode.UNKNOWN_TOPIC_ID, NO_SUCH_ID),
    ]
    assert site.reached == []


@pytest.mark.parametrize(
    "topic",
    [
        ("orders", ZERO),
        (None, b"o" * 16),
        # What is wrong with these, the catalog says.
        (INTERNAL, ZERO),
        (None, ZERO),
        ("orders", b"o" * 16),
        ("other", b"o" * 16),
    ],
)
def test_deletions_of_other_topics_reach_the_catalog(site: Site, topic: tuple[str | None, bytes]) -> None:
    assert delete(site, topic) == [DeletableTopicResult(*topic)]
    assert site.reached == [topic]


@pytest.mark.parametrize(
    ("version", "error"),
    [(1, ErrorCode.INVALID_REQUEST), (2, ErrorCode.INVALID_REQUEST), (3, DISABLED), (5, DISABLED), (6, DISABLED)],
)
def test_deletion_can_be_disabled(site: Site, version: int, error: ErrorCode) -> None:
    """Before version 3 there is no error for it."""
    site.refusal = DISABLED
    topics = [DeleteTopicState("orders")] if version >= 6 else []

    answer = ApiPeer(DELETE_TOPICS_API, site).ask(DeleteTopicsRequest(topics, [] if topics else ["orders"]), version)

    assert isinstance(answer, DeleteTopicsResponse)
    assert [(each.name, each.error_code) for each in answer.responses] == [("orders", error)]


@pytest.mark.parametrize("version", [1, 5])
def test_older_versions_name_topics_only(site: Site, version: int) -> None:
    answer = ApiPeer(DELETE_TOPICS_API, site).ask(DeleteTopicsRequest([], ["orders", INTERNAL]), version)

    assert isinstance(answer, DeleteTopicsResponse)
    assert [each.name for each in answer.responses] == ["orders", INTERNAL]
    assert site.reached == [("orders", ZERO), (INTERNAL, ZERO)]


def test_a_topic_that_is_named_twice_reaches_it(site: Site) -> None:
    """Also one that does not exist: the request is wrong."""
    assert len(delete(site, ("twice", ZERO), ("twice", ZERO))) == 2
    assert site.reached == [("twice", ZERO)] * 2


def test_all_topics_of_a_small_request_reach_it(site: Site) -> None:
    topics = [("orders", ZERO), *UNKNOWN[:5]]

    assert [each.error_code for each in ask(site, *topics)] == [ErrorCode.NONE] * 6
    assert site.reached == topics


def test_a_loop_that_may_not_know_all_topics_denies_none(site: Site) -> None:
    """The client asks again."""
    site.is_current = False

    assert {each.error_code for each in ask(site, *UNKNOWN)} == {ErrorCode.NOT_CONTROLLER}
    assert site.reached == []
