"""Golden vectors: what Kafka's own generated classes make of every message, stored; ``python -m tests.support.golden`` makes them anew."""

from __future__ import annotations

import json
import lzma
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.kafka_jars import bring_kafka_jars
from tests.support.oracle import raw_schemas

PROGRAM = Path(__file__).parent.parent / "golden" / "GoldenVectors.java"
STORED = Path(__file__).parent.parent / "data" / "golden" / "vectors.jsonl.xz"
RANDOM_VALUES = 200


def run(jars: Path, random_values: int = RANDOM_VALUES, names: Iterable[str] | None = None) -> bytes:
    """The lines that the Java program writes for these messages, or for all."""
    command = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-cp", f"{jars}/*", str(PROGRAM), str(random_values)]
    wanted = sorted(raw_schemas()) if names is None else names
    done = subprocess.run([*command, *wanted], capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def stored_lines() -> bytes:
    return lzma.decompress(STORED.read_bytes())


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


if __name__ == "__main__":
    store(run(bring_kafka_jars()))
