"""The build under test is the one that is meant: plain sources here, the compiled wheel where scripts/test-wheel runs these tests."""

from __future__ import annotations

import os
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from coordinator_server.cli import main

EXPECTED = os.environ.get("COORDINATOR_SERVER_BUILD", "plain Python")
SETTINGS = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())
MODULES: list[str] = SETTINGS["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["modules"]


@pytest.mark.parametrize("path", MODULES)
def test_a_hot_module_is_compiled_in_the_wheel_alone(path: str) -> None:
    """A stale extension module beside a source would be imported in its place."""
    module = import_module(path.removesuffix(".py").replace("/", "."))

    assert (module.__file__ or "").endswith(".py") == (EXPECTED != "compiled")


def test_the_command_says_which_build_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """For bug reports and figures."""
    with pytest.raises(SystemExit):
        main(["--version"])

    assert capsys.readouterr().out.strip().endswith(f"({EXPECTED})")


def test_what_generated_code_calls_is_compiled_with_it() -> None:
    """Compiled code reads integers by itself: through the interpreter that is slower than struct."""
    assert {"protocol/native.py", "protocol/runs.py", "protocol/wire.py", "protocol/generated/layouts.py"} <= set(MODULES)
