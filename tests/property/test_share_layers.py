"""Share state through layers: wherever its log is cut, a start from a layer and what follows knows
what a start from the whole log knows.

``PIPELINE_EXAMPLES=5000`` draws more logs (``make torture``).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict

from coordinator_server.log.layers.attempt import publish
from coordinator_server.log.layers.layer import newest_valid_layer
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.pipeline.compact.engine import Engine, PythonEngine, compact_shard
from coordinator_server.pipeline.states.share import ShareState
from coordinator_server.pipeline.states.state import replay_into
from coordinator_server.share.fold import ShareFold
from coordinator_server.share.shard import ShareShard
from coordinator_server.share.share_partition import SharePartition
from coordinator_server.share.state_batches import NO_START_OFFSET, StateBatch
from protocol.coordinator_records import SHARE_SERDE, CoordinatorRecord
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue
from protocol.record_batch import iter_records, read_header
from protocol.share_partition_names import SharePartitionKey
from tests.property.test_share_state import per_offset, records
from tests.support.inputs import plan_shard
from tests.support.kind_logs import batches_of
from tests.support.segments import START_MS, Batch, append_segments, encode, write_segments
from tests.support.share_shard import TOPIC_ID, ShareSite, refusal

pytest.importorskip("pyarrow", reason="the spark extra is not installed: make test brings it")

from coordinator_server.pipeline.compact.vector_engine import VectorEngine

SHARD = "__share_group_state-3"
EXAMPLES = int(os.environ.get("PIPELINE_EXAMPLES", "60"))
many = settings(
    max_examples=max(EXAMPLES // 12, 1),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    derandomize=False,
)
ENGINES = (PythonEngine, VectorEngine)


def known(batches: Sequence[bytes]) -> tuple[str, dict[str, dict[str, Any]]]:
    """The digest, and all of the state: fences and the epoch of the last snapshot included."""
    state = replay_into(ShareState(), batches)
    return state.digest().digest, state.contents()


def compacted(shard_dir: Path, cutoff_ms: int | None, engine: Engine) -> list[bytes]:
    """The batches of a new layer."""
    plan = plan_shard(shard_dir)
    assert plan is not None
    result = compact_shard(plan, cutoff_ms, engine)
    assert not result.left_alone
    publish(Path(result.attempt), shard_dir, result.to_offset)
    layer = newest_valid_layer(shard_dir)
    assert layer is not None
    return list(layer.read())


def directories(tmp_path: Path, log: Sequence[Batch]) -> Iterator[tuple[Path, Engine]]:
    """A shard for each engine, with the same log."""
    for make in ENGINES:
        shard_dir = tmp_path / make.__name__ / SHARD
        shutil.rmtree(shard_dir, ignore_errors=True)
        write_segments(shard_dir, log, 2)
        yield shard_dir, make()


@many
@given(log=st.lists(records, min_size=1, max_size=16), size=st.integers(1, 3), cutoff=st.none() | st.integers(0, 20))
def test_a_layer_and_its_tail_at_every_cut(tmp_path: Path, log: list[CoordinatorRecord], size: int, cutoff: int | None) -> None:
    """With both engines, which write the same bytes; also for a layer over the layer of the cut before. Tombstones before the
    cutoff are gone, and nothing else."""
    batches = batches_of(SHARE_SERDE, log, size=size)
    encoded = [encode(batch) for batch in batches]
    expected = known(encoded)
    cutoff_ms = None if cutoff is None else START_MS + 1000 * cutoff

    for cut in range(1, len(batches) + 1):
        both = directories(tmp_path, batches[:cut])
        layers = [compacted(shard_dir, cutoff_ms, engine) for shard_dir, engine in both]
        assert layers[0] == layers[1]
        assert known([*layers[0], *encoded[cut:]]) == expected
        if cut < len(batches):
            shard_dir = tmp_path / "PythonEngine" / SHARD
            append_segments(shard_dir, batches[cut : cut + 1], 1)
            over = compacted(shard_dir, cutoff_ms, PythonEngine())
            assert known([*over, *encoded[cut + 1 :]]) == expected


@many
@given(log=st.lists(records, min_size=1, max_size=30))
def test_one_snapshot_of_each_share_partition(tmp_path: Path, log: list[CoordinatorRecord]) -> None:
    """At the offset of its last record, with the epoch of its last snapshot.

    Only a fence above it has a snapshot of its own before.
    """
    last: dict[tuple[str, bytes, int], int] = {}
    for offset, record in enumerate(log):
        key: Any = record.key
        if isinstance(key, ShareSnapshotKey) or record.value is not None:
            last[key.group_id, key.topic_id, key.partition] = offset
    [(shard_dir, engine), *_] = directories(tmp_path, batches_of(SHARE_SERDE, log))
    state = replay_into(ShareState(), [encode(batch) for batch in batches_of(SHARE_SERDE, log)])

    found: dict[tuple[str, bytes, int], list[tuple[int, Any]]] = {}
    for batch in compacted(shard_dir, None, engine):
        for stored in iter_records(batch, 0, read_header(batch)):
            decoded = SHARE_SERDE.decode(stored.key, stored.value)
            assert decoded is not None
            assert isinstance(decoded.key, ShareSnapshotKey)
            named = (decoded.key.group_id, decoded.key.topic_id, decoded.key.partition)
            found.setdefault(named, []).append((stored.offset, decoded.value))

    assert {key: kept[-1][0] for key, kept in found.items()} == last
    for named, kept in found.items():
        now = next((each for key, each in state.shard.share_partitions(LATEST) if tuple(key) == named), None)
        value = kept[-1][1]
        assert (value is None) == (now is None)
        if now is None or value is None:
            assert len(kept) == 1
            continue
        assert (value.snapshot_epoch, value.state_epoch, value.leader_epoch) == (
            now.snapshot_epoch,
            now.state_epoch,
            now.leader_epoch,
        )
        is_fenced = (now.highest_state_epoch, now.highest_leader_epoch) != (now.state_epoch, now.leader_epoch)
        assert len(kept) == 1 + is_fenced
        for fence in (each for _, each in kept[:-1]):
            assert isinstance(fence, ShareSnapshotValue)
            assert (fence.state_epoch, fence.leader_epoch) == (now.highest_state_epoch, now.highest_leader_epoch)


Operation = Callable[[ShareSite], object]
keys = st.builds(lambda group: SharePartitionKey(group, TOPIC_ID, 0), st.sampled_from("gh"))
written = st.lists(
    st.builds(
        lambda first, size, count, state: StateBatch(first, first + size, count, state),
        st.integers(0, 25),
        st.integers(0, 7),
        st.integers(1, 3),
        st.sampled_from((0, 2, 4)),
    ),
    max_size=3,
)
epochs = st.integers(-1, 3)
operations = st.one_of(
    st.builds(
        lambda key, epoch, start: lambda site: site.initialize(epoch, start, key), keys, st.integers(0, 3), st.integers(-1, 9)
    ),
    st.builds(lambda key, leader: lambda site: site.read(leader, key), keys, epochs),
    st.builds(lambda key: lambda site: site.delete(key), keys),
    *[
        st.builds(
            lambda key, batches, state, leader, start, complete: (
                lambda site: site.write(
                    *batches, state_epoch=state, leader_epoch=leader, start_offset=start, complete=complete, key=key
                )
            ),
            keys,
            written,
            epochs,
            epochs,
            st.integers(-1, 20),
            st.integers(-1, 5),
        )
    ]
    * 3,
)


@settings(max_examples=max(EXAMPLES // 2, 1), deadline=None)
@given(
    before=st.lists(operations, min_size=12, max_size=30),
    after=st.lists(operations, min_size=3, max_size=15),
    limit=st.sampled_from((0, 1, 3, 500)),
    data=st.data(),
)
def test_a_coordinator_goes_on_after_a_layer(
    before: list[Operation], after: list[Operation], limit: int, data: st.DataObject
) -> None:
    """One that has loaded a layer and its tail answers and refuses as the one that has written the log, and has the same state:
    only the number of updates since a snapshot, and so the time of the next snapshot, may differ."""
    one, other = (ShareSite(limit, cold_after_ms=1 << 40) for _ in range(2))
    for operation in before:
        refusal(lambda operation=operation: operation(one))  # type: ignore[misc]
    cut = data.draw(st.integers(0, len(one.log)))
    fold = ShareFold(ShareShard(registry=SnapshotRegistry()))
    for offset, record in enumerate(one.log[:cut]):
        fold.add(offset, record)
    kept = sorted(fold.records(), key=lambda item: item[0])
    for offset, record in [*kept, *enumerate(one.log[cut:], cut)]:
        other.shard.replay(offset, record)
    assert other.shard.digest(LATEST) == one.shard.digest(LATEST)

    for operation in after:
        assert answered(operation, one) == answered(operation, other)
        assert visible(one) == visible(other)


def answered(operation: Operation, site: ShareSite) -> object:
    """The response, or the error."""
    answers: list[object] = []
    error = refusal(lambda: answers.append(operation(site)))
    return error, [shown(each) if isinstance(each, SharePartition) else each for each in answers]


def visible(site: ShareSite) -> dict[SharePartitionKey, object]:
    return {key: shown(state) for key, state in site.shard.share_partitions(LATEST)}


def shown(state: SharePartition) -> dict[str, object]:
    """A state without what the next snapshot changes: its batches record by record, because a snapshot joins those that touch."""
    found: dict[str, object] = asdict(state)
    for name in ("update_count", "snapshot_epoch", "create_timestamp", "write_timestamp", "rows"):
        del found[name]
    return found | {"deliveries": per_offset(state.state_batches, NO_START_OFFSET)}
