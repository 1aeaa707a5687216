"""The workflows are what their readers take them for: actionlint, at a pinned version, which Go builds once."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

from tests.support.kafka_jars import do_without
from tests.support.server import ROOT

LINTER = ROOT / "tests" / "support" / "actionlint"
# Its helpers for scripts in steps are used where they are found: what they say would depend on the machine.
COMMAND = ["go", "tool", "actionlint", "-no-color", "-shellcheck=", "-pyflakes="]


def complaints(*workflows: Path) -> str:
    if shutil.which("go") is None:
        do_without("no go on the PATH: actionlint has to be built")
    done = subprocess.run([*COMMAND, *map(str, workflows)], cwd=LINTER, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_actionlint_has_no_complaints(tmp_path: Path) -> None:
    """And has one about a matrix that does not have what a step asks for."""
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(workflows[-1].read_text().replace("matrix.machine", "matrix.machines"))

    assert complaints(*workflows) == ""
    assert 'property "machines" is not defined' in complaints(wrong)


def test_each_supported_python_has_compiled_wheels() -> None:
    """The classifiers, cibuildwheel's Pythons and the workflow's are the same, and none of them is a free-threaded one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    supported = re.findall(r"Python :: 3\.(\d+)", "\n".join(project["project"]["classifiers"]))
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    [named] = re.findall(r"CIBW_BUILD: (.*)", workflow)

    assert [each.partition("-")[0] for each in named.replace("${{ matrix.build }}", "x").split()] == [
        f"cp3{each}" for each in supported
    ]
    assert project["tool"]["cibuildwheel"]["build"] == " ".join(f"cp3{each}-*" for each in supported)
