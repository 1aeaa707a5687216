"""The two engines of a job: the options that choose one, and the error if the spark extra is missing."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from coordinator_server.cli.local_dir import location
from coordinator_server.cli.log_source import add_log_source
from coordinator_server.cli.output import note
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.input.retries import ONCE, RETRY_S, Retries

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EXTRA: Final = frozenset({"pyspark", "pyarrow", "numpy", "pandas", "py4j"})


def add_log_argument(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Declare the log to read: the server's directory, a copy, or the store of nodes."""
    add_log_source(parser, location, "the server's data directory, or the URL of a copy: s3://backup/data", required=required)
    add_no_wait_argument(parser)


def add_no_wait_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the option of scripts that try again themselves."""
    parser.add_argument(
        "--no-wait",
        action="store_true",
        help=f"fail at once if a server starts, stops or loads, or another job has the log (default: wait up to {RETRY_S:.0f} s)",
    )


def retries_of(options: argparse.Namespace) -> Retries:
    """Return how long the command waits for a server that is not ready: ``wait_s``, which a schedule sets, or RETRY_S."""
    limit_s: float = getattr(options, "wait_s", RETRY_S)
    return ONCE if options.no_wait else Retries(limit_s, lambda error: note(f"waiting up to {limit_s:.0f} s: {error}"))


def add_engine_arguments(parser: argparse.ArgumentParser, *, python: str, workers_see: str) -> None:
    """Declare ``--engine``, and ``add_spark_arguments``.

    ``python`` describes that engine. ``workers_see`` names the directories that Spark's workers read and write.
    """
    parser.add_argument(
        "--engine",
        choices=("spark", "python"),
        default="spark",
        help=f"python is {python}; of a small log it is done before Spark has started (%(default)s)",
    )
    add_spark_arguments(parser, workers_see)


def add_spark_arguments(parser: argparse.ArgumentParser, workers_see: str) -> None:
    """Declare the options of a new Spark session."""
    parser.add_argument(
        "--master",
        metavar="URL",
        help=f"any Spark master; its workers must see {workers_see} (default: local[*], or spark-submit's)",
    )
    parser.add_argument(
        "--conf", type=_property, action="append", default=[], metavar="NAME=VALUE", help="a Spark property; may be repeated"
    )
    parser.add_argument(
        "--ship", action="store_true", help="send this package to the workers; their Python needs only its dependencies"
    )
    parser.add_argument(
        "--archive",
        action="store_true",
        help="make later starts of Spark quicker: save its classes (160 MB in the cache directory)",
    )


@contextmanager
def spark_session(options: argparse.Namespace) -> Iterator[SparkSession]:
    """Open the session that the options describe, or use the open one. Raises CannotRun."""
    from coordinator_server.pipeline.spark.session import session

    with session(options.master, dict(options.conf), ship=options.ship, archive=options.archive) as spark:
        yield spark


def _property(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name.startswith("spark."):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form spark.some.name=value")
    return name, value


@contextmanager
def extra_needed(job: str, otherwise: str = "") -> Iterator[None]:
    """Turn a missing module of the spark extra into CannotRun. Put it around the imports.

    ``job`` needs the module; ``otherwise`` says how to run without it.
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        raise CannotRun(f"the {job} needs {error.name}: pip install 'coordinator-server[spark]'{otherwise}") from error
