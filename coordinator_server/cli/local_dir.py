"""Local directories on the command line."""

from __future__ import annotations

import argparse
import re
from pathlib import Path


def local_dir(text: str) -> Path:
    """Parse a path. Refuse a URL, which would become a directory ``s3:``. For argparse."""
    if re.match("[A-Za-z][A-Za-z0-9+.-]+://", text):
        raise argparse.ArgumentTypeError(f"{text} is a URL: a local directory is required")
    return Path(text)
