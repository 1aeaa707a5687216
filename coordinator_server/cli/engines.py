"""The two engines of a job: the options that choose one, and what is said where Spark's extra is missing."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from coordinator_server.pipeline.errors import CannotRun

_EXTRA: Final = frozenset({"pyspark", "pyarrow", "numpy", "pandas", "py4j"})


def add_engine_arguments(parser: argparse.ArgumentParser, *, python: str, workers_see: str) -> None:
    """--engine and --master. ``python`` tells of that engine; ``workers_see`` names the directories that Spark's workers read and write."""
    parser.add_argument("--engine", choices=("spark", "python"), default="spark", help=f"python is {python} (%(default)s)")
    parser.add_argument(
        "--master", default="local[*]", metavar="URL", help=f"any Spark master; its workers must see {workers_see} (%(default)s)"
    )


@contextmanager
def extra_needed(job: str, otherwise: str = "") -> Iterator[None]:
    """Around imports of the spark extra: a module of it that is not there becomes CannotRun. ``job`` needs it; ``otherwise`` is the way without."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        raise CannotRun(f"the {job} needs {error.name}: pip install 'coordinator-server[spark]'{otherwise}") from error
