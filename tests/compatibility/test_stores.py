"""This version opens the databases that earlier ones have made, as ``test_formats.py`` opens their directories.

tests/compatibility/make.py dumped them from the versions' own nodes; what these answered is beside each.
"""

from __future__ import annotations

import json
import lzma
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.log.postgresql.schema import FORMAT
from tests.compatibility.life import PROPERTIES, SIMPLE, answers, without_new
from tests.compatibility.make import FORMATS, OBJECTS, OF_STORES, objects_of, served_objects
from tests.support.command_forks import run_command
from tests.support.node_cluster import NodeCluster
from tests.support.postgresql import PostgresqlServer
from tests.support.postgresql import postgresql as postgresql  # noqa: PLC0414 - a fixture

NAMES = sorted(path.name.removesuffix(".sql.xz") for path in FORMATS.glob("*.sql.xz"))
COMMANDS = (
    ["verify", "--engine", "python", "--store"],
    ["groups", "why", SIMPLE[0], "--json", "--store"],
    ["backup", "--to", "{}", "--store"],
)


def test_databases_of_every_format_are_there() -> None:
    assert [f"store-{number}" for number in range(1, FORMAT + 1)] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_what_an_earlier_version_has_in_a_database_is_known(name: str, postgresql: PostgresqlServer, tmp_path: Path) -> None:
    """A node of this version starts, and commands read it. The node before was killed; rows of ``store-2`` were replaced by layers,
    and those of ``store-3`` by layers in an object store.
    """
    has_objects = objects_of(name).exists()
    stored: dict[str, Any] = json.loads((FORMATS / f"{name}.json").read_text())
    database = postgresql.restore(lzma.decompress((FORMATS / f"{name}.sql.xz").read_bytes()))
    assert postgresql.sql("SELECT format FROM meta", database=database)[0]["format"] == int(name.removeprefix("store-"))
    url = postgresql.url(database)
    cluster = NodeCluster(tmp_path, url, nodes=1, overrides={**PROPERTIES, **OF_STORES, **(OBJECTS if has_objects else {})})
    with served_objects(name) if has_objects else nullcontext():
        with cluster.nodes[1] as node:
            found = answers(node.address)
        assert {each: without_new(found[each], stored[each]) for each in stored} == stored

        for command in COMMANDS:
            done = run_command(*(word.format(tmp_path / "backup") for word in command), url)
            assert done.returncode == 0, done.stderr
