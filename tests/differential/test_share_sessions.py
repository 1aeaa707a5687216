"""ShareFetch and ShareAcknowledge beside a broker whose topics are as empty as those here (``make differential``)."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from protocol.error_codes import ErrorCode
from protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from protocol.messages.share_acknowledge import AcknowledgementBatch as Acknowledged
from protocol.messages.share_acknowledge import (
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
)
from protocol.messages.share_fetch import (
    AcknowledgementBatch,
    FetchPartition,
    FetchTopic,
    ForgottenTopic,
    ShareFetchRequest,
    ShareFetchResponse,
)
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from tests.support.client import Client
from tests.support.kafka_broker import KafkaBroker
from tests.support.server import Server
from tests.support.share_member import Batch

UNKNOWN_ID: Final = b"u" * 16
VERSION: Final = 2
UNKNOWN: Final = "adds an unknown topic"
"""Kafka means to answer UNKNOWN_TOPIC_ID, and fails: row 69 of docs/differences.md."""
NamedPlace = tuple[str, int]
Answer = tuple[object, ...]
BATCHES: Final[list[list[Batch]]] = [
    [(5, 7, [1])],
    [(5, 7, [1, 2, 3])],
    [(5, 6, [0, 1])],
    [(0, 4, [1]), (4, 4, [2])],
    [(-1, -1, [1])],
    [],
    [(7, 5, [1])],
    [(5, 7, [1]), (6, 9, [1])],
    [(-2, 5, [1])],
    [(5, 7, [])],
    [(5, 7, [1, 1])],
    [(5, 5, [1, 1])],
    [(5, 7, [5])],
    [(5, 7, [-1])],
    [(5, 7, [4])],
]
NOTHING: Final[dict[str, Any]] = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 0, "max_records": 0}


def served_apis(client: Client) -> list[ApiVersion]:
    """What a server says that it serves."""
    return client.ask(ApiVersionsRequest("tests", "1"), 3, ApiVersionsResponse).api_keys


class Side:
    """One of both servers, with the topics ``a`` (2 partitions) and ``b`` (1)."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.address = address
        self.clients = {"m": Client(address)}
        with Client(address) as client:
            topics = [CreatableTopic("a", 2, 1), CreatableTopic("b", 1, 1)]
            created = client.ask(CreateTopicsRequest(topics), 7, CreateTopicsResponse)
            assert {topic.error_code for topic in created.topics} == {0}
            self.ids = {topic.name or "": topic.topic_id for topic in created.topics} | {"?": UNKNOWN_ID}
            deadline = time.monotonic() + 10
            while not self._has_leaders(client):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            self._join(client)
        self.names = {topic_id: name for name, topic_id in self.ids.items()}

    def _has_leaders(self, client: Client) -> bool:
        request = MetadataRequest([MetadataRequestTopic(name=name) for name in ("a", "b")])
        answer = client.ask(request, 12, MetadataResponse)
        return all(topic.partitions and not any(each.error_code for each in topic.partitions) for topic in answer.topics)

    def _join(self, client: Client) -> None:
        """Join the group and get all partitions: a broker serves none that its group has not initialized."""
        if ShareGroupHeartbeatRequest.kafka.key not in {api.api_key for api in served_apis(client)}:
            return
        client.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 6, FindCoordinatorResponse)
        epoch, topics, got = 0, ["a", "b"], 0
        deadline = time.monotonic() + 20
        while got < 3:
            assert time.monotonic() < deadline
            answer = client.ask(ShareGroupHeartbeatRequest("g", "m", epoch, None, topics), 1, ShareGroupHeartbeatResponse)
            epoch = answer.member_epoch if not answer.error_code else epoch
            if answer.assignment is not None:
                got = sum(len(topic.partitions) for topic in answer.assignment.topic_partitions)
            time.sleep(0.2)

    def close(self) -> None:
        for client in self.clients.values():
            client.close()

    def fetch(
        self,
        epoch: int,
        *places: NamedPlace,
        forget: tuple[NamedPlace, ...] = (),
        acknowledge: dict[NamedPlace, list[Batch]] | None = None,
        member: str = "m",
        group: str | None = "g",
        version: int = VERSION,
        **fields: Any,
    ) -> Answer:
        batches = acknowledge or {}
        topics: dict[str, list[FetchPartition]] = {}
        for name, index in (*places, *(each for each in batches if each not in places)):
            each = [AcknowledgementBatch(*batch) for batch in batches.get((name, index), ())]
            topics.setdefault(name, []).append(FetchPartition(index, acknowledgement_batches=each))
        request = ShareFetchRequest(
            group,
            member,
            epoch,
            **{"max_wait_ms": 300, "min_bytes": 1, "max_records": 500, "batch_size": 500, **fields},
            topics=[FetchTopic(self.ids[name], partitions) for name, partitions in topics.items()],
            forgotten_topics_data=[ForgottenTopic(self.ids[name], [index]) for name, index in forget],
        )
        client = self.clients.setdefault(member, self.clients["m"])
        began = time.monotonic()
        answer = client.ask(request, version, ShareFetchResponse)
        waited = time.monotonic() - began > 0.28
        partitions = sorted(
            (
                self.names[topic.topic_id],
                each.partition_index,
                ErrorCode(each.error_code).name,
                each.error_message,
                ErrorCode(each.acknowledge_error_code).name,
                each.acknowledge_error_message,
                each.records,
                each.current_leader,
            )
            for topic in answer.responses
            for each in topic.partitions
        )
        head = (ErrorCode(answer.error_code).name, answer.error_message, answer.acquisition_lock_timeout_ms, waited)
        return (*head, *partitions)

    def acknowledge(
        self,
        epoch: int,
        batches: dict[NamedPlace, list[Batch]],
        *,
        member: str = "m",
        version: int = VERSION,
        renew: bool = False,
    ) -> Answer:
        topics: dict[str, list[AcknowledgePartition]] = {}
        for (name, index), each in batches.items():
            topics.setdefault(name, []).append(AcknowledgePartition(index, [Acknowledged(*batch) for batch in each]))
        of_topics = [AcknowledgeTopic(self.ids[name], partitions) for name, partitions in topics.items()]
        request = ShareAcknowledgeRequest("g", member, epoch, renew, of_topics)
        answer = self.clients.setdefault(member, self.clients["m"]).ask(request, version, ShareAcknowledgeResponse)
        partitions = sorted(
            (self.names[topic.topic_id], each.partition_index, ErrorCode(each.error_code).name, each.error_message)
            for topic in answer.responses
            for each in topic.partitions
        )
        return (ErrorCode(answer.error_code).name, answer.error_message, answer.acquisition_lock_timeout_ms, *partitions)


