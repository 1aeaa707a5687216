"""Say what a release would take by a name that can change its meaning: actions that are not commits, images that are not digests.

scripts/check_pins.py      exit code 1 if there is any; the release workflow runs it first
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
# Images that this repository builds, and stages of a Containerfile.
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
    wanted: str


def loose(root: Path = ROOT) -> Iterator[Loose]:
    """Yield what is not pinned, file by file."""
    for path in sorted((root / ".github" / "workflows").glob("*.yml")):
        yield from _found(root, path, _USES, _COMMIT, "a commit: owner/action@<40 hex digits> # version", ())
    for path in sorted((root / "deploy").rglob("*.yaml")):
        yield from _found(root, path, _IMAGE, _DIGEST, "a digest: image:tag@sha256:…", OWN)
    containerfile = root / "deploy" / "Containerfile"
    yield from _found(
        root, containerfile, _FROM, _DIGEST, "a digest: image:tag@sha256:…", tuple(_STAGE.findall(containerfile.read_text()))
    )


def _found(
    root: Path, path: Path, line_of: re.Pattern[str], pinned: re.Pattern[str], wanted: str, own: tuple[str, ...]
) -> Iterator[Loose]:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = line_of.match(line)
        if found is not None and found[1] not in own and pinned.fullmatch(found[1]) is None:
            yield Loose(f"{path.relative_to(root)}:{number}", found[1], wanted)


def main() -> int:
    """Print what is not pinned."""
    found = list(loose())
    for each in found:
        print(f"{each.place}: {each.name} can change: pin it to {each.wanted}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
