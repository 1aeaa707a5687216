"""What `make release` holds against the files that it built, before it installs them."""

from __future__ import annotations

import re
import subprocess
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from scripts.bill_of_materials import Incomplete, dependencies_of_the_project, settled
from scripts.release import (
    IN_SDIST,
    LOCKS,
    ROOT,
    Contents,
    Unready,
    Wrong,
    check_metadata,
    check_same,
    check_sdist,
    check_tree,
    check_version,
    check_wheel,
)

VERSION = "1.2.3"
SOURCE = '"""A package."""\n\n__version__ = "1.2.3"\n'
METADATA = b"""\
Metadata-Version: 2.4
Name: coordinator-server
Version: 1.2.3
License-Expression: Apache-2.0
License-File: LICENSE
Description-Content-Type: text/markdown

# Read me
"""
PYPROJECT = b'[tool.hatch.build.targets.sdist]\nexclude = ["/.ci", "/bench/build"]\n'
SDIST: Contents = dict.fromkeys(IN_SDIST, b"") | {
    "PKG-INFO": METADATA,
    "README.md": b"# Read me\n",
    "coordinator_server/__init__.py": SOURCE.encode(),
    "protocol/wire.py": b"",
    "pyproject.toml": PYPROJECT,
}
TREE = frozenset(SDIST) - {"PKG-INFO"} | {".ci/run"}
INFO = "coordinator_server-1.2.3.dist-info"
WHEEL: Contents = {
    "coordinator_server/__init__.py": SOURCE.encode(),
    "protocol/wire.py": b"",
    f"{INFO}/METADATA": METADATA,
    f"{INFO}/entry_points.txt": b"",
    f"{INFO}/licenses/LICENSE": b"",
}
EXTENSION = {
    "protocol/wire.cpython-311-x86_64-linux-gnu.so": b"",
    "coordinator_server__mypyc.cpython-311-x86_64-linux-gnu.so": b"",
}


