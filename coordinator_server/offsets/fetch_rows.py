"""OffsetFetch of some partitions: the answer in rows, from the rows of a commit or from single offsets.

A topic's rows are the beginnings of rows, and the metadata of those that have any, by their place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from coordinator_server.offsets.group_offsets import GroupOffsets
from coordinator_server.offsets.values import OffsetAndMetadata, TopicPartition
from protocol.fetch_rows import ANSWER_FORMS, FetchedOffsets, committed_rows, row
from protocol.fields import ZERO_UUID
from protocol.messages.offset_fetch import OffsetFetchRequestTopics

_NO_OFFSET: Final = -1
_NO_EPOCH: Final = -1
_NO_METADATA: Final[Mapping[int, str]] = {}


def fetch_rows(
    offsets: GroupOffsets | None, group_id: str, topics: Sequence[OffsetFetchRequestTopics], api_version: int
) -> FetchedOffsets:
    """Return the answer from the latest offsets of a group. Topics have names here."""
    form = ANSWER_FORMS[api_version]
    out = form.begin(group_id, len(topics))
    for topic in topics:
        rows, metadata = _rows(offsets, topic) if offsets is not None else _nothing(topic)
        form.add(out, topic.name, topic.topic_id, rows, metadata)
    return form.finished(out)


def _rows(offsets: GroupOffsets, topic: OffsetFetchRequestTopics) -> tuple[list[bytes], Mapping[int, str]]:
    indexes, asked_id = topic.partition_indexes, topic.topic_id
    found: dict[int, bytes] = {}
    for partitions, committed in offsets.rows_of(topic.name):
        starts = list(map(partitions.starts().get, indexes))
        without = starts.count(None)
        if without == len(starts):
            continue
        if not (asked_id == ZERO_UUID or committed.topic_id in (asked_id, ZERO_UUID)):
            return _single_rows(offsets.latest(), topic)
        if not without and not found:
            return committed_rows(committed.rows, cast("list[int]", starts)), _NO_METADATA
        places = [place for place, start in enumerate(starts) if start is not None and place not in found]
        found.update(zip(places, committed_rows(committed.rows, [cast("int", starts[place]) for place in places]), strict=True))
        if len(found) == len(starts):
            return [found[place] for place in range(len(starts))], _NO_METADATA
    rows, metadata = _single_rows(offsets.below_rows(), topic)
    for place, beginning in found.items():
        rows[place] = beginning
        metadata.pop(place, None)
    return rows, metadata


def _single_rows(
    single: Mapping[TopicPartition, OffsetAndMetadata], topic: OffsetFetchRequestTopics
) -> tuple[list[bytes], dict[int, str]]:
    name, asked_id, indexes = topic.name, topic.topic_id, topic.partition_indexes
    is_by_name = asked_id == ZERO_UUID
    get = single.get
    rows: list[bytes] = []
    metadata: dict[int, str] = {}
    for index in indexes:
        found = get((name, index))
        if found is None or not (is_by_name or found.topic_id in (asked_id, ZERO_UUID)):
            rows.append(row(index, _NO_OFFSET, _NO_EPOCH))
        else:
            if found.metadata:
                metadata[len(rows)] = found.metadata
            rows.append(row(index, found.committed_offset, found.leader_epoch))
    return rows, metadata


def _nothing(topic: OffsetFetchRequestTopics) -> tuple[list[bytes], Mapping[int, str]]:
    return [row(index, _NO_OFFSET, _NO_EPOCH) for index in topic.partition_indexes], _NO_METADATA
