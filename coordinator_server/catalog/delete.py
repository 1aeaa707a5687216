"""DeleteTopics (20): validates the requested topics, by name or id, and makes the records (``ControllerApis.deleteTopics``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar

from coordinator_server.catalog.topics import Topic
from coordinator_server.kinds import KINDS
from coordinator_server.machine.errors import CoordinatorError
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID
from protocol.messages.cluster_metadata import RemoveTopicRecord
from protocol.messages.delete_topics import DeletableTopicResult, DeleteTopicsRequest, DeleteTopicState

T = TypeVar("T")

NO_SUCH_NAME = "This server does not host this topic-partition."
NO_SUCH_ID = "This server does not host this topic ID."


def plan_deletion(
    request: DeleteTopicsRequest, by_name: Callable[[str], Topic | None], by_id: Callable[[bytes], Topic | None]
) -> tuple[list[DeletableTopicResult], list[CoordinatorRecord]]:
    """Return the answer for each topic, and the records that remove the valid ones. The request has the form of version 6."""
    results: list[DeletableTopicResult] = []
    names, ids = [], []
    for asked in request.topics:
        problem = _ambiguity(asked)
        if problem is not None:
            results.append(DeletableTopicResult(asked.name, asked.topic_id, ErrorCode.INVALID_REQUEST, problem))
        elif asked.name is not None:
            names.append(asked.name)
        else:
            ids.append(asked.topic_id)
    repeated_names, repeated_ids = _repeated(names), _repeated(ids)
    results += [
        DeletableTopicResult(name, ZERO_UUID, ErrorCode.INVALID_REQUEST, "Duplicate topic name.") for name in repeated_names
    ]
    results += [DeletableTopicResult(None, each, ErrorCode.INVALID_REQUEST, "Duplicate topic id.") for each in repeated_ids]
    going: dict[bytes, Topic] = {}
    for topic_id in (each for each in ids if each not in repeated_ids):
        topic = by_id(topic_id)
        if topic is None:
            results.append(DeletableTopicResult(None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID, NO_SUCH_ID))
        elif topic.name in KINDS:
            results.append(DeletableTopicResult(topic.name, topic_id, ErrorCode.INVALID_TOPIC_EXCEPTION, _own_log(topic.name)))
        else:
            going[topic_id] = topic
    taken = {*going, *repeated_ids}
    for name in (each for each in names if each not in repeated_names):
        try:
            topic = _named(name, by_name)
        except CoordinatorError as refused:
            results.append(DeletableTopicResult(name, ZERO_UUID, refused.error, refused.message))
            continue
        if topic.topic_id not in taken:
            going[topic.topic_id] = topic
        else:
            # As in Kafka, the topic is not deleted then, although the request by id alone would be valid.
            going.pop(topic.topic_id, None)
            problem = "The provided topic name maps to an ID that was already supplied."
            results.append(DeletableTopicResult(name, topic.topic_id, ErrorCode.INVALID_REQUEST, problem))
    results += [DeletableTopicResult(topic.name, topic.topic_id, error_message=None) for topic in going.values()]
    return results, [CoordinatorRecord(RemoveTopicRecord(topic_id), None) for topic_id in going]


def _ambiguity(asked: DeleteTopicState) -> str | None:
    if asked.name is None:
        return "Neither topic name nor id were specified." if asked.topic_id == ZERO_UUID else None
    return None if asked.topic_id == ZERO_UUID else "You may not specify both topic name and topic id."


def _repeated(each: Iterable[T]) -> list[T]:
    return [one for one, times in Counter(each).items() if times > 1]


def _named(name: str, by_name: Callable[[str], Topic | None]) -> Topic:
    if name in KINDS:
        raise CoordinatorError(ErrorCode.INVALID_TOPIC_EXCEPTION, _own_log(name))
    topic = by_name(name)
    if topic is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NO_SUCH_NAME)
    return topic


def _own_log(name: str) -> str:
    return f"{name} is this server's own log"
