"""Copy a log between a data directory and a PostgreSQL that nodes share.

push: from the directory of a stopped server into a database without records. It makes the tables if there are none.
pull: a new directory of one moment of the database, while nodes serve it. Every command that reads a directory works on it.
Each compares the copy with what was read, and prints the digest of both: a push and a pull without commits between them print the
same.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from coordinator_server.cli.answers import add_json_arguments
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.output import complain, counted, say, say_json
from coordinator_server.cli.process_settings import create_private_files
from coordinator_server.log.postgresql.address import Address, check_password
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.progress import progress_on

if TYPE_CHECKING:
    from coordinator_server.pipeline.files.store import Copied

EPILOG = """\
examples:
  coordinator-server store push --data-dir ./data --store postgresql://coordinator@db.example/coordinator
  coordinator-server store pull --data-dir ./copy --store postgresql://coordinator@db.example/coordinator
  coordinator-server store pull --data-dir ./copy --store postgresql://log@db.example/log --store-password '${env:PASSWORD}'
  coordinator-server groups why readers-1 --data-dir ./copy       # what happened, as of the pull
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    for action, summary, directory in (
        ("push", "copy a directory into a database", "the data directory of a stopped server"),
        ("pull", "make a directory of one moment of a database", "the new data directory"),
    ):
        each = actions.add_parser(
            action,
            help=summary,
            description=__doc__,
            epilog=EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        each.add_argument("--data-dir", type=local_dir, required=True, metavar="DIR", help=directory)
        each.add_argument("--store", required=True, metavar="URL", help="the database: postgresql://USER@HOST/DATABASE")
        each.add_argument(
            "--store-password", default="", metavar="REFERENCE", help="where the password stands: ${env:NAME}, ${file:PATH:KEY}"
        )
        if action == "pull":
            each.add_argument("--node-id", type=int, default=1, metavar="N", help="the node.id of the new directory (default 1)")
        add_json_arguments(each)


def run(options: argparse.Namespace) -> int:
    """Copy, and return the exit code."""
    # The package that speaks to databases may not be installed.
    from coordinator_server.pipeline.files.store import pull, push

    started_s = time.monotonic()
    check_password(options.store_password)
    address = Address(options.store, options.store_password)
    address.check()
    try:
        if options.action == "push":
            done = push(options.data_dir, address, progress_on(sys.stderr))
        else:
            create_private_files()
            done = pull(address, options.data_dir, node_id=options.node_id)
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, OSError) as error:
        return complain(error, 1)
    if options.json:
        say_json(done)
    else:
        say([_as_text(options, done, address, time.monotonic() - started_s)])
    return 0


def _as_text(options: argparse.Namespace, done: Copied, address: Address, seconds: float) -> str:
    sides = (options.data_dir, address.shown) if options.action == "push" else (address.shown, options.data_dir)
    sums = f"{counted(done.shards, 'shard')}, {done.batches:,} batches, {done.bytes:,} bytes, {counted(done.layers, 'layer')}"
    return f"{sides[1]} has all of {sides[0]}: {sums}, digest {done.digest[:16]}, in {seconds:.1f} s"
