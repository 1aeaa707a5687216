"""Bits that rot in any file of a real directory: a start refuses them or has everything, ``log verify`` tells of whatever a start
refuses, and ``--salvage`` makes a directory that starts, in which nothing is wrong and nothing is missing but what it lists.

``LOG_FLIPS`` says how many bits of each file (default 6); the seed is in the failure.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from random import Random

import pytest

from coordinator_server.log.errors import DamagedLog, LogError
from coordinator_server.log.repair.check import check
from coordinator_server.log.repair.salvage import salvage
from tests.support.log import values
from tests.support.log_dir import COUNT, IN_JOURNAL, SHARDS, expected, make, open_store

FLIPS = int(os.environ.get("LOG_FLIPS", "3"))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "data"
    make(path)
    return path


def read(data: Path) -> list[list[bytes | None]] | LogError:
    """What a start finds, or why it is refused."""
    try:
        store = open_store(data)
    except LogError as refusal:
        return refusal
    try:
        return [values(store.read(each, 0)) for each in SHARDS]
    except LogError as refusal:
        return refusal
    finally:
        store.close()


def rot(data: Path, path: Path, rng: Random) -> None:
    """One to three bits somewhere in what is used of a file."""
    content = bytearray(path.read_bytes())
    used = len(content.rstrip(b"\0"))
    for _ in range(rng.choice((1, 1, 3))):
        content[rng.randrange(used)] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def may_be_torn(template: Path, data: Path, path: Path) -> bool:
    """Whether more than a bit is wrong with the one frame that a start may find torn."""
    if path.suffix != ".journal":
        return False
    before, after = (template / path.relative_to(data)).read_bytes(), path.read_bytes()
    last = before.rfind(b"jFrm")
    return sum((a ^ b).bit_count() for a, b in zip(before[last:], after[last:], strict=True)) > 1


@pytest.mark.parametrize(
    "name", ["meta.properties", "*.journal", "[0-9]*.log", "*.marks", "manifest.json", "groups.*", "rest.log"]
)
def test_rotten_bits_are_told_or_harmless(template: Path, tmp_path: Path, name: str, pytestconfig: pytest.Config) -> None:
    """Never a wrong answer."""
    seed = pytestconfig.getoption("--seed")
    paths = sorted(path.relative_to(template) for path in template.rglob(name) if path.read_bytes().strip(b"\0"))
    assert paths
    for number, relative in enumerate(each for each in paths for _ in range(FLIPS)):
        data = Path(shutil.copytree(template, tmp_path / str(number)))
        rot(data, data / relative, Random(f"{seed} {number} {name}"))
        told = f"--seed {seed}: {relative}, flip {number}"
        saved = data.with_name("saved")
        report = check(str(data))
        holes = None
        try:
            salvaged = salvage(str(data), str(saved))
            holes = salvaged.holes
            # A frame that cannot be read and that nothing else has a copy of: how much was in it is not known.
            lost = IN_JOURNAL if salvaged.lost_frames else 1
        except LogError:
            assert name == "meta.properties", told
        found = read(data)
        if isinstance(found, LogError):
            assert report.damage, told
            if isinstance(found, DamagedLog):
                assert (found.path, found.position) in {(each.path, each.position) for each in report.damage}, told
        elif found != [expected(each) for each in SHARDS]:
            assert may_be_torn(template, data, data / relative), told
            assert found == [expected(each)[: COUNT - 1] for each in SHARDS], told
        if holes is not None:
            missing = {(hole.shard, offset) for hole in holes if not hole.is_history for offset in range(hole.begin, hole.end)}
            kept = [[v for at, v in enumerate(expected(each)) if (str(each), at) not in missing] for each in SHARDS]
            if saved_is := read(saved):
                assert not isinstance(saved_is, LogError), told
                assert all(a == b[: len(a)] and len(a) >= len(b) - lost for a, b in zip(saved_is, kept, strict=True)), told
            assert len(missing) <= 6, told
            shutil.rmtree(saved)
        shutil.rmtree(data)
