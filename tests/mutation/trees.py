"""Copies of the tree: what is measured and mutated does not change while it is, and is not the user's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def copy_tree(root: Path, tree: Path) -> Path:
    """Make `tree` a copy of the files of `root`; those that are the same keep their bytecode."""
    names = set(_files(root))
    for path in tree.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts and path.relative_to(tree).as_posix() not in names:
            path.unlink()
    for name in names:
        source, target = root / name, tree / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    return tree


def _files(root: Path) -> list[str]:
    """What git knows, or would know; of a copy all but bytecode."""
    if not (root / ".git").exists():
        found = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return [path.relative_to(root).as_posix() for path in found]
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=root, stdout=subprocess.PIPE, check=True)
    return [name for name in listed.stdout.decode().split("\0") if name and (root / name).is_file()]
