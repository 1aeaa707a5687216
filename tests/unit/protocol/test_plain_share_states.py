"""Plain requests to the share coordinator: they mean, and are answered, what the general codecs read and write."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.share.share_partition import SharePartition
from protocol.codec import decoder, encoder
from protocol.errors import DecodeError
from protocol.messages import read_share_group_state as read
from protocol.messages import write_share_group_state as write
from protocol.plain_share_states import (
    AllDone,
    Found,
    Read,
    Several,
    Write,
    read_encoder,
    read_reader,
    write_encoder,
    write_reader,
)
from protocol.share_partition_names import SharePartitionKey, name_of
from protocol.share_state_rows import rows_of, unpacked

TOPIC_ID = b"0123456789abcdef"
HEADER = b"what came before"
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
GROUPS = st.text(max_size=4) | st.sampled_from(["g" * 125, "g" * 126, "g" * 127, "é" * 63])
TOPIC_IDS = st.binary(min_size=16, max_size=16)
BATCHES = st.lists(
    st.builds(write.StateBatch, INT64, INT64, st.integers(-128, 127), st.integers(-(2**15), 2**15 - 1)), max_size=4
) | st.integers(125, 128).map(lambda count: [write.StateBatch(each, each, 2, 1) for each in range(count)])


def some(one: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(one, min_size=1, max_size=1) | st.lists(one, max_size=2)


WRITES = st.builds(
    write.WriteShareGroupStateRequest,
    GROUPS,
    some(
        st.builds(
            write.WriteStateData, TOPIC_IDS, some(st.builds(write.PartitionData, INT32, INT32, INT32, INT64, INT32, BATCHES))
        )
    ),
)
READS = st.builds(
    read.ReadShareGroupStateRequest,
    GROUPS,
    some(st.builds(read.ReadStateData, TOPIC_IDS, some(st.builds(read.PartitionData, INT32, INT32)))),
)


def encoded(message: Any, version: int) -> bytes:
    out = bytearray()
    encoder(type(message), version)(message, out)
    return bytes(out)


def operations(request: Any) -> list[Any]:
    """What a request asks of each share partition, in order. The general decoder's are written as operations."""
    if isinstance(request, Write | Read):
        return [request]
    if isinstance(request, Several):
        return request.requests
    found: list[Any] = []
    for topic in request.topics:
        for each in topic.partitions:
            name = name_of(SharePartitionKey(request.group_id, topic.topic_id, each.partition))
            if isinstance(each, read.PartitionData):
                found.append(Read(name, each.leader_epoch))
            else:
                numbers = each.state_epoch, each.leader_epoch, each.start_offset, each.delivery_complete_count
                found.append(Write(name, *numbers, rows_of(each.state_batches)))
    return found


def is_plain(request: Any) -> bool:
    """Whether the bytes of a request are plain: whether it names a share partition, and one in each topic."""
    return 0 < len(request.group_id.encode()) < 127 and bool(request.topics) and all(each.partitions for each in request.topics)


def names_one(request: Any) -> bool:
    """Whether a plain request is about one share partition, with few batches."""
    data = [each for topic in request.topics for each in topic.partitions]
    return len(data) == 1 and len(getattr(data[0], "state_batches", ())) < 127


@given(WRITES, st.integers(0, 1))
def test_a_write_is_read_as_the_general_decoder_reads_it(request: write.WriteShareGroupStateRequest, version: int) -> None:
    body = encoded(request, version)

    found, end = write_reader(version)(HEADER + body, len(HEADER))

    assert isinstance(found, Write | Several) is is_plain(request)
    assert isinstance(found, Write) is (is_plain(request) and names_one(request))
    assert operations(found) == operations(decoder(type(request), version)(body, 0)[0])
    assert end == len(HEADER) + len(body)


@given(READS)
def test_a_read_is_read_as_the_general_decoder_reads_it(request: read.ReadShareGroupStateRequest) -> None:
    body = encoded(request, 0)

    found, end = read_reader(0)(HEADER + body, len(HEADER))

    assert isinstance(found, Read | Several) is is_plain(request)
    assert isinstance(found, Read) is (is_plain(request) and names_one(request))
    assert operations(found) == operations(request)
    assert end == len(HEADER) + len(body)


