"""Give the groups back to Kafka: put the log in the place of __consumer_offsets, and of its siblings that are in use, in a stopped broker's directory.

Both sides are stopped, and the broker has the topics already, with as many partitions, all of them there. What its partitions held is
replaced; it checks and indexes what it is given when it starts. Stopped in the middle, run it again.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import msgspec

from coordinator_server.cli.complaint import complain
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.sealing import check_data_dir
from coordinator_server.pipeline.kafka.exporter import export_kafka
from coordinator_server.pipeline.progress import progress_on

EPILOG = """\
examples:
  coordinator-server export --data-dir ./data --to /var/lib/kafka/data

before: start the broker with offsets.topic.num.partitions as in DIR/meta.properties, have any consumer commit something, which makes the
topic, and stop it. Keep a copy of its directory. Topics are the broker's own: make them with the names the groups know.

exit codes: 0 done; 1 one of the two runs, or the log is damaged; 2 the directories are not what they should be
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--data-dir", type=local_dir, required=True, metavar="DIR", help="the server's data directory")
    parser.add_argument(
        "--to",
        type=Path,
        required=True,
        metavar="KAFKA_LOG_DIR",
        help="the stopped broker's log.dirs, with __consumer_offsets-0 in it",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(options: argparse.Namespace) -> int:
    """Export; returns the exit code."""
    started_s = time.monotonic()
    try:
        check_data_dir(options.data_dir)
        result = export_kafka(options.data_dir, options.to, progress_on(sys.stderr))
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, OSError) as error:
        return complain(error, 1)
    if options.json:
        print(msgspec.json.encode(result).decode())
    else:
        took = f"{time.monotonic() - started_s:.1f} s"
        print(
            f"{result.partitions} partitions: {result.records:,} records ({result.bytes:,} bytes) in {took}; the broker can be started"
        )
    return 0
