"""Make a data directory from a backup.

Reads every byte and compares it with the backup's checksums. The directory must not exist, or be empty.
A server started on it has the state of the moment of the backup: groups continue there, and members that
joined or rebalanced since join again. Positions that were committed after that moment are gone.
"""

from __future__ import annotations

import argparse
import time

from coordinator_server.cli.answers import add_json_arguments
from coordinator_server.cli.data_dir_owner import give_to_owner
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.output import complain, counted, say, say_json
from coordinator_server.cli.process_settings import create_private_files
from coordinator_server.cli.times import shown
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.files.restore import Restored, check_backup, restore

EPILOG = """\
examples:
  coordinator-server restore --from /backup/coordinator --data-dir ./restored
  coordinator-server restore --from /backup/coordinator --check        # only read, and compare the checksums
  coordinator-server verify --data-dir ./restored --engine python      # prove that its history and its state agree
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--from", dest="source", type=local_dir, required=True, metavar="DIR", help="the directory of the backup")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--data-dir", type=local_dir, metavar="DIR", help="the new data directory")
    where.add_argument("--check", action="store_true", help="read the backup and compare its checksums, and write nothing")
    add_json_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Restore or check, and return the exit code."""
    started_s = time.monotonic()
    try:
        if options.check:
            done = check_backup(options.source)
        else:
            create_private_files()
            done = restore(options.source, options.data_dir)
            give_to_owner(options.data_dir, options.source)
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, OSError) as error:
        return complain(error, 1)
    if options.json:
        say_json(done)
    else:
        say([_as_text(options, done, time.monotonic() - started_s)])
    return 0


def _as_text(options: argparse.Namespace, done: Restored, seconds: float) -> str:
    what = "is whole" if options.check else f"is restored to {options.data_dir}"
    sums = f"{counted(done.shards, 'shard')}, {counted(done.files, 'file')}, {done.bytes:,} bytes"
    return f"the backup of {shown(done.taken_ms)} {what}: {sums}, in {seconds:.1f} s"