def test_any_other_bytes_mean_what_they_mean_to_the_general_decoder() -> None:
    """Each byte of a request changed in several ways, missing, or with one more behind it: the same request, or the same error."""
    data = write.PartitionData(1, 2, 3, 4, 5, [write.StateBatch(6, 7, 2, 1), write.StateBatch(8, 9, 0, 1)])
    reads = read.ReadStateData(TOPIC_ID, [read.PartitionData(1, 2)])
    requests = [
        (write.WriteShareGroupStateRequest("é", [write.WriteStateData(TOPIC_ID, [data])]), write_reader(1), 1),
        (write.WriteShareGroupStateRequest("g", [write.WriteStateData(TOPIC_ID, [data, data])]), write_reader(1), 1),
        (read.ReadShareGroupStateRequest("g", [reads]), read_reader(0), 0),
        (read.ReadShareGroupStateRequest("g", [reads, reads]), read_reader(0), 0),
    ]
    plain = 0
    for request, reader, version in requests:
        body = encoded(request, version)
        changed = [
            body[:at] + bytes([byte]) + body[at + 1 :] for at in range(len(body)) for byte in (0, 1, 2, 3, 0x7F, 0x80, 0xFF)
        ]
        for bytes_read in [*changed, *(body[:at] for at in range(len(body))), body + b"\0"]:
            outcomes: list[object] = []
            for read_with in (reader, decoder(type(request), version)):
                try:
                    found, end = read_with(bytes_read, 0)
                except DecodeError as error:
                    outcomes.append(type(error))
                else:
                    outcomes.append((operations(found) or found, end))
                    plain += isinstance(found, Write | Read | Several)
            assert outcomes[0] == outcomes[1], bytes_read
    assert plain > 500


@given(GROUPS, TOPIC_IDS, INT32)
def test_the_answer_to_a_plain_write_is_the_general_one(group_id: str, topic_id: bytes, partition: int) -> None:
    out = bytearray()

    write_encoder(encoder(write.WriteShareGroupStateResponse, 1))(name_of(SharePartitionKey(group_id, topic_id, partition)), out)

    result = write.WriteStateResult(topic_id, [write.PartitionResult(partition)])
    assert out == encoded(write.WriteShareGroupStateResponse([result]), 1)


@given(TOPIC_IDS, INT32, INT32, INT64, BATCHES)
def test_the_answer_to_a_plain_read_is_the_general_one(
    topic_id: bytes, partition: int, state_epoch: int, start_offset: int, batches: list[write.StateBatch]
) -> None:
    state = SharePartition(0, state_epoch, 0, start_offset, 0, rows_of(batches), 0, 0, 0, 0, 0)
    out = bytearray()

    read_encoder(encoder(read.ReadShareGroupStateResponse, 0))(
        Found(name_of(SharePartitionKey("g", topic_id, partition)), state), out
    )

    read_batches = [read.StateBatch(*each) for each in unpacked(rows_of(batches))]
    result = read.PartitionResult(partition, state_epoch=state_epoch, start_offset=start_offset, state_batches=read_batches)
    assert out == encoded(read.ReadShareGroupStateResponse([read.ReadStateResult(topic_id, [result])]), 0)


RESULTS = st.dictionaries(TOPIC_IDS, st.dictionaries(INT32, st.tuples(INT32, INT64, BATCHES), min_size=1, max_size=3), max_size=3)


@given(RESULTS)
def test_the_answer_about_several_share_partitions_is_the_general_one(
    results: dict[bytes, dict[int, tuple[int, int, list[Any]]]],
) -> None:
    written, found = bytearray(), bytearray()
    states = {
        topic_id: {
            partition: Found(b"", SharePartition(0, epoch, 0, start, 0, rows_of(batches), 0, 0, 0, 0, 0))
            for partition, (epoch, start, batches) in partitions.items()
        }
        for topic_id, partitions in results.items()
    }

    write_encoder(encoder(write.WriteShareGroupStateResponse, 1))(AllDone(states), written)
    read_encoder(encoder(read.ReadShareGroupStateResponse, 0))(AllDone(states), found)

    done = [
        write.WriteStateResult(each, [write.PartitionResult(one) for one in partitions]) for each, partitions in results.items()
    ]
    assert written == encoded(write.WriteShareGroupStateResponse(done), 1)
    reads = [
        read.ReadStateResult(
            topic_id,
            [
                read.PartitionResult(
                    partition,
                    state_epoch=epoch,
                    start_offset=start,
                    state_batches=[read.StateBatch(*each) for each in unpacked(rows_of(batches))],
                )
                for partition, (epoch, start, batches) in partitions.items()
            ],
        )
        for topic_id, partitions in results.items()
    ]
    assert found == encoded(read.ReadShareGroupStateResponse(reads), 0)
