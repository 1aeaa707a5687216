"""URLs: the history in an object store, each record once whatever happens, and copies of a log that jobs read."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from coordinator_server.cli import main
from coordinator_server.pipeline.errors import Busy, CannotRun
from coordinator_server.pipeline.history import remote
from coordinator_server.pipeline.history.tables import END_OFFSETS
from coordinator_server.pipeline.locations import Url, local_directory, open_url, parse_location
from coordinator_server.runtime.partitioner import partition_for
from tests.support.object_store import ObjectStore, object_store
from tests.support.segments import append_segments, coordinator_log, write_meta, write_segments

STEP = int(os.environ.get("LOCATION_STEP", "12"))
SHARDS = (f"__consumer_offsets-{partition_for('group-3', 50)}", "__consumer_offsets-14")


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectStore]:
    with pytest.MonkeyPatch.context() as environment, object_store(environment) as store:
        yield store


@pytest.fixture
def s3(server: ObjectStore) -> Iterator[ObjectStore]:
    """An empty bucket."""
    yield server
    server.store.delete_dir_contents("lake")


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    for seed, name in enumerate(SHARDS):
        write_segments(path / name, coordinator_log(seed, 20), 2)
    write_meta(path)
    return path


def grow(data_dir: Path) -> None:
    for seed, name in enumerate(SHARDS):
        end = int(max((data_dir / name).glob("*.log")).stem)
        append_segments(data_dir / name, coordinator_log(seed + 5, 10, first_offset=end))


def history(data_dir: object, out: object, *options: str) -> int:
    return main(["history", "--data-dir", str(data_dir), "--out", str(out), "--engine", "python", *options])


Row = tuple[str, int, int]


def rows_in(objects: dict[str, bytes]) -> list[Row]:
    """Table and place in the log of every row that a reader of the tables finds: what begins with an underscore is not theirs."""
    found: list[Row] = []
    for name, content in objects.items():
        # The ends of partitions are not from the log.
        if not name.startswith(("_", END_OFFSETS)) and name.endswith(".parquet"):
            table = pq.read_table(io.BytesIO(content), columns=["shard", "log_offset"])
            found += [(name.partition("/")[0], each["shard"], each["log_offset"]) for each in table.to_pylist()]
    return sorted(found)


def expected(tmp_path: Path, data_dir: Path) -> list[Row]:
    """What a directory holds of the same log."""
    out = tmp_path / f"expected-{len(list(tmp_path.iterdir()))}"
    assert history(data_dir, out) == 0
    return rows_in({str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.parquet")})


def test_the_tables_in_a_store_are_those_in_a_directory(s3: ObjectStore, tmp_path: Path, data_dir: Path) -> None:
    """Run by run, and a run without news adds nothing."""
    out = s3.url("lake/history")
    assert history(data_dir, out) == 0
    assert rows_in(s3.objects("lake/history")) == expected(tmp_path, data_dir)
    grow(data_dir)
    assert history(data_dir, out) == 0
    after = s3.objects("lake/history")

    assert history(data_dir, out) == 0

    assert rows_in(after) == expected(tmp_path, data_dir)
    assert s3.objects("lake/history") == after
    assert {name for name in after if name.startswith("_")} == {"_runs/000001.json", "_runs/000002.json"}


CHANGES = ("copy_file", "delete_file", "delete_dir", "open_output_stream")


class Died(BaseException):
    """A run that is killed."""


class Dying:
    """A store that ends the run at its n-th change, before or after it is made."""

    def __init__(self, store: Any, at: int, *, is_done: bool) -> None:
        self.is_dead = False
        self._store = store
        self._left = at
        self._is_done = is_done

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return partial(self._change, found) if name in CHANGES else found

    def _change(self, call: Any, *words: Any) -> Any:
        self._left -= 1
        if self.is_dead or (self._left == 0 and not self._is_done):
            self.is_dead = True
            raise Died
        answer = call(*words)
        if self._left == 0:
            self.is_dead = True
            if answer is None:
                raise Died
        # What is opened is written to, and the next change fails.
        return answer


@pytest.mark.parametrize("is_done", [False, True])
def test_a_run_that_dies_at_any_change_counts_once_or_not_at_all(
    s3: ObjectStore, tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch, is_done: bool
) -> None:
    """Readers see no row twice, the next run puts it right.
    Only the moment between claim and run file asks for somebody's hand, and says so.

    At every twelfth change, or every 24th; LOCATION_STEP=1 is for the others (``make torture``).
    """
    shutil.rmtree(data_dir / SHARDS[1])
    rows = expected(tmp_path, data_dir)
    claims = 0
    for at in range(1, 100, STEP * (2 if is_done else 1)):
        path = f"lake/history-{is_done}-{at}"
        dying: list[Dying] = []

        def dies(url: Url, at: int = at, dying: list[Dying] = dying) -> tuple[Any, str]:
            store, root = open_url(url)
            dying.append(Dying(store, at, is_done=is_done))
            return dying[0], root

        with monkeypatch.context() as patch:
            patch.setattr("coordinator_server.pipeline.history.remote.open_url", dies)
            with suppress(Died):
                assert history(data_dir, s3.url(path)) == 0
        if not dying[0].is_dead:
            break
        assert not Counter(rows_in(s3.objects(path))) - Counter(rows)
        if history(data_dir, s3.url(path)) != 0:
            [claim] = [name for name in s3.objects(path) if ".claim-" in name]
            s3.store.delete_file(f"{path}/{claim}")
            claims += 1
            assert history(data_dir, s3.url(path)) == 0
        assert rows_in(s3.objects(path)) == rows
    assert at > 8
    assert claims <= 2


def test_of_two_runs_one_adds(s3: ObjectStore, tmp_path: Path, data_dir: Path) -> None:
    """The other one began before the first had ended: it is told, adds nothing, and leaves nothing behind."""
    slow = remote.StoreOutput(Url(s3.url("lake/history")), "AAAAAAAAAAAAAAAAAAAAAQ")
    assert history(data_dir, s3.url("lake/history")) == 0
    before = s3.objects("lake/history")

    with pytest.raises(Busy, match="another run has added to s3://lake/history meanwhile"):
        slow.add((), {SHARDS[0]: 10**6})
    slow.discard()

    assert s3.objects("lake/history") == before
    assert rows_in(before) == expected(tmp_path, data_dir)


def test_a_claim_is_respected_and_named(s3: ObjectStore, data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who claimed first may be about to add: one line says what to remove if nobody is."""
    with s3.store.open_output_stream("lake/history/_runs/000001.claim-somebody") as file:
        file.write(b"")

    assert history(data_dir, s3.url("lake/history")) == 1

    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "remove s3://lake/history/_runs/000001.claim-somebody" in said
    assert set(s3.objects("lake/history")) == {"_runs/000001.claim-somebody"}


