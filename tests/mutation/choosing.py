"""The tests that could kill a mutant, the likeliest and cheapest first."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Final

from tests.mutation.coverage_map import CoverageMap
from tests.mutation.mutants import Mutant
from tests.packages import sources

# How much later a test runs than its seconds say: others often fail for the same mistake, and say more about it.
FACTOR: Final = {
    "unit": 1.0,
    "scenarios": 1.0,
    "regressions": 1.5,
    "property": 2.0,
    "integration": 3.0,
    "simulation": 3.0,
    "spark": 9.0,
}
# Test files that read all sources of a directory: the generator and the schemas of Kafka see every declaration.
READ_BY: Final = {
    "protocol/messages/": tuple(f"tests/unit/protocol/test_{name}.py" for name in ("generate", "declarations", "golden", "kio")),
}
# Sources that only a Spark session runs. Elsewhere it would be the slowest way to run a line.
ON_SPARK: Final = re.compile(r"spark|/apps/")
# Tests that start one, by name or parameter.
SPARK_TEST: Final = re.compile(r"^tests/spark/|\[[^]]*spark[^]]*\]$")


class Chooser:
    def __init__(self, root: Path, coverage: CoverageMap) -> None:
        self._root, self._map = root, coverage

    def tests(self, mutant: Mutant) -> list[str]:
        """All tests that run the changed lines, in the order in which they should."""
        path = mutant.site.path
        lines, is_in_function = lines_to_look_for((self._root / path).read_text(), mutant.site.line)
        found = self._map.tests_of(path, lines)
        if not is_in_function:
            found |= (self._map.tests_of_file(path) or self._of_importers(path)) | self._of_test_files(path)
        for prefix, files in READ_BY.items():
            if path.startswith(prefix):
                found.update(test for file in files if file in self._map.parts for test in self._map.parts[file].tests)
        if not ON_SPARK.search(path):
            found = {test for test in found if not SPARK_TEST.search(test)}
        return self._in_order(mutant, found)

    def _of_importers(self, path: str) -> set[str]:
        """For a module of constants or declarations: the tests of the modules that import it."""
        module, found = module_of(path), set[str]()
        importers = [name for some in sources(self._root).values() for name in some if module in imports(self._root / name)]
        return found.union(*(self._map.tests_of_file(name) for name in importers))

    def _of_test_files(self, path: str) -> set[str]:
        """Tests that import the module itself: they may read its tables, and run none of its functions."""
        module = module_of(path)
        return {test for name, part in self._map.parts.items() if module in imports(self._root / name) for test in part.tests}

    def _in_order(self, mutant: Mutant, tests: set[str]) -> list[str]:
        """By seconds, made smaller for tests near the source and larger for each further test of a file, or case of a test.

        A case that the changed line names comes before the other cases of its test.
        """
        path, line = mutant.site.path, plain_words(mutant.before)
        cases: Counter[str] = Counter()
        words, ranks = words_of(path), {}
        plain = {test: (self._map.seconds(test) + 0.02) * likeness(words, test) for test in tests}
        for test in sorted(tests, key=lambda each: (plain[each], each)):
            name, (file, _, _) = test.partition("[")[0], test.partition("::")
            further = 1 + 0.5 * cases[name] + 0.1 * cases[file] if not is_named(test, line) else 0.1
            ranks[test] = plain[test] * FACTOR.get(file.split("/")[1], 4.0) * nearness(self._root, path, file) * further
            cases.update((name, file))
        return sorted(ranks, key=lambda each: (ranks[each], each))


@cache
def nearness(root: Path, path: str, file: str) -> float:
    """Smaller for a test file of the module, larger for one that does not name it."""
    if module_of(path) in imports(root / file) or any(path.startswith(each) and file in READ_BY[each] for each in READ_BY):
        return 0.2
    parts = Path(path).parts
    mirrored = "/".join(("tests", "unit", *(parts[1:-1] if parts[0] == "coordinator_server" else parts[:-1])))
    return 0.5 if file.startswith(mirrored + "/") else 2.0


def words_of(path: str) -> list[str]:
    """Of the module's name, without the s of a plural."""
    return [word.removesuffix("s") for word in Path(path).stem.split("_") if len(word) > 3]


def likeness(words: list[str], test: str) -> float:
    """Smaller for a test whose name or case has words of the module's: where a server runs the code,
    nothing else tells tests apart.
    """
    name = test.lower()
    return 1 / (1 + sum(word in name for word in words))


def plain_words(text: str) -> str:
    """A property has dots in its name, or underscores."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower())


def is_named(test: str, line: str) -> bool:
    """Whether the line, in plain words, has those of the test's case: a row of a table, and the case that is about it."""
    case = plain_words(test.partition("[")[2]).strip("_")
    return len(case) > 3 and f"_{case}_" in f"_{line}_"


def module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def imports(path: Path) -> frozenset[str]:
    """The modules that a test file names, and what it takes from them, which may be modules as well."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(found)


def lines_to_look_for(text: str, line: int) -> tuple[set[int], bool]:
    """The lines of the innermost statement around `line`, and whether they run in a function.

    A definition runs when its module is imported, before any test: of its defaults and decorators the lines of its body are what
    counts. A function whose results are kept runs for the first test of a process, which is any:
    it counts as if it ran at the import.
    """
    node: ast.AST = ast.parse(text)
    span, is_in_function = {line}, False
    while True:
        inner = [each for each in _statements(node) if _first(each) <= line <= (each.end_lineno or line)]
        if not inner:
            return span, is_in_function
        node = inner[0]
        body = [each for each in _statements(node) if _first(each) > node.lineno]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            is_in_function = not _is_cached(node)
            if line < _first(node.body[0]):
                return set(range(_first(node.body[0]), (node.end_lineno or line) + 1)), is_in_function
        end = min((_first(each) - 1 for each in body), default=node.end_lineno or line)
        span = set(range(_first(node), end + 1)) if line <= end else {line}


def _first(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def _is_cached(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("cache" in ast.unparse(each) for each in node.decorator_list)


def _statements(node: ast.AST) -> list[ast.stmt]:
    """The statements directly inside: of a body, an else, a handler, a case."""
    found: list[ast.stmt] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            found.append(child)
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            found += _statements(child)
    return found
