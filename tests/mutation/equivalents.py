"""Mutants that were judged once and mean the same, with the reason: equivalents.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

JUDGED: Final = Path(__file__).with_name("equivalents.toml")
Key = tuple[str, str, str, str]


def load(path: Path = JUDGED) -> dict[Key, str]:
    """Reasons by file, function, and the lines before and after, spaces aside."""
    found: dict[Key, str] = {}
    for entry in tomllib.loads(path.read_text()).get("equivalent", []):
        reason = entry["reason"].strip()
        if not reason:
            raise ValueError(f"{path.name}: an entry for {entry['file']} has no reason")
        found[entry["file"], entry["function"], _plain(entry["before"]), _plain(entry["after"])] = reason
    return found


def _plain(lines: str) -> str:
    return "\n".join(" ".join(line.split()) for line in lines.strip().splitlines())


def unused(known: dict[Key, str], root: Path) -> list[Key]:
    """Entries whose file no longer has the lines: they judge code that does not exist."""
    texts = {key[0]: _plain((root / key[0]).read_text()) if (root / key[0]).exists() else "" for key in known}
    return [key for key in known if key[2] not in texts[key[0]]]
