"""Kinds that only tests have (tests/toy), one for each way of compaction:
every job does to their logs what it does to any, by their rows.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from coordinator_server.cli import main
from coordinator_server.cli.clean import clean
from coordinator_server.kinds import KINDS, Kind
from coordinator_server.log.jobs import LayerSummary
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.layers.cleanable import cleanable
from coordinator_server.log.layers.layer import newest_valid_layer
from coordinator_server.pipeline.compact.engine import Engine, compact_shard
from coordinator_server.pipeline.compact.plan import ShardPlan
from coordinator_server.pipeline.compact.run import compact, compaction_lock, plans, run_python
from coordinator_server.pipeline.files.kafka.exporter import export_kafka
from coordinator_server.pipeline.files.kafka.files import KafkaDir
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.replay.shard_states import ShardState, replay
from coordinator_server.pipeline.replay.verify import Check, verify_shard
from coordinator_server.pipeline.rules import RULES, Keyed
from coordinator_server.server.hosting.cleaner import Clean
from protocol.record_batch import Record
from tests.support.inputs import compacted_input
from tests.support.kafka_partition import plain, segment, write_partition
from tests.support.kind_logs import batches_of
from tests.support.segments import START_MS, Batch, append_segments, write_segments
from tests.support.toy_logs import shards, write_more, written
from tests.toy.records import added_record, total_record
from tests.toy.rows import FOLDED, KEYED, PARTITIONS, plug, unplug

TOYS = pytest.mark.parametrize("kind", [KEYED, FOLDED], ids=lambda kind: kind.topic)
CUTOFF_MS = START_MS + 60_000


@pytest.fixture(autouse=True)
def plugged() -> Iterator[None]:
    plug()
    yield
    unplug()


def compacted(data_dir: Path, cutoff_ms: int | None = None) -> list[str]:
    """By the plain engine; what was left alone."""
    with compaction_lock(data_dir):
        return list(compact(plans(data_dir, {}), cutoff_ms, run_python, Progress()).left_alone)


def layers(data_dir: Path) -> dict[str, bytes]:
    return {str(path.relative_to(data_dir)): path.read_bytes() for path in data_dir.glob("*/layer-*/*")}


def engines() -> Iterator[tuple[str, Callable[[ShardPlan], Engine]]]:
    """The vectorised engine, and the one that writes what a shuffle found, which is a dict here."""
    np = pytest.importorskip("numpy", reason="the spark extra is not installed: make test brings it")
    from coordinator_server.pipeline.compact.shuffle import ShuffledEngine, last_offsets
    from coordinator_server.pipeline.compact.vector_engine import VectorEngine, file_groups

    def shuffled(plan: ShardPlan) -> Engine:
        keyed = RULES[plan.shard.rpartition("-")[0]].compaction
        last: dict[bytes | None, int] = {}
        if not isinstance(keyed, Keyed):
            return ShuffledEngine(iter(()))
        for group in file_groups(compacted_input(Path(plan.directory), plan.to_offset)[1]):
            for batch in last_offsets(group, keyed):
                for key, offset in zip(batch["key"].to_pylist(), batch["offset"].to_pylist(), strict=True):
                    last[key] = max(offset, last.get(key, -1))
        return ShuffledEngine(iter([np.array(sorted(last.values()), np.int64)]))

    yield "vectorised", lambda _plan: VectorEngine()
    yield "many-tasks", shuffled


def states(data_dir: Path) -> list[ShardState]:
    return [state for state in replay(data_dir) if state.noun == "totals"]


def test_the_toys_have_a_row_everywhere() -> None:
    assert KINDS.keys() == RULES.keys()


@TOYS
@pytest.mark.parametrize("cutoff_ms", [None, CUTOFF_MS])
def test_all_engines_write_the_same_bytes(tmp_path: Path, kind: Kind, cutoff_ms: int | None) -> None:
    """Over segments, and over the layer that they became; the state stays what it was."""
    data_dir = written(tmp_path / "plain", kind)
    for name, _ in engines():
        shutil.copytree(data_dir, tmp_path / name)
    for layers_made in (1, 2):
        before = states(data_dir)
        for name, engine in engines():
            for plan in plans(tmp_path / name, {}):
                result = compact_shard(plan, cutoff_ms, engine(plan))
                publish(Path(result.attempt), Path(plan.directory), plan.to_offset)

        assert compacted(data_dir, cutoff_ms) == []

        assert len(list(data_dir.glob("*/layer-*"))) == PARTITIONS * layers_made
        for name, _ in engines():
            assert layers(tmp_path / name) == layers(data_dir)
            write_more(tmp_path / name, kind)
        assert states(data_dir) == before
        assert [state.shard for state in before] == [shard.name for shard in shards(data_dir, kind)]
        write_more(data_dir, kind)


@TOYS
def test_a_layer_keeps_what_its_retention_says(tmp_path: Path, kind: Kind) -> None:
    """The last record of every key, or one record that says what all of them come to."""
    log = [added_record("a", 2), added_record("a", 3)] if kind is FOLDED else [total_record("a", 2), total_record("a", 5)]
    end = write_segments(tmp_path / f"{kind.topic}-0", batches_of(kind.serde, log, size=1))

    compacted(tmp_path)

    layer = newest_valid_layer(tmp_path / f"{kind.topic}-0")
    assert layer is not None
    assert (layer.to_offset, layer.manifest.records) == (end, 1)
    [state] = [RULES[kind.topic].state()]
    for batch in layer.read():
        state.replay(batch)
    assert state.contents() == {"name a": {"total": 5}}


@TOYS
def test_verify_proves_and_finds_out(tmp_path: Path, kind: Kind, capsys: pytest.CaptureFixture[str]) -> None:
    """By their own state machine, digest and names."""
    data_dir = written(tmp_path, kind)
    compacted(data_dir)
    assert main(["verify", "--data-dir", str(data_dir), "--engine", "python"]) == 0
    assert " totals in 7 shards" in capsys.readouterr().out

    shard_dir = shards(data_dir, kind)[3]
    upto = append_segments(shard_dir, batches_of(kind.serde, [total_record("name-1", 7)], int(max(shard_dir.glob("*.log")).stem)))
    with LayerAttempt(shard_dir, upto) as attempt:
        publish(attempt.finish(LayerSummary(0, 0, None, ""), []), shard_dir, upto)

    differences = verify_shard(Check(str(shard_dir), upto)).differences
    assert "name name-1: total: 7 in the full history, nothing in layer and tail" in differences


@TOYS
def test_replay_prints_totals_and_digests(tmp_path: Path, kind: Kind, capsys: pytest.CaptureFixture[str]) -> None:
    """Of all partitions, or of one, as of now or of an offset."""
    data_dir = written(tmp_path, kind)
    shard = shards(data_dir, kind)[2].name

    assert main(["replay", "--data-dir", str(data_dir), "--shard", shard]) == 0
    assert "  name name-" in capsys.readouterr().out
    assert main(["replay", "--data-dir", str(data_dir), "--digest"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == PARTITIONS
    assert main(["replay", "--data-dir", str(data_dir), "--shard", shard, "--at", "0", "--json"]) == 0
    [state] = msgspec.json.decode(capsys.readouterr().out)
    assert (state["noun"], state["contents"], state["digest"]) == ("totals", {}, "0" * 32)


@TOYS
def test_log_verify_reads_their_records(tmp_path: Path, kind: Kind, capsys: pytest.CaptureFixture[str]) -> None:
    """By their serde: one that is no record of the kind is found."""
    data_dir = written(tmp_path, kind)
    compacted(data_dir)
    assert main(["log", "verify", "--data-dir", str(data_dir)]) == 0
    capsys.readouterr()

    shard_dir = shards(data_dir, kind)[5]
    end = int(max(shard_dir.glob("*.log")).stem)
    append_segments(shard_dir, [Batch((Record(end, START_MS, b"\0\0name", b"no total"),))])

    assert main(["log", "verify", "--data-dir", str(data_dir)]) == 1
    said = capsys.readouterr().out
    assert f"{shard_dir}/{end:020d}.log at byte 0: in the batch at offset {end}: " in said
    assert "the value has another size" in said


@TOYS
def test_the_cleaner_cleans_them(tmp_path: Path, kind: Kind) -> None:
    """What is due is seen by name, and what is sealed is compacted."""
    data_dir = written(tmp_path, kind)
    names = [shard.name for shard in shards(data_dir, kind)]
    dirty = cleanable(data_dir)
    assert sorted(dirty) == names
    assert all(each.ratio == 1 for each in dirty.values())
    sealed = {shard.name: int(max(shard.glob("*.log")).stem) for shard in shards(data_dir, kind)}

    cleaned = clean(Clean(str(data_dir), sealed, CUTOFF_MS, 1, 1 << 30))

    assert (cleaned.shards, cleaned.left_alone) == (names, [])
    assert [(each.dirty, each.clean > 0) for each in cleanable(data_dir).values()] == [(0, True)] * PARTITIONS


@TOYS
@pytest.mark.parametrize("is_exported", [False, True])
def test_export_gives_them_back_where_their_rule_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Kind, is_exported: bool
) -> None:
    """From layers and segments, with the state that they come to."""
    monkeypatch.setitem(RULES, kind.topic, msgspec.structs.replace(RULES[kind.topic], is_exported=is_exported))
    data_dir = written(tmp_path / "ours", kind)
    compacted(data_dir)
    for topic in ("__consumer_offsets", kind.topic):
        for number in range(PARTITIONS):
            directory = write_partition(tmp_path / "kafka", number, (segment(0), [plain(0, (b"old", b""))]), topic=topic)
            (directory / "partition.metadata").write_text("version: 0\n")

    result = export_kafka(data_dir, tmp_path / "kafka", Progress())

    assert result.partitions == PARTITIONS * (2 if is_exported else 1)
    for state, partition in zip(states(data_dir), KafkaDir(tmp_path / "kafka").partitions(kind.topic), strict=True):
        found = RULES[kind.topic].state()
        for batch in partition.batches() if is_exported else ():
            found.replay(batch.data[batch.position : batch.position + batch.header.size])
        assert (found.digest().digest == state.digest) == is_exported
