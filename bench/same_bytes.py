"""The bytes of layers and segments of random logs, as hashes: two trees that print the same write the same.

    python -m bench.same_bytes [--logs 150]          run it in both trees, and compare the lines

Each log is written by the log store, in appends of some batches with seals between, and then compacted by each engine.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from coordinator_server.log.shards import Append, ShardId
from coordinator_server.pipeline.compact.engine import PythonEngine, compact_shard
from coordinator_server.pipeline.compact.run import plans
from coordinator_server.pipeline.compact.vector_engine import VectorEngine
from coordinator_server.pipeline.input.data_dir import offline_store
from coordinator_server.pipeline.input.sealing import seal
from tests.support.segments import coordinator_log, encode, write_meta

SHARD: Final = ShardId("__consumer_offsets", 7)
ENGINES: Final = (PythonEngine, VectorEngine)


def write(data_dir: Path, seed: int) -> None:
    """Write a log as a server does."""
    rng = Random(seed)
    data_dir.mkdir()
    write_meta(data_dir)
    batches = list(coordinator_log(seed, rng.randrange(1, 80)))
    while batches:
        part, batches = batches[: (cut := rng.randrange(1, 30))], batches[cut:]
        with offline_store(data_dir, "bench") as (store, run_until):
            outcomes: list[object] = []
            data = b"".join(map(encode, part))
            store.submit([Append(SHARD, 0, store.end_offset(SHARD), data)], outcomes.append)
            run_until(lambda outcomes=outcomes: bool(outcomes))  # type: ignore[misc]
            assert outcomes == [None]
        seal(data_dir)


def contents(directory: Path) -> Iterator[bytes]:
    """Yield the name and the bytes of each segment, or of each file of a layer."""
    for path in sorted(directory.iterdir()):
        if path.is_file() and path.suffix != ".marks":
            yield path.name.encode()
            yield path.read_bytes()


def main() -> None:
    """Print a hash for each engine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=150, metavar="N")
    options = parser.parse_args()
    for engine in ENGINES:
        found, size = hashlib.sha256(), 0
        for seed in range(options.logs):
            with tempfile.TemporaryDirectory() as scratch:
                data_dir = Path(scratch, "data")
                write(data_dir, seed)
                [plan] = plans(data_dir, seal(data_dir))
                layer = Path(compact_shard(plan, None, engine()).attempt)
                for each in (*contents(data_dir / str(SHARD)), *contents(layer)):
                    found.update(each)
                    size += len(each)
        print(f"{engine.__name__}: {options.logs} logs, {size:,} bytes, {found.hexdigest()[:32]}")


if __name__ == "__main__":
    main()
