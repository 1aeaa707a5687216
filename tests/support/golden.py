"""What Kafka's own classes say, stored; ``python -m tests.support.golden`` asks them again.

Golden vectors: what its generated classes make of every message. Share states: what its share coordinator makes of records.
Assignments: what the assignors of its client make of groups. Topic hashes: what its group coordinator makes of topics. Targets:
what the assignors of its group coordinator make of lives of groups. Streams groups: what it makes of their lives and topologies.
"""

from __future__ import annotations

import json
import lzma
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.assignor_groups import random_groups
from tests.support.assignor_sequences import random_lives, random_share_lives, share_lives_with_gifts_twice
from tests.support.expressions import questions
from tests.support.hashed_topics import random_topics
from tests.support.kafka_jars import JVM, bring_kafka_jars
from tests.support.oracle import raw_schemas
from tests.support.streams_lives import random_lives as random_streams_lives
from tests.support.streams_topologies import random_topologies

PROGRAMS = Path(__file__).parent.parent / "golden"
STORED = Path(__file__).parent.parent / "data" / "golden" / "vectors.jsonl.xz"
STORED_ASSIGNMENTS = STORED.with_name("assignments.jsonl.xz")
STORED_EXPRESSIONS = STORED.with_name("expressions.jsonl.xz")
STORED_TOPIC_HASHES = STORED.with_name("topic_hashes.jsonl.xz")
STORED_TARGETS = STORED.with_name("targets.jsonl.xz")
STORED_SHARE_TARGETS = STORED.with_name("share_targets.jsonl.xz")
STORED_SHARE_STATES = STORED.with_name("share_states.jsonl.xz")
STORED_STREAMS_LIVES = STORED.with_name("streams_groups.jsonl.xz")
STORED_STREAMS_TOPOLOGIES = STORED.with_name("streams_topologies.jsonl.xz")
RANDOM_VALUES = 200
SHARE_LOGS = 500
# So few that a log of some records has reached it.
UPDATES_PER_SNAPSHOT = 3


def run(jars: Path, random_values: int = RANDOM_VALUES, names: Iterable[str] | None = None) -> bytes:
    """The lines that the Java program writes for these messages, or for all."""
    return _java(jars, "GoldenVectors", str(random_values), *(sorted(raw_schemas()) if names is None else names))


def run_share_states(jars: Path) -> bytes:
    """A line for each random log: its records, and the states that they come to."""
    return _java(jars, "ShareStates", str(SHARE_LOGS), str(UPDATES_PER_SNAPSHOT))


def run_assignors(jars: Path) -> bytes:
    """A line for each random group: its members, and what Kafka's assignors give them."""
    groups = "".join(json.dumps(group) + "\n" for group in random_groups())
    lines = _java(jars, "Assignors", given=groups.encode()).splitlines(keepends=True)
    # Between them the assignors log that members claim the same partitions.
    return b"".join(line for line in lines if line.startswith(b"{"))


def run_topic_hashes(jars: Path) -> bytes:
    """A line for each random group: its topics, and the hashes of them and of the group."""
    groups = "".join(json.dumps(group) + "\n" for group in random_topics())
    return _java(jars, "TopicHashes", given=groups.encode())


def run_server_assignors(jars: Path, *lives: dict[str, Any]) -> list[dict[str, Any]]:
    """The lives with the targets that Kafka's coordinator computes."""
    return _java_objects(jars, "ServerAssignors", lives)


def run_streams_groups(jars: Path, lives: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lives of streams groups with what Kafka's coordinator makes of each step."""
    return _java_objects(jars, "StreamsGroups", lives)


def run_streams_topologies(jars: Path, topologies: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The topologies as Kafka's coordinator configures them."""
    return _java_objects(jars, "StreamsTopologies", topologies)


def run_expressions(jars: Path) -> bytes:
    """A line for each regular expression: the texts that it matches, or why it is wrong."""
    return _java(jars, "Expressions", given="".join(json.dumps(each) + "\n" for each in questions()).encode())


def _java(jars: Path, program: str, *arguments: str, given: bytes = b"") -> bytes:
    command = ["java", *JVM, "-cp", f"{jars}/*", str(PROGRAMS / f"{program}.java"), *arguments]
    done = subprocess.run(command, input=given, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def _java_objects(jars: Path, program: str, given: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    lines = "".join(json.dumps(each) + "\n" for each in given).encode()
    # Some of Kafka's classes log between the lines.
    return [json.loads(line) for line in _java(jars, program, given=lines).splitlines() if line.startswith(b"{")]


def stored_lines(path: Path = STORED) -> bytes:
    return lzma.decompress(path.read_bytes())


@cache
def vectors() -> dict[str, list[dict[str, Any]]]:
    """The stored vectors by message."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in stored_lines().splitlines():
        vector = json.loads(line)
        found.setdefault(vector["message"], []).append(vector)
    return found


def store(lines: bytes, path: Path = STORED) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(lines, preset=9))


def store_objects(objects: list[dict[str, Any]], path: Path) -> None:
    store("".join(json.dumps(each, separators=(",", ":")) + "\n" for each in objects).encode(), path)


if __name__ == "__main__":
    store(run(bring_kafka_jars()))
    store(run_share_states(bring_kafka_jars()), STORED_SHARE_STATES)
    store(run_assignors(bring_kafka_jars()), STORED_ASSIGNMENTS)
    store(run_topic_hashes(bring_kafka_jars()), STORED_TOPIC_HASHES)
    store(run_expressions(bring_kafka_jars()), STORED_EXPRESSIONS)
    share_lives = [*random_share_lives(), *share_lives_with_gifts_twice()]
    for lives, path in ((random_lives(), STORED_TARGETS), (share_lives, STORED_SHARE_TARGETS)):
        targets = run_server_assignors(bring_kafka_jars(), *lives)
        store_objects(targets, path)
    store_objects(run_streams_groups(bring_kafka_jars(), random_streams_lives()), STORED_STREAMS_LIVES)
    store_objects(run_streams_topologies(bring_kafka_jars(), random_topologies()), STORED_STREAMS_TOPOLOGIES)
