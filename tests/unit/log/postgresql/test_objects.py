"""Layers whose files are in an object store: in a directory, and behind S3's protocol (moto)."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.config.errors import ConfigError
from coordinator_server.log.errors import DamagedLog, LogError
from coordinator_server.log.opening import job_shard
from coordinator_server.log.postgresql.objects import (
    Objects,
    Unanswered,
    _objects,
    attempt_in,
    below,
    check_url,
    stored_in,
)
from coordinator_server.log.store import History
from coordinator_server.log.store_paths import split_path
from tests.support.job_subjects import SHARD, PostgresqlDatabase
from tests.support.log import values
from tests.support.moved_history import MOVED, folders, whole
from tests.support.object_store import object_store
from tests.support.ports import free_port
from tests.support.stored_layers import LATER, append, attempt, eras, keep_in, log_of, publish, remove, reopened, rows


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """A bucket behind S3's protocol."""
    with pytest.MonkeyPatch.context() as environment, object_store(environment) as store:
        yield store.url("lake/layers")


@pytest.fixture(params=["file", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place of this test alone: databases of tests are copies of one, so clusters have one id."""
    if request.param == "file":
        return f"file://{tmp_path}/objects"
    place, _, query = str(request.getfixturevalue("s3")).partition("?")
    return f"{place}/{tmp_path.name}?{query}"


def sid(subject: PostgresqlDatabase) -> int:
    return log_of(subject).sids[SHARD]


def test_a_layer_is_loaded_from_an_object_store(subject: PostgresqlDatabase, url: str) -> None:
    """The database has its manifest. A job reads it, and so does a node that takes the shard."""
    files = keep_in(subject, url)
    append(subject, 3)
    assert publish(subject, 3)
    append(subject, 2)
    assert {name for (name,) in subject.node.sql("SELECT DISTINCT name FROM object")} == {"manifest.json"}
    assert len(files.folders(sid(subject))) == 1

    store = reopened(subject, 1)

    assert (store.compacted_to(SHARD), store.checkpoint(SHARD).block("group")) == (3, b"kept")
    assert values(store.read(SHARD, 0)) == [b"kept", b"3", b"4"]
    layer = job_shard(subject.path / str(SHARD)).newest_layer()
    assert layer is not None
    assert layer.to_offset == 3
    assert [tuple(row) for row in subject.node.sql("SELECT format FROM meta")] == [(3,)]


def test_layers_may_be_in_both_places(subject: PostgresqlDatabase, url: str) -> None:
    """A cluster moves when its nodes say so; what is there stays."""
    append(subject, 3)
    assert publish(subject, 2, kept=b"in the database")
    files = keep_in(subject, url)
    assert publish(subject, 3)
    subject.node.loop.run_until_complete(subject.node.store.keep_layers_in(""))
    append(subject, 1)
    assert publish(subject, 4, kept=b"again")

    stored = [stored_in(name).url != "" for (name,) in subject.node.sql("SELECT attempt FROM layer ORDER BY to_offset")]
    assert stored == [False, True, False]
    files.remove(files.folders(sid(subject)))
    assert values(reopened(subject, 1).read(SHARD, 0)) == [b"again"]


def test_files_that_are_missing_are_damage(subject: PostgresqlDatabase, url: str) -> None:
    """An older layer is loaded in their place."""
    append(subject, 3)
    assert publish(subject, 2, kept=b"old")
    files = keep_in(subject, url)
    assert publish(subject, 3)
    files.remove(files.folders(sid(subject)))

    store = reopened(subject, 1)

    with pytest.raises(DamagedLog, match="is missing"):
        store.checkpoint(SHARD)
    assert values(store.read(SHARD, 0)) == [b"old", b"2"]


def test_what_was_not_published_is_removed(subject: PostgresqlDatabase, url: str) -> None:
    """But nothing of a later term: its process may publish it at any moment."""
    files = keep_in(subject, url)
    append(subject, 3)
    assert publish(subject, 2)
    published = files.folders(sid(subject))
    attempt(subject, 3)
    log_of(subject).upkeep.term += 1
    subject.node.sql("UPDATE upkeep SET term = term + 1")
    late = attempt(subject, 3)
    subject.node.sql("UPDATE upkeep SET term = term + 1")
    later = files.folders(sid(subject)) | {f"{sid(subject)}/99-aa"}
    (path := Path(late) / "later").write_bytes(b"x")
    files.put(f"{sid(subject)}/99-aa", path)
    log_of(subject).upkeep.term += 1

    assert len(later) == 4
    assert job_shard(subject.path / str(SHARD)).clean_attempts() == 2
    assert files.folders(sid(subject)) == published | {f"{sid(subject)}/99-aa"}
    assert subject.node.sql("SELECT FROM object WHERE name = 'manifest.json'") == [()]


def test_files_go_with_the_layer_that_a_newer_one_replaces(subject: PostgresqlDatabase, url: str) -> None:
    files = keep_in(subject, url)
    append(subject, 3)
    for to_offset in (1, 2, 3):
        assert publish(subject, to_offset)
    assert len(files.folders(sid(subject))) == 3
    removed = remove(subject, now_ms=LATER)

    assert [each.layers for each in removed] == [[2]]
    assert len(files.folders(sid(subject))) == 2
    assert values(reopened(subject, 1).read(SHARD, 0)) == [b"kept"]


def test_history_moves_to_a_bucket(subject: PostgresqlDatabase, s3: str, tmp_path: Path) -> None:
    """And goes from there. test_segments.py has the rest, with files."""
    place, _, query = s3.partition("?")
    files = keep_in(subject, f"{place}/{tmp_path.name}?{query}")
    eras(subject, 2)
    before = whole(subject)
    remove(subject, MOVED, LATER)
    assert rows(subject) == [(2, 4)]
    assert whole(subject) == before
    assert len(folders(subject, files)) == 4
    remove(subject, History(0), LATER)
    assert folders(subject, files) == []


def test_nodes_that_do_not_know_of_objects_find_layers_in_the_database(subject: PostgresqlDatabase, tmp_path: Path) -> None:
    files = keep_in(subject, f"file://{tmp_path}/objects")
    subject.node.sql("INSERT INTO node(id, incarnation, listeners, format_max) VALUES (7, 1, '[]', 2)")
    append(subject, 2)
    assert publish(subject, 2)

    assert files.folders(sid(subject)) == set()
    assert [tuple(row) for row in subject.node.sql("SELECT format FROM meta")] == [(1,)]


def test_a_file_is_written_once(url: str, tmp_path: Path) -> None:
    """Again by whoever has not heard that it was; another one is refused."""
    store = Objects(url)
    (path := tmp_path / "file").write_bytes(b"one")
    store.put("9/1-a", path)
    store.put("9/1-a", path)
    path.write_bytes(b"two")

    with pytest.raises(LogError, match="another file"):
        store.put("9/1-a", path)


# What a URL may be, and what is said of stores that cannot be used.


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("gs://bucket/prefix", "s3://BUCKET/PREFIX is expected"),
        ("s3:///prefix", "s3://BUCKET/PREFIX is expected"),
        ("s3://[bucket", "is no URL"),
        ("s3://key:word@bucket/prefix", "credentials are those of the environment"),
        ("s3://bucket/prefix?secret_key=word", "credentials are those of the environment"),
    ],
)
def test_a_url_has_no_secret(url: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as refused:
        check_url(url)
    assert "word" not in str(refused.value)


def test_the_name_of_an_attempt_says_where_its_files_are() -> None:
    named = attempt_in("s3://bucket/prefix?region=eu-1", "12:0007-ab", 5)

    assert stored_in(named) == ("s3://bucket/prefix?region=eu-1", "12/5-0007-ab")
    assert stored_in(attempt_in("", "12:0007-ab", 5)).url == ""
    assert below("s3://bucket?region=eu-1", "c") == "s3://bucket/c?region=eu-1"


class _Answers(BaseHTTPRequestHandler):
    """Every PUT succeeds, again and again; a bucket ``denied`` is nobody's."""

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(403 if self.path.startswith("/denied") else 200)
        self.send_header("ETag", '"0"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    # The removal of what was written; its answer is none, which is not what is looked at.
    do_POST = do_PUT  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Nothing is logged."""


@pytest.fixture
def careless(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-secret")
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"endpoint_override=127.0.0.1:{server.server_port}&scheme=http&region=us-east-1"
        server.shutdown()


def test_a_store_that_cannot_be_used_is_refused_at_the_start(subject: PostgresqlDatabase, careless: str, s3: str) -> None:
    """With what is to be done."""
    missing = s3.replace("//lake", "//nowhere")
    cases = [
        (missing, "make the bucket"),
        (f"s3://bucket/prefix?{careless}", "in spite of If-None-Match"),
        (f"s3://denied/prefix?{careless}", "GetObject, PutObject"),
    ]
    for url, why in cases:
        with pytest.raises(LogError, match=why) as refused:
            keep_in(subject, url)
        assert "the-secret" not in str(refused.value)
    assert [tuple(row) for row in subject.node.sql("SELECT objects FROM meta")] == [("",)]


def test_a_node_without_the_package_says_what_it_lacks(
    subject: PostgresqlDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At its start, and when another node has put layers there since: no shard is loaded without its layer."""
    url = f"file://{tmp_path}/objects"
    keep_in(subject, url)
    append(subject, 1)
    assert publish(subject, 1)
    monkeypatch.setitem(sys.modules, "obstore", None)
    _objects.cache_clear()
    with pytest.raises(LogError, match=r"pip install 'coordinator-server\[s3\]'"):
        reopened(subject, 1)

    with pytest.raises(ConfigError, match=r"pip install 'coordinator-server\[s3\]'"):
        keep_in(subject, url)


def test_a_store_that_does_not_answer_is_waited_for(subject: PostgresqlDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node starts without it; what has to be written says why it cannot."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-secret")
    keep_in(subject, f"s3://bucket/prefix?endpoint_override=127.0.0.1:{free_port()}&scheme=http&region=us-east-1")
    append(subject, 1)

    with pytest.raises(Unanswered, match=r"s3://bucket/prefix/.* cannot be written"):
        attempt(subject, 1)


def test_each_cluster_has_its_own_files(subject: PostgresqlDatabase, tmp_path: Path) -> None:
    url = f"file://{tmp_path}/objects"
    keep_in(subject, url)
    append(subject, 1)
    assert publish(subject, 1)

    assert [each.name for each in (tmp_path / "objects").iterdir()] == [subject.node.store.meta.cluster_id]
    assert split_path(subject.path)[0].url
