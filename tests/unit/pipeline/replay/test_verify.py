"""Verify: the ways to come by a state agree, and where they do not the difference is named."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coordinator_server.cli import main
from coordinator_server.log.jobs import LayerSummary
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.repair.salvage import salvage
from coordinator_server.machine.digest import FORMAT
from coordinator_server.pipeline.compact.run import compact, plans, run_python
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.replay.shard_states import replay
from coordinator_server.pipeline.replay.verify import Check, verify_shard
from coordinator_server.pipeline.rules import rule_of
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.fields import Message
from protocol.record_batch import Record
from tests.support.imported import IMPORTED, imported_key, imported_value
from tests.support.kafka_partition import of_transaction
from tests.support.kind_logs import LOGS, catalog_log
from tests.support.segments import (
    START_MS,
    Batch,
    append_segments,
    coordinator_log,
    group_key,
    group_value,
    offset_key,
    offset_value,
    write_meta,
    write_segments,
)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    directory = tmp_path / "data"
    directory.mkdir()
    write_meta(directory)
    write_segments(directory / "__consumer_offsets-3", coordinator_log(3, 60))
    return directory


def sealed(data_dir: Path) -> dict[str, int]:
    return {path.name: max(int(each.stem) for each in path.glob("*.log")) for path in data_dir.glob("__*")}


def compacted(data_dir: Path) -> None:
    compact(plans(data_dir, sealed(data_dir)), None, run_python, Progress())


def check(data_dir: Path, **said: Any) -> Check:
    return Check(str(data_dir / "__consumer_offsets-3"), sealed(data_dir)["__consumer_offsets-3"], **said)


def test_history_that_was_not_salvaged_proves_nothing(data_dir: Path) -> None:
    """The full history begins with the layer behind what is missing."""
    compacted(data_dir)
    shard = data_dir / "__consumer_offsets-3"
    layer_to = sealed(data_dir)[shard.name]
    append_segments(shard, coordinator_log(4, 30, first_offset=layer_to))
    path = sorted(shard.glob("*.log"))[1]
    path.write_bytes(path.read_bytes()[:-3] + b"???")
    saved = data_dir.with_name("saved")
    salvage(str(data_dir), str(saved))

    verdict = verify_shard(check(saved))

    assert (verdict.is_proven, verdict.history_from) == (True, layer_to)


def test_the_full_history_and_the_compacted_log_agree(data_dir: Path) -> None:
    """Over a layer, and segments after it."""
    compacted(data_dir)
    shard = data_dir / "__consumer_offsets-3"
    append_segments(shard, coordinator_log(4, 30, first_offset=sealed(data_dir)[shard.name]))

    verdict = verify_shard(check(data_dir))

    assert verdict.is_proven
    assert verdict.full == verdict.compacted
    assert (verdict.history_from, verdict.live) == (0, None)
    assert verdict.records == sealed(data_dir)[shard.name]
    assert verify_shard(check(data_dir, live=verdict.full)).is_proven


def test_a_layer_that_lost_something_is_found_out(tmp_path: Path) -> None:
    """Group, key and both values are named."""

    def log(offset: int) -> list[Batch]:
        return [
            Batch(
                (
                    Record(0, START_MS, offset_key("g", "orders", 0), offset_value(offset)),
                    Record(1, START_MS, offset_key("same", "orders", 0), offset_value(1)),
                    Record(2, START_MS, group_key("h"), group_value(offset, [])),
                )
            )
        ]

    for name, offset in (("true", 5), ("false", 6)):
        (tmp_path / name).mkdir()
        write_meta(tmp_path / name)
        write_segments(tmp_path / name / "__consumer_offsets-3", log(offset), 1)
    compacted(tmp_path / "false")
    [layer] = (tmp_path / "false" / "__consumer_offsets-3").glob("layer-*")
    shutil.copytree(layer, tmp_path / "true" / "__consumer_offsets-3" / layer.name)

    verdict = verify_shard(check(tmp_path / "true"))

    assert not verdict.is_proven
    [position, generation] = verdict.differences
    assert position.startswith("group g: offset orders-0: {")
    assert '"offset":5' in position.split(" in the full history")[0]
    assert '"offset":6' in position.split(" in the full history")[1]
    assert generation == "group h: generation: 5 in the full history, 6 in layer and tail"


@pytest.mark.parametrize("key_type", IMPORTED, ids=lambda key_type: key_type.__name__)
def test_a_record_of_an_imported_group_that_differs_is_found_out(tmp_path: Path, key_type: type[Message]) -> None:
    """Whichever it is. Its value is not shown: that is the business of a protocol that is not served."""

    def log(seed: int) -> list[Batch]:
        records = [
            CoordinatorRecord(imported_key(key, "g", "m-1"), imported_value(key, seed if key is key_type else 0))
            for key in IMPORTED
            if key.__module__ == key_type.__module__
        ]
        encoded = [(GROUP_SERDE.encode_key(record), GROUP_SERDE.encode_value(record)) for record in records]
        return [Batch(tuple(Record(offset, START_MS, *pair) for offset, pair in enumerate(encoded)))]

    for name, seed in (("true", 1), ("false", 2)):
        (tmp_path / name).mkdir()
        write_meta(tmp_path / name)
        write_segments(tmp_path / name / "__consumer_offsets-3", log(seed), 1)
    compacted(tmp_path / "false")
    [layer] = (tmp_path / "false" / "__consumer_offsets-3").glob("layer-*")
    shutil.copytree(layer, tmp_path / "true" / "__consumer_offsets-3" / layer.name)

    [difference] = verify_shard(check(tmp_path / "true")).differences

    rest = " m-1" if len(key_type.__struct_fields__) > 1 else ""
    assert difference.startswith(f"group g: record {key_type.__name__.removesuffix('Key')}{rest}: ")


def test_digests_of_another_format_are_not_compared(
    data_dir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would differ for no fault of the log."""
    said = {"format": FORMAT - 1, "shards": {}}
    monkeypatch.setattr("coordinator_server.cli.verify.ask_server_if_any", lambda *_: said)

    assert main(["verify", "--data-dir", str(data_dir), "--engine", "python"]) == 2

    assert f"the server sends digests of format {FORMAT - 1}, and this is of format {FORMAT}" in capsys.readouterr().err


