"""How many partitions each topic had, over time, from the log of the catalog."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from coordinator_server.catalog.topics import Topic
from coordinator_server.pipeline.input.topic_names import catalog_records
from protocol.fields import Message
from protocol.messages.cluster_metadata import PartitionRecord, RemoveTopicRecord, TopicRecord


class _Step(NamedTuple):
    """From a moment on, a name has this topic; None if it has none."""

    at_ms: int
    topic: Topic | None


class TopicHistory:
    """All topics over time. Deleted topics of which compaction has removed the records are unknown."""

    def __init__(self, records: Iterable[tuple[int, Message]] = ()) -> None:
        self._steps: dict[str, list[_Step]] = {}
        self._names: dict[bytes, str] = {}
        for at_ms, record in records:
            self._add(at_ms, record)

    def at(self, name: str, at_ms: int) -> Topic | None:
        """Return a topic as it was after all changes up to a time; None if there was none, or it is unknown."""
        steps = self._steps.get(name, [])
        place = bisect_right(steps, at_ms, key=lambda step: step.at_ms)
        return steps[place - 1].topic if place else None

    def name(self, topic_id: bytes) -> str | None:
        """Return the name of a topic, also of a deleted one; None if it is unknown."""
        return self._names.get(topic_id)

    def _add(self, at_ms: int, record: Message) -> None:
        match record:
            case TopicRecord(name=name, topic_id=topic_id):
                self._names[topic_id] = name
                self._put(name, _Step(at_ms, Topic(name, topic_id, 0)))
            case PartitionRecord(topic_id=topic_id, partition_id=partition) if topic_id in self._names:
                name = self._names[topic_id]
                last = self._steps[name][-1].topic
                if last is not None and last.topic_id == topic_id:
                    count = max(last.partitions, partition + 1)
                    self._put(name, _Step(at_ms, Topic(name, topic_id, count)))
            case RemoveTopicRecord(topic_id=topic_id) if topic_id in self._names:
                name = self._names[topic_id]
                last = self._steps[name][-1].topic
                if last is not None and last.topic_id == topic_id:
                    self._put(name, _Step(at_ms, None))

    def _put(self, name: str, step: _Step) -> None:
        """Add a step. Those of one moment are one."""
        steps = self._steps.setdefault(name, [])
        if steps and steps[-1].at_ms == step.at_ms:
            steps.pop()
        steps.append(step)


@lru_cache(1)
def read_topics(data_dir: Path, upto: int) -> TopicHistory:
    """Return the topics by the catalog's log before an offset. The last answer is kept: many groups have it in common."""
    return TopicHistory(catalog_records(data_dir, upto))
