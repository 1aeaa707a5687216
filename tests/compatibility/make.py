"""Make the data directory or the database of a version, by that version, and keep what its server says of it.

    python -m tests.compatibility.make --tree ../other NAME             # tests/data/formats/NAME.tar.xz and NAME.json
    python -m tests.compatibility.make --tree ../other --store NAME     # NAME.sql.xz, by pg_dump, and NAME.json

The server of that tree runs, is compacted by that tree in the middle, and killed at the end: the directory has layers, segments
and journals, the database rows, and layers if that version makes them there. The answers are asked from its own server, started
once more. A version is added when it changes what it writes (CONTRIBUTING.md), and none is ever made again.
"""

from __future__ import annotations

import argparse
import json
import lzma
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from coordinator_server.kinds import GROUPS
from coordinator_server.log.postgresql.schema import LAYERS_FORMAT
from tests.compatibility.life import PROPERTIES, answers, live, live_on
from tests.support.eventually import eventually
from tests.support.node_cluster import NodeCluster
from tests.support.postgresql import PostgresqlServer
from tests.support.server import ROOT, Server

FORMATS = ROOT / "tests" / "data" / "formats"
# Fewer shards start in less time, and a node does not wait long for the end of a former one. Topics are made, not declared.
_SHARDED = ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")
OF_STORES: dict[str, Any] = {"topics": "", "broker.session.timeout.ms": 1000, "broker.heartbeat.interval.ms": 200} | {
    f"{name}.num.partitions": 5 for name in _SHARDED
}
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
    parser.add_argument("--tree", type=Path, default=ROOT, help="of the version (default this one)")
    options = parser.parse_args()
    if (FORMATS / f"{options.name}.json").exists():
        parser.error(f"{options.name} is there: what a version leaves behind is made once")
    FORMATS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        make = _make_database if options.store else _make_directory
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


def _make_database(directory: Path, tree: Path, name: str) -> dict[str, Any]:
    postgresql = PostgresqlServer()
    try:
        database = postgresql.empty_database()
        url = postgresql.url(database)
        cluster = NodeCluster(directory, url, nodes=1, overrides={**PROPERTIES, **OF_STORES})
        [server] = cluster.nodes.values()
        server.tree = tree
        with server:
            await_shards(server, postgresql, database)
            live(server.address)
            if (tree / "coordinator_server" / "log" / "postgresql" / "layers.py").exists():
                _have_rows_removed(server, postgresql, database)
            live_on(server.address)
            server.kill()
            (FORMATS / f"{name}.sql.xz").write_bytes(lzma.compress(postgresql.dump(database), preset=9))
            server.start()
            await_shards(server, postgresql, database)
            return answers(server.address)
    finally:
        postgresql.remove()


def await_shards(node: Server, postgresql: PostgresqlServer, database: str) -> None:
    """Wait until a node that is alone has taken all shards of groups, and all that have something. It is ready before that."""

    def are_active() -> bool:
        shards = node.control(op="shards")["shards"]
        active = {name for name, shard in shards.items() if shard["state"] == "active"}
        rows = postgresql.sql("SELECT topic, partition FROM shard WHERE next_offset > 0", database=database)
        stored = {f"{row['topic']}-{row['partition']}" for row in rows}
        groups = {f"{GROUPS.topic}-{number}" for number in range(OF_STORES[f"{_SHARDED[0]}.num.partitions"])}
        return active >= stored | groups

    eventually(are_active, within_s=60)


def _have_rows_removed(server: Server, postgresql: PostgresqlServer, database: str) -> None:
    """Let the node replace its rows by layers, which gives the tables their newest format."""
    before = server.overrides
    server.stop()
    server.overrides = {**before, **_REMOVING}
    server.start()
    eventually(lambda: postgresql.sql("SELECT format FROM meta", database=database)[0]["format"] == LAYERS_FORMAT, within_s=60)
    server.stop()
    server.overrides = before
    server.start()
    await_shards(server, postgresql, database)


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
