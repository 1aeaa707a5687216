"""Sealing: through the server that runs, or under its lock; and who may seal."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from coordinator_server.pipeline.input.sealing import seal
from tests.support.control_answers import answering
from tests.support.inputs import segment_bases
from tests.support.segments import coordinator_log, write_meta, write_segments
from tests.support.server import ROOT

SHARD = "__consumer_offsets-7"
# All that names the operation outside of the log: compaction, and the operation itself. A reader reads what is durable.
SEALING: Final = {
    "cli/compact.py": "its jobs read what never changes",
    "pipeline/files/kafka/promoter.py": "makes layers of a stopped directory, under its lock",
    "pipeline/input/sealing.py": "for compact; a contract of pyproject.toml lets no other module import it",
    "server/control/control_socket.py": "the operation, among those that have no line in the audit log",
    "server/control/loop_operations.py": "the operation of one loop",
    "server/hosting/cleaner.py": "the cleaner, which compacts",
    "server/hosting/open.py": "for the cleaner",
    "server/supervisor/supervisor.py": "for the cleaner of several loops",
}


def test_a_running_server_is_asked(tmp_path: Path) -> None:
    """One line each way."""
    with answering(tmp_path, b'{"ok":true,"shards":{"__consumer_offsets-7":1234}}\n') as asked:
        sealed = seal(tmp_path)

    assert sealed == {SHARD: 1234}
    assert [json.loads(line) for line in asked] == [{"op": "seal"}]


def test_without_a_server_the_log_is_sealed_under_its_lock(tmp_path: Path) -> None:
    """The last segment, which was open, is sealed like the others; doing it again changes nothing."""
    end = write_segments(tmp_path / SHARD, coordinator_log(1, 9), 3, sealed=False)
    write_meta(tmp_path)
    assert len(segment_bases(tmp_path / SHARD)) == 3

    assert seal(tmp_path) == {SHARD: end}
    assert segment_bases(tmp_path / SHARD)[-1] == end
    assert seal(tmp_path) == {SHARD: end}
    assert len(segment_bases(tmp_path / SHARD)) == 4


def names_of(tree: ast.Module) -> Iterator[str]:
    """All names, attributes and texts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.interpreted
def test_no_reader_seals() -> None:
    """Each seal ends the open segments of all shards, and takes the time of a sync for each."""
    package = ROOT / "coordinator_server"
    paths = [path for path in package.rglob("*.py") if not path.is_relative_to(package / "log") and "seal" in path.read_text()]
    found = {str(path.relative_to(package)) for path in paths if "seal" in names_of(ast.parse(path.read_text()))}

    assert found == SEALING.keys()
