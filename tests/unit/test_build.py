"""The build under test is the one that is meant:
plain sources here, the compiled wheel where scripts/test-wheel runs these tests.
"""

from __future__ import annotations

import ast
import os
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from coordinator_server.cli import main

EXPECTED = os.environ.get("COORDINATOR_SERVER_BUILD", "plain Python")
ROOT = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
MODULES: list[str] = SETTINGS["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["modules"]


@pytest.mark.parametrize("path", MODULES)
def test_a_hot_module_is_compiled_in_the_wheel_alone(path: str) -> None:
    """A stale extension module beside a source would be imported in its place."""
    module = import_module(path.removesuffix(".py").replace("/", "."))

    assert (module.__file__ or "").endswith(".py") == (EXPECTED != "compiled")


@pytest.mark.interpreted
@pytest.mark.parametrize("path", MODULES)
def test_no_named_tuple_of_a_hot_module_has_functions_in_its_methods(path: str) -> None:
    """mypyc 2.4 stops with an internal error there."""
    classes = [each for each in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(each, ast.ClassDef)]
    tuples = [each for each in classes if any(isinstance(base, ast.Name) and base.id == "NamedTuple" for base in each.bases)]
    methods = [each for tuple_ in tuples for each in tuple_.body if isinstance(each, ast.FunctionDef)]

    assert [
        f"{method.name}, line {each.lineno}"
        for method in methods
        for each in ast.walk(method)
        if each is not method and isinstance(each, ast.FunctionDef | ast.Lambda)
    ] == []


@pytest.mark.interpreted
@pytest.mark.parametrize("path", MODULES)
def test_no_generator_expression_of_a_hot_module_outlives_its_statement(path: str) -> None:
    """mypyc makes a list of it: what is to be taken step by step would be done at once. A generator function stays one."""
    found = []
    for each in ast.walk(ast.parse((ROOT / path).read_text())):
        match each:
            case ast.Return(value=ast.expr() as value):
                made: list[ast.expr] = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
            case ast.Call(func=ast.Name(id="chain"), args=made):
                pass
            case _:
                continue
        found += [f"line {one.lineno}" for one in made if isinstance(one, ast.GeneratorExp)]

    assert found == []


def test_the_command_says_which_build_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """For bug reports and figures."""
    with pytest.raises(SystemExit):
        main(["--version"])

    assert capsys.readouterr().out.strip().endswith(f"({EXPECTED})")


def test_what_generated_code_calls_is_compiled_with_it() -> None:
    """Compiled code reads integers by itself: through the interpreter that is slower than struct."""
    assert {"protocol/native.py", "protocol/runs.py", "protocol/wire.py", "protocol/generated/layouts.py"} <= set(MODULES)
