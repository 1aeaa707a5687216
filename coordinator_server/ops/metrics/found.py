"""What the server has answered to an HTTP request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Found(NamedTuple):
    """The answers to the operations ``health``, ``metrics`` and ``pipeline``; empty where there was none."""

    data_dir: Path
    version: str
    build: str
    health: Sequence[Mapping[str, Any]] = ()
    metrics: Sequence[Mapping[str, Any]] = ()
    reports: Mapping[str, Mapping[str, Any]] = {}
