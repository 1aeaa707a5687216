"""JSON in pieces: the same value, and no large piece."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coordinator_server.server.control.json_pieces import VALUES_PER_PIECE, json_pieces

GROUP = {"group_id": "readers", "members": 3, "topics": ["a", "b"]}
LARGE_GROUP = {"group_id": 'quoted "] ,{', "offsets": {f"orders-{number}": number for number in range(3 * VALUES_PER_PIECE)}}


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"ok": True, "groups": []},
        {"ok": True, "groups": [GROUP]},
        {"ok": True, "groups": [GROUP] * VALUES_PER_PIECE},
        {"ok": True, "groups": [GROUP, LARGE_GROUP, GROUP, LARGE_GROUP]},
        {"shards": {f"shard-{number}": {"offset": 1, "parts": LARGE_GROUP} for number in range(3)}, "ok": True},
        {"ok": True, "one": [[[list(range(2 * VALUES_PER_PIECE))]]], "nothing": None},
        [LARGE_GROUP, [], {}, [LARGE_GROUP]],
    ],
    ids=range(8),
)
def test_the_pieces_together_are_the_value(value: Any) -> None:
    pieces = list(json_pieces(value))

    assert json.loads(b"".join(pieces)) == value
    assert max(piece.count(b",") + piece.count(b":") for piece in pieces) <= 2 * VALUES_PER_PIECE


def test_a_small_value_is_one_piece() -> None:
    assert list(json_pieces({"ok": True, "groups": [GROUP]})) == [
        json.dumps({"ok": True, "groups": [GROUP]}, separators=(",", ":")).encode()
    ]


def test_json_pieces_are_encoded_one_by_one() -> None:
    """The loop serves clients between two pieces."""
    groups = [GROUP] * (100 * VALUES_PER_PIECE)

    assert len(next(json_pieces(groups))) < 100 * VALUES_PER_PIECE
