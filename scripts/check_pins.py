"""Say what a release would take by a name that can change its meaning: actions that are not commits, images that are not digests.

scripts/check_pins.py      exit code 1 if there is any; the release workflow runs it first
scripts/pin_images.py      pins the images
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
# Images that this repository builds.
OWN: Final = ("coordinator-server", "coordinator-server-node", "coordinator-server-pipeline")
_USES: Final = re.compile(r"^\s*(?:- )?uses: (\S+)")
_IMAGE: Final = re.compile(r"^\s*image: (\S+)")
_FROM: Final = re.compile(r"^FROM (\S+)")
_STAGE: Final = re.compile(r"^FROM \S+ AS (\S+)", re.MULTILINE)
_COMMIT: Final = re.compile(r"[^@]+@[0-9a-f]{40}")
_DIGEST: Final = re.compile(r"[^@]+@sha256:[0-9a-f]{64}")


class Loose(NamedTuple):
    """A name that can change its meaning."""

    place: str
    name: str
    action: str


class Named(NamedTuple):
    """An image of others that a file names, in a line from 1."""

    path: Path
    line: int
    name: str


def loose(root: Path = ROOT) -> Iterator[Loose]:
    """Yield what is not pinned, file by file."""
    for path in sorted((root / ".github" / "workflows").glob("*.yml")):
        for each in _found(path, _USES, ()):
            if _COMMIT.fullmatch(each.name) is None:
                yield _loose(root, each, "pin it to a commit: owner/action@<40 hex digits> # version")
    for each in images(root):
        if _DIGEST.fullmatch(each.name) is None:
            yield _loose(root, each, "python3 scripts/pin_images.py, on a machine that reaches its registry, pins it to a digest")


def images(root: Path = ROOT) -> Iterator[Named]:
    """Yield the images of others, pinned or not, file by file."""
    for path in sorted((root / "deploy").rglob("*.yaml")):
        yield from _found(path, _IMAGE, OWN)
    containerfile = root / "deploy" / "Containerfile"
    yield from _found(containerfile, _FROM, _STAGE.findall(containerfile.read_text()))


def _found(path: Path, line_of: re.Pattern[str], own: tuple[str, ...] | list[str]) -> Iterator[Named]:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = line_of.match(line)
        if found is not None and found[1] not in own:
            yield Named(path, number, found[1])


def _loose(root: Path, named: Named, action: str) -> Loose:
    return Loose(f"{named.path.relative_to(root)}:{named.line}", named.name, action)


def main() -> int:
    """Print what is not pinned."""
    found = list(loose())
    for each in found:
        print(f"{each.place}: {each.name} can change: {each.action}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
