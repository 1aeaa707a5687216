"""A log to check and repair: of every kind of file, made once for each module."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.log_dir import make


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "data"
    make(path)
    return path


@pytest.fixture
def data(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "data"))
