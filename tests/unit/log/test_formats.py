"""Data directories that earlier versions wrote: ``tests/data/log/format-N`` is one, as a killed server of format N left it.

A version that changes the format adds the next one with ``python -m tests.unit.log.test_formats`` before it does,
and goes on reading this one.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from coordinator_server.log.errors import LogError
from coordinator_server.log.meta import FORMAT
from coordinator_server.log.repair.check import check
from coordinator_server.log.shards import ShardId
from tests.support.log import values
from tests.support.log_dir import SHARDS, expected, make, open_store

STORED = Path(__file__).parents[2] / "data" / "log"
EXPECTED = "expected.json"


@pytest.fixture(params=sorted(path.name for path in STORED.iterdir()))
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(STORED / request.param, tmp_path / "data"))


def shard_of(name: str) -> ShardId:
    topic, _, partition = name.rpartition("-")
    return ShardId(topic, int(partition))


def test_an_earlier_format_is_read(stored: Path) -> None:
    """Every record of it, and again after a stop, when it is in the form of today."""
    wanted = {shard_of(name): records for name, records in json.loads((stored / EXPECTED).read_bytes()).items()}
    assert check(str(stored)).damage == []
    for _ in range(2):
        store = open_store(stored)

        found = {each: [value.hex() if value else value for value in values(store.read(each, 0))] for each in store.shards()}
        assert found == wanted
        store.close()


def test_the_format_of_today_is_stored() -> None:
    """Later versions are tested against it."""
    assert (STORED / f"format-{FORMAT}").is_dir()


def test_a_later_format_is_refused(stored: Path) -> None:
    """One line that says which version it is and what to do; nothing is touched."""
    meta = stored / "meta.properties"
    meta.write_bytes(b"version=%d\ncluster.id=x\nnode.id=0\noffsets.topic.num.partitions=50\n" % (FORMAT + 1))
    before = {path: path.read_bytes() for path in stored.rglob("*") if path.is_file()}

    told = f"format version {FORMAT + 1}, this server knows versions 1 to {FORMAT}: use the server that wrote it"
    with pytest.raises(LogError, match=told):
        open_store(stored)
    assert before.items() <= {path: path.read_bytes() for path in stored.rglob("*") if path.is_file()}.items()


if __name__ == "__main__":
    target = STORED / f"format-{FORMAT}"
    make(target)
    (target / ".lock").unlink()
    records = {str(each): [value.hex() for value in expected(each) if value] for each in SHARDS}
    (target / EXPECTED).write_text(json.dumps(records, indent=1) + "\n")
