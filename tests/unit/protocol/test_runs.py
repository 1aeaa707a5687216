"""Arrays whose elements look alike are read by the run; nothing but the time that it takes tells."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest

from protocol.codec import decode, decoder, encode
from protocol.errors import Malformed
from protocol.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from tests.support.oracle import Field, schema, versions_of
from tests.support.protocol_values import MESSAGES, as_struct, distinct, each_message, filled


def in_runs(random: Random) -> Any:
    """Strings and bytes that are equally long, empty or null for a while; some of the runs are of one text."""
    state = [0, 0, 0]

    def pick(field: Field, index: int) -> Any:
        if field.type not in ("string", "bytes", "records"):
            return random.randrange(100) if field.type.startswith(("int", "uint")) else distinct(field, index)
        if state[0] == 0:
            state[:] = [
                random.choice((1, 9, 70, 150)),
                random.choice((-1, 0, 1, 2, 7, 30, 126, 127, 128, 200)),
                random.randrange(2),
            ]
        state[0] -= 1
        if state[1] < 0 and field.nullable:
            return None
        text = str(index if state[2] else 5).rjust(max(state[1], 0), "x")[: max(state[1], 0)]
        return text if field.type == "string" else text.encode()

    return pick


@each_message
def test_long_arrays_are_what_the_oracle_wrote(name: str) -> None:
    """In each depth of arrays, with runs of every kind that end anywhere."""
    for version in versions_of(name):
        kind = schema(name, version)
        random = Random(f"{name} {version}")
        for entries in ((60, 1, 1, 1), (1, 90, 1, 1), (2, 1, 60, 1), (1, 1, 1, 40), (40, 3, 3, 2)):
            value = filled(kind, in_runs(random), entries)
            data = kind.encode(value)

            assert decode(MESSAGES[name], version, data) == as_struct(name, version, value), (version, entries)


def commit(*metadata: str | None) -> OffsetCommitRequest:
    rows = [OffsetCommitRequestPartition(index, index, -1, text) for index, text in enumerate(metadata)]
    return OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("t", partitions=rows)])


@pytest.mark.parametrize("version", [2, 6, 7, 8, 9])
def test_one_that_differs_ends_a_run(version: int) -> None:
    """Wherever it stands and whatever it is."""
    metadata = ["seven77"] * 100
    others = (None, "", "b", "seven..", "äöü.", "x" * 300)
    for at, other in product((0, 1, 7, 8, 30, 31, 32, 33, 63, 98, 99), others):
        message = commit(*metadata[:at], other, *metadata[at + 1 :])

        assert decode(OffsetCommitRequest, version, encode(message, version)) == message, (at, other)


@pytest.mark.parametrize("version", [7, 8])
@pytest.mark.parametrize("at", [0, 40, 99])
def test_a_bad_string_in_a_run_is_named(version: int, at: int) -> None:
    """As it is where elements are read one by one."""
    metadata = [f"row-{index:03}" for index in range(100)]
    data = encode(commit(*metadata), version).replace(f"row-{at:03}".encode(), b"row\xff" + f"{at:03}".encode())

    with pytest.raises(Malformed, match="not UTF-8") as caught:
        decoder(OffsetCommitRequest, version)(data, 0)
    assert caught.value.path == f"topics[0].partitions[{at}].committed_metadata"


@pytest.mark.parametrize("at", [0, 20, 49])
def test_tags_end_a_run(at: int) -> None:
    """An element with unknown tagged fields has another size."""
    members = [JoinGroupResponseMember(f"m{index:02}", None, b"x") for index in range(50)]
    plain = b"\x04m%02d\x00\x02x" % at
    data = encode(JoinGroupResponse(members=members), 9)
    assert data.count(plain + b"\x00") == 1

    assert decode(JoinGroupResponse, 9, data.replace(plain + b"\x00", plain + b"\x01\x63\x02ab")).members == members


def test_null_where_it_is_not_allowed_is_not_part_of_a_run() -> None:
    """Nor is it a run of its own."""
    members = [JoinGroupResponseMember(f"m{index:02}", None, b"x") for index in range(20)]
    data = encode(JoinGroupResponse(members=members), 9)
    bad = data.replace(b"\x04m07", b"\x00m07")

    with pytest.raises(Malformed, match="null is not allowed") as caught:
        decode(JoinGroupResponse, 9, bad)
    assert caught.value.path == "members[7].member_id"
