"""Where mutants can be made, and which of them a seed draws."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from pathlib import Path
from random import Random
from typing import Any, Final

import parso
from cosmic_ray.ast import Visitor

from tests.mutation.mutants import Mutant, Site
from tests.mutation.operators import ASSURANCES, FAMILIES
from tests.packages import package_of, sources

# What runs only if the code is wrong elsewhere.
_NEVER: Final = ("raise AssertionError", "raise NotImplementedError", "assert_never(")
_LOGGERS: Final = ("log", "_log", "logger", "_logger", "LOG", "_LOG")


def sites(path: str, text: str) -> Iterator[Site]:
    """Every site of a file, in the order in which the operators count them."""
    nodes = list(_nodes(parso.parse(text), ""))
    for family, operators in FAMILIES.items():
        for operator in operators:
            count = 0
            for node, function, is_mutated in nodes:
                for start, _ in operator.mutation_positions(node):
                    if is_mutated:
                        yield Site(path, start[0], function, family, type(operator).__name__, count)
                    count += 1


def _nodes(node: Any, function: str, is_mutated: bool = True) -> Iterator[tuple[Any, str, bool]]:
    """All nodes as the operators meet them: with the function that each is in, and whether it is code that can be wrong."""
    if node.type in ("funcdef", "classdef"):
        function = f"{function}.{node.name.value}".lstrip(".")
    is_mutated = is_mutated and not _is_left_alone(node)
    yield node, function, is_mutated
    for child in getattr(node, "children", ()):
        yield from _nodes(child, function, is_mutated)


def _is_left_alone(node: Any) -> bool:
    """True for annotations, assertions of any form, log lines, formats, and code for the type checker, type variables among it."""
    if node.type in ("assert_stmt", "fstring", "import_name", "import_from"):
        return True
    if node.type == "argument" and node.children[0].get_code().strip() in ASSURANCES:
        return True
    if _is_annotation(node):
        return True
    if node.type == "if_stmt":
        return node.children[1].get_code().strip() in ("TYPE_CHECKING", '__name__ == "__main__"')
    if node.type == "classdef":
        bases = node.get_super_arglist()
        return bases is not None and "Protocol" in bases.get_code()
    if node.type != "simple_stmt":
        return False
    code = node.get_code().lstrip()
    return _is_log_line(node.children[0]) or code.startswith(_NEVER) or "= TypeVar(" in code


def _is_annotation(node: Any) -> bool:
    parent = node.parent
    if parent is None:
        return False
    index = parent.children.index(node)
    if parent.type in ("annassign", "tfpdef"):
        return index > 0 and getattr(parent.children[index - 1], "value", "") == ":"
    return bool(parent.type == "funcdef" and getattr(parent.children[index - 1], "value", "") == "->")


def _is_log_line(statement: Any) -> bool:
    return bool(statement.type in ("atom_expr", "power") and statement.get_first_leaf().value in _LOGGERS)


class _Change(Visitor):  # type: ignore[misc]  # cosmic-ray has no types
    def __init__(self, operator: Any, occurrence: int) -> None:
        self._operator, self._left = operator, occurrence

    def visit(self, node: Any) -> Any:
        positions = list(self._operator.mutation_positions(node))
        left, self._left = self._left, self._left - len(positions)
        return self._operator.mutate(node, left) if 0 <= left < len(positions) else node


def mutant(site: Site, text: str) -> Mutant | None:
    """The mutant of a site; None if it does not compile, or means the same."""
    operator = next(each for each in FAMILIES[site.family] if type(each).__name__ == site.operator)
    try:
        changed = _Change(operator, site.occurrence).walk(parso.parse(text)).get_code()
        if ast.dump(ast.parse(changed)) == ast.dump(ast.parse(text)):
            return None
        compile(changed, site.path, "exec")
    except (SyntaxError, ValueError):
        return None
    lines = list(unified_diff(text.splitlines(), changed.splitlines(), n=0, lineterm=""))[2:]
    before = "\n".join(line[1:] for line in lines if line.startswith("-"))
    after = "\n".join(line[1:] for line in lines if line.startswith("+"))
    return Mutant(package_of(site.path), site, before, after, changed)


def draw(root: Path, packages: Iterable[str], number: int, seed: int) -> list[Mutant]:
    """So many mutants: half of them evenly over the packages, half in proportion to the sites of each."""
    by_package = sources(root)
    texts = {path: (root / path).read_text() for package in packages for path in by_package[package]}
    groups = {package: _groups(by_package[package], texts) for package in packages}
    drawn: list[Mutant] = []
    for package, share in shares({package: len(each) for package, each in groups.items()}, number).items():
        rng = Random(f"{seed} {package}")
        rng.shuffle(groups[package])
        drawn += _first(groups[package], texts, share, rng)
    return drawn


def _groups(paths: list[str], texts: dict[str, str]) -> list[list[Site]]:
    """Sites by line and family: each group is as likely as any other."""
    groups: dict[tuple[str, int, str], list[Site]] = {}
    for path in paths:
        for site in sites(path, texts[path]):
            groups.setdefault((path, site.line, site.family), []).append(site)
    return [groups[key] for key in sorted(groups)]


def _first(groups: list[list[Site]], texts: dict[str, str], share: int, rng: Random) -> list[Mutant]:
    found: list[Mutant] = []
    for group in groups:
        if len(found) == share:
            break
        site = rng.choice(group)
        made = mutant(site, texts[site.path])
        if made is not None:
            found.append(made)
    return found


def shares(sizes: dict[str, int], number: int) -> dict[str, int]:
    """How many of `number` each package gets; the largest fractions are rounded up."""
    total = sum(sizes.values())
    exact = {name: number * (0.5 / len(sizes) + 0.5 * size / total) for name, size in sizes.items()}
    given = {name: int(share) for name, share in exact.items()}
    by_fraction = sorted(exact, key=lambda name: (given[name] - exact[name], name))
    for name in by_fraction[: number - sum(given.values())]:
        given[name] += 1
    return given
