"""Export the groups to Kafka: replace the internal topics in a stopped broker's directory.

These are __consumer_offsets and the other internal topics in use. Server and broker must be
stopped. The broker must have the topics with the same number of partitions, all of them in its
directory. Their contents are replaced. The broker checks and indexes the new files at its next
start. If the command is interrupted, run it again.
"""

from __future__ import annotations

import argparse
import sys
import time

from coordinator_server.cli.answers import add_json_arguments
from coordinator_server.cli.data_dir_owner import give_to_owner
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.output import complain, say, say_json
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.files.kafka.exporter import export_kafka
from coordinator_server.pipeline.input.data_dir import check_data_dir
from coordinator_server.pipeline.progress import progress_on

EPILOG = """\
examples:
  coordinator-server export --data-dir ./data --to /var/lib/kafka/data

before: start the broker with offsets.topic.num.partitions as in DIR/meta.properties. Let any consumer commit an offset, which
creates the topic, and stop the broker. Keep a copy of its directory. Ordinary topics are not exported: create them on the broker,
with the names that the groups use.

exit codes: 0 done; 1 server or broker runs, or the log is damaged; 2 a directory is not usable
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--data-dir", type=local_dir, required=True, metavar="DIR", help="the server's data directory")
    parser.add_argument(
        "--to",
        type=local_dir,
        required=True,
        metavar="KAFKA_LOG_DIR",
        help="the stopped broker's log.dirs, with __consumer_offsets-0 in it",
    )
    add_json_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Export and return the exit code."""
    started_s = time.monotonic()
    try:
        check_data_dir(options.data_dir)
        try:
            result = export_kafka(options.data_dir, options.to, progress_on(sys.stderr))
        finally:
            for directory in (options.data_dir, options.to):
                give_to_owner(directory, directory)
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, OSError) as error:
        return complain(error, 1)
    if options.json:
        say_json(result)
    else:
        took = f"{time.monotonic() - started_s:.1f} s"
        records = f"{result.records:,} records ({result.bytes:,} bytes)"
        say([f"{result.partitions} partitions: {records} in {took}; the broker can be started"])
    return 0
