"""StreamsGroupHeartbeat: the client's rights, and the internal topics that it creates (Kafka's ``AutoTopicCreationManager``)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from coordinator_server.group.streams.answer import WithMissingTopics
from coordinator_server.group.streams.configured_topology import InternalTopic
from coordinator_server.group.streams.status import MISSING_INTERNAL_TOPICS
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.streams_groups import STREAMS_GROUP_HEARTBEAT_API
from coordinator_server.server.exchange.steps import at_once
from coordinator_server.server.guard.access import ApiAccess, Asked
from coordinator_server.server.hosting.streams_topics import MOST_FAILURES, StreamsTopics
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.create_topics import CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.streams_group_heartbeat import (
    Status,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    Topology,
)

CONTEXT = RequestContext("c", "h", 88, 0)


class Site:
    """A node whose groups miss topics, and whose catalog answers when it is told to."""

    def __init__(self, *names: str, allowed: set[str] | None = None) -> None:
        self.now_ms = 0
        self.names = names
        self.asked: list[list[str]] = []
        self.waiting: list[Any] = []
        self.denied: list[list[str]] = []
        self.requests: list[CreateTopicsRequest] = []
        verdicts = dict.fromkeys(names, True) if allowed is None else {name: name in allowed for name in names}
        access = SimpleNamespace(allows=lambda *_: False, verdicts=lambda operation, kind: verdicts)
        authorizer = SimpleNamespace(
            access=lambda *_: access, report=lambda context, operation, kind, denied: self.denied.append(list(denied))
        )
        self.node: Any = SimpleNamespace(
            partition_of=lambda group_id: 0,
            groups=SimpleNamespace(write=self._write),
            catalog=SimpleNamespace(write=self._create),
            streams_topics=StreamsTopics(lambda: self.now_ms),
            group_settings=lambda group_id: SimpleNamespace(streams=SimpleNamespace(heartbeat_interval_ms=5000)),
            authorizer=None if allowed is None else authorizer,
            audit=None,
        )

    def _write(self, partition: int, operation: Any, context: Any, request: Any, reply: Any) -> None:
        status = [Status(MISSING_INTERNAL_TOPICS, "Internal topics are missing: …")]
        topics = {name: InternalTopic(name, 3, 0, {"cleanup.policy": "compact"}) for name in self.names}
        reply.complete(WithMissingTopics(StreamsGroupHeartbeatResponse(status=status), topics))

    def _create(self, operation: Any, context: Any, request: CreateTopicsRequest, reply: Any) -> None:
        self.requests.append(request)
        self.asked.append([topic.name for topic in request.topics])
        self.waiting.append(reply)

    def beat(self) -> str:
        """Send a heartbeat. Return what its status says after the first sentence."""
        answers: list[StreamsGroupHeartbeatResponse] = []
        reply: Any = SimpleNamespace(complete=answers.append, connection=SimpleNamespace(use_up=lambda units: None))
        STREAMS_GROUP_HEARTBEAT_API.handle(self.node, CONTEXT, StreamsGroupHeartbeatRequest("g", "m", 1), reply)
        [status] = answers[0].status or []
        return status.status_detail.removeprefix("Internal topics are missing: …")

    def answer(self, **errors: str) -> None:
        """Let the catalog answer the oldest request: an error for some of its topics."""
        results = [
            CreatableTopicResult(
                name, error_code=ErrorCode.INVALID_CONFIG if name in errors else 0, error_message=errors.get(name)
            )
            for name in self.asked[-len(self.waiting)]
        ]
        self.waiting.pop(0).complete(CreateTopicsResponse(topics=results))


def test_missing_topics_are_asked_for_once_at_a_time() -> None:
    """As the topology wants them. The answer does not wait."""
    site = Site("a", "b")

    assert (site.beat(), site.beat(), site.asked) == ("", "", [["a", "b"]])
    [topic, _] = site.requests[0].topics
    assert (topic.num_partitions, topic.replication_factor) == (3, -1)
    assert [(each.name, each.value) for each in topic.configs] == [("cleanup.policy", "compact")]
    site.answer()
    site.beat()
    assert site.asked == [["a", "b"]] * 2


def test_a_failure_is_in_answers_until_the_topic_is_asked_for_again() -> None:
    """After two heartbeat intervals; at most three reasons are said."""
    site = Site("a", "b", "c", "d", "e")
    site.beat()
    site.answer(a="no room", b="no", c="no", d="no")

    assert site.beat() == "; Creation failed: a (no room), b (no), c (no) and 1 more."
    assert site.asked[1] == ["e"]
    site.answer()
    site.now_ms = 9_999
    assert site.beat().startswith("; Creation failed: ")
    site.answer()
    site.now_ms = 10_000
    assert site.beat() == ""
    assert site.asked[-1] == ["a", "b", "c", "d", "e"]


def test_a_creation_that_fails_as_a_whole_is_a_failure_of_each() -> None:
    site = Site("a")
    site.beat()
    site.waiting.pop().fail(ErrorCode.NOT_CONTROLLER)

    assert site.beat() == "; Creation failed: a (NOT_CONTROLLER)."


def test_nothing_is_created_for_a_client_that_may_not_create_all() -> None:
    """The denied topics are in the answer, and reported."""
    site = Site("a", "b", "c", allowed={"b"})

    assert site.beat() == "; Unauthorized to CREATE on topics a, c."
    assert (site.asked, site.denied) == ([], [["a", "c"]])
    assert Site("a", allowed={"a"}).beat() == ""


def test_failures_are_limited() -> None:
    """Those that end first are forgotten first."""
    topics = StreamsTopics(lambda: 0)
    topics.end(["first"], {"first": "why"}, 10)
    many = {f"t{number}": "why" for number in range(MOST_FAILURES)}
    topics.end(list(many), many, 20)

    assert topics.failures(["first"]) == {}
    assert len(topics.failures(many)) == MOST_FAILURES


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("__consumer_offsets", ErrorCode.STREAMS_INVALID_TOPOLOGY, "Use of Kafka internal topics __consumer_offsets in a Kafka "),
        ("seen", None, ""),
        ("secret", ErrorCode.TOPIC_AUTHORIZATION_FAILED, ""),
    ],
)
def test_topics_must_be_visible_and_before_that_valid(source: str, error: ErrorCode | None, message: str) -> None:
    """As in Kafka: an invalid name is refused as such also to a client that may see nothing."""
    failed: list[tuple[ErrorCode, str | None]] = []
    reply: Any = SimpleNamespace(fail=lambda error, message=None: failed.append((error, message)))
    access: Any = SimpleNamespace(verdicts=lambda operation, kind: {"seen": True, "secret": False, "__consumer_offsets": False})
    node: Any = None
    asked = Asked(node, CONTEXT, access, lambda *_: None)
    request = StreamsGroupHeartbeatRequest("g", "m", 0, topology=Topology(0, [Subtopology("0", [source])]))
    rights = STREAMS_GROUP_HEARTBEAT_API.access
    assert isinstance(rights, ApiAccess)
    assert rights.parts is not None
    assert [(each.operation, each.resource_type) for each in rights.needs] == [(Operation.READ, ResourceType.GROUP)]

    assert rights.parts.allows_all(asked, request) == (error is None)
    assert at_once(rights.parts.divide(asked, request, reply)) == (request if error is None else None)
    assert [each for each, _ in failed] == ([] if error is None else [error])
    assert message in (failed[0][1] or "" if failed else "")
