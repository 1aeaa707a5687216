"""Jobs on a log in a database say and make what they do on the same log in a directory, also after its beginning was removed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.cli import main, program_parser
from coordinator_server.cli.clean import clean
from coordinator_server.log.opening import cleanable, store_ends, store_upkeep
from coordinator_server.log.postgresql.job_log import job_log
from coordinator_server.log.postgresql.removal import Removal
from coordinator_server.log.store import FOREVER, History
from coordinator_server.log.store_paths import StoreName, is_store, split_path
from coordinator_server.server.hosting.cleaner import Clean
from tests.support.group_lives import GROUP, ModernGroup
from tests.support.life_directory import write_life
from tests.support.postgresql import PostgresqlServer
from tests.support.postgresql import postgresql as postgresql  # noqa: PLC0414 - a fixture
from tests.support.segments import coordinator_log, write_meta, write_segments

NOW = 1_900_000_000_000


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    for number in (3, 7):
        write_segments(made / f"__consumer_offsets-{number}", coordinator_log(number, 60), 3)
    write_meta(made)
    return made


@pytest.fixture
def store(postgresql: PostgresqlServer, data_dir: Path) -> Iterator[str]:
    """The URL of a database with the log of ``data_dir``."""
    url = postgresql.url(postgresql.empty_database())
    assert main(["store", "push", "--data-dir", str(data_dir), "--store", url]) == 0
    yield url
    job_log(StoreName(url)).close()
    job_log.__globals__["_opened"].cache_clear()


def said(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """The answer of a command, as JSON."""
    capsys.readouterr()
    assert main([*words, "-o", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def both(capsys: pytest.CaptureFixture[str], data_dir: Path, store: str, *words: str) -> tuple[Any, Any]:
    return said(capsys, *words, "--data-dir", str(data_dir)), said(capsys, *words, "--store", store)


def test_readers_say_the_same(data_dir: Path, store: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for words in (
        ["replay"],
        ["verify", "--engine", "python"],
        ["groups", "list"],
    ):
        here, there = both(capsys, data_dir, store, *words)
        assert there == here
        assert here
    tables = {
        where: said(capsys, "history", *source, "--out", str(tmp_path / where), "--engine", "python")
        for where, source in (("here", ["--data-dir", str(data_dir)]), ("there", ["--store", store]))
    }
    assert tables["here"]["rows"] == tables["there"]["rows"]
    again = said(capsys, "history", "--store", store, "--out", str(tmp_path / "there"), "--engine", "python")
    assert set(again["rows"].values()) == {0}
    assert main(["backup", "--store", store, "--to", str(tmp_path / "backup")]) == 0
    assert main(["restore", "--from", str(tmp_path / "backup"), "--data-dir", str(tmp_path / "restored")]) == 0
    assert said(capsys, "replay", "--data-dir", str(tmp_path / "restored")) == said(capsys, "replay", "--store", store)
    # A second one copies what is new.
    assert said(capsys, "backup", "--store", store, "--to", str(tmp_path / "backup"))["copied_files"] == 0


def test_what_if_says_the_same(postgresql: PostgresqlServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a group whose topics are those of the catalog's log there."""
    data = tmp_path / "data"
    write_life(data, ModernGroup(3, "uniform").live(8))
    url = postgresql.url(postgresql.empty_database())
    assert main(["store", "push", "--data-dir", str(data), "--store", url]) == 0
    try:
        here, there = both(capsys, data, url, "groups", "what-if", GROUP, "--assignor", "range")
        assert there == here
        assert here["verdict"]["reproduced"]["same"] == here["verdict"]["reproduced"]["generations"] > 0
        job = ("pipeline", "what-if", "--engine", "python", "--out", str(tmp_path / "out"))
        rows = [each.pop("rows") for each in both(capsys, data, url, *job)]
        assert rows[0] == rows[1] > 0
    finally:
        job_log(StoreName(url)).close()
        job_log.__globals__["_opened"].cache_clear()


