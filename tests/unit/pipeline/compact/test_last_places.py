"""The last place of each key, with less memory than the keys need."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from coordinator_server.pipeline.compact.last_places import LastPlaces


@pytest.mark.parametrize("most_bytes", [500, 20_000, 1 << 20])
def test_the_last_place_of_each_key(tmp_path: Path, most_bytes: int) -> None:
    """Whatever fits into memory, and places of one key in any order: parts are divided until they fit."""
    rng, expected = random.Random(1), dict[bytes, int]()
    found = LastPlaces(tmp_path, most_bytes)

    for place in rng.sample(range(3_000), 3_000):
        key = b"%d" % rng.randrange(400)
        expected[key] = max(place, expected.get(key, -1))
        found.put(key, place)

    assert sorted(found.places()) == sorted(expected.values())
    assert not list(tmp_path.iterdir())
