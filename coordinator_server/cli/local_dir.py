"""Directories of this machine on the command line."""

from __future__ import annotations

import argparse
import re
from pathlib import Path


def local_dir(text: str) -> Path:
    """A path, and no URL, of which a path would make a directory ``s3:``. For argparse."""
    if re.match("[A-Za-z][A-Za-z0-9+.-]+://", text):
        raise argparse.ArgumentTypeError(f"{text} is a URL: it has to be a directory of this machine")
    return Path(text)