def test_copies_are_read(s3: ObjectStore, tmp_path: Path, data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a whole directory, as a backup holds it; nothing of it is changed."""
    pafs.copy_files(str(data_dir), "lake/copy", destination_filesystem=s3.store)
    before = s3.objects("lake/copy")
    url = s3.url("lake/copy")
    told = {}
    for where in (str(data_dir), url):
        capsys.readouterr()
        assert main(["replay", "--data-dir", where, "--json"]) == 0
        assert main(["groups", "why", "group-3", "--data-dir", where, "--json"]) == 0
        assert main(["verify", "--engine", "python", "--data-dir", where, "--json"]) == 0
        told[where] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert told[url] == told[str(data_dir)]
    assert len(told[url][0]) == len(SHARDS)
    assert history(url, tmp_path / "history") == 0
    assert s3.objects("lake/copy") == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["compact", "--data-dir", "s3://lake/copy?secret"], "published by renaming it"),
        (["groups", "expiring", "g", "--data-dir", "s3://lake/copy?secret"], "the command asks the server that runs on it"),
        (["groups", "restore", "g", "--at", "2026-01-01", "--data-dir", "s3://lake/copy?secret"], "the server that runs on it"),
        (["replay", "--data-dir", "nonsense://lake/copy?secret"], "nonsense://lake/copy"),
    ],
)
def test_locations_that_a_command_cannot_use_are_refused_in_one_line(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """That says what can; what may be a secret is not repeated."""
    assert main(words) == 2

    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1
    assert "secret" not in said


@pytest.mark.parametrize("command", [["serve"], ["log", "verify"], ["import", "--from", "x"], ["export", "--to", "x"]])
def test_a_log_is_a_directory(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """None called ``s3:`` is made."""
    with pytest.raises(SystemExit) as ended:
        main([*command, "--data-dir", "s3://lake/data"])

    assert ended.value.code == 2
    assert "s3://lake/data is a URL" in capsys.readouterr().err


def test_a_location_without_a_copy_is_refused(s3: ObjectStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "--data-dir", s3.url("lake/nothing")]) == 2

    assert "s3://lake/nothing is no copy of a data directory" in capsys.readouterr().err


def test_a_file_url_is_a_path() -> None:
    assert parse_location("file:///var/lib/my%20log") == Path("/var/lib/my log")
    assert parse_location("./data") == Path("data")
    with pytest.raises(CannotRun):
        local_directory(Url("s3://a/b"), "it is written to")
    assert Url("s3://user:word@bucket/a/?region=x").child("b", "c") == Url("s3://user:word@bucket/a/b/c?region=x")
    assert str(Url("s3://user:word@bucket/a?region=x")) == "s3://bucket/a"
