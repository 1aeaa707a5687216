"""This version opens the data directories that earlier ones have made: everything is found, and the commands read them.

tests/compatibility/make.py made them with the versions themselves; what their own servers answered is beside each.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from tests.compatibility.life import PROPERTIES, SIMPLE, answers, without_new
from tests.compatibility.make import FORMATS
from tests.support.command_forks import run_command
from tests.support.server import Server

NAMES = sorted(path.name.removesuffix(".tar.xz") for path in FORMATS.glob("format-*.tar.xz"))


@pytest.fixture(scope="module", params=NAMES)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A version's name, and the directory with its ``data``, as its server was killed."""
    directory = tmp_path_factory.mktemp(request.param)
    with tarfile.open(FORMATS / f"{request.param}.tar.xz") as archive:
        archive.extractall(directory, filter="data")
    return request.param, directory


def test_versions_are_there() -> None:
    assert NAMES == ["format-1", "format-2", "format-2-streams"]


def test_what_an_earlier_version_knew_is_known_after_two_starts(opened: tuple[str, Path]) -> None:
    name, directory = opened
    stored = json.loads((FORMATS / f"{name}.json").read_text())
    for _ in range(2):
        with Server(directory, PROPERTIES) as server:
            found = answers(server.address)
            assert {each: without_new(found[each], stored[each]) for each in stored} == stored
            server.stop()


@pytest.mark.parametrize(
    "command",
    [
        ["log", "verify", "--data-dir"],
        ["compact", "--engine", "python", "--data-dir"],
        ["groups", "why", SIMPLE[0], "--json", "--data-dir"],
        ["replay", "--data-dir"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_commands_read_what_an_earlier_version_wrote(opened: tuple[str, Path], command: list[str]) -> None:
    done = run_command(*command, str(opened[1] / "data"))
    assert done.returncode == 0, done.stderr
