"""Print the rooms of a package, from the top floor down: files, lines, and which rooms each imports. ``make structure`` runs it.

scripts/structure.py                              the packages of coordinator_server, then the rooms of server, group, pipeline
                                                  and log
scripts/structure.py coordinator_server/server    the rooms of one package

A room is a sub-package; a module that lies flat is a room of its own. A room is one floor above the highest room that it imports.
Rooms that import each other in a circle are printed, and the exit code is 1. Import contracts in pyproject.toml hold the order.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
DEFAULT: Final = ("coordinator_server", *(f"coordinator_server/{each}" for each in ("server", "group", "pipeline", "log")))


class Room(NamedTuple):
    """A sub-package or a flat module. ``arrows`` has the number of imports by room."""

    files: int
    lines: int
    arrows: Mapping[str, int]


def rooms_of(package: Path) -> dict[str, Room]:
    """Return the rooms of a package by name. The package's own page is none."""
    prefix = ".".join(package.relative_to(ROOT).parts)
    paths = sorted(path for path in package.iterdir() if path.name != "__init__.py" and (path.suffix == ".py" or _is_room(path)))
    names = {path.stem: path for path in paths}
    return {name: _room(name, path, prefix, names) for name, path in names.items()}


def _is_room(path: Path) -> bool:
    return (path / "__init__.py").exists()


def _room(name: str, path: Path, prefix: str, names: Mapping[str, Path]) -> Room:
    files = [path] if path.suffix == ".py" else sorted(path.rglob("*.py"))
    texts = [each.read_text() for each in files]
    arrows: dict[str, int] = {}
    for text in texts:
        for imported in _imports(ast.parse(text)):
            room = imported.removeprefix(f"{prefix}.").split(".")[0] if imported.startswith(f"{prefix}.") else ""
            if room in names and room != name:
                arrows[room] = arrows.get(room, 0) + 1
    return Room(len(files), sum(text.count("\n") for text in texts), arrows)


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


def floors_of(rooms: Mapping[str, Room]) -> list[list[str]]:
    """Return the rooms of each floor, the lowest first. Raises CycleError."""
    height: dict[str, int] = {}
    for name in TopologicalSorter({name: room.arrows for name, room in rooms.items()}).static_order():
        height[name] = 1 + max((height[below] for below in rooms[name].arrows), default=-1)
    return [sorted(name for name in height if height[name] == floor) for floor in range(max(height.values(), default=-1) + 1)]


def print_rooms(package: Path) -> bool:
    """Print the rooms of a package. Return whether no arrow goes up."""
    rooms = rooms_of(package)
    arrows = sum(len(room.arrows) for room in rooms.values())
    print(f"{package.relative_to(ROOT)}: {len(rooms)} rooms, {arrows} arrows, {sum(room.lines for room in rooms.values())} lines")
    try:
        floors = floors_of(rooms)
    except CycleError as circle:
        print(f"  a circle: {' -> '.join(reversed(circle.args[1]))}")
        return False
    for floor, names in reversed(list(enumerate(floors, 1))):
        for name in names:
            room = rooms[name]
            below = ", ".join(f"{each} {count}" for each, count in sorted(room.arrows.items()))
            print(f"  {floor:2}  {name:<24} {room.files:3} files {room.lines:6} lines{'  -> ' if below else ''}{below}")
    return True


def main(packages: list[str]) -> int:
    """Print each package. Return the exit code."""
    failed = [each for each in packages or DEFAULT if not print_rooms(ROOT / each)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
