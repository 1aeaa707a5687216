"""Directories on the command line."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coordinator_server.pipeline.locations import Location


def local_dir(text: str) -> Path:
    """Parse the path of a directory that exists or can be made.

    Refuse a URL, which would become a directory ``s3:``. For argparse.
    """
    if re.match("[A-Za-z][A-Za-z0-9+.-]+://", text):
        raise argparse.ArgumentTypeError(f"{text} is a URL: a local directory is required")
    return _checked(Path(text))


def location(text: str) -> Location:
    """Parse the path or the URL of a directory. For argparse."""
    # Only commands of jobs need it.
    from coordinator_server.pipeline.locations import parse_location

    found = parse_location(text)
    return _checked(found) if isinstance(found, Path) else found


def _checked(path: Path) -> Path:
    """Refuse a path at which, or on the way to which, there is something else than a directory."""
    there = next((each for each in (path, *path.parents) if each.exists() or each.is_symlink()), None)
    if there is not None and not there.is_dir():
        what = "is a link to nothing" if there.is_symlink() and not there.exists() else "is not a directory"
        raise argparse.ArgumentTypeError(f"{there} {what}: name a directory that exists or can be made")
    return path
