"""Make the data directory or the database of a version, by that version, and keep what its server says of it.

    python -m tests.compatibility.make --tree ../other NAME             # tests/data/formats/NAME.tar.xz and NAME.json
    python -m tests.compatibility.make --tree ../other --store NAME     # NAME.sql.xz, by pg_dump, and NAME.json
    python -m tests.compatibility.make --tree ../other --objects NAME   # and NAME.objects.tar.xz: layers in an object store

The server of that tree runs, is compacted by that tree in the middle, and killed at the end: the directory has layers, segments
and journals, the database rows, and layers if that version makes them there. The answers are asked from its own server, started
once more. A version is added when it changes what it writes (CONTRIBUTING.md), and none is ever made again.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.log.postgresql.schema import FORMAT, LAYERS_FORMAT
from tests.compatibility.life import PROPERTIES, answers, live, live_on
from tests.support.eventually import eventually
from tests.support.node_cluster import NodeCluster
from tests.support.object_store import ObjectStore, object_store
from tests.support.postgresql import PostgresqlServer
from tests.support.server import ROOT, Server

FORMATS = ROOT / "tests" / "data" / "formats"
# Fewer shards start in less time, and a node does not wait long for the end of a former one. Topics are made, not declared.
_SHARDED = ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")
OF_STORES: dict[str, Any] = {"topics": "", "broker.session.timeout.ms": 1000, "broker.heartbeat.interval.ms": 200} | {
    f"{name}.num.partitions": 5 for name in _SHARDED
}
BUCKET = "lake"
OBJECTS = {"store.objects": f"s3://{BUCKET}/coordinator?scheme=http&region=us-east-1"}
"""Where such layers are, for ever: their rows say so. The host and the port are in the environment of whoever reads them."""
# Of a node that soon replaces its rows by layers.
_REMOVING = {
    "log.cleaner.backoff.ms": 100,
    "log.cleaner.min.bytes": 1,
    "log.history.retention.ms": 400,
    "log.retention.check.interval.ms": 100,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="tests.compatibility.make", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", metavar="NAME", help="of the version, as in tests/data/formats")
    parser.add_argument("--store", action="store_true", help="a database, and not a directory (Debian's package postgresql)")
    parser.add_argument("--objects", action="store_true", help="a database whose layers are in an object store")
    parser.add_argument("--tree", type=Path, default=ROOT, help="of the version (default this one)")
    options = parser.parse_args()
    if (FORMATS / f"{options.name}.json").exists():
        parser.error(f"{options.name} is there: what a version leaves behind is made once")
    FORMATS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        make = _make_with_objects if options.objects else _make_database if options.store else _make_directory
        found = make(Path(directory), options.tree.absolute(), options.name)
    (FORMATS / f"{options.name}.json").write_text(_lines(found))


def _make_directory(directory: Path, tree: Path, name: str) -> dict[str, Any]:
    server = Server(directory, PROPERTIES)
    server.tree = tree
    with server:
        live(server.address)
        # New segments, which alone are compacted.
        server.stop()
        server.start()
        _compact(tree, "--data-dir", str(server.data_dir))
        live_on(server.address)
        server.kill()
        with tarfile.open(FORMATS / f"{name}.tar.xz", "w:xz", preset=9) as archive:
            archive.add(server.data_dir, "data", filter=_kept)
        server.start()
        return answers(server.address)


def _make_with_objects(directory: Path, tree: Path, name: str) -> dict[str, Any]:
    with served_objects() as objects:
        found = _make_database(directory, tree, name, OBJECTS)
        with tarfile.open(objects_of(name), "w:xz", preset=9) as archive:
            for each, content in sorted(objects.objects(BUCKET).items()):
                member = tarfile.TarInfo(each)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        return found


@contextmanager
def served_objects(name: str | None = None) -> Iterator[ObjectStore]:
    """Serve the object store that ``OBJECTS`` names, for this process and its children, with what a version has left there."""
    with pytest.MonkeyPatch.context() as environment, object_store(environment) as store:
        environment.setenv("AWS_ENDPOINT_URL", store.endpoint)
        if name is not None:
            with tarfile.open(objects_of(name)) as archive:
                files = ((member.name, archive.extractfile(member)) for member in archive)
                store.put(BUCKET, {each: file.read() for each, file in files if file is not None})
        yield store


def objects_of(name: str) -> Path:
    """Return the archive of the files that a version has left in an object store."""
    return FORMATS / f"{name}.objects.tar.xz"


def _make_database(directory: Path, tree: Path, name: str, more: Mapping[str, Any] = {}) -> dict[str, Any]:
    postgresql = PostgresqlServer()
    try:
        database = postgresql.empty_database()
        url = postgresql.url(database)
        cluster = NodeCluster(directory, url, nodes=1, overrides={**PROPERTIES, **OF_STORES, **more})
        [server] = cluster.nodes.values()
        server.tree = tree
        with server:
            live(server.address)
            if (tree / "coordinator_server" / "log" / "postgresql" / "layers.py").exists():
                _have_rows_removed(server, postgresql, database, FORMAT if more else LAYERS_FORMAT)
            live_on(server.address)
            server.kill()
            (FORMATS / f"{name}.sql.xz").write_bytes(lzma.compress(postgresql.dump(database), preset=9))
            server.start()
            return answers(server.address)
    finally:
        postgresql.remove()


def _have_rows_removed(server: Server, postgresql: PostgresqlServer, database: str, version: int) -> None:
    """Let the node replace its first rows by layers, which gives the tables a newer format."""
    before = server.overrides
    server.stop()
    server.overrides = {**before, **_REMOVING}
    server.start()
    eventually(lambda: list(postgresql.sql(_REPLACED, database=database)[0]) == [version, True])
    server.stop()
    server.overrides = before
    server.start()


_REPLACED = """
SELECT format, EXISTS (
  SELECT FROM shard s WHERE next_offset > 0 AND NOT EXISTS (SELECT FROM log l WHERE (l.sid, l.base_offset) = (s.sid, 0)))
FROM meta"""


def _compact(tree: Path, *where: str) -> None:
    command = [sys.executable, "-m", "coordinator_server", "compact", "--engine", "python", *where]
    subprocess.run(command, cwd=tree, check=True)


def _lines(found: dict[str, Any]) -> str:
    """An answer a line."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in found.items()) + "\n}\n"


def _kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Files of a process that has ended are left out, and who made the archive."""
    if not (member.isfile() or member.isdir()) or member.name.endswith(".sock"):
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
