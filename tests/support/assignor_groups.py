"""Random groups for assignors: members that want topics, and that have partitions from before, rightly or wrongly."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

GROUPS: Final = 600
TOPICS: Final = ("a", "b", "orders", "Z", "x-1")
ASSIGNORS: Final = ("range", "roundrobin", "cooperative-sticky")


def random_groups(count: int = GROUPS, seed: int = 16) -> Iterator[dict[str, Any]]:
    """Yield groups as JSON objects, and a third as many of the assignor "sticky".

    Members of sticky groups want the same topics.
    """
    rng = random.Random(seed)
    for i in range(count):
        yield _group(rng, ASSIGNORS[i % len(ASSIGNORS)])
    for _ in range(count // len(ASSIGNORS)):
        yield _group(rng, "sticky")


def _group(rng: random.Random, assignor: str) -> dict[str, Any]:
    wanted = rng.sample(TOPICS, rng.randint(1, len(TOPICS)))
    partitions = {topic: rng.randint(1, 9) for topic in wanted if rng.random() < 0.9}
    members: list[dict[str, Any]] = []
    free = [[topic, index] for topic, count in partitions.items() for index in range(count)]
    rng.shuffle(free)
    generation = rng.randint(1, 5)
    for i in range(rng.choice([1, 2, 3, 5, 8, 20])):
        is_equal = assignor.endswith("sticky") or rng.random() < 0.6
        owned = [free.pop() for _ in range(min(len(free), rng.choice([0, 0, 1, 3, 6])))]
        if rng.random() < 0.15 and members:
            owned += rng.sample(members[-1]["owned"], len(members[-1]["owned"]) // 2)
        if rng.random() < 0.1:
            owned.append(["gone", 1])
        members.append(
            {
                "id": f"{rng.choice(['consumer', 'rdkafka', 'sarama'])}-{rng.getrandbits(40):x}-{i}",
                "instance": f"host-{i}" if rng.random() < 0.2 else None,
                "topics": wanted if is_equal else rng.sample(wanted, rng.randint(1, len(wanted))),
                "owned": owned,
                "generation": generation - rng.choice([0, 0, 0, 0, 1, 2]) if owned or rng.random() < 0.5 else -1,
            }
        )
    return {"assignor": assignor, "partitions": partitions, "members": members}
