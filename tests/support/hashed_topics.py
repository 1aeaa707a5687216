"""Topics of groups, drawn at random from a fixed seed: what Kafka's hashes of them are stored for."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
GROUPS = 60
# XXH3 works in ways of its own up to 16, 128 and 240 bytes. A topic has 25 bytes, 2 for each character and 4 for each partition; a
# group has 8 for each topic.
LENGTHS = (1, 3, 20, 60, 110, 249)
PARTITIONS = (1, 2, 30, 300, 10_000)


def random_topics() -> Iterator[dict[str, Any]]:
    """Each group's topics: name, id in hexadecimal, partitions. The first group has none, most have some of each size."""
    rng = random.Random(848)
    yield {"topics": []}
    for _ in range(GROUPS):
        names = {"".join(rng.choices(CHARACTERS, k=rng.choice(LENGTHS))) for _ in range(rng.randrange(1, 40))}
        yield {
            "topics": [
                {"name": name, "id": rng.randbytes(16).hex(), "partitions": rng.choice(PARTITIONS)} for name in sorted(names)
            ]
        }
