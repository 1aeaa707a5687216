"""A commit that is refused unread gets the bytes that the general codecs give it, whatever it contains;
the others are left to them.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.offset_commit import refuse_offset_commit
from coordinator_server.server.apis.txn_offset_commit import refuse_txn_offset_commit
from protocol.codec import decoder, encode
from protocol.error_codes import ErrorCode
from protocol.errors import ProtocolError
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from protocol.refused_commits import read_names, refuse_unread

DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
KINDS = [(OffsetCommitRequest, version) for version in range(2, 11)] + [(TxnOffsetCommitRequest, version) for version in range(6)]
REFUSE: dict[type[Any], Any] = {OffsetCommitRequest: refuse_offset_commit, TxnOffsetCommitRequest: refuse_txn_offset_commit}

TEXTS = st.text(max_size=4) | st.just("x" * 200)
NUMBERS = st.integers(-(2**31), 2**31 - 1)
PARTITIONS = st.lists(st.tuples(NUMBERS, st.none() | TEXTS), max_size=4) | st.integers(6, 140).map(
    lambda n: [(i, None) for i in range(n)]
)
TOPICS = st.lists(st.tuples(TEXTS, st.binary(min_size=16, max_size=16), PARTITIONS), max_size=4) | st.integers(120, 140).map(
    lambda n: [("t", b"i" * 16, [(0, "")])] * n
)


def general(kind: type[Any], version: int, data: bytes) -> bytes | None:
    """Return the refusal of the general codecs, or None if they refuse the bytes, or find more behind them."""
    try:
        request, end = decoder(kind, version)(data, 0)
    except ProtocolError:
        return None
    if end != len(data):
        return None
    return encode(REFUSE[kind](RequestContext("", "", kind.kafka.key, version), request, DENIED, None), version)


def request_of(kind: type[Any], version: int, names: tuple[str, str, str | None], topics: list[Any]) -> Any:
    """Return a request without the members that its version does not have."""
    group_id, member_id, instance_id = names
    if version < (7 if kind is OffsetCommitRequest else 3):
        instance_id = None
    if kind is OffsetCommitRequest:
        asked = [
            OffsetCommitRequestTopic(name, topic_id, [OffsetCommitRequestPartition(i, 5, 1, text) for i, text in partitions])
            for name, topic_id, partitions in topics
        ]
        return OffsetCommitRequest(group_id, 3, member_id, instance_id, topics=asked)
    in_transaction = [
        TxnOffsetCommitRequestTopic(name, [TxnOffsetCommitRequestPartition(i, 5, 1, text) for i, text in partitions])
        for name, _, partitions in topics
    ]
    if version < 3:
        return TxnOffsetCommitRequest("transaction", group_id, 1, 2, topics=in_transaction)
    return TxnOffsetCommitRequest("transaction", group_id, 1, 2, 3, member_id, instance_id, in_transaction)


@pytest.mark.parametrize(("kind", "version"), KINDS)
@settings(max_examples=20)
@given(names=st.tuples(TEXTS, TEXTS, st.none() | TEXTS), topics=TOPICS)
def test_the_answer_is_that_of_the_general_codecs(
    kind: type[Any], version: int, names: tuple[str, str, str | None], topics: list[Any]
) -> None:
    data = encode(request_of(kind, version, names, topics), version)
    found = read_names(kind, version, data, 0)
    refusal = refuse_unread(kind, version, DENIED, data, 0)

    assert found is not None
    assert found == ("" if kind is OffsetCommitRequest else "transaction", names[0])
    assert refusal is not None
    assert (refusal.body, refusal.error_code) == (general(kind, version, data), DENIED)
    assert refusal.parts == sum(len(partitions) for _, _, partitions in topics)


@pytest.mark.parametrize(("kind", "version"), KINDS)
@settings(max_examples=40)
@given(data=st.data())
def test_damaged_bytes_are_refused_as_the_general_codecs_refuse_them(kind: type[Any], version: int, data: st.DataObject) -> None:
    """Cut anywhere, or with any byte changed: None, or the same answer."""
    topics = [("one", b"i" * 16, [(0, None), (1, "text")]), ("many", b"j" * 16, [(i, None) for i in range(9)])]
    whole = bytearray(encode(request_of(kind, version, ("g", "m", None), topics), version))
    place = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        del whole[place:]
    else:
        whole[place] = data.draw(st.integers(0, 255))
    refusal = refuse_unread(kind, version, DENIED, bytes(whole), 0)

    if refusal is not None:
        assert refusal.body == general(kind, version, bytes(whole))
