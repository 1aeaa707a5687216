"""A member's requests to the daemon: what it is told of its lock, and how its session ends."""

from __future__ import annotations

from protocol.error_codes import ErrorCode
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from protocol.messages.share_fetch import FetchPartition, FetchTopic, ShareFetchRequest, ShareFetchResponse
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.simple_requests import make_topic, topic_of

GROUP = 32


def fetch(client: Client, group_id: str, epoch: int, *topic_ids: bytes, wait_ms: int = 0) -> ShareFetchResponse:
    topics = [FetchTopic(topic_id, [FetchPartition(0)]) for topic_id in topic_ids]
    request = ShareFetchRequest(group_id, "m", epoch, wait_ms, 1, max_records=1, topics=topics)
    return client.ask(request, 2, ShareFetchResponse)


def test_a_group_may_have_a_lock_duration_of_its_own(client: Client, fresh_name: str) -> None:
    setting = AlterableConfig("share.record.lock.duration.ms", value="20000")
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP, fresh_name, [setting])])
    [answer] = client.ask(request, 1, IncrementalAlterConfigsResponse).responses
    assert answer.error_code == ErrorCode.NONE

    durations = [fetch(client, group_id, 0).acquisition_lock_timeout_ms for group_id in (fresh_name, f"{fresh_name}-other")]
    assert durations == [20_000, 30_000]


def test_a_session_ends_with_its_connection(client: Client, address: tuple[str, int], fresh_name: str) -> None:
    make_topic(client, fresh_name, 1)
    topic_id = topic_of(client, fresh_name).topic_id
    with Client(address) as member:
        answer = fetch(member, fresh_name, 0, topic_id, wait_ms=50)
        assert [each.error_code for topic in answer.responses for each in topic.partitions] == [ErrorCode.NONE]
        assert fetch(client, fresh_name, 1).error_code == ErrorCode.NONE

    eventually(lambda: fetch(client, fresh_name, 9).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND)
