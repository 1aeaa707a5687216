"""OffsetFetch answers of rows are what the general encoder writes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.codec import encoder
from protocol.commit_rows import ROW_BYTES
from protocol.fetch_rows import ANSWER_FORMS, committed_rows, fetch_response_encoder, row
from protocol.messages.offset_commit import OffsetCommitRequestPartition
from protocol.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from tests.support.commit_rows import rows_of

VERSIONS = st.integers(1, 10)
NAMES = st.text(max_size=6) | st.sampled_from(["n" * 126, "n" * 127, "é" * 100])
INT32 = st.integers(-(2**31), 2**31 - 1)
PARTITION = st.tuples(INT32, st.integers(-(2**63), 2**63 - 1), INT32)
PARTITIONS = st.lists(PARTITION, max_size=5) | st.builds(lambda one: [one] * 130, PARTITION)
TOPICS = st.lists(st.tuples(NAMES, st.binary(min_size=16, max_size=16), PARTITIONS), max_size=3)
Topics = list[tuple[str, bytes, list[tuple[int, int, int]]]]


def response_of(version: int, topics: Topics, group_id: str, metadata: dict[int, str]) -> OffsetFetchResponse:
    if version < 8:
        return OffsetFetchResponse(
            topics=[
                OffsetFetchResponseTopic(
                    name, [OffsetFetchResponsePartition(*one, metadata.get(at, "")) for at, one in enumerate(partitions)]
                )
                for name, _, partitions in topics
            ]
        )
    answers = [
        OffsetFetchResponseTopics(
            name, topic_id, [OffsetFetchResponsePartitions(*one, metadata.get(at, "")) for at, one in enumerate(partitions)]
        )
        for name, topic_id, partitions in topics
    ]
    return OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id, answers)])


@settings(max_examples=50)
@given(TOPICS, NAMES, VERSIONS)
def test_an_answer_of_rows_is_the_general_answer(topics: Topics, group_id: str, version: int) -> None:
    """From single offsets and from the rows of a commit. Both kinds of answers go through the same encoder."""
    check_rows(topics, group_id, version, metadata={})


@settings(max_examples=50)
@given(TOPICS, NAMES, VERSIONS, st.dictionaries(st.integers(0, 4), st.text(max_size=150)))
def test_an_answer_of_rows_has_the_metadata_of_each(
    topics: Topics, group_id: str, version: int, metadata: dict[int, str]
) -> None:
    check_rows(topics, group_id, version, metadata)


def check_rows(topics: Topics, group_id: str, version: int, metadata: dict[int, str]) -> None:
    form = ANSWER_FORMS[version]
    encode = fetch_response_encoder(encoder(OffsetFetchResponse, version))
    general = bytearray(b"prefix")
    encode(response_of(version, topics, group_id, metadata), general)
    single = [[row(*one) for one in partitions] for _, _, partitions in topics]
    committed = [
        committed_rows(
            rows_of([OffsetCommitRequestPartition(*one) for one in partitions]), range(0, ROW_BYTES * len(partitions), ROW_BYTES)
        )
        for _, _, partitions in topics
    ]

    for rows in (single, committed):
        answer = form.begin(group_id, len(topics))
        for (name, topic_id, _), of_topic in zip(topics, rows, strict=True):
            form.add(answer, name, topic_id, of_topic, metadata)
        fetched, out = form.finished(answer), bytearray(b"prefix")
        encode(fetched, out)

        assert out == general
        again = bytearray(b"prefix")
        encode(fetched.decoded(version), again)
        assert again == general