def test_compaction_makes_the_same_layers(data_dir: Path, store: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """And what is left when the rows are removed is the same state, from every command."""
    before = said(capsys, "replay", "--store", store)
    here, there = both(capsys, data_dir, store, "compact", "--engine", "python")
    digests = [{each["shard"]: (each["to_offset"], each["digest"]) for each in side["layers"]} for side in (here, there)]
    assert digests[0] == digests[1]
    assert len(digests[0]) == 2
    assert said(capsys, "compact", "--engine", "python", "--store", store)["layers"] == []
    pulled = tmp_path / "pulled"
    assert main(["store", "pull", "--data-dir", str(pulled), "--store", store]) == 0
    for each in data_dir.glob("*/layer-*/*"):
        if each.name != "manifest.json":
            assert (pulled / each.relative_to(data_dir)).read_bytes() == each.read_bytes()

    log = job_log(StoreName(store))
    with store_upkeep(StoreName(store).path):
        for number in range(3):
            Removal(log, History(0), NOW + number).run(lambda _removed: None)
        log.reader.write("UPDATE era SET closed_ms = 0 WHERE closed_ms IS NOT NULL RETURNING era")
    after = said(capsys, "replay", "--store", store)
    assert [each["digest"] for each in after] == [each["digest"] for each in before]
    assert said(capsys, "verify", "--engine", "python", "--store", store)


def test_readers_say_the_same_when_history_has_moved(
    data_dir: Path, store: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Of a log that is in an object store as a whole: rows that layers replace, and all that is kept."""
    both(capsys, data_dir, store, "compact", "--engine", "python")
    assert main(["backup", "--store", store, "--to", str(tmp_path / "backup")]) == 0
    files = {path: path.stat().st_size for path in (tmp_path / "backup").glob("*/*.log")}
    log = job_log(StoreName(store))
    log.reader.write("UPDATE meta SET objects = $1 RETURNING objects", f"file://{tmp_path}/objects")
    with store_upkeep(StoreName(store).path):
        for number in range(4):
            Removal(log, History(FOREVER, local_ms=0), NOW + number).run(lambda _removed: None)
    assert log.reader.read("SELECT count(*) FROM log")[0][0] == 0
    assert len(list(tmp_path.glob("objects/segments/*/*/*.log"))) == 2
    shutil.rmtree(log.scratch)
    log.scratch.mkdir()

    for words in (["replay"], ["verify", "--engine", "python"], ["compact", "--engine", "python"]):
        here, there = both(capsys, data_dir, store, *words)
        assert there == here
    tables = [
        said(capsys, "history", *source, "--out", str(tmp_path / where), "--engine", "python")["rows"]
        for where, source in (("here", ["--data-dir", str(data_dir)]), ("there", ["--store", store]))
    ]
    assert tables[0] == tables[1]
    # What was copied before is not cut: the backup before counts until this one is whole.
    assert said(capsys, "backup", "--store", store, "--to", str(tmp_path / "backup"))["copied_files"] == 0
    assert {path: path.stat().st_size for path in files} == files
    assert main(["restore", "--from", str(tmp_path / "backup"), "--data-dir", str(tmp_path / "restored")]) == 0
    assert main(["store", "pull", "--data-dir", str(tmp_path / "pulled"), "--store", store]) == 0
    for copy in ("restored", "pulled"):
        assert said(capsys, "replay", "--data-dir", str(tmp_path / copy)) == said(capsys, "replay", "--store", store)


def test_the_cleaner_of_a_node_compacts_what_is_dirty(store: str) -> None:
    """Also a shard with little in it, if it keeps an era from being emptied."""
    path = StoreName(store).path
    ends = store_ends(path)
    assert {name: each.ratio for name, each in cleanable(path).items()} == dict.fromkeys(ends, 1.0)

    done = clean(Clean(str(path), ends, 0, os.getpid(), 1 << 30))

    assert (sorted(done.shards), done.left_alone) == (sorted(ends), [])
    assert all(each.dirty == 0 and each.clean for each in cleanable(path).values())
    log = job_log(StoreName(store))
    log.reader.write(
        "INSERT INTO log(era, sid, base_offset, next_offset, epoch, data) "
        "SELECT 0, sid, next_offset, next_offset + 1, 0, 'x'::bytea FROM shard WHERE next_offset > 0 RETURNING sid"
    )
    log.reader.write("UPDATE shard SET next_offset = next_offset + 1 WHERE next_offset > 0 RETURNING sid")
    assert all(0 < each.ratio < 0.01 for each in cleanable(path).values())
    log.reader.write("INSERT INTO era(era, opened_ms, closed_ms) VALUES (0, 1, 2) RETURNING era")
    assert {each.ratio for each in cleanable(path).values()} == {1.0}


def test_a_password_may_come_before_the_store_or_after_it() -> None:
    words = ["--store", "postgresql://log@db/log", "--store-password", "${env:NAME}"]
    for order in (words, [*words[2:], *words[:2]]):
        found = program_parser("verify").parse_args(["verify", *order]).data_dir
        assert is_store(found)
        assert split_path(found) == (StoreName("postgresql://log@db/log", "${env:NAME}"), "")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--store", "mysql://db/log"], "postgresql://USER@HOST/DATABASE is expected"),
        (["--store", "postgresql://me:secret@db/log"], "has a password"),
        (["--store", "postgresql://db/log", "--store-password", "secret"], "seen by everybody"),
        (["--store", "postgresql://db/log", "--data-dir", "x"], "not allowed with"),
        ([], "--data-dir --store"),
    ],
)
def test_a_store_that_cannot_be_one_is_refused(words: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["verify", *words])
    assert ended.value.code == 2
    refused = capsys.readouterr().err
    assert why in refused
    assert "secret" not in refused


def test_offsets_are_not_restored_through_a_store(capsys: pytest.CaptureFixture[str]) -> None:
    """It is said before anything is read, with what to do."""
    words = ["groups", "restore", "billing", "--at", "1h ago", "--store", "postgresql://nowhere/log", "--execute"]
    assert main(words) == 2
    assert "groups reset billing --topic TOPIC:PARTITION --to-offset N --execute" in capsys.readouterr().err


def test_a_database_without_a_log(postgresql: PostgresqlServer, capsys: pytest.CaptureFixture[str]) -> None:
    url = postgresql.url(postgresql.empty_database())
    assert main(["verify", "--store", url, "--engine", "python"]) == 1
    assert "has no log" in capsys.readouterr().err