def test_a_server_that_holds_something_else_is_found_out(data_dir: Path) -> None:
    """By the digests of its groups."""
    [state] = replay(data_dir)
    groups = {group.group_id: group.digest for group in state.groups}
    wrong = groups | {"group-1": "00"}
    del wrong["group-2"]

    verdict = verify_shard(check(data_dir, live="00", live_parts=wrong))

    assert [difference.split(":")[0] for difference in verdict.differences] == ["group group-1", "group group-2"]
    assert verdict.differences[1].endswith("none in the server")


def check_dir(data_dir: Path) -> Path:
    return data_dir / "__consumer_offsets-3"


def test_where_segments_are_gone_the_oldest_layer_begins_the_history(data_dir: Path) -> None:
    """And the verdict says so."""
    compacted(data_dir)
    shard = check_dir(data_dir)
    first_layer = sealed(data_dir)[shard.name]
    append_segments(shard, coordinator_log(4, 30, first_offset=first_layer))
    compacted(data_dir)
    for path in sorted(shard.glob("*.log"))[:4]:
        path.unlink()

    verdict = verify_shard(check(data_dir))

    assert verdict.is_proven
    assert verdict.history_from == first_layer


def test_the_command_says_what_agrees_and_exits_with_0(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a server it is two ways."""
    compacted(data_dir)

    assert main(["verify", "--data-dir", str(data_dir), "--engine", "python"]) == 0

    assert capsys.readouterr().out.startswith("the full history and the compacted log agree on 11 groups in 1 shard ")


def test_the_command_names_differences_and_exits_with_1(
    data_dir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In words, or as JSON."""
    shard = "__consumer_offsets-3"
    said = {"format": FORMAT, "shards": {shard: {"offset": sealed(data_dir)[shard], "digest": "00", "groups": {}}}}
    monkeypatch.setattr("coordinator_server.cli.verify.ask_server_if_any", lambda *_: said)

    assert main(["verify", "--data-dir", str(data_dir), "--engine", "python"]) == 1
    assert "not proven: 1 of 1 shard" in capsys.readouterr().out
    assert main(["verify", "--data-dir", str(data_dir), "--engine", "python", "--json"]) == 1
    [verdict] = msgspec.json.decode(capsys.readouterr().out)
    assert (verdict["shard"], verdict["live"]) == (shard, "00")


@pytest.mark.parametrize("topic", LOGS)
def test_every_kind_is_proven(tmp_path: Path, topic: str) -> None:
    """Over a layer and what came after it."""
    write_meta(tmp_path)
    shard_dir = tmp_path / f"{topic}-0"
    end = write_segments(shard_dir, LOGS[topic](1, 60, 0))
    compacted(tmp_path)
    upto = append_segments(shard_dir, LOGS[topic](2, 20, end))

    verdict = verify_shard(Check(str(shard_dir), upto))

    assert verdict.is_proven
    assert verdict.full == verdict.compacted != "0" * 32
    assert (verdict.records, verdict.noun) == (upto, rule_of(shard_dir.name).state().noun)
    assert verdict.count > 0


@pytest.mark.parametrize(
    ("topic", "named"),
    [
        ("__cluster_metadata", "topic topic-"),
        ("__transaction_state", "transactional id transfers-0: "),
        ("__share_group_state", "share partition group-0:MDEyMzQ1Njc4OWFiY2RlZg:0: "),
    ],
)
def test_of_every_kind_a_layer_of_another_log_is_found_out(tmp_path: Path, topic: str, named: str) -> None:
    """The part that differs is named, the key, and both values."""
    ends = {name: write_segments(tmp_path / name / f"{topic}-0", LOGS[topic](seed, 60, 0)) for name, seed in (("a", 1), ("b", 9))}
    compacted(tmp_path / "b")
    [layer] = (tmp_path / "b" / f"{topic}-0").glob("layer-*")
    target = tmp_path / "a" / f"{topic}-0"
    manifest = msgspec.json.decode((layer / "manifest.json").read_bytes())
    shutil.copytree(layer, target / f"layer-{ends['a']:020d}")
    manifest["to_offset"] = ends["a"]
    (target / f"layer-{ends['a']:020d}" / "manifest.json").write_bytes(msgspec.json.encode(manifest))

    verdict = verify_shard(Check(str(target), ends["a"]))

    assert not verdict.is_proven
    assert any(difference.startswith(named) for difference in verdict.differences)
    assert all(" in the full history, " in difference for difference in verdict.differences)


def test_a_server_with_other_topics_is_found_out(tmp_path: Path) -> None:
    """Its answer has one digest for all of them."""
    end = write_segments(tmp_path / "__cluster_metadata-0", catalog_log(1, 30))

    verdict = verify_shard(Check(str(tmp_path / "__cluster_metadata-0"), end, live="00"))

    assert verdict.differences == ("the server's digest differs, and it does not say of which part",)


def test_what_contents_do_not_show_is_named_by_its_digest(tmp_path: Path) -> None:
    """What an open transaction holds is no part of a group's offsets yet, and is part of its digest."""
    shard_dir = tmp_path / "__consumer_offsets-3"
    shard_dir.mkdir()
    (shard_dir / f"{0:020d}.log").write_bytes(of_transaction(0, 7, (offset_key("g", "orders", 0), offset_value(5))))
    (shard_dir / f"{1:020d}.log").touch()
    with LayerAttempt(shard_dir, 1) as attempt:
        publish(attempt.finish(LayerSummary(0, 0, None, ""), []), shard_dir, 1)

    verdict = verify_shard(Check(str(shard_dir), 1))

    [difference] = verdict.differences
    assert difference.startswith("group g: digest ")
    assert difference.endswith(", none in layer and tail")


def test_the_command_counts_what_it_has_proven(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of every kind; and says what it does not know."""
    write_meta(tmp_path)
    for topic, log in LOGS.items():
        write_segments(tmp_path / f"{topic}-0", log(1, 40, 0))
    write_segments(tmp_path / "orders-7", coordinator_log(1, 3))

    assert main(["verify", "--data-dir", str(tmp_path), "--engine", "python"]) == 0

    said = capsys.readouterr()
    parts = said.out.removeprefix("the full history and the compacted log agree on ").partition(f" in {len(LOGS)} shards ")[0]
    assert sorted(part.partition(" ")[2] for part in parts.split(" and ")) == sorted(
        rule_of(f"{topic}-0").state().noun for topic in LOGS
    )
    assert said.err == "coordinator-server: orders-7 is of no kind that this version knows: it is left as it is\n"
