"""The packages of the hand-written code, as reports name them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

# Files directly in coordinator_server: the properties, the kinds.
ROOT_PACKAGE: Final = "root"


def package_of(path: str) -> str:
    """Of a source, by its path from the root of the tree."""
    parts = Path(path).parts
    if parts[0] != "coordinator_server":
        return parts[0]
    return parts[1] if len(parts) > 2 else ROOT_PACKAGE


def sources(root: Path) -> dict[str, list[str]]:
    """Paths of hand-written code by package."""
    found: dict[str, list[str]] = {}
    for top in ("coordinator_server", "protocol"):
        for path in sorted((root / top).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if not name.startswith("protocol/generated/"):
                found.setdefault(package_of(name), []).append(name)
    return found