def requests(side: Side) -> list[tuple[str, Callable[[], Answer]]]:
    """Requests, one after the other, with what each is about."""
    a0, a1, b0, beyond, unknown = ("a", 0), ("a", 1), ("b", 0), ("b", 7), ("?", 0)
    fetch, acknowledge = side.fetch, side.acknowledge
    valid: Batch = (5, 7, [1])
    return [
        ("no group", partial(fetch, 0, a0, group=None)),
        ("no member", partial(fetch, 0, a0, member="")),
        ("a long member", partial(fetch, 0, a0, member="m" * 37)),
        ("no session", partial(fetch, 1, a0)),
        ("nothing to end", partial(fetch, -1, a0)),
        ("no session to acknowledge", partial(acknowledge, 1, {})),
        ("an acknowledgement begins one", partial(acknowledge, 0, {})),
        ("begins with acknowledgements", partial(fetch, 0, acknowledge={a0: [valid]})),
        ("begins", partial(fetch, 0, a0, beyond)),
        ("goes on", partial(fetch, 1)),
        ("is repeated", partial(fetch, 1)),
        ("is ahead", partial(fetch, 3)),
        ("adds", partial(fetch, 2, a1, a0, b0)),
        ("has no news", partial(fetch, 3, forget=(b0,))),
        ("wants no bytes", partial(fetch, 4, b0, max_bytes=0)),
        ("wants no records", partial(fetch, 5, max_records=0)),
        ("has no minimum", partial(fetch, 6, min_bytes=0)),
        ("does not wait", partial(fetch, 7, max_wait_ms=0)),
        ("forgets", partial(fetch, 8, forget=(a0, beyond, unknown))),
        ("adds again", partial(fetch, 9, a0)),
        ("forgets and adds", partial(fetch, 10, a0, forget=(a0,))),
        *(
            (f"acknowledges {batches}", partial(acknowledge, 11 + n, {a0: batches, a1: [valid]}))
            for n, batches in enumerate(BATCHES)
        ),
        ("acknowledges nothing", partial(acknowledge, 26, {a0: [], unknown: [], a1: [(3, 2, [1])]})),
        ("acknowledges all kinds", partial(acknowledge, 27, {a0: [valid], beyond: [valid], unknown: [valid], b0: []})),
        ("in a fetch", partial(fetch, 28, b0, acknowledge={a0: [valid], beyond: [(3, 2, [1])]})),
        ("in a fetch, nothing", partial(fetch, 29, a1, acknowledge={a0: [(3, 2, [1])]})),
        ("renews", partial(fetch, 30, acknowledge={a0: [(5, 7, [4])]}, is_renew_ack=True, **NOTHING)),
        ("renews and fetches", partial(fetch, 31, acknowledge={a0: [(5, 7, [4])]}, is_renew_ack=True)),
        ("renews in version 1", partial(acknowledge, 31, {a0: [(5, 7, [4])]}, version=1)),
        ("renews alone", partial(acknowledge, 32, {a0: [(5, 7, [4])]}, renew=True)),
        ("begins with one twice", partial(fetch, 0, a0, a0)),
        ("is gone", partial(fetch, 33)),
        ("begins again", partial(fetch, 0, a0, a1)),
        ("adds one twice", partial(fetch, 1, b0, b0)),
        ("the last acknowledgement", partial(acknowledge, -1, {a0: [valid]})),
        ("is over", partial(acknowledge, 2, {a0: [valid]})),
        ("begins in version 1", partial(fetch, 0, a0, version=1)),
        ("the last fetch", partial(fetch, -1, a1, acknowledge={a0: [valid]})),
        ("is over again", partial(fetch, 1)),
        ("begins with nothing", partial(fetch, 0)),
        ("of nothing", partial(fetch, 1)),
        (UNKNOWN, partial(fetch, 2, unknown)),
    ]


@pytest.mark.live
def test_sessions_are_those_of_kafka(tmp_path: Path) -> None:
    """Each answer, and whether it came at once."""
    with Server(tmp_path) as ours, KafkaBroker(tmp_path / "theirs").start() as theirs:
        sides = [Side(ours.address), Side(theirs.address)]
        different = []
        for (what, here), (_, there) in zip(*[requests(side) for side in sides], strict=True):
            answers = here(), there()
            if what == UNKNOWN:
                assert (answers[0][0], answers[1][0]) == ("NONE", "UNKNOWN_SERVER_ERROR")
            elif answers[0] != answers[1]:
                different.append((what, *answers))
        for side in sides:
            side.close()

    assert different == []