def test_an_environment_for_another_interpreter_has_what_builds() -> None:
    """The backend that pyproject.toml names, the compiler, and what compiled modules import."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    needed = [*project["build-system"]["requires"], *project["project"]["dependencies"], "mypy", "setuptools"]
    locked = {name for lock in LOCKS for name in re.findall(r"^([\w.-]+)==", lock.read_text(), re.MULTILINE)}

    assert {re.split(r"[\s<>=!~;\[]", each)[0] for each in needed} - locked == set()


def without(contents: Contents, name: str) -> Contents:
    return {other: content for other, content in contents.items() if other != name}


@pytest.mark.parametrize("when", ["unreleased", "2026-01-31"])
def test_the_changelog_begins_with_the_version_that_is_built(when: str) -> None:
    assert check_version(SOURCE, f"# Changelog\n\n## 1.2.3 - {when}\n\n## 1.2.2 - 2025-01-01\n") == (VERSION, when)


@pytest.mark.parametrize("top", ["## 1.2.4 - unreleased", "## Unreleased", "## 1.2.3", "## 1.2.3 - soon", ""])
def test_a_changelog_that_begins_otherwise_is_wrong(top: str) -> None:
    with pytest.raises(Wrong, match=r"CHANGELOG\.md"):
        check_version(SOURCE, f"# Changelog\n\n{top}\n")


def test_a_release_is_what_a_commit_has(tmp_path: Path) -> None:
    """Neither changed files nor new ones, which a build would take along."""
    with pytest.raises(Unready, match="git does not know"):
        check_tree(tmp_path)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    check_tree(tmp_path)

    (tmp_path / "new").touch()

    with pytest.raises(Unready, match="1 files differ from the commit"):
        check_tree(tmp_path)


def test_a_source_distribution_has_what_git_has() -> None:
    """But for what pyproject.toml leaves out, and with the metadata."""
    check_sdist(SDIST, VERSION, TREE)


@pytest.mark.parametrize(
    ("contents", "complaint"),
    [
        (without(SDIST, "LICENSE"), "lacks LICENSE"),
        (without(SDIST, "protocol/wire.py"), "differ in protocol/wire.py"),
        ({**SDIST, "notes.txt": b""}, "differ in notes.txt"),
        ({**SDIST, ".ci/run": b""}, "has .ci/run"),
        ({**SDIST, "protocol/__pycache__/wire.cpython-311.pyc": b""}, "has protocol/__pycache__"),
        ({**SDIST, ".mypy_cache/a.json": b""}, "has .mypy_cache/a.json"),
        ({**SDIST, "PKG-INFO": METADATA.replace(b"Apache-2.0", b"MIT")}, "'MIT'"),
    ],
)
def test_a_source_distribution_that_differs_is_wrong(contents: Contents, complaint: str) -> None:
    with pytest.raises(Wrong, match=complaint):
        check_sdist(contents, VERSION, TREE)


def test_a_wheel_has_the_sources_and_is_compiled_if_it_is_to_be() -> None:
    check_wheel(WHEEL, VERSION, SDIST, compiled=())
    check_wheel({**WHEEL, **EXTENSION}, VERSION, SDIST, compiled=["protocol/wire.py"])


@pytest.mark.parametrize(
    ("contents", "compiled", "complaint"),
    [
        (without(WHEEL, f"{INFO}/licenses/LICENSE"), [], "lacks .*LICENSE"),
        (without(WHEEL, "protocol/wire.py"), [], "differ in protocol/wire.py"),
        ({**WHEEL, "protocol/wire.py": b"#"}, [], "differ in protocol/wire.py"),
        ({**WHEEL, "tests/test_x.py": b""}, [], "has tests/test_x.py"),
        ({**WHEEL, **EXTENSION}, [], "has .*[.]so"),
        (WHEEL, ["protocol/wire.py"], "no compiled protocol/wire"),
        ({**WHEEL, f"{INFO}/METADATA": METADATA + b"more"}, [], "other metadata"),
    ],
)
def test_a_wheel_that_differs_is_wrong(contents: Contents, compiled: list[str], complaint: str) -> None:
    with pytest.raises(Wrong, match=complaint):
        check_wheel(contents, VERSION, SDIST, compiled)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (b"Version: 1.2.3", b"Version: one", "not valid"),
        (b"License-File: LICENSE\n", b"", "should say"),
        (b"# Read me", b"# Read something else", "is not README.md"),
    ],
)
def test_metadata_that_an_index_would_refuse_or_that_misleads_is_wrong(old: bytes, new: bytes, complaint: str) -> None:
    with pytest.raises(Wrong, match=complaint):
        check_metadata(METADATA.replace(old, new), VERSION, b"# Read me\n")


def test_a_bill_of_materials_is_that_of_the_release() -> None:
    """With its version and what it asks for itself; without what only pip needs."""
    names = [*sorted(dependencies_of_the_project()), "anyio", "pip", "coordinator-server"]
    bill: dict[str, Any] = {
        "metadata": {"component": {"name": "coordinator-server", "bom-ref": "root"}},
        "components": [{"name": name, "version": "1", "bom-ref": f"{name}==1"} for name in names],
        "dependencies": [{"ref": f"{name}==1"} for name in names] + [{"ref": "root"}],
    }

    found = settled(bill, "1.2.3")

    assert found["metadata"]["component"]["version"] == "1.2.3"
    assert [each["name"] for each in found["components"]] == names[:-2]
    assert found["dependencies"][0] == {"ref": "root", "dependsOn": [f"{name}==1" for name in names[:-3]]}
    assert len(found["dependencies"]) == len(names) - 1
    del bill["components"][0]
    with pytest.raises(Incomplete, match=names[0]):
        settled(bill, "1.2.3")


def test_two_builds_that_differ_are_wrong(tmp_path: Path) -> None:
    """With the file in which they differ."""
    paths = [tmp_path / "one.whl", tmp_path / "two.whl"]
    for path, content in zip(paths, ("a", "b"), strict=True):
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr("same.py", "")
            wheel.writestr("other.so", content)

    check_same(paths[0], paths[0])
    with pytest.raises(Wrong, match=r"built again: other\.so"):
        check_same(*paths)
