"""Take a backup of a data directory, whether its server runs or not.

The backup is the state of all groups, transactions and topics at one moment, with their history. A
running server goes on serving meanwhile. A second backup to the same directory copies only what is
new; until it is complete, the directory is the backup before it. `restore` makes a data directory from it.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from coordinator_server import __version__
from coordinator_server.cli.answers import add_json_arguments
from coordinator_server.cli.engines import add_no_wait_argument, retries_of
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.log_source import add_log_source
from coordinator_server.cli.output import complain, counted, say, say_json
from coordinator_server.cli.process_settings import create_private_files
from coordinator_server.cli.times import shown
from coordinator_server.cli.unread_directories import warn_of_unread
from coordinator_server.log.opening import identity_of
from coordinator_server.pipeline.backup.cut import durable_cut
from coordinator_server.pipeline.backup.take import Moment, take_backup
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.data_dir import check_data_dir

EPILOG = """\
examples:
  coordinator-server backup --data-dir ./data --to /backup/coordinator
  coordinator-server backup --data-dir ./data --to /backup/coordinator --state-only     # the newest state, without its history
  coordinator-server backup --store postgresql://coordinator@db.example/coordinator --to /backup/coordinator
  coordinator-server restore --from /backup/coordinator --check                         # read every byte of it
  coordinator-server restore --from /backup/coordinator --data-dir ./restored
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_log_source(parser, local_dir, "the server's data directory")
    parser.add_argument("--to", type=local_dir, required=True, metavar="DIR", help="the directory of the backup")
    parser.add_argument("--state-only", action="store_true", help="leave out the history that compaction has replaced")
    add_no_wait_argument(parser)
    add_json_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Take the backup and return the exit code."""
    started_s = time.monotonic()
    data_dir, target = options.data_dir, options.to
    create_private_files()
    try:
        check_data_dir(data_dir)
        _check_apart(data_dir, target)
        warn_of_unread(data_dir)
        taken_ms = time.time_ns() // 1_000_000
        moment = Moment(durable_cut(data_dir, retries_of(options)), taken_ms, __version__)
        meta = identity_of(data_dir)
        taken = take_backup(data_dir, target, meta, moment, with_history=not options.state_only)
    except CannotRun as error:
        return complain(error, 2)
    except PipelineError as error:
        return complain(error, 1)
    except OSError as error:
        return complain(PipelineError(f"the backup to {target} is not complete: {error}; run it again"), 1)
    if options.json:
        say_json(taken)
    else:
        whole = (
            f"{counted(taken.shards, 'shard')} at {shown(taken.taken_ms)}: {counted(taken.files, 'file')}, {taken.bytes:,} bytes"
        )
        say([f"{whole}; {taken.copied_files:,} copied ({taken.copied_bytes:,} bytes) in {time.monotonic() - started_s:.1f} s"])
    return 0


def _check_apart(data_dir: Path, target: Path) -> None:
    one, other = data_dir.resolve(), target.resolve()
    if one == other or one in other.parents or other in one.parents:
        raise CannotRun(f"{target} and {data_dir} are not apart: name a directory elsewhere, best on a different disk")
