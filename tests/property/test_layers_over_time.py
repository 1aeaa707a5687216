"""A shard of groups over time: the cleaner of the server compacts it at some moments, jobs with another engine at others,
transactions are open over several layers, the server starts again from a checkpoint or from records, and segments are removed.

At each moment the digest of the server, of its log since the beginning, and of both ways to read its directory are the same.
``PIPELINE_EXAMPLES=5000`` draws more of them (``make torture``).
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coordinator_server.log.layers.attempt import publish
from coordinator_server.log.layers.checkpoint import Checkpoint
from coordinator_server.log.layers.layer import Layer, newest_valid_layer
from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.pipeline.compact.engine import Engine, PythonEngine, compact_shard
from coordinator_server.pipeline.input.files import read_batches
from coordinator_server.pipeline.replay.verify import Check, verify_shard
from coordinator_server.pipeline.states.groups import digest_of, empty_shard
from coordinator_server.runtime.layer_checkpoint import LayerCheckpoint
from coordinator_server.runtime.loader import BatchReplay, replay_batch
from coordinator_server.runtime.producers import Producers
from protocol.coordinator_records import GROUP_SERDE
from tests.support.group import GroupLog
from tests.support.inputs import compacted_input, plan_shard
from tests.support.kafka_partition import marker
from tests.support.random_log import PRODUCERS, SPAN_MS, base_of, end_of, logs, write_log
from tests.support.replay import replay_batches
from tests.support.segments import START_MS

pytest.importorskip("pyarrow", reason="the spark extra is not installed: make test brings it")

from coordinator_server.pipeline.compact.vector_engine import VectorEngine

SHARD: Final = "__consumer_offsets-7"
EXAMPLES: Final = int(os.environ.get("PIPELINE_EXAMPLES", "20"))
PIECE: Final = 3
ENGINES: Final[dict[str, Callable[[], Engine]]] = {"cleaner": PythonEngine, "job": VectorEngine}


class Moment(NamedTuple):
    """What happens when so many more batches have been written. ``start`` says what the server loads."""

    batches: int
    compaction: str | None
    cutoff_ms: int | None
    start: str | None
    is_trimmed: bool


_cutoffs = st.none() | st.integers(0, SPAN_MS + 1).map(lambda at: START_MS + at)
_compactions = st.sampled_from(["cleaner", "job", "job", None])
_starts = st.sampled_from([None, None, "checkpoint", "checkpoint", "records"])
moments = st.lists(st.builds(Moment, st.integers(1, 8), _compactions, _cutoffs, _starts, st.booleans()), min_size=2, max_size=8)


class Server:
    """The shard in a process that has loaded it from the newest layer, with its checkpoint or without, and from what follows it."""

    def __init__(self, shard_dir: Path, end: int, start: str) -> None:
        self._registry = SnapshotRegistry()
        self._end = end
        self.shard, self.producers = GroupLog().build(self._registry), Producers(self._registry)
        replay = BatchReplay(GROUP_SERDE, self.shard, self.producers).replay
        layer, files = compacted_input(shard_dir, end)
        after = 0
        if start == "checkpoint" and isinstance(layer, Layer) and layer.manifest.checkpoint:
            checkpoint = Checkpoint(layer)
            self.shard.use_checkpoint(LayerCheckpoint(checkpoint, GROUP_SERDE))
            for batch in checkpoint.other_batches():
                replay(batch)
            after = layer.to_offset
        for file in files:
            for data, at, header in read_batches(file) if file.to_offset > after else ():
                if header.base_offset >= after:
                    replay(data[at : at + header.size])

    def write(self, batches: Sequence[bytes]) -> None:
        """Append batches, each of which is durable at once."""
        for batch in batches:
            self._registry.snapshot(base_of(batch))
            # Record by record: the fast replay is for loads.
            replay_batch(batch, GROUP_SERDE, self.shard, LATEST, self.producers)
            self._end = end_of(batch)
            self._registry.delete_up_to(self._end)

    def digest(self) -> StateDigest:
        """In small pieces."""
        while (found := self.shard.digest(self._end, PIECE)) is None:
            pass
        return found


def compact(shard_dir: Path, moment: Moment) -> None:
    plan = plan_shard(shard_dir)
    if moment.compaction is not None and plan is not None:
        result = compact_shard(plan, moment.cutoff_ms, ENGINES[moment.compaction]())
        assert not result.left_alone
        publish(Path(result.attempt), shard_dir, plan.to_offset)


def trim(shard_dir: Path) -> None:
    """Remove the segments that the newest layer replaces."""
    layer = newest_valid_layer(shard_dir)
    segments = sorted(shard_dir.glob("*.log"))
    for segment, after in itertools.pairwise(segments):
        if layer is not None and int(after.stem) <= layer.to_offset:
            segment.unlink()


def assert_all_agree(shard_dir: Path, log: Sequence[bytes], server: Server) -> None:
    whole = digest_of(replay_batches(log))
    live = server.digest()
    assert (live.digest, live.parts) == (whole.digest, whole.parts)
    verdict = verify_shard(Check(str(shard_dir), end_of(log[-1]), live.digest, live.parts))
    assert (verdict.full, verdict.compacted, verdict.differences) == (whole.digest, whole.digest, ())


@settings(
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
    deadline=None,
)
@given(log=logs(50), history=moments, ends=st.lists(st.tuples(st.sampled_from(PRODUCERS), st.integers(0, 1)), max_size=4))
def test_digests_agree_at_each_moment(
    tmp_path: Path, log: list[bytes], history: list[Moment], ends: list[tuple[int, int]]
) -> None:
    """And after the ends of transactions that are open over several layers."""
    shutil.rmtree(tmp_path, ignore_errors=True)
    shard_dir, so_far = tmp_path / SHARD, list[bytes]()
    shard_dir.mkdir(parents=True)
    server = Server(shard_dir, 0, "records")
    ended = [marker(end_of(log[-1]) + at, *each) for at, each in enumerate(ends)]
    parts = [*_parts(log, history), ended]
    for part, moment in zip(parts, [*history, history[0]], strict=False):
        if not part:
            continue
        so_far += part
        server.write(part)
        write_log(shard_dir, part, 2)
        assert_all_agree(shard_dir, so_far, server)
        compact(shard_dir, moment)
        if moment.is_trimmed:
            trim(shard_dir)
        if moment.start is not None:
            server = Server(shard_dir, end_of(so_far[-1]), moment.start)
        assert_all_agree(shard_dir, so_far, server)
    assert server.producers.last_stable_offset(LATEST) == _last_stable_offset(so_far)


def _last_stable_offset(log: Sequence[bytes]) -> int | None:
    producers = Producers(SnapshotRegistry())
    replay = BatchReplay(GROUP_SERDE, empty_shard(), producers).replay
    for batch in log:
        replay(batch)
    return producers.last_stable_offset(LATEST)


def _parts(log: Sequence[bytes], history: Sequence[Moment]) -> list[list[bytes]]:
    """The batches that are written before each moment; all that are left before the last one."""
    found, at = list[list[bytes]](), 0
    for number, moment in enumerate(history, 1):
        after = len(log) if number == len(history) else at + moment.batches
        found.append(list(log[at:after]))
        at = after
    return found
