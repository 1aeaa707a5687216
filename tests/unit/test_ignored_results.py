"""What a test prepares must succeed: the answers of the requests that tests share are looked at."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
# Answers that say whether a request succeeded. `must_commit` and `make_topic` look at them.
ANSWERS = ("ErrorCode", "Result")


def answering(path: Path) -> set[str]:
    """The functions of a module, and the methods of its classes, whose answer is an error or a result."""
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        and node.returns is not None
        and any(word in ast.unparse(node.returns) for word in ANSWERS)
    }


def ignored(path: Path, names: set[str]) -> Iterator[str]:
    """The calls of such functions that are statements."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            if isinstance(function, ast.Name) and function.id in names:
                yield f"{path.relative_to(TESTS)}:{node.lineno}: {function.id}"


def test_no_test_ignores_whether_its_requests_succeed() -> None:
    names = answering(TESTS / "support" / "simple_requests.py")
    assert {"commit_alone", "create_topic"} <= names

    assert [found for path in sorted(TESTS.rglob("*.py")) for found in ignored(path, names)] == []
